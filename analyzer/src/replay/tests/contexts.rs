//! The call tree, by hand.

use portmortem_tracer::format::Event::*;

use super::Script;
use super::ports::{P, Q, R, UNKNOWN, call, profile, script, tail, valid};
use crate::figures::laws;
use crate::figures::profile::Profile;

/// Depth, predicate, whether recursive, calls, own and inclusive time.
type Row = (u32, u32, bool, u64, u64, u64);

fn rows(profile: &Profile) -> Vec<Row> {
    let row = profile.contexts.iter().map(|row| {
        let own = (row.calls, row.self_ticks, row.inclusive_ticks);
        (row.depth, row.predicate, row.recursive, own.0, own.1, own.2)
    });
    row.collect()
}

/// The example of `contexts.rs`: `main` calls `p`, that `q`, that `p`, that `r`.
#[test]
fn recursion_is_folded() {
    const MAIN: u32 = 3;
    let events = vec![
        (call(MAIN), 0),
        (call(P), 1),
        (call(Q), 3),
        (call(P), 7),
        (call(R), 15),
        (ExitDet, 31),
        (ExitDet, 63),
        (ExitDet, 127),
        (ExitDet, 255),
        (ExitDet, 511),
    ];
    let profile = valid(&Script::new(4, events));
    assert_eq!(
        rows(&profile),
        [
            (0, MAIN, false, 1, 1 + 256, 511),
            (1, P, false, 1, 2 + 128, 254),
            (2, Q, false, 1, 4 + 64, 124),
            (3, P, true, 1, 8 + 32, 40),
            (3, R, false, 1, 16, 16),
        ]
    );
    let parents: Vec<_> = profile.contexts.iter().map(|row| row.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(2), Some(2)]);
}

/// `p` calls itself, and again: both are recursive in the context of the first.
#[test]
fn direct_recursion_is_one_row() {
    let profile = profile(&[
        (call(P), 0),
        (call(P), 1),
        (call(P), 3),
        (call(Q), 7),
        (Exception, 15),
        (Exception, 31),
        (Fail, 63),
        (ExitDet, 127),
    ]);
    assert_eq!(
        rows(&profile),
        [
            (0, P, false, 1, 1 + 64, 127),
            (1, P, true, 2, 2 + 4 + 16 + 32, 54),
            (1, Q, false, 1, 8, 8),
        ]
    );
    let recursive = profile.contexts[1];
    assert_eq!((recursive.exceptions, recursive.fails), (1, 1));
    assert_eq!((recursive.exits(), recursive.events()), (0, 4));
}

/// The chain p → q → p → q: the second call of `q` is along the same edge and in another row.
#[test]
fn last_calls_have_rows_like_calls() {
    let profile = profile(&[
        (call(P), 0),
        (tail(Q), 1),
        (tail(P), 3),
        (tail(Q), 7),
        (tail(P), 15),
        (ExitNondet, 31),
        (Redo, 31),
        (Fail, 63),
    ]);
    assert_eq!(
        rows(&profile),
        [
            (0, P, false, 1, 1, 63),
            (1, Q, false, 1, 2, 62),
            (2, P, true, 2, 4 + 16 + 32, 52),
            (2, Q, true, 1, 8, 8),
        ]
    );
    for row in &profile.contexts {
        let counts = (row.exits(), row.redos, row.fails);
        assert_eq!(counts, (row.calls, row.calls, row.calls));
    }
}

/// The same predicate in two contexts, and again in the first.
#[test]
fn each_context_has_its_own_figures() {
    let profile = profile(&[
        (call(P), 0),
        (call(R), 1),
        (ExitDet, 2),
        (call(Q), 2),
        (call(R), 4),
        (ExitNondet, 8),
        (Redo, 9),
        (Fail, 10),
        (Fail, 16),
        (call(R), 16),
        (ExitDet, 32),
        (ExitDet, 32),
    ]);
    assert_eq!(
        rows(&profile),
        [
            (0, P, false, 1, 1, 32),
            (1, Q, false, 1, 2 + 1 + 6, 14),
            (2, R, false, 1, 4 + 1, 5),
            (1, R, false, 2, 1 + 16, 17),
        ]
    );
    assert_eq!(profile.contexts[2].undone_ticks, 1);
    assert_eq!(profile.contexts[3].undone_ticks, 0);
}

#[test]
fn hidden_boxes_have_no_row() {
    let mut script = script(&[
        (call(P), 0),
        (call(Q), 1),
        (call(R), 3),
        (ExitDet, 7),
        (ExitDet, 15),
        (call(Q), 16),
        (tail(R), 17),
        (ExitDet, 19),
        (ExitDet, 20),
    ]);
    script.hidden[Q as usize] = true;
    assert_eq!(
        rows(&valid(&script)),
        [(0, P, false, 1, 14, 20), (1, R, false, 2, 6, 6)]
    );
}

/// After a gap an unknown box stands below all others, and is open to the end.
#[test]
fn after_a_gap() {
    const U: u32 = UNKNOWN as u32;
    let profile = profile(&[
        (call(P), 0),
        (call(Q), 1),
        (ExitNondet, 3),
        (Mark { text: 0 }, 5),
        (Gap { lost: 7 }, 10),
        (call(R), 12),
        (ExitDet, 15),
        (ExitDet, 19),
        (Redo, 20),
        (Fail, 21),
        (Cut { count: 3 }, 22),
    ]);
    assert_eq!(
        rows(&profile),
        [
            (0, P, false, 1, 3, 5),
            (1, Q, false, 1, 2, 2),
            (0, U, false, 0, 8, 12),
            (1, R, false, 1, 3, 3),
            (1, U, true, 5, 1, 1),
        ]
    );
    let inferred = profile.contexts[4];
    assert_eq!(
        (inferred.exits(), inferred.redos, inferred.fails),
        (5, 1, 1)
    );
}

/// A gap that nothing follows leaves no row.
#[test]
fn nothing_after_a_gap() {
    let profile = profile(&[(call(P), 0), (Gap { lost: 1 }, 1)]);
    assert_eq!(rows(&profile), [(0, P, false, 1, 0, 0)]);
}

/// A box that is re-entered where it was not called is in the context that it is re-entered in.
#[test]
fn a_redo_elsewhere() {
    let (profile, violations) = script(&[
        (call(P), 0),
        (call(Q), 1),
        (tail(P), 2),
        (ExitNondet, 4),
        (ExitDet, 8),
        (Redo, 8),
        (ExitDet, 16),
    ])
    .replay();
    assert_eq!(violations.len(), 2);
    assert_eq!(laws::check(&profile), []);
    assert_eq!(
        rows(&profile),
        [
            (0, P, false, 1, 1 + 4, 8),
            (1, Q, false, 1, 1, 3),
            (2, P, true, 1, 2, 2),
            (0, Q, false, 0, 0, 8),
            (1, P, false, 0, 8, 8),
        ]
    );
    assert_eq!(profile.contexts[4].redos, 1);
}
