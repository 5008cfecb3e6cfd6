//! Generated traces: every figure is known by construction, and must be found again to the last count and tick.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use portmortem_analyzer::figures::laws;
use portmortem_analyzer::figures::{Caller, PredicateFigures};
use portmortem_analyzer::{Profile, ReplayOptions, Trace, replay};
use portmortem_tests::generator::figures::{Predicate, Site, Stream};
use portmortem_tests::generator::{Figures, Shape, Workload, generate};

/// Makes a trace, replays it on so many threads and compares.
fn check(shape: &Shape, threads: usize) -> (Figures, Profile) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("generated.pmt");
    let known = generate(&path, shape).unwrap();
    let found = on_threads(threads, || replayed(&path));
    compare(&known, &found, &path, &format!("{shape:?}"));
    (known, found)
}

fn on_threads<T: Send>(threads: usize, action: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(action)
}

fn replayed(path: &Path) -> Profile {
    let trace = Trace::open(path).unwrap();
    replay(&trace, &ReplayOptions::default())
}

fn compare(known: &Figures, found: &Profile, path: &Path, what: &str) {
    assert_eq!(found.violation_count, 0, "{what}: {:?}", found.violations);
    assert_eq!(found.damage, [], "{what}");
    assert_eq!(laws::check(found), [], "{what}");
    compare_predicates(known, found, what);
    compare_edges(known, found, what);
    compare_sites(known, found, what);
    compare_backtracking(known, found, what);
    compare_streams(known, found, path, what);
    compare_contexts(known, found, what);
}

fn compare_predicates(known: &Figures, found: &Profile, what: &str) {
    for (id, (row, known)) in found.predicates.iter().zip(&known.predicates).enumerate() {
        assert_eq!(of_predicate(row), *known, "{what}: predicate {id}");
    }
    let rest = &found.predicates[known.predicates.len()..];
    assert!(
        rest.iter().all(|row| *row == PredicateFigures::default()),
        "{what}: {rest:?}"
    );
}

fn of_predicate(row: &PredicateFigures) -> Predicate {
    Predicate {
        calls: row.calls,
        tail_calls: row.tail_calls,
        exits_det: row.exits_det,
        exits_nondet: row.exits_nondet,
        exits_again: row.exits_again,
        redos: row.redos,
        fails: row.fails,
        fails_dry: row.fails_dry,
        exceptions: row.exceptions,
        cuts: row.cuts,
        open: row.open,
        pending: row.pending,
        self_ticks: row.self_ticks,
        self_failed_ticks: row.self_failed_ticks,
        self_raised_ticks: row.self_raised_ticks,
        self_open_ticks: row.self_open_ticks,
        inclusive_ticks: row.inclusive_ticks,
        failed_ticks: row.failed_ticks,
        raised_ticks: row.raised_ticks,
        open_ticks: row.open_ticks,
        undone_ticks: row.undone_ticks,
        lifetime_ticks: row.lifetime_ticks,
        max_height: row.max_height,
    }
}

fn caller(predicate: Option<u32>) -> Caller {
    predicate.map_or(Caller::Root, Caller::Predicate)
}

fn compare_edges(known: &Figures, found: &Profile, what: &str) {
    for row in &known.edges {
        let pair = (caller(row.caller), row.callee);
        let edge = found.edges.get(&pair).copied().unwrap_or_default();
        assert_eq!(
            (edge.calls, edge.tail_calls, edge.exits(), edge.redos),
            (row.calls, row.tail_calls, row.exits, row.redos),
            "{what}: {pair:?}"
        );
        assert_eq!(
            (edge.fails, edge.served_ticks),
            (row.fails, row.served_ticks),
            "{what}: {pair:?}"
        );
    }
    assert_eq!(found.edges.len(), known.edges.len(), "{what}");
}

fn compare_sites(known: &Figures, found: &Profile, what: &str) {
    let first = known.predicates.len() as u32;
    for row in &known.sites {
        let site = row.id.map(|id| id - first);
        let key = (caller(row.caller), row.callee, site);
        let figures = found.sites.get(&key).copied().unwrap_or_default();
        let of_site = Site {
            id: row.id,
            caller: row.caller,
            callee: row.callee,
            calls: figures.calls,
            tail_calls: figures.tail_calls,
            exits_det: figures.exits_det,
            exits_nondet: figures.exits_nondet,
            redos: figures.redos,
            fails: figures.fails,
            exceptions: figures.exceptions,
            cuts: figures.cuts,
            open: figures.open,
            pending: figures.pending,
            served_ticks: figures.served_ticks,
            undone_ticks: figures.undone_ticks,
        };
        assert_eq!(of_site, *row, "{what}: {key:?}");
    }
    assert_eq!(found.sites.len(), known.sites.len(), "{what}");
}

fn compare_backtracking(known: &Figures, found: &Profile, what: &str) {
    let known_rows = known.backtracks.iter().map(|row| {
        let pair = (caller(row.failed), row.redone);
        (pair, (row.count, row.undone_ticks))
    });
    let rows = found.backtracks.iter();
    let rows: BTreeMap<_, _> = rows
        .map(|(&pair, row)| (pair, (row.count, row.undone_ticks)))
        .collect();
    assert_eq!(rows, known_rows.collect(), "{what}");
    let known_cuts = known.cuts.iter();
    let known_cuts = known_cuts.map(|row| ((caller(row.cutter), row.cut), row.count));
    assert_eq!(found.cuts, known_cuts.collect(), "{what}");
}

fn compare_streams(known: &Figures, found: &Profile, path: &Path, what: &str) {
    let trace = Trace::open(path).unwrap();
    assert_eq!(found.streams.len(), known.streams.len(), "{what}");
    assert_eq!(trace.streams().len(), known.streams.len(), "{what}");
    for ((row, known), info) in found
        .streams
        .iter()
        .zip(&known.streams)
        .zip(trace.streams())
    {
        // The recorder, not the generator, says when a stream began.
        let begin = info.begin.as_ref().unwrap().tick;
        assert_eq!(row.first_tick, begin, "{what}");
        let before = known.first_event_tick - begin;
        let row = Stream {
            stream: row.stream,
            events: row.events,
            first_event_tick: row.first_tick + before,
            last_tick: row.last_tick,
            self_ticks: row.self_ticks,
            untraced_ticks: row.untraced_ticks - before,
            paused_ticks: row.paused_ticks,
            max_depth: row.max_depth,
            max_choices: row.max_choices,
        };
        assert_eq!(row, *known, "{what}");
    }
}

/// Contexts are not known, but what they sum to.
fn compare_contexts(known: &Figures, found: &Profile, what: &str) {
    let mut sums = vec![Predicate::default(); found.predicates.len()];
    for row in &found.contexts {
        let sum = &mut sums[row.predicate as usize];
        sum.calls += row.calls;
        sum.exits_det += row.exits();
        sum.redos += row.redos;
        sum.fails += row.fails;
        sum.exceptions += row.exceptions;
        sum.self_ticks += row.self_ticks;
        sum.undone_ticks += row.undone_ticks;
        if !row.recursive {
            sum.inclusive_ticks += row.inclusive_ticks;
        }
    }
    for (id, (sum, known)) in sums.iter().zip(&known.predicates).enumerate() {
        let known = Predicate {
            calls: known.calls,
            exits_det: known.exits_det + known.exits_nondet,
            redos: known.redos,
            fails: known.fails,
            exceptions: known.exceptions,
            self_ticks: known.self_ticks,
            undone_ticks: known.undone_ticks,
            inclusive_ticks: known.inclusive_ticks,
            ..Predicate::default()
        };
        assert_eq!(*sum, known, "{what}: contexts of predicate {id}");
    }
}

#[test]
fn every_workload_is_found_again() {
    for workload in Workload::ALL {
        for seed in 1..4 {
            let events = [100, 20_011, 200_000][seed as usize % 3];
            let shape = Shape::new(workload, events, seed);
            check(&shape, 1);
            check(&shape, 2);
        }
    }
}

#[test]
fn several_streams_and_programs_of_other_sizes() {
    for seed in 10..20 {
        let workload = Workload::ALL[seed as usize % Workload::ALL.len()];
        let shape = Shape {
            streams: seed,
            predicates: 3 + 40 * (seed as u32 % 4),
            innermost_redo: seed % 2 == 0,
            ..Shape::new(workload, 100_003, seed)
        };
        check(&shape, 2);
    }
}

#[test]
fn two_million_events() {
    let (known, _) = check(&Shape::new(Workload::Mixed, 2_000_000, 1), 2);
    let by_site = known.sites.iter().filter(|row| row.id.is_some()).count();
    assert!(by_site > 500, "only {by_site} sites call");
    let used = known.predicates.iter().filter(|row| row.calls > 0).count();
    assert!(used > 150, "only {used} predicates of 200 are called");
    for (name, count) in [
        ("last calls", sum(&known, |row| row.tail_calls)),
        ("nondeterminate exits", sum(&known, |row| row.exits_nondet)),
        ("redos", sum(&known, |row| row.redos)),
        ("fails", sum(&known, |row| row.fails)),
        ("exceptions", sum(&known, |row| row.exceptions)),
        ("cuts", sum(&known, |row| row.cuts)),
        ("pauses", known.streams[0].paused_ticks),
    ] {
        assert!(count > 1000, "{count} {name}");
    }
}

fn sum(known: &Figures, of: impl Fn(&Predicate) -> u64) -> u64 {
    known.predicates.iter().map(of).sum()
}

#[test]
fn ten_million_boxes_deep() {
    // 2 MiB is what threads get unless more is asked for.
    let test = std::thread::Builder::new().stack_size(2 << 20).spawn(|| {
        const DEEP: u64 = 10_000_000;
        let (_, found) = check(&Shape::new(Workload::Deep, 2 * DEEP, 1), 2);
        assert_eq!(found.streams[0].max_depth, DEEP);
    });
    test.unwrap().join().unwrap();
}

#[test]
fn a_hundred_thousand_streams_of_ten_events() {
    let (known, _) = check(&Shape::new(Workload::Wide, 1_000_000, 1), 2);
    assert_eq!(known.streams.len(), 100_000);
}

#[test]
#[ignore = "takes half a gigabyte of disk, and several seconds to make"]
fn a_million_streams_of_ten_events() {
    let (known, _) = check(&Shape::new(Workload::Wide, 10_000_000, 1), 2);
    assert_eq!(known.streams.len(), 1_000_000);
}

#[test]
#[ignore = "takes three gigabytes of disk and, unless built with --release, minutes"]
fn a_billion_events() {
    check(&Shape::new(Workload::Mixed, 1_000_000_000, 1), 2);
}

#[test]
fn the_same_shape_makes_the_same_events() {
    let directory = tempfile::tempdir().unwrap();
    let shape = Shape {
        streams: 3,
        ..Shape::new(Workload::Mixed, 30_000, 7)
    };
    let paths: [PathBuf; 2] = ["a.pmt", "b.pmt"].map(|name| directory.path().join(name));
    let [first, second] = paths.each_ref().map(|path| {
        let mut figures = generate(path, &shape).unwrap();
        for stream in &mut figures.streams {
            stream.last_tick -= stream.first_event_tick;
            stream.first_event_tick = 0;
        }
        figures
    });
    assert_eq!(first, second);
    let [first, second] = paths.each_ref().map(|path| {
        let trace = Trace::open(path).unwrap();
        let events = trace.streams().iter().flat_map(|info| trace.events(info));
        events.map(|timed| timed.event).collect::<Vec<_>>()
    });
    assert_eq!(first, second);
    let other = Shape { seed: 8, ..shape };
    assert_ne!(
        generate(&paths[0], &other).unwrap().predicates,
        generate(&paths[1], &shape).unwrap().predicates
    );
}
