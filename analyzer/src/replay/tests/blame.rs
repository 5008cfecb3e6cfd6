//! How activations end, who is backtracked into and because of whom, and what becomes of choicepoints;
//! by hand.

use std::collections::BTreeMap;

use portmortem_tracer::format::Dialect;
use portmortem_tracer::format::Event::{self, *};

use super::ports::{P, Q, R, UNKNOWN, call, profile, script, tail, valid};
use super::{Script, by};
use crate::figures::BacktrackFigures;
use crate::figures::Caller::{self, Root};
use crate::figures::profile::Profile;

/// What failed, what was re-entered, how often, and ticks undone, those of collectors included.
fn backtracks(profile: &Profile) -> Vec<(Caller, u32, u64, u64)> {
    let figures = profile.backtracks.iter();
    figures
        .map(|(&(failed, resumed), figures)| {
            let ticks = figures.undone_ticks + figures.collected_ticks;
            (failed, resumed, figures.count, ticks)
        })
        .collect()
}

/// Inclusive time in all and by failure, exception, none; then own time likewise.
fn outcomes(profile: &Profile, predicate: u32) -> ([u64; 4], [u64; 4]) {
    let p = profile.predicates[predicate as usize];
    (
        [
            p.inclusive_ticks,
            p.failed_ticks,
            p.raised_ticks,
            p.open_ticks,
        ],
        [
            p.self_ticks,
            p.self_failed_ticks,
            p.self_raised_ticks,
            p.self_open_ticks,
        ],
    )
}

#[test]
fn time_by_outcome() {
    let profile = profile(&[
        (call(P), 0),
        (call(P), 1),
        (Exception, 3),
        (call(Q), 4),
        (Fail, 8),
        (call(R), 8),
        (Exception, 24),
        (call(Q), 24),
        (ExitDet, 56),
        (call(R), 56),
        (Mark { text: 0 }, 120),
    ]);
    // The inner p is not the outermost activation.
    assert_eq!(outcomes(&profile, P), ([120, 0, 0, 120], [4, 0, 2, 2]));
    assert_eq!(outcomes(&profile, Q), ([36, 4, 0, 0], [36, 4, 0, 0]));
    assert_eq!(outcomes(&profile, R), ([80, 0, 16, 64], [80, 0, 16, 64]));
}

/// One box, three activations: two exit, the last fails.
#[test]
fn each_activation_has_its_outcome() {
    let profile = profile(&[
        (call(P), 0),
        (ExitNondet, 1),
        (Redo, 1),
        (call(Q), 3),
        (ExitDet, 7),
        (ExitNondet, 15),
        (Redo, 15),
        (call(Q), 31),
        (ExitDet, 63),
        (Fail, 127),
    ]);
    let own = 1 + 2 + 8 + 16 + 64;
    assert_eq!(outcomes(&profile, P), ([127, 112, 0, 0], [own, 80, 0, 0]));
    assert_eq!(outcomes(&profile, Q), ([36, 0, 0, 0], [36, 0, 0, 0]));
}

/// The boxes of a chain end as one.
#[test]
fn last_calls_share_the_outcome() {
    let profile = profile(&[
        (call(P), 0),
        (tail(Q), 2),
        (tail(P), 5),
        (call(R), 9),
        (ExitDet, 12),
        (Exception, 20),
    ]);
    assert_eq!(outcomes(&profile, P), ([20, 0, 20, 0], [14, 0, 14, 0]));
    assert_eq!(outcomes(&profile, Q), ([18, 0, 18, 0], [3, 0, 3, 0]));
    assert_eq!(outcomes(&profile, R), ([3, 0, 0, 0], [3, 0, 0, 0]));
}

/// The time of a hidden box is that of the box that it is a part of, whatever becomes of itself.
#[test]
fn hidden_boxes_have_no_outcome() {
    let mut script = script(&[
        (call(P), 0),
        (call(Q), 1),
        (Fail, 3),
        (Exception, 7),
        (call(Q), 8),
        (Fail, 9),
    ]);
    script.hidden[Q as usize] = true;
    let profile = valid(&script);
    assert_eq!(outcomes(&profile, P), ([7, 0, 7, 0], [7, 0, 7, 0]));
}

/// Debray's question: `r :- p, q` where `p` has solutions that `q` refuses. Who fails, into whom?
#[test]
fn a_failure_is_to_blame() {
    let profile = profile(&[
        (call(R), 0),
        (call(P), 1),
        (ExitNondet, 3),
        (call(Q), 4),
        (Fail, 8),
        (Redo, 9),
        (ExitNondet, 10),
        (call(Q), 12),
        (Fail, 16),
        (Redo, 17),
        (Fail, 18),
        (Fail, 20),
    ]);
    assert_eq!(backtracks(&profile), [(by(Q), P, 2, 6 + 7)]);
    assert_eq!(profile.predicates[P as usize].lifetime_ticks, 6 + 7);
    let row = profile.contexts[1];
    assert_eq!((row.predicate, row.undone_ticks), (P, 13));
}

/// Something not traced fails in `r`; then `q`, of which nothing is left, fails into `p`.
#[test]
fn the_active_box_is_to_blame_for_what_is_not_traced() {
    let profile = profile(&[
        (call(R), 0),
        (call(P), 1),
        (ExitNondet, 2),
        (call(Q), 3),
        (ExitNondet, 5),
        (Redo, 9),
        (Fail, 10),
        (Redo, 12),
        (ExitNondet, 13),
        (ExitNondet, 14),
        (Redo, 15),
        (Redo, 15),
    ]);
    assert_eq!(
        backtracks(&profile),
        [
            // The goal is asked for more, by the root: first r, then p inside it.
            (Root, P, 1, 1),
            (Root, R, 1, 0),
            (by(Q), P, 1, (12 - 2) - 4),
            (by(R), Q, 1, 4),
        ]
    );
}

/// Both boxes that are re-entered are so because of `r`, in both dialects.
#[test]
fn redos_in_a_row_have_one_cause() {
    let before = [
        (call(P), 1),
        (call(Q), 2),
        (ExitNondet, 4),
        (ExitNondet, 7),
        (call(R), 8),
        (Fail, 12),
        (Pause, 12),
        (Resume, 12),
        (Mark { text: 0 }, 12),
    ];
    let main = [(call(R), 0)];
    let after = [(Fail, 14), (Fail, 15), (Fail, 16)];
    let every = [&main[..], &before, &[(Redo, 13), (Redo, 13)], &after].concat();
    let every = profile(&every);
    let mut script = script(&[&main[..], &before, &[(Redo, 13)], &after].concat());
    script.dialect = Dialect::InnermostRedo;
    let innermost = valid(&script);
    for profile in [every, innermost] {
        assert_eq!(
            backtracks(&profile),
            [(by(R), P, 1, 6), (by(R), Q, 1, 9 - 6)]
        );
    }
}

/// A failure before another port is not what the redo is about; nor is that of a hidden box.
#[test]
fn other_ports_end_a_failure() {
    let events = [
        (call(R), 0),
        (call(P), 1),
        (ExitNondet, 2),
        (call(Q), 3),
        (Fail, 4),
        (call(P), 5),
        (ExitDet, 6),
        (Redo, 8),
        (ExitNondet, 8),
        (call(Q), 8),
        (Fail, 9),
        (Redo, 10),
    ];
    assert_eq!(
        backtracks(&profile(&events)),
        [(by(Q), P, 1, 2), (by(R), P, 1, 6)]
    );
    let mut script = script(&events);
    script.hidden[Q as usize] = true;
    assert_eq!(backtracks(&valid(&script)), [(by(R), P, 2, 8)]);
    script.hidden[P as usize] = true;
    assert_eq!(backtracks(&valid(&script)), []);
}

/// `main :- o(_), ( n(_), ( f -> true ; true ) -> fail ; true ).` with `f :- fail.`, `o` being P, `n` Q, `f` R, and `main` S:
/// the cut of `n` proves that control went on after the failure of `f`.
#[test]
fn a_cut_ends_a_failure() {
    const S: u32 = 5;
    let before = [
        (call(S), 0),
        (call(P), 1),
        (ExitNondet, 2),
        (call(Q), 3),
        (ExitNondet, 4),
        (call(R), 5),
        (Fail, 6),
    ];
    let after = [(Redo, 8)];
    let with_cut = [&before[..], &[(Cut { count: 1 }, 7)], &after].concat();
    let without = [&before[..], &after].concat();
    let [with_cut, without] = [with_cut, without].map(|events| valid(&Script::new(6, events)));
    assert_eq!(backtracks(&with_cut), [(by(S), P, 1, 8 - 2)]);
    // Without it the failure goes into n.
    assert_eq!(backtracks(&without), [(by(R), Q, 1, 8 - 4)]);
}

/// Also in the middle of redos that would have one cause.
#[test]
fn a_cut_between_redos_ends_a_failure() {
    let events = [
        (call(R), 0),
        (call(P), 1),
        (ExitNondet, 2),
        (call(P), 3),
        (ExitNondet, 4),
        (call(P), 5),
        (ExitNondet, 6),
        (call(Q), 7),
        (Fail, 8),
        (Redo, 9),
        (ExitNondet, 10),
        (call(Q), 11),
        (Fail, 12),
        (Cut { count: 1 }, 13),
        (Redo, 14),
    ];
    let first_and_second = [(by(Q), P, 1, 3), (by(R), P, 1, 14 - 4 - 3)];
    assert_eq!(backtracks(&profile(&events)), first_and_second);
}

/// No redo throws away the time that a box waits, and it is no work of the boxes around it.
#[test]
fn waiting_is_no_work() {
    const WAITING: u32 = 4;
    let events = [
        (call(P), 0),
        (call(Q), 1),
        (ExitNondet, 3),
        (call(R), 4),
        (call(WAITING), 5),
        (ExitDet, 105),
        (Fail, 107),
        (Redo, 107),
        (call(WAITING), 108),
        (ExitDet, 208),
        (Fail, 209),
    ];
    let profile = valid(&Script::new(5, events.to_vec()));
    assert_eq!(backtracks(&profile), [(by(R), Q, 1, 4)]);
    let works = [P, Q, R].map(|predicate| {
        let p = profile.predicates[predicate as usize];
        let times = (p.inclusive_ticks, p.inclusive_work_ticks);
        (times, p.undone_ticks, (p.failed_ticks, p.failed_work_ticks))
    });
    let expected = [
        ((209, 9), 0, (0, 0)),
        ((104, 4), 4, (102, 2)),
        ((103, 3), 0, (103, 3)),
    ];
    assert_eq!(works, expected);
    let waited = profile.edges[&(by(R), WAITING)];
    assert_eq!((waited.spent_ticks, waited.spent_work_ticks), (100, 0));
}

/// A chain that fails or is re-entered is spoken of by its outermost box.
#[test]
fn the_outermost_box_of_a_chain_is_to_blame() {
    let profile = profile(&[
        (call(P), 0),
        (tail(Q), 1),
        (ExitNondet, 2),
        (call(R), 2),
        (tail(Q), 4),
        (Fail, 5),
        (Redo, 7),
    ]);
    assert_eq!(backtracks(&profile), [(by(R), P, 1, 3)]);
}

#[test]
fn a_gap_ends_a_failure() {
    let profile = profile(&[(call(P), 0), (Fail, 1), (Gap { lost: 1 }, 2), (Redo, 3)]);
    let unknown = UNKNOWN as u32;
    assert_eq!(backtracks(&profile), [(by(unknown), unknown, 1, 0)]);
    assert_eq!(profile.predicates[UNKNOWN].max_height, 1);
}

#[test]
fn who_cut_what_and_when() {
    let profile = profile(&[
        (call(P), 0),
        (call(Q), 1),
        (ExitNondet, 2),
        (call(Q), 3),
        (call(R), 4),
        (ExitNondet, 5),
        (ExitNondet, 6),
        (Pause, 6),
        (Resume, 16),
        (Cut { count: 2 }, 17),
        (Redo, 18),
        (call(R), 18),
        (ExitNondet, 19),
        (Cut { count: 1 }, 22),
        (ExitNondet, 22),
        (ExitNondet, 23),
        (Mark { text: 0 }, 26),
    ]);
    let cuts = BTreeMap::from([((by(P), Q), 1), ((by(P), R), 1), ((by(Q), R), 1)]);
    assert_eq!(profile.cuts, cuts);
    let [q, r] = [Q, R].map(|i| profile.predicates[i as usize]);
    // Ten ticks are a pause. Redone at 18, cut at 17, and left until the end, when no box is active.
    assert_eq!(q.lifetime_ticks, (18 - 2 - 10) + (17 - 6 - 10) + (26 - 22));
    assert_eq!(r.lifetime_ticks, (17 - 5 - 10) + (22 - 19));
    assert_eq!((q.max_height, r.max_height), (3, 2));
}

/// Every logical box has a choicepoint of its own; on the stack they are one.
#[test]
fn choicepoints_of_last_calls() {
    let profile = profile(&[
        (call(P), 0),
        (call(Q), 1),
        (tail(Q), 2),
        (tail(R), 3),
        (ExitNondet, 4),
        (Cut { count: 1 }, 7),
        (ExitDet, 8),
    ]);
    let cuts = BTreeMap::from([((by(P), Q), 2), ((by(P), R), 1)]);
    assert_eq!(profile.cuts, cuts);
    let [q, r] = [Q, R].map(|i| profile.predicates[i as usize]);
    assert_eq!((q.lifetime_ticks, r.lifetime_ticks), (6, 3));
    assert_eq!((q.max_height, r.max_height), (1, 1));
}

/// Hidden boxes count for the height, as in the streams' figures, and for nothing else.
#[test]
fn hidden_choicepoints() {
    let mut script = script(&[
        (call(Q), 0),
        (ExitNondet, 1),
        (call(P), 2),
        (ExitNondet, 3),
        (Cut { count: 2 }, 5),
    ]);
    script.hidden[Q as usize] = true;
    let profile = valid(&script);
    let p = profile.predicates[P as usize];
    assert_eq!((p.max_height, p.lifetime_ticks), (2, 2));
    assert_eq!(profile.cuts, BTreeMap::from([((Root, P), 1)]));
    assert_eq!(profile.predicates[Q as usize], Default::default());
}

/// `r` collects solutions: it calls `p`, which calls `q`, and asks both for more. Once the last solution is found `p` fails, and
/// `r` fails, too, because its caller expects another list.
#[test]
fn what_is_collected_is_not_undone() {
    let profile = profile(&[
        (call(P), 0),
        (ExitNondet, 1),
        (call(R), 1),
        (call(P), 2),
        (call(Q), 4),
        (ExitNondet, 8),
        (ExitNondet, 16),
        (Redo, 32),
        (Redo, 32),
        (Fail, 64),
        (Fail, 64),
        (Fail, 128),
        (Redo, 128),
        (Fail, 128),
    ]);
    let figures: Vec<_> = profile.backtracks.into_iter().collect();
    let backtrack = |count, undone_ticks, collected_ticks| BacktrackFigures {
        count,
        undone_ticks,
        collected_ticks,
    };
    assert_eq!(
        figures,
        [
            // All since the exit of the first `p`, less what was collected before.
            ((by(R), P), backtrack(2, 103, 16)),
            ((by(R), Q), backtrack(1, 0, 8)),
        ]
    );
}

/// Garbage collections and waiting come when they come: whoever failed before them has failed.
#[test]
fn what_happens_between_two_ports_changes_no_blame() {
    const COLLECTION: u32 = 3;
    const WAITING: u32 = 4;
    let run = |between: &[u32]| {
        let mut events = vec![(call(P), 0), (call(Q), 1), (ExitNondet, 2), (call(R), 3)];
        events.push((Fail, 4));
        for &predicate in between {
            events.extend([(call(predicate), 4), (ExitDet, 4)]);
        }
        events.extend([(Redo, 8), (Fail, 9), (Fail, 9)]);
        let script = Script::new(5, events);
        valid(&script)
    };
    let quiet = backtracks(&run(&[]));
    assert_eq!(quiet, [(by(R), Q, 1, 6)]);
    assert_eq!(backtracks(&run(&[COLLECTION])), quiet);
    assert_eq!(backtracks(&run(&[COLLECTION, WAITING])), quiet);
    // A call of the program proves that control went on.
    assert_eq!(backtracks(&run(&[2])), [(by(P), Q, 1, 6)]);
}

/// `p` drives `q` and then `r`, by the second goal of its clause, after which it fails.
#[test]
fn what_a_driver_loop_did_is_collected() {
    const COLLECTION: u32 = 3;
    // The second site of `r`, of five predicates.
    const DRIVEN: u32 = 6 + 5 + R;
    let run = |goal: u32, then: &[(Event, u64)], exit: Event| {
        let mut events = vec![(call(P), 0), (call(Q), 1), (ExitNondet, 2), (call(goal), 3)];
        events.push((exit, 4));
        events.extend(then);
        events.extend([(Redo, 8), (Fail, 9), (Fail, 9)]);
        let script = Script::new(5, events);
        let figures = valid(&script).backtracks[&(by(P), Q)];
        (figures.undone_ticks, figures.collected_ticks)
    };
    assert!(super::then_fails(DRIVEN - 6));
    assert_eq!(run(DRIVEN, &[], ExitDet), (0, 6));
    assert_eq!(run(R, &[], ExitDet), (6, 0));
    // What comes between two ports changes nothing; a step of the program does.
    let between = [(call(COLLECTION), 5), (ExitDet, 6)];
    assert_eq!(run(DRIVEN, &between, ExitDet), (0, 6 - 1));
    let called = [(call(P), 5), (ExitDet, 6)];
    assert_eq!(run(DRIVEN, &called, ExitDet), (6, 0));
    // `r` has left a choicepoint, and fails in the end.
    let events = [
        (call(P), 0),
        (call(Q), 1),
        (ExitNondet, 2),
        (call(DRIVEN), 3),
        (ExitNondet, 4),
        (Redo, 5),
        (Fail, 6),
        (Redo, 6),
    ];
    let profile = valid(&Script::new(5, events.to_vec()));
    let figures: Vec<_> = profile.backtracks.into_iter().collect();
    let backtrack = |count, undone_ticks, collected_ticks| BacktrackFigures {
        count,
        undone_ticks,
        collected_ticks,
    };
    assert_eq!(
        figures,
        [
            ((by(P), R), backtrack(1, 0, 1)),
            ((by(R), Q), backtrack(1, 3, 0)),
        ]
    );
}
