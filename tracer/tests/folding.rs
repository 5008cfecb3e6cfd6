//! A recording that writes over its folded blocks.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "common/reader.rs"]
mod reader;

use std::fs;
use std::path::Path;

use portmortem_tracer::fold::{Fate, mark_folded};
use portmortem_tracer::format::{
    BLOCK_ALIGN, BlockHeader, BlockKind, Closing, Dialect, Event, FILE_HEADER_BYTES, Header,
    Outcome, Record, StreamKind, decode_header,
};
use portmortem_tracer::{Keep, NewPredicate, Options, Recorder};
use reader::Trace;

/// A block is written over after it was marked as folded, and not before.
#[test]
fn only_folded_blocks_make_room() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        max_size: Some(256 << 10),
        keep: Keep::Figures,
        ..Options::default()
    };
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(directory.path().join("a.pmt"), &header, &options).unwrap();
    let predicates: Vec<u32> = (0..4)
        .map(|at| recorder.predicate(NewPredicate::named("user", &format!("p{at}"), 0)))
        .collect();
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let fill = |predicate: u32| (0..100_000).for_each(|_| stream.call(predicate));
    let calls_of = |trace: &Trace, predicate: u32| {
        let events = &trace.stream(1).events;
        let wanted = |&&(_, event): &&(u64, Event)| event == Event::Call { predicate };
        events.iter().filter(wanted).count()
    };
    fill(predicates[0]);
    fill(predicates[1]);
    let full = Trace::read(recorder.path());
    assert!(calls_of(&full, predicates[0]) > 10_000);
    assert_eq!(calls_of(&full, predicates[1]), 0);
    let blocks = closed_blocks(recorder.path());
    let file = fs::File::options()
        .write(true)
        .open(recorder.path())
        .unwrap();
    let (folded, _) = blocks.split_at(blocks.len() / 2);
    for &(offset, _) in folded {
        mark_folded(&file, offset, Fate::Free).unwrap();
    }
    fill(predicates[2]);
    fill(predicates[3]);
    stream.end();
    recorder.close(Outcome::Stopped).unwrap();
    let end = Trace::read(recorder.path());
    assert!(end.length <= 256 << 10);
    let gone: u64 = folded.iter().map(|&(_, events)| u64::from(events)).sum();
    let before = calls_of(&full, predicates[0]) as u64;
    // Those of the open block were not closed yet when it was looked at.
    assert!(calls_of(&end, predicates[0]) as u64 >= before - gone);
    assert!(calls_of(&end, predicates[2]) > 1_000);
    assert_eq!(calls_of(&end, predicates[3]), 0);
    let stream = end.stream(1);
    assert_eq!(stream.events.len() as u64 + stream.lost, 400_000);
}

/// Blocks that stay are there in the end, however many of them lie before those that are free; and
/// one that is to be free after all makes room.
#[test]
fn folded_blocks_stay_until_they_are_free() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        max_size: Some(256 << 10),
        keep: Keep::Figures,
        ..Options::default()
    };
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(directory.path().join("a.pmt"), &header, &options).unwrap();
    let predicate = recorder.predicate(NewPredicate::named("user", "p", 0));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let fill = || (0..100_000).for_each(|_| stream.call(predicate));
    fill();
    let blocks = closed_blocks(recorder.path());
    let file = fs::File::options()
        .write(true)
        .open(recorder.path())
        .unwrap();
    let (stay, free) = blocks.split_at(blocks.len() / 2);
    assert!(stay.len() > 2 && free.len() > 2, "{}", blocks.len());
    for (blocks, fate) in [(stay, Fate::Stays), (free, Fate::Free)] {
        for &(offset, _) in blocks {
            mark_folded(&file, offset, fate).unwrap();
        }
    }
    let is_there = |(offset, events): &(u64, u32)| {
        let now = closed_blocks(recorder.path());
        now.contains(&(*offset, *events))
    };
    fill();
    assert!(stay.iter().all(is_there));
    mark_folded(&file, stay[1].0, Fate::Free).unwrap();
    fill();
    stream.end();
    recorder.close(Outcome::Stopped).unwrap();
    let end = Trace::read(recorder.path());
    let first = |at: usize| {
        let bytes = fs::read(recorder.path()).unwrap();
        let block = BlockHeader::parse(&bytes[stay[at].0 as usize..], end.file_id);
        block.unwrap().first_event
    };
    // The first block begins with the first event, and the third with a later one of those before.
    assert_eq!(first(0), 0);
    assert!(first(2) < 100_000 && first(1) > 100_000, "{}", first(1));
}

/// A file grows until it has its size, and beyond it as long as nothing was folded; then folded
/// blocks are written over, and the header says so.
#[test]
fn a_large_file_reuses_what_was_folded() {
    const SIZE: u64 = 256 << 10;
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        keep: Keep::FiguresBeyond(SIZE),
        ..Options::default()
    };
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(directory.path().join("a.pmt"), &header, &options).unwrap();
    let predicate = recorder.predicate(NewPredicate::named("user", "p", 0));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let length = || recorder.path().metadata().unwrap().len();
    let says_so = || Trace::read(recorder.path()).header.mode.keep_last;
    // Each call takes three bytes or more.
    let fill = || (0..1_000_000).for_each(|_| stream.call(predicate));
    fill();
    let blocks = closed_blocks(recorder.path());
    let so_far: u64 = blocks.iter().map(|&(_, events)| u64::from(events)).sum();
    assert!(length() > 4 * SIZE);
    assert!(so_far > 900_000 && !says_so());
    assert_eq!(Trace::read(recorder.path()).stream(1).lost, 0);
    let file = fs::File::options().write(true).open(recorder.path());
    let file = file.unwrap();
    for &(offset, _) in &blocks {
        mark_folded(&file, offset, Fate::Free).unwrap();
    }
    let before = length();
    fill();
    // What was not used of the room at the end is.
    assert!(length() <= before + (16 << 20) && says_so());
    stream.end();
    recorder.close(Outcome::Stopped).unwrap();
    let end = Trace::read(recorder.path());
    let stream = end.stream(1);
    // None of those that were not folded is missing.
    let not_folded = 2_000_000 - so_far;
    let kept = stream.events.len() as u64;
    assert!(kept >= not_folded, "{kept} of {not_folded}");
    // Behind the blocks stand the index and the footer.
    assert!(
        end.length <= before + (64 << 10),
        "{} of {before}",
        end.length
    );
    let notes = end.records.iter().filter(|record| {
        matches!(record, Record::Note { text } if text.contains("the newest events are here"))
    });
    assert_eq!(notes.count(), 1);
}

/// Where closed blocks of events begin, and how many events they have.
fn closed_blocks(path: &Path) -> Vec<(u64, u32)> {
    let bytes = fs::read(path).unwrap();
    let (_, file_id) = decode_header(&bytes).unwrap();
    let places = (FILE_HEADER_BYTES..bytes.len()).step_by(BLOCK_ALIGN);
    places
        .filter_map(|at| {
            let block = BlockHeader::parse(&bytes[at..], file_id).ok()?;
            match block.closing {
                Closing::Closed(close) if block.kind == BlockKind::Events => {
                    Some((at as u64, close.events))
                }
                _ => None,
            }
        })
        .collect()
}
