//! How large trace files are.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "common/reader.rs"]
mod reader;

use portmortem_tracer::format::{
    Closing, Dialect, Event, FILE_HEADER_BYTES, Header, Outcome, StreamKind,
};
use portmortem_tracer::{Keep, NewPredicate, Options, Recorder, Stream};
use reader::Trace;
use tempfile::TempDir;

fn begin(options: Options) -> (TempDir, Recorder) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let header = Header::of_this_process("test");
    let recorder = Recorder::create(path, &header, &options).unwrap();
    (directory, recorder)
}

fn thread(recorder: &Recorder) -> Stream {
    recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo)
}

/// Calls and exits, `events` of them in turns, a predicate for every hundred until there are enough:
/// always the same, on a clock of their own.
fn play(recorder: &Recorder, streams: &[Stream], events: u32) {
    for i in 0..events {
        if i % 100 == 0 && i < 10_000 {
            let _ = recorder
                .predicate(NewPredicate::named("user", "a_predicate", i / 100).at("/p/main.pl", i));
        }
        let event = match i % 2 {
            0 => Event::Call {
                predicate: i / 2 % 100,
            },
            _ => Event::ExitDet,
        };
        streams[i as usize % streams.len()].record_at(event, 1_000_000 + u64::from(i) * 300);
    }
}

/// Bytes of events and records.
fn payload(trace: &Trace) -> u64 {
    let committed = trace.blocks.iter().map(|block| block.header.committed);
    committed.map(u64::from).sum()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ending {
    /// Streams end before the recording.
    Ended,
    /// Streams are still there when the recording ends.
    Live,
}

fn recorded(events: u32, streams: usize, ending: Ending) -> Trace {
    let (_directory, recorder) = begin(Options::default());
    let mut streams: Vec<_> = (0..streams).map(|_| thread(&recorder)).collect();
    play(&recorder, &streams, events);
    if ending == Ending::Ended {
        streams.clear();
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    Trace::read(recorder.path())
}

#[test]
fn a_trace_is_hardly_larger_than_its_events_and_names() {
    for events in [0, 1, 1000, 5000, 20_000, 60_148, 300_000, 2_000_000] {
        let trace = recorded(events, 1, Ending::Ended);
        let most = payload(&trace) * 102 / 100 + 8192;
        assert!(
            trace.length <= most,
            "{events} events: {} bytes",
            trace.length
        );
    }
}

#[test]
fn streams_that_take_turns_waste_at_most_an_eighth() {
    for events in [1000, 20_000, 60_148, 300_000, 2_000_000] {
        for (streams, ending) in [(1, Ending::Live), (3, Ending::Ended), (3, Ending::Live)] {
            let trace = recorded(events, streams, ending);
            let most = payload(&trace) * 115 / 100 + 10_240;
            assert!(
                trace.length <= most,
                "{events} events in {streams} streams, {ending:?}: {} bytes",
                trace.length
            );
        }
    }
}

#[test]
fn many_tiny_streams_take_half_a_kibibyte_each() {
    let (_directory, recorder) = begin(Options::default());
    let streams = 20_000;
    for i in 0..streams {
        let stream = recorder.stream(StreamKind::Engine, "", Dialect::EveryRedo);
        for _ in 0..5 {
            stream.call(i);
            stream.exit_det();
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::read(recorder.path());
    assert!(
        trace.length < u64::from(streams) * 600,
        "{} bytes",
        trace.length
    );
    assert_eq!(trace.stream_ids(), (1..=streams).collect::<Vec<_>>());
    for id in [1, 2, streams / 2, streams] {
        let stream = trace.stream(id);
        assert_eq!(
            (stream.events.len(), stream.blocks, stream.lost),
            (10, 1, 0)
        );
    }
}

#[test]
fn what_a_block_has_left_goes_to_the_next() {
    let (_directory, recorder) = begin(Options::default());
    for events in [300, 1, 40_000, 7, 3000] {
        play(&recorder, &[thread(&recorder)], events);
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::read(recorder.path());
    let mut at = FILE_HEADER_BYTES;
    for block in &trace.blocks {
        assert_eq!(block.offset, at, "no hole");
        at += block.header.size as usize;
        let Closing::Closed(_) = block.header.closing else {
            panic!("an open block");
        };
    }
    for (id, events) in (1..).zip([300, 1, 40_000, 7, 3000]) {
        assert_eq!(trace.stream(id).events.len(), events);
    }
}

#[test]
fn a_flight_recorder_that_was_not_full_is_small_too() {
    let (_directory, recorder) = begin(Options {
        max_size: Some(16 << 20),
        keep: Keep::Last,
        ..Options::default()
    });
    play(&recorder, &[thread(&recorder)], 60_000);
    recorder.close(Outcome::Stopped).unwrap();
    let trace = Trace::read(recorder.path());
    assert!(trace.length <= payload(&trace) * 102 / 100 + 8192);
    assert_eq!(trace.stream(1).lost, 0);
}

/// A reader that walks takes what is neither a block nor zeros for damage.
#[test]
fn a_full_flight_recorder_leaves_nothing_between_its_blocks() {
    let (_directory, recorder) = begin(Options {
        max_size: Some(64 << 10),
        keep: Keep::Last,
        ..Options::default()
    });
    play(&recorder, &[thread(&recorder)], 100_000);
    for _ in 0..100 {
        thread(&recorder).call(0);
        let mut bytes = std::fs::read(recorder.path()).unwrap();
        for block in Trace::read(recorder.path()).blocks {
            bytes[block.offset..][..block.header.size as usize].fill(0);
        }
        assert!(bytes[FILE_HEADER_BYTES..].iter().all(|&byte| byte == 0));
    }
}
