//! Deep stacks and long chains: linear in time, and nothing recurses.

use portmortem_tracer::format::Event::{self, *};

use super::{Events, Script, by, files};
use crate::ReplayOptions;
use crate::figures::Caller::Root;
use crate::figures::laws;
use crate::index::Index;
use crate::trace::Trace;
use crate::walk::Walk;

/// One tick between events.
fn every_tick(events: impl IntoIterator<Item = Event>) -> Events {
    events.into_iter().zip(0..).collect()
}

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(test)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn ten_million_boxes_deep() {
    on_a_small_stack(|| {
        const DEEP: u64 = 10_000_000;
        let calls = (0..DEEP).map(|_| Call { predicate: 0 });
        let (profile, violations) = Script::new(1, every_tick(calls)).replay();
        assert_eq!(violations, []);
        let p = profile.predicates[0];
        assert_eq!((p.calls, p.open, p.inclusive_ticks), (DEEP, DEEP, DEEP - 1));
        assert_eq!(profile.streams[0].max_depth, DEEP);
        assert_eq!(profile.edges[&(by(0), 0)].spent_ticks, 0);
        assert_eq!(laws::check(&profile), []);
    });
}

/// `p :- q.  p :- p.` with every exit nondeterminate: the n-th redo enters n boxes of `p`.
#[test]
fn a_generator_of_100_000_solutions_counts_each_box() {
    const SOLUTIONS: u64 = 100_000;
    let solution = [Tail { predicate: 0 }, ExitNondet, Redo];
    let mut events = vec![Call { predicate: 0 }, ExitNondet, Redo];
    events.extend((1..SOLUTIONS).flat_map(|_| solution));
    let (profile, violations) = Script::new(1, every_tick(events)).replay();
    assert_eq!(violations, []);
    let p = profile.predicates[0];
    assert_eq!(p.redos, SOLUTIONS * (SOLUTIONS + 1) / 2);
    assert_eq!(p.redos, 5_000_050_000);
    assert_eq!((p.calls, p.tail_calls), (SOLUTIONS, SOLUTIONS - 1));
    assert_eq!(profile.edges[&(Root, 0)].redos, SOLUTIONS);
    assert_eq!(profile.edges[&(by(0), 0)].redos, p.redos - SOLUTIONS);
    assert_eq!(laws::check(&profile), []);
}

/// A chain over many predicates: departing must not search it.
#[test]
fn a_chain_of_many_predicates() {
    const PREDICATES: u32 = 50_000;
    let mut events = vec![Call { predicate: 0 }];
    for round in 0..20 {
        let step = 1 + 2 * round;
        let next = (1..=PREDICATES).map(|i| (i * step) % PREDICATES);
        events.extend(next.map(|predicate| Tail { predicate }));
    }
    events.push(ExitDet);
    let (profile, _) = Script::new(PREDICATES as usize, every_tick(events)).replay();
    assert_eq!(
        profile.predicates.iter().map(|p| p.calls).sum::<u64>(),
        1_000_001
    );
    assert_eq!(laws::check(&profile), []);
}

#[test]
fn the_whole_stack_unwinds_at_once() {
    const DEEP: usize = 1_000_000;
    let mut events = Vec::new();
    for _ in 0..DEEP {
        events.extend([Call { predicate: 0 }, Call { predicate: 1 }, ExitNondet]);
    }
    events.push(Cut { count: DEEP as u32 });
    events.extend((0..DEEP).map(|_| Exception));
    let (profile, violations) = Script::new(2, every_tick(events)).replay();
    assert_eq!(violations, []);
    assert_eq!(profile.predicates[0].exceptions, DEEP as u64);
    assert_eq!(profile.predicates[1].cuts, DEEP as u64);
    assert_eq!(laws::check(&profile), []);
}

/// The replay cannot cut such a stream, and still every moment of it is near, in an index of a few bytes a box.
#[test]
fn moments_of_a_deep_stack() {
    const DEEP: u64 = 700_000;
    let calls = (0..DEEP).map(|_| Call { predicate: 0 });
    let exits = (0..DEEP).map(|_| ExitDet);
    let mut events = every_tick(calls.chain(exits));
    files::later(&mut events);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep.pmt");
    std::fs::write(&path, files::record(&Script::new(1, events))).unwrap();
    let trace = Trace::open(&path).unwrap();
    let index = Index::build(&trace, &path, &ReplayOptions::default()).unwrap();
    let size = std::fs::metadata(index.save(&path).unwrap()).unwrap().len();
    assert!((DEEP..4 * DEEP).contains(&size), "{size}");
    for number in (0..=2 * DEEP).step_by(99_991) {
        let walk = Walk::from(&trace, Some(index.trail()), &trace.streams()[0], number);
        let depth = number.min(2 * DEEP - number);
        let called: Vec<u64> = walk
            .moment()
            .active()
            .newest()
            .take(300)
            .map(|of| of.called)
            .collect();
        assert_eq!(walk.moment().active().len() as u64, depth);
        assert!(called.into_iter().eq((0..depth).rev().take(300)));
    }
}
