//! Every event of the model, by hand.

use portmortem_tracer::format::Dialect;
use portmortem_tracer::format::Event::{self, *};

use super::{Script, by};
use crate::figures::Caller::Root;
use crate::figures::laws;
use crate::figures::profile::{Profile, ViolationKind};

pub(super) const P: u32 = 0;
pub(super) const Q: u32 = 1;
pub(super) const R: u32 = 2;
pub(super) const UNKNOWN: usize = 3;

pub(super) fn call(predicate: u32) -> Event {
    Call { predicate }
}

pub(super) fn tail(predicate: u32) -> Event {
    Tail { predicate }
}

pub(super) fn script(events: &[(Event, u64)]) -> Script {
    Script::new(3, events.to_vec())
}

/// Without violations, and with all laws kept.
pub(super) fn valid(script: &Script) -> Profile {
    let (profile, violations) = script.replay();
    assert_eq!(violations, []);
    assert_eq!(laws::check(&profile), []);
    profile
}

pub(super) fn profile(events: &[(Event, u64)]) -> Profile {
    valid(&script(events))
}

#[test]
fn call_and_deterministic_exit() {
    let profile = profile(&[(call(P), 10), (call(Q), 13), (ExitDet, 17), (ExitDet, 22)]);
    let [p, q] = [P, Q].map(|i| profile.predicates[i as usize]);
    assert_eq!(
        (p.calls, p.exits_det, p.self_ticks, p.inclusive_ticks),
        (1, 1, 8, 12)
    );
    assert_eq!(
        (q.calls, q.exits_det, q.self_ticks, q.inclusive_ticks),
        (1, 1, 4, 4)
    );
    let root = profile.edges[&(Root, P)];
    assert_eq!(
        (
            root.calls,
            root.exits(),
            root.served_ticks,
            root.spent_ticks
        ),
        (1, 1, 12, 12)
    );
    let edge = profile.edges[&(by(P), Q)];
    assert_eq!(
        (
            edge.calls,
            edge.exits(),
            edge.served_ticks,
            edge.spent_ticks
        ),
        (1, 1, 4, 4)
    );
    assert_eq!(
        (profile.streams[0].self_ticks, profile.streams[0].max_depth),
        (12, 2)
    );
}

#[test]
fn time_between_boxes_belongs_to_no_box() {
    let profile = profile(&[(call(P), 0), (ExitDet, 5), (call(P), 9), (ExitDet, 10)]);
    assert_eq!(profile.streams[0].untraced_ticks, 4);
    assert_eq!(profile.predicates[P as usize].self_ticks, 6);
}

#[test]
fn failure() {
    let profile = profile(&[(call(P), 0), (call(Q), 1), (Fail, 3), (Fail, 7)]);
    let p = profile.predicates[P as usize];
    assert_eq!(
        (p.fails, p.fails_dry, p.failed_ticks, p.inclusive_ticks),
        (1, 1, 7, 7)
    );
    assert_eq!(profile.edges[&(by(P), Q)].fails, 1);
}

#[test]
fn exception_leaves_each_box() {
    let profile = profile(&[(call(P), 0), (call(Q), 1), (Exception, 3), (Exception, 7)]);
    assert_eq!(profile.predicates[P as usize].exceptions, 1);
    assert_eq!(profile.predicates[Q as usize].exceptions, 1);
    assert_eq!(profile.predicates[P as usize].failed_ticks, 0);
}

/// `q` exits, is re-entered, exits again and finally fails.
#[test]
fn redo_resumes_the_box() {
    let profile = profile(&[
        (call(P), 0),
        (call(Q), 1),
        (ExitNondet, 3),
        (call(R), 4),
        (Fail, 9),
        (Redo, 10),
        (ExitNondet, 12),
        (Redo, 15),
        (Fail, 16),
        (Fail, 20),
    ]);
    let q = profile.predicates[Q as usize];
    assert_eq!((q.calls, q.exits_nondet, q.redos, q.fails), (1, 2, 2, 1));
    assert_eq!((q.exits_again, q.fails_dry), (1, 0));
    assert_eq!((q.self_ticks, q.failed_ticks), (2 + 2 + 1, 1));
    assert_eq!(q.undone_ticks, (10 - 3) + (15 - 12));
    assert_eq!(profile.edges[&(by(P), Q)].redos, 2);
    assert_eq!(profile.predicates[P as usize].self_ticks, 1 + 1 + 1 + 3 + 4);
}

/// Three nested boxes are re-entered, outermost first; each tick is undone once.
#[test]
fn redo_into_nested_boxes() {
    let events = [
        (call(P), 0),
        (call(Q), 1),
        (call(R), 2),
        (ExitNondet, 4),
        (ExitNondet, 7),
        (ExitNondet, 11),
    ];
    let every = [
        (Redo, 12),
        (Redo, 12),
        (Redo, 12),
        (Fail, 13),
        (Fail, 14),
        (Fail, 15),
    ];
    let once = [(Redo, 12), (Fail, 13), (Fail, 14), (Fail, 15)];
    let all = profile(&[&events[..], &every].concat());
    let mut script = script(&[&events[..], &once].concat());
    script.dialect = Dialect::InnermostRedo;
    let innermost = valid(&script);
    assert_eq!(all.predicates, innermost.predicates);
    assert_eq!(all.edges, innermost.edges);
    assert_eq!(all.contexts, innermost.contexts);
    assert_eq!(all.backtracks, innermost.backtracks);
    assert_eq!(
        [P, Q, R].map(|i| all.predicates[i as usize].redos),
        [1, 1, 1]
    );
    // Untraced time is no work, so nothing since p's exit.
    assert_eq!(
        [P, Q, R].map(|i| all.predicates[i as usize].undone_ticks),
        [0, 4, 3]
    );
    assert_eq!(all.streams[0].untraced_ticks, 1);
}

#[test]
fn cut_discards_the_newest() {
    let profile = profile(&[
        (call(P), 0),
        (call(Q), 1),
        (ExitNondet, 2),
        (call(Q), 3),
        (call(R), 4),
        (ExitNondet, 5),
        (ExitNondet, 6),
        (Cut { count: 2 }, 7),
        (Redo, 8),
        (ExitNondet, 9),
        (Cut { count: 1 }, 9),
        (ExitDet, 10),
    ]);
    let [q, r] = [Q, R].map(|i| profile.predicates[i as usize]);
    assert_eq!((q.calls, q.exits_nondet, q.redos, q.cuts), (2, 3, 1, 2));
    assert_eq!((r.calls, r.exits_nondet, r.redos, r.cuts), (1, 1, 0, 1));
    assert_eq!(profile.streams[0].max_choices, 3);
}

#[test]
fn what_is_left_at_the_end() {
    let profile = profile(&[(call(P), 0), (call(Q), 1), (ExitNondet, 2), (call(R), 3)]);
    assert_eq!(profile.predicates[P as usize].open, 1);
    assert_eq!(profile.predicates[Q as usize].pending, 1);
    assert_eq!(profile.predicates[R as usize].open, 1);
}

/// Recursion counts once in inclusive time and is an edge without time.
#[test]
fn recursion() {
    let profile = profile(&[
        (call(P), 0),
        (call(P), 1),
        (call(Q), 3),
        (call(P), 4),
        (ExitDet, 8),
        (ExitDet, 16),
        (ExitDet, 32),
        (ExitDet, 64),
    ]);
    let [p, q] = [P, Q].map(|i| profile.predicates[i as usize]);
    assert_eq!((p.inclusive_ticks, p.self_ticks), (64, 1 + 2 + 4 + 16 + 32));
    assert_eq!((q.inclusive_ticks, q.self_ticks), (13, 9));
    let recursive = profile.edges[&(by(P), P)];
    assert_eq!(
        (
            recursive.calls,
            recursive.served_ticks,
            recursive.spent_ticks
        ),
        (1, 0, 0)
    );
    // While the inner p runs, p is at itself and q waits for it.
    assert_eq!(profile.edges[&(by(P), Q)].spent_ticks, 9);
    assert_eq!(profile.edges[&(by(P), Q)].served_ticks, 13);
    assert_eq!(profile.edges[&(by(Q), P)].spent_ticks, 4);
    assert_eq!(profile.edges[&(by(Q), P)].served_ticks, 0);
}

/// The chain p → q → p exits as one; the last p's time is p's own.
#[test]
fn last_calls_share_their_fate() {
    let profile = profile(&[
        (call(P), 0),
        (tail(Q), 1),
        (tail(P), 3),
        (call(R), 7),
        (ExitDet, 15),
        (ExitDet, 31),
    ]);
    let [p, q, r] = [P, Q, R].map(|i| profile.predicates[i as usize]);
    assert_eq!((p.calls, p.tail_calls, p.exits_det), (2, 1, 2));
    assert_eq!((q.calls, q.tail_calls, q.exits_det), (1, 1, 1));
    assert_eq!((p.self_ticks, p.inclusive_ticks), (1 + 4 + 16, 31));
    assert_eq!((q.self_ticks, q.inclusive_ticks), (2, 30));
    assert_eq!(r.inclusive_ticks, 8);
    let edge = |caller, callee| profile.edges[&(caller, callee)];
    assert_eq!(
        (edge(by(P), Q).served_ticks, edge(by(P), Q).spent_ticks),
        (30, 2)
    );
    assert_eq!(
        (edge(by(Q), P).served_ticks, edge(by(Q), P).spent_ticks),
        (0, 28)
    );
    assert_eq!(
        (edge(by(P), R).served_ticks, edge(by(P), R).spent_ticks),
        (8, 8)
    );
    assert_eq!(edge(Root, P).served_ticks, 31);
    assert_eq!(profile.streams[0].max_depth, 2);
}

/// Boxes of one frame are re-entered together, and only those that never exited fail dry.
#[test]
fn last_calls_after_a_redo() {
    let profile = profile(&[
        (call(P), 0),
        (ExitNondet, 1),
        (Redo, 2),
        (tail(Q), 3),
        (ExitNondet, 4),
        (Redo, 5),
        (tail(Q), 6),
        (Fail, 7),
    ]);
    let [p, q] = [P, Q].map(|i| profile.predicates[i as usize]);
    assert_eq!(
        (p.exits_nondet, p.exits_again, p.redos, p.fails, p.fails_dry),
        (2, 1, 2, 1, 0)
    );
    assert_eq!(
        (q.exits_nondet, q.exits_again, q.redos, q.fails, q.fails_dry),
        (1, 0, 1, 2, 1)
    );
    assert_eq!(profile.edges[&(by(Q), Q)].fails, 1);
}

#[test]
fn paused_time_belongs_to_no_box() {
    let profile = profile(&[
        (call(P), 0),
        (call(Q), 1),
        (Pause, 3),
        (ExitDet, 10),
        (Resume, 20),
        (ExitDet, 24),
    ]);
    let [p, q] = [P, Q].map(|i| profile.predicates[i as usize]);
    assert_eq!((p.self_ticks, p.inclusive_ticks), (1 + 4, 7));
    assert_eq!((q.self_ticks, q.inclusive_ticks, q.exits_det), (2, 2, 1));
    assert_eq!(profile.streams[0].paused_ticks, 17);
}

#[test]
fn a_gap_ends_all_that_is_known() {
    let profile = profile(&[
        (call(P), 0),
        (call(Q), 1),
        (ExitNondet, 3),
        (Gap { lost: 7 }, 10),
        (call(R), 12),
        (ExitDet, 15),
        (ExitDet, 19),
        (Redo, 20),
        (Fail, 21),
        (Cut { count: 3 }, 22),
    ]);
    let [p, q, r] = [P, Q, R].map(|i| profile.predicates[i as usize]);
    assert_eq!((p.open, p.inclusive_ticks), (1, 3));
    assert_eq!((q.pending, q.inclusive_ticks), (1, 2));
    assert_eq!((r.exits_det, r.inclusive_ticks), (1, 3));
    let unknown = profile.predicates[UNKNOWN];
    assert_eq!(
        (unknown.calls, unknown.exits_det, unknown.exits_nondet),
        (5, 1, 4)
    );
    assert_eq!((unknown.redos, unknown.fails, unknown.cuts), (1, 1, 3));
    assert_eq!((unknown.self_ticks, unknown.inclusive_ticks), (9, 12));
    assert_eq!(profile.edges[&(by(UNKNOWN as u32), R)].served_ticks, 3);
    let stream = profile.streams[0];
    assert_eq!((stream.gap_ticks, stream.lost_events), (7, 7));
}

#[test]
fn impossible_events_are_reported_and_survived() {
    use ViolationKind::*;
    let violations = |events: &[(Event, u64)]| {
        let (profile, violations) = script(events).replay();
        assert_eq!(laws::check(&profile), []);
        violations
    };
    assert_eq!(violations(&[(ExitDet, 0)]), [NoActiveBox]);
    assert_eq!(violations(&[(tail(P), 0), (ExitDet, 1)]), [NoActiveBox]);
    assert_eq!(violations(&[(call(P), 0), (Redo, 1)]), [NothingToRedo]);
    assert_eq!(
        violations(&[(call(P), 0), (ExitNondet, 0), (Cut { count: u32::MAX }, 1)]),
        [NothingToCut {
            missing: u64::from(u32::MAX) - 1
        }]
    );
    let inside = [
        (call(P), 0),
        (call(Q), 1),
        (ExitNondet, 2),
        (ExitDet, 3),
        (Redo, 4),
    ];
    assert_eq!(
        violations(&inside),
        [ChoicesLeft { choices: 1 }, RedoElsewhere]
    );
}

#[test]
fn hidden_boxes_are_part_of_their_callers() {
    let events = [
        (call(P), 0),
        (call(Q), 1),
        (call(R), 3),
        (ExitNondet, 7),
        (ExitNondet, 15),
        (Redo, 16),
        (Redo, 16),
        (ExitDet, 17),
        (tail(R), 18),
        (ExitDet, 19),
        (ExitDet, 20),
    ];
    let mut script = script(&events);
    script.hidden[Q as usize] = true;
    let (profile, _) = script.replay();
    assert_eq!(laws::check(&profile), []);
    assert_eq!(profile.predicates[Q as usize], Default::default());
    let [p, r] = [P, R].map(|i| profile.predicates[i as usize]);
    assert_eq!((p.self_ticks, p.inclusive_ticks), (14, 20));
    assert_eq!(
        (r.calls, r.tail_calls, r.redos, r.undone_ticks),
        (2, 1, 1, 9)
    );
    // The hidden q departs into r: p waits for r.
    assert_eq!(profile.edges[&(by(P), R)].tail_calls, 1);
    assert_eq!(
        profile.edges.keys().copied().collect::<Vec<_>>(),
        [(Root, P), (by(P), R)]
    );
}

/// A call by a site, and the site.
fn goal(site: u32) -> (u32, Option<u32>) {
    (UNKNOWN as u32 + 1 + site, Some(site))
}

/// Each goal has the time of its own outermost activations, wherever it is.
#[test]
fn goals_inside_their_predicate_have_time() {
    let [(first, at_first), (second, at_second)] = [goal(Q), goal(Q + UNKNOWN as u32)];
    let served = |events: &[(Event, u64)]| {
        let profile = profile(events);
        move |caller, site| profile.sites[&(by(caller), Q, site)].served_ticks
    };
    // In another predicate.
    let nested = served(&[
        (call(P), 0),
        (call(first), 1),
        (call(P), 2),
        (call(second), 3),
        (ExitDet, 7),
        (ExitDet, 8),
        (ExitDet, 9),
        (ExitDet, 10),
    ]);
    assert_eq!((nested(P, at_first), nested(P, at_second)), (8, 4));
    // In the predicate itself, by calls and by last calls.
    for (next, exits) in [(call as fn(u32) -> Event, 4), (tail, 1)] {
        let mut events = vec![
            (call(P), 0),
            (call(first), 1),
            (next(second), 2),
            (next(first), 3),
            (next(second), 4),
        ];
        events.extend(vec![(ExitDet, 9); exits]);
        events.push((ExitDet, 10));
        let recursive = served(&events);
        assert_eq!(recursive(P, at_first), 8);
        assert_eq!((recursive(Q, at_first), recursive(Q, at_second)), (0, 7));
    }
}
