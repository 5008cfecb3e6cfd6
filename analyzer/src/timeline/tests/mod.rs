//! Pictures against those that are computed from lists of everything.

mod brute;
mod folding;
mod slices;

use std::path::Path;
use std::sync::Mutex;

use portmortem_tracer::format::{Dialect, Event, Header, Outcome, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;
use crate::ReplayOptions;
use crate::index::Index;
use crate::replay::tests::random::{self, Limits};
use crate::scope::hide::Hide;
use crate::trace::mapping::Mapping;

/// Long after any tick that the recorder itself reads.
const LATER: u64 = 1 << 40;

/// A trace of these events, of predicates `p0/0`, `p1/0`, …
fn record(events: &[(Event, u64)], predicates: u32, dialect: Dialect) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let header = Header::of_this_process("test engine");
    // Small blocks, and so many checkpoints.
    let options = Options {
        max_size: Some(2 << 20),
        ..Options::default()
    };
    let recorder = Recorder::create(&path, &header, &options).unwrap();
    for at in 0..predicates {
        assert_eq!(
            recorder.predicate(NewPredicate::named("user", &format!("p{at}"), 0)),
            at
        );
    }
    let stream = recorder.stream(StreamKind::Thread, "main", dialect);
    let base = clock::ticks() + LATER;
    for &(event, tick) in events {
        stream.record_at(event, base + tick);
    }
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    open(std::fs::read(&path).unwrap())
}

/// Events by chance, without gaps, of so many predicates.
fn by_chance(runner: &mut TestRunner, predicates: u32) -> Vec<(Event, u64)> {
    let choices = random::choices(20_000);
    let choices = choices.new_tree(runner).unwrap().current();
    let limits = Limits {
        predicates,
        dialect: Dialect::EveryRedo,
        gaps: false,
        sites: false,
    };
    random::run(&choices, limits, 1)
}

fn open(bytes: Vec<u8>) -> Trace {
    Trace::read(Mapping::from(bytes), Path::new("trace.pmt")).unwrap()
}

/// But for the number of blocks, which the brute force does not count.
fn assert_same(columns: &[TimeColumn], expected: &[TimeColumn]) {
    assert_eq!(columns.len(), expected.len());
    for (at, (column, expected)) in columns.iter().zip(expected).enumerate() {
        for row in 0..expected.cells.len() {
            assert_eq!(
                column.cell(row),
                expected.cell(row),
                "column {at}, row {row}"
            );
        }
        let column = TimeColumn {
            blocks: 0,
            ..column.clone()
        };
        assert_eq!(column, *expected, "column {at}");
    }
}

fn read_all(reader: &Reader<'_>, window: &TimeRange) -> Vec<TimeColumn> {
    let columns = Mutex::new(vec![TimeColumn::default(); window.columns as usize]);
    let whole = reader.read(window, &Progress::default(), |first, part| {
        let mut columns = columns.lock().unwrap();
        for (at, column) in (first as usize..).zip(part) {
            assert!(!columns[at].read, "column {at} twice");
            columns[at] = column;
        }
    });
    assert!(whole);
    columns.into_inner().unwrap()
}

/// Where a window lies, relative to the events.
#[derive(Debug, Clone, Copy)]
struct Cut {
    from: f64,
    length: f64,
    columns: u32,
    first_row: u32,
    rows: u32,
}

fn cut() -> impl Strategy<Value = Cut> {
    (-0.2..1.0, 0.01..1.5, 1..40_u32, 0..5_u32, 1..12_u32).prop_map(
        |(from, length, columns, first_row, rows)| Cut {
            from,
            length,
            columns,
            first_row,
            rows,
        },
    )
}

impl Cut {
    fn window(&self, ticks: &Range<u64>, stream: usize) -> TimeRange {
        let span = (ticks.end - ticks.start + 1) as f64;
        let from = (ticks.start as i64 + (self.from * span) as i64) as u64;
        TimeRange {
            stream,
            from,
            to: from + 1 + (self.length * span) as u64,
            columns: self.columns,
            grain: 1,
            first_row: self.first_row,
            rows: self.rows,
        }
    }
}

/// Everything but the boxes of these predicates.
fn hiding(hidden: &[bool]) -> Scope {
    Scope {
        hidden: hidden.to_vec(),
        ..Scope::default()
    }
}

fn mask(hidden: &[u32], predicates: u32) -> Vec<bool> {
    (0..=predicates).map(|at| hidden.contains(&at)).collect()
}

proptest! {
    #[test]
    fn pictures_are_those_of_all_segments(
        choices in random::choices(120),
        cut in cut(),
        hidden in prop::collection::vec(0..5_u32, 0..3),
        innermost in any::<bool>(),
    ) {
        let dialect = if innermost { Dialect::InnermostRedo } else { Dialect::EveryRedo };
        let limits = Limits { predicates: 5, dialect, gaps: true, sites: false, };
        let trace = record(&random::run(&choices, limits, 1), 5, dialect);
        let patterns = hidden.iter().map(|at| format!("p{at}/0"));
        let blocks = Blocks::of(&trace);
        let masked = Hide::new(patterns).mask(&trace);
        let scope = hiding(&masked);
        let reader = Reader::new(&trace, &blocks, None, &scope);
        prop_assert_eq!(&masked, &mask(&hidden, 5));
        let story = brute::tell(&trace, &reader.scope.hidden, 0);
        let window = cut.window(&story.ticks(), 0);
        let expected = story.columns(&window);
        assert_same(&read_all(&reader, &window), &expected);
        assert_same(&reader.read_at_most(&window, u64::MAX).unwrap(), &expected);
    }

    #[test]
    fn the_first_event_since_a_tick_is_found_in_its_block(
        choices in random::choices(4000),
        wanted in prop::collection::vec(0.0..1.1, 8),
    ) {
        let limits = Limits { predicates: 5, dialect: Dialect::EveryRedo, gaps: true, sites: false, };
        let trace = record(&random::run(&choices, limits, 1), 5, Dialect::EveryRedo);
        let blocks = Blocks::of(&trace);
        let mut events = trace.events(&trace.streams()[0]);
        let mut all = Vec::new();
        while let Some(event) = events.next() {
            all.push((event.tick, events.number()));
        }
        let (first, last) = (all.first().map_or(0, |event| event.0), all.last().map_or(0, |event| event.0));
        let among = wanted.iter().map(|part| first + (part * (last - first) as f64) as u64);
        for tick in among.chain([0, first, last, last + 1]).chain(all.iter().take(50).map(|(tick, _)| *tick)) {
            let expected = all.iter().find(|(at, _)| *at >= tick).map(|(_, number)| *number);
            prop_assert_eq!(blocks.first_event_since(&trace, 0, tick), expected);
        }
        prop_assert_eq!(blocks.first_event_since(&trace, 1, first), None);
    }

    #[test]
    fn ticks_lie_in_the_columns_that_have_them(
        from in any::<u64>(), span in 1..1_000_000_u64, columns in 1..500_u32, grain in 1..2000_u64, at in 0.0..1.0,
    ) {
        let from = from.min(u64::MAX - span);
        let window = TimeRange { stream: 0, from, to: from + span, columns, grain, first_row: 0, rows: 1 };
        let tick = from + (at * span as f64) as u64;
        let column = window.column_of(tick).unwrap();
        prop_assert!(window.start_of(column) <= tick && tick < window.start_of(column + 1));
        prop_assert_eq!(window.column_of(from + span), None);
        prop_assert_eq!(window.start_of(columns), from + span);
    }
}

/// A trace of these events with an index that has a checkpoint every few blocks.
fn indexed(events: &[(Event, u64)], predicates: u32) -> (Trace, Index) {
    let sizes = pyramid::SliceSizes::default();
    indexed_with(events, predicates, sizes)
}

/// The same with slices of some size; written and read again.
fn indexed_with(
    events: &[(Event, u64)],
    predicates: u32,
    sizes: pyramid::SliceSizes,
) -> (Trace, Index) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let trace = record(events, predicates, Dialect::EveryRedo);
    std::fs::write(&path, trace.bytes()).unwrap();
    let trace = Trace::open(&path).unwrap();
    let options = ReplayOptions::default();
    let index = Index::build_every(2000, &trace, &path, &options).unwrap();
    assert!(index.find_slices_of(sizes, &trace, &Progress::default()));
    index.save(&path).unwrap();
    let index = Index::load(&trace, &path).unwrap();
    (trace, index)
}

#[test]
fn from_checkpoints_pictures_are_the_same() {
    let mut runner = TestRunner::deterministic();
    let mut parts = 0;
    for _ in 0..4 {
        let (trace, index) = indexed(&by_chance(&mut runner, 4), 4);
        for hidden in [&[][..], &["p0/*", "p2/*"], &["p1/*"]] {
            let blocks = Blocks::of(&trace);
            let hidden = Hide::new(hidden).mask(&trace);
            let scope = hiding(&hidden);
            let mut reader = Reader::new(&trace, &blocks, Some(index.trail()), &scope);
            reader.anchors_per_part = 1;
            let story = brute::tell(&trace, &reader.scope.hidden, 0);
            for _ in 0..6 {
                let window = cut().new_tree(&mut runner).unwrap().current();
                let window = window.window(&story.ticks(), 0);
                let expected = story.columns(&window);
                parts += reader
                    .parts(&window, &trace.streams()[0], 0..window.columns)
                    .len();
                assert_same(&read_all(&reader, &window), &expected);
                assert_same(&reader.read_at_most(&window, u64::MAX).unwrap(), &expected);
                is_part_of(&reader.outline(&window), &expected);
            }
        }
    }
    assert!(parts > 80, "{parts}");
}

/// What is known without reading is what reading finds; how many cells that are.
fn is_part_of(outline: &[TimeColumn], expected: &[TimeColumn]) -> usize {
    let mut known = 0;
    for (column, expected) in outline.iter().zip(expected) {
        assert!(!column.read);
        known += column.cells.len();
        for (row, cell) in column.cells.iter().enumerate() {
            assert_eq!(Some(*cell), expected.cell(row));
        }
    }
    known
}

fn window(ticks: &Range<u64>, columns: u32) -> TimeRange {
    TimeRange {
        stream: 0,
        from: ticks.start,
        to: ticks.end + 1,
        columns,
        grain: 1,
        first_row: 0,
        rows: 8,
    }
}

#[test]
fn outer_boxes_are_known_without_reading() {
    let mut events = vec![
        (Event::Call { predicate: 0 }, 0),
        (Event::Call { predicate: 1 }, 1),
    ];
    for at in 0..100_000 {
        events.push((Event::Call { predicate: 2 }, 10 * at + 2));
        events.push((Event::Fail, 10 * at + 5));
    }
    let (trace, index) = indexed(&events, 3);
    let blocks = Blocks::of(&trace);
    let scope = hiding(&[false; 4]);
    let reader = Reader::new(&trace, &blocks, Some(index.trail()), &scope);
    let story = brute::tell(&trace, &reader.scope.hidden, 0);
    let window = window(&story.ticks(), 10);
    let outline = reader.outline(&window);
    let known = is_part_of(&outline, &story.columns(&window));
    // All but the first column and the last, and of the two boxes that stay the one that is never
    // active.
    assert!((6..=8).contains(&known), "{known}");
    assert_eq!(outline[3].cell(5), None);
    let blocks: u32 = outline.iter().map(|column| column.blocks).sum();
    assert_eq!(blocks as usize, trace.streams()[0].blocks.len());
    assert_eq!(reader.read_at_most(&window, 1000), None);
    let progress = Progress::default();
    progress.stop();
    assert!(!reader.read(&window, &progress, |_, _| panic!("it was cancelled")));
}

#[test]
fn nothing_is_a_picture_too() {
    let trace = record(&[], 1, Dialect::EveryRedo);
    let blocks = Blocks::of(&trace);
    let scope = hiding(&[false; 2]);
    let reader = Reader::new(&trace, &blocks, None, &scope);
    for stream in [0, 7] {
        let window = TimeRange {
            stream,
            ..window(&(5..9), 3)
        };
        let columns = reader.read_at_most(&window, 10).unwrap();
        assert_eq!(columns.len(), 3);
        assert!(
            columns
                .iter()
                .all(|column| column.read && column.cells.is_empty())
        );
        assert_eq!(read_all(&reader, &window), columns);
    }
}
