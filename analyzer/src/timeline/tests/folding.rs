//! Slices that are made while blocks are folded, against lists of everything.

use portmortem_tracer::Keep;

use super::slices::assert_sum;
use super::*;
use crate::index::{self, Fold};
use crate::timeline::pyramid::SlicesSoFar;
use crate::trace::kept::kept;

/// The first size of slices, in ticks as a power of two.
const SHIFT: u32 = 6;

/// Slices of a trace of one stream whose blocks were folded so many at a time.
fn slices(trace: &Trace, at_a_time: usize, most: usize) -> Pyramids {
    let mut slices = SlicesSoFar::of_size(SHIFT, most);
    let blocks = trace.streams()[0].blocks.clone();
    for begin in blocks.clone().step_by(at_a_time) {
        let end = (begin + at_a_time).min(blocks.end);
        let ended = if end == blocks.end { &[0][..] } else { &[] };
        slices.go_on(trace, &[(0, begin..end)], ended);
    }
    Pyramids::of_index(slices.all(trace).unwrap(), trace).unwrap()
}

/// The blocks of a trace of which these, by their place in its stream, were written over; and in
/// which ticks their events are.
fn without(trace: &Trace, gone: Range<usize>) -> (Blocks, Range<u64>) {
    let blocks = Blocks::of(trace);
    let begin = if gone.start == 0 {
        0
    } else {
        blocks.begins[gone.start].tick
    };
    let ticks = begin..blocks.begins[gone.end].tick;
    let blocks = Blocks {
        gone: vec![vec![ticks.clone()]],
        ..blocks
    };
    (blocks, ticks)
}

/// How many columns were compared of which no event was read, and how many of them were whole.
/// `is_kept`: the first third of all blocks is there.
fn check(predicates: u32, at_a_time: usize, most: usize, is_kept: bool) -> (usize, usize) {
    let mut runner = TestRunner::deterministic();
    let (mut folded, mut whole) = (0, 0);
    for _ in 0..4 {
        let events = by_chance(&mut runner, predicates);
        let (trace, index) = indexed(&events, predicates);
        let scope = hiding(&vec![false; predicates as usize + 1]);
        let pyramids = slices(&trace, at_a_time, most);
        let many = trace.streams()[0].blocks.len();
        let first = if is_kept { many / 3 } else { 0 };
        let (blocks, gone) = without(&trace, first..many * 2 / 3);
        let reader = Reader::new(&trace, &blocks, Some(index.trail()), &scope);
        let reader = reader.with_slices(Some(&pyramids));
        let story = brute::tell(&trace, &reader.scope.hidden, 0);
        for _ in 0..40 {
            let cut = cut().new_tree(&mut runner).unwrap().current();
            let window = cut.window(&story.ticks(), 0);
            let column = (window.to - window.from) / u64::from(window.columns);
            let grain = pyramids.grain(0, column);
            let window = TimeRange { grain, ..window };
            let expected = story.columns(&window);
            let summed = reader.summed(&window, u64::MAX);
            let at_once = reader.read_at_most(&window, u64::MAX);
            let read = Some(read_all(&reader, &window));
            for columns in [summed, at_once, read].into_iter().flatten() {
                for (at, (column, expected)) in (0..).zip(columns.iter().zip(&expected)) {
                    let ticks = window.start_of(at)..window.start_of(at + 1);
                    let is_gone = ticks.start <= gone.end && ticks.end > gone.start;
                    assert!(column.is_done() && (column.read || is_gone), "column {at}");
                    if column.read {
                        assert_sum(std::slice::from_ref(column), std::slice::from_ref(expected));
                    } else {
                        for row in 0..column.cells.len() {
                            let cell = column.cell(row);
                            assert!(cell.is_none() || cell == expected.cell(row));
                        }
                    }
                    folded += usize::from(is_gone);
                    whole += usize::from(is_gone && column.read);
                }
            }
        }
    }
    (folded, whole)
}

#[test]
fn slices_of_folded_blocks_are_what_all_events_say() {
    for (at_a_time, is_kept) in [(1, false), (3, true), (1000, false), (1000, true)] {
        let (folded, whole) = check(4, at_a_time, usize::MAX, is_kept);
        assert!(whole > 100 && whole < folded, "{whole} of {folded}");
    }
}

#[test]
fn slices_become_larger_where_there_is_no_room() {
    let (_, all) = check(4, 2, usize::MAX, false);
    let (_, few) = check(4, 2, 20_000, false);
    assert!(few < all && few > 50, "{few} of {all}");
}

/// A box in which two others are called and fail in turn, and the middle of all blocks is where the
/// kept ones begin.
fn in_turn(look: impl Fn(&Reader, &brute::Story, u64), hidden: &[bool]) {
    let mut events = vec![(Event::Call { predicate: 0 }, 0)];
    events.extend((0..30_000).flat_map(|at| {
        [
            (Event::Call { predicate: 1 }, 200 * at + 100),
            (Event::Fail, 200 * at + 170),
        ]
    }));
    let (trace, index) = indexed(&events, 3);
    let pyramids = slices(&trace, 2, usize::MAX);
    let begins = Blocks::of(&trace).begins;
    let early = begins.partition_point(|block| block.event < 20_000);
    let (blocks, gone) = without(&trace, 0..early.min(begins.len() - 1));
    let scope = hiding(hidden);
    let reader = Reader::new(&trace, &blocks, Some(index.trail()), &scope);
    let reader = reader.with_slices(Some(&pyramids));
    let story = brute::tell(&trace, &reader.scope.hidden, 0);
    look(&reader, &story, gone.end);
}

/// Between two slices' ends a box is known that is there in all of the slice.
#[test]
fn the_nearest_look_knows_what_is_there_throughout() {
    let look = |reader: &Reader, story: &brute::Story, kept_from: u64| {
        let ticks = story.ticks();
        let from = ticks.start + (kept_from - ticks.start) / 2;
        let window = TimeRange {
            from,
            to: from + 400,
            ..window(&ticks, 40)
        };
        let expected = story.columns(&window);
        let columns = read_all(reader, &window);
        for (column, expected) in columns.iter().zip(&expected) {
            assert!(column.is_done());
            assert_eq!(column.cell(0), expected.cell(0));
        }
        assert!(columns.iter().any(|column| column.folded));
        assert_eq!(reader.read_at_most(&window, 0), Some(columns));
    };
    in_turn(look, &[false; 4]);
}

/// What is hidden is in slices, so nothing is known of folded blocks.
#[test]
fn nothing_is_guessed_where_predicates_are_hidden() {
    let look = |reader: &Reader, story: &brute::Story, kept_from: u64| {
        let window = window(&story.ticks(), 40);
        let (mut gone, mut kept) = (0, 0);
        for (at, column) in (0..).zip(read_all(reader, &window)) {
            assert_eq!(column.read, window.start_of(at) > kept_from);
            match column.read {
                true => kept += 1,
                false => gone += usize::from(column.cell(0).is_none()),
            }
        }
        assert!(gone > 0 && kept > 0 && gone + kept == 40, "{gone} {kept}");
    };
    in_turn(look, &[false, false, true, false]);
}

/// A recording of four times its room is folded while it is written: a picture of all of it has all
/// events, and kept are the newest.
#[test]
fn the_picture_of_a_folded_recording_has_all_events() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let limit = 1 << 20;
    let options = Options {
        max_size: Some(limit),
        keep: Keep::Figures,
        ..Options::default()
    };
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &options).unwrap();
    let predicate = recorder.predicate(NewPredicate::named("user", "p", 0));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let mut tick = clock::ticks() + LATER;
    let mut fold = Fold::begin(&path, limit).unwrap();
    let mut written = 0;
    let mut happens = |event| {
        tick += 50_000;
        stream.record_at(event, tick);
        written += 1;
    };
    happens(Event::Call { predicate });
    for at in 1..=700_000 {
        happens(Event::Call { predicate });
        happens(Event::Fail);
        if at % 10_000 == 0 {
            fold.go_on(1).unwrap();
        }
    }
    happens(Event::ExitDet);
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    fold.finish().unwrap();
    let trace = Trace::open(&path).unwrap();
    let folded = index::folded(&trace, &path, &ReplayOptions::default()).unwrap();
    let kept = kept(&trace, &trace.streams()[0]);
    let newest = kept.last().unwrap();
    assert!(
        trace.size() <= limit && newest.events.start > written / 2,
        "{kept:?}"
    );
    let blocks = Blocks::of(&trace);
    let scope = Scope::default();
    let reader = Reader::new(&trace, &blocks, Some(&folded.trail), &scope);
    let reader = reader.with_slices(folded.slices.as_ref());
    let figures = &folded.profile.streams[0];
    let ticks = figures.first_tick..figures.last_tick + 1;
    let slices = folded.slices.as_ref().unwrap();
    let window = TimeRange {
        grain: slices.grain(0, (ticks.end - ticks.start) / 400),
        ..window(&ticks, 400)
    };
    assert!(window.grain > 1);
    let columns = reader.summed(&window, u64::MAX).unwrap();
    assert!(columns.iter().all(|column| column.read));
    let events = columns.iter().map(|column| column.counts.events);
    assert_eq!(events.sum::<u64>(), written);
    let outermost = |column: &TimeColumn| column.cells[0].only().map(|only| only.called);
    let mut since = columns
        .iter()
        .skip_while(|column| column.counts.events == 0);
    assert!(since.all(|column| outermost(column) == Some(0)));
}
