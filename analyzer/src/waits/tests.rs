//! Small traces whose waits are known, and random stretches counted tick by tick.

use std::path::Path;

use portmortem_tracer::format::{Dialect, Event, Header, Outcome, Role, Roles, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
use proptest::prelude::*;

use super::*;
use crate::replay::{ReplayOptions, replay};
use crate::scope::{Filter, Filters, Window};

const WAIT: u32 = 0;
const WITH_MUTEX: u32 = 1;
const GOAL: u32 = 2;
const OTHER: u32 = 3;

const CALL_MUTEX: Event = Event::Call {
    predicate: WITH_MUTEX,
};
const CALL_GOAL: Event = Event::Call { predicate: GOAL };
const CALL_WAIT: Event = Event::Call { predicate: WAIT };
const CALL_OTHER: Event = Event::Call { predicate: OTHER };
const EXIT: Event = Event::ExitDet;

fn sync(role: SyncRole) -> Event {
    Event::Sync(SyncCall { role, shared: 0 })
}

/// The id of the empty name.
const ALL: u32 = 1;

/// A trace of streams 1, 2, …, whose events have these ticks after the first.
fn record(streams: &[&[(u64, Event)]]) -> (Trace, u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.pmt");
    let header = Header::of_this_process("none");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    for (id, (module, name, roles)) in (0..).zip([
        ("engine", "idle", Roles::of(&[Role::Waiting])),
        ("system", "with_mutex", Roles::of(&[Role::WaitsForMutex])),
        ("user", "goal", Roles::default()),
        ("system", "other", Roles::default()),
    ]) {
        let named = recorder.predicate(NewPredicate::named(module, name, 0).with_roles(roles));
        assert_eq!(named, id);
    }
    assert_eq!(recorder.shared("m"), 0);
    assert_eq!(recorder.shared("m"), 0);
    assert_eq!(recorder.shared(""), ALL);
    let first = clock::ticks() + (1 << 30);
    for events in streams {
        let stream = recorder.stream(StreamKind::Thread, "t", Dialect::EveryRedo);
        for &(tick, event) in *events {
            stream.record_at(event, first + tick);
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    drop(recorder);
    (Trace::open(Path::new(&path)).unwrap(), first)
}

/// Stream, awaited stream, what for, waits, ticks, longest, its event.
type Row = (u32, Option<u32>, Option<SharedKind>, u64, u64, u64, u64);

/// All are listed, and found where they are.
fn assert_listed(waits: &Waits) {
    let ticks = |all: &[LongWait]| -> u64 { all.iter().map(|wait| wait.to - wait.from).sum() };
    let sum: u64 = waits.sums.values().map(|figures| figures.ticks).sum();
    assert_eq!(ticks(&waits.longest), sum);
    for wait in &waits.longest {
        let stream = wait.kind.stream;
        for at in [wait.from, wait.to - 1] {
            assert_eq!(waits.listed_in(stream, at..at + 1), Some(wait));
        }
        assert_eq!(
            waits
                .listed_in(stream, 0..u64::MAX)
                .map(|one| one.kind.stream),
            Some(stream)
        );
        assert_eq!(waits.listed_in(stream, wait.to..wait.to + 1), None);
        assert_eq!(waits.listed_in(9, wait.from..wait.to), None);
    }
}

fn rows(trace: &Trace, options: &ReplayOptions) -> Vec<Row> {
    let waits = replay(trace, options).waits.unwrap();
    assert_listed(&waits);
    let rows = waits.sums.into_iter().map(|(kind, figures)| {
        (
            kind.stream,
            kind.awaited,
            kind.object.map(|object| object.kind),
            figures.waits,
            figures.ticks,
            figures.longest_ticks,
            figures.longest_event,
        )
    });
    rows.collect()
}

#[test]
fn a_mutex_is_waited_for_while_others_hold_it() {
    let holder = [
        (10, CALL_MUTEX),
        (10, sync(SyncRole::Holds)),
        (20, CALL_GOAL),
        (60, EXIT),
        (61, EXIT),
        // It waits inside, and for nothing that is known.
        (100, CALL_MUTEX),
        (100, sync(SyncRole::Holds)),
        (101, CALL_GOAL),
        (105, EXIT),
        (105, CALL_WAIT),
        (111, EXIT),
        (120, EXIT),
    ];
    let waiter = [
        (15, CALL_MUTEX),
        (15, sync(SyncRole::Holds)),
        (15, CALL_WAIT),
        (70, EXIT),
        (75, CALL_GOAL),
        (80, EXIT),
        (90, EXIT),
    ];
    // It has the mutex from the exit of the lock on until it is unlocked as often.
    let locker = [
        (63, CALL_OTHER),
        (63, sync(SyncRole::Locks)),
        (64, EXIT),
        (64, CALL_OTHER),
        (64, sync(SyncRole::Locks)),
        (65, EXIT),
        (65, CALL_OTHER),
        (66, sync(SyncRole::Unlocks)),
        (66, EXIT),
        (67, CALL_OTHER),
        (68, sync(SyncRole::Unlocks)),
        (68, EXIT),
    ];
    let (trace, first) = record(&[&holder, &waiter, &locker]);
    let mutex = Some(SharedKind::Mutex);
    let all = [
        (1, None, None, 1, 6, 6, 9),
        // It waited until 75; from 61 to 64 and 68 to 75 no thread held the mutex.
        (2, None, mutex, 1, 10, 10, 2),
        (2, Some(1), mutex, 1, 41, 41, 2),
        (2, Some(3), mutex, 1, 4, 4, 2),
    ];
    assert_eq!(rows(&trace, &ReplayOptions::default()), all);

    // Streams that are not looked at are awaited all the same.
    let mut filters = Filters::default();
    filters.push(Filter::Stream(2));
    assert_eq!(rows(&trace, &ReplayOptions::of(&filters)), all[1..]);

    // Of a window there is what lies in it.
    let window = ReplayOptions {
        window: Some(Window {
            from: first + 50,
            until: first + 66,
        }),
        ..ReplayOptions::default()
    };
    assert_eq!(
        rows(&trace, &window),
        [
            (2, None, mutex, 1, 3, 3, 2),
            (2, Some(1), mutex, 1, 11, 11, 2),
            (2, Some(3), mutex, 1, 2, 2, 2),
        ]
    );
}

#[test]
fn a_message_is_of_who_sent_last() {
    let receiver = [
        (10, CALL_OTHER),
        (10, sync(SyncRole::Receives)),
        (11, CALL_WAIT),
        (30, EXIT),
        (30, EXIT),
        // No thread sends.
        (40, CALL_OTHER),
        (40, sync(SyncRole::Receives)),
        (41, CALL_WAIT),
        (50, EXIT),
        (50, Event::Fail),
    ];
    let send = |from, to| {
        [
            (from, CALL_OTHER),
            (from, sync(SyncRole::Sends)),
            (to, EXIT),
        ]
    };
    let (early, late, after) = (send(5, 9), send(20, 21), send(29, 35));
    let first: Vec<_> = early.into_iter().chain(late).collect();
    let (trace, _) = record(&[&receiver, &first, &after]);
    let queue = Some(SharedKind::Queue);
    let expected = [
        (1, None, queue, 1, 9, 9, 7),
        (1, Some(3), queue, 1, 19, 19, 2),
    ];
    assert_eq!(rows(&trace, &ReplayOptions::default()), expected);
}

/// All is unlocked at once, however often it was locked.
#[test]
fn all_is_unlocked() {
    let role = SyncRole::Unlocks;
    let unlock_all = Event::Sync(SyncCall { role, shared: ALL });
    let holder = [
        (1, CALL_OTHER),
        (1, sync(SyncRole::Locks)),
        (2, EXIT),
        (3, CALL_OTHER),
        (3, sync(SyncRole::Locks)),
        (4, EXIT),
        (30, CALL_OTHER),
        (30, unlock_all),
        (31, EXIT),
        (60, CALL_GOAL),
        (61, EXIT),
    ];
    let waiter = [
        (10, CALL_MUTEX),
        (10, sync(SyncRole::Holds)),
        (10, CALL_WAIT),
        (50, EXIT),
        (50, EXIT),
    ];
    let (trace, _) = record(&[&holder, &waiter]);
    let mutex = Some(SharedKind::Mutex);
    let expected = [
        (2, None, mutex, 1, 20, 20, 2),
        (2, Some(1), mutex, 1, 20, 20, 2),
    ];
    assert_eq!(rows(&trace, &ReplayOptions::default()), expected);
}

/// After a gap nothing is known of what the stream has locked.
#[test]
fn a_gap_ends_what_was_locked() {
    let holder = [
        (1, CALL_OTHER),
        (1, sync(SyncRole::Locks)),
        (2, EXIT),
        (30, Event::Gap { lost: 5 }),
        (31, CALL_GOAL),
        (60, EXIT),
    ];
    let waiter = [
        (10, CALL_MUTEX),
        (10, sync(SyncRole::Holds)),
        (10, CALL_WAIT),
        (50, EXIT),
        (50, EXIT),
    ];
    let (trace, _) = record(&[&holder, &waiter]);
    let expected = [(2, None, Some(SharedKind::Mutex), 1, 40, 40, 2)];
    assert_eq!(rows(&trace, &ReplayOptions::default()), expected);
}

#[test]
fn without_names_nothing_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.pmt");
    let header = Header::of_this_process("none");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    recorder.close(Outcome::Exited(0)).unwrap();
    drop(recorder);
    let trace = Trace::open(&path).unwrap();
    assert_eq!(replay(&trace, &ReplayOptions::default()).waits, None);
}

proptest! {
    #[test]
    fn holders_are_those_of_each_tick(
        lengths in prop::collection::vec((0..4u64, 1..9u64, 1..4u32), 0..20),
        from in 0..60u64,
        length in 1..60u64,
    ) {
        let mut at = 0;
        let mut stretches = Vec::new();
        for (gap, length, stream) in lengths {
            at += gap;
            stretches.push(StreamStretch { stream, from: at, to: at + length });
            at += length;
        }
        let kind = WaitKind {
            stream: 1,
            predicate: None,
            site: None,
            object: None,
            awaited: None,
        };
        let wait = Wait { kind, from, to: from + length, event: 0, later: 0 };
        let holds = StretchesInOrder::new(stretches.clone());
        let mut found = holds.holders(&wait);
        found.sort_unstable();
        let ticks = |stream| {
            let is_held = |tick: &u64| {
                stretches.iter().any(|one| {
                    one.stream == stream && (one.from..one.to).contains(tick)
                })
            };
            (wait.from..wait.to).filter(is_held).count() as u64
        };
        let expected: Vec<(u32, u64)> = [2, 3]
            .map(|stream| (stream, ticks(stream)))
            .into_iter()
            .filter(|&(_, ticks)| ticks > 0)
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn the_last_one_is_found(
        stretches in prop::collection::vec((0..40u64, 1..30u64, 1..4u32), 0..20),
        from in 0..40u64,
        length in 1..20u64,
    ) {
        let stretches: Vec<StreamStretch> = stretches
            .into_iter()
            .map(|(from, length, stream)| StreamStretch { stream, from, to: from + length })
            .collect();
        let kind = WaitKind {
            stream: 1,
            predicate: None,
            site: None,
            object: None,
            awaited: None,
        };
        let wait = Wait { kind, from, to: from + length, event: 0, later: 0 };
        let last = stretches
            .iter()
            .filter(|one| one.stream != 1 && one.from < wait.to && one.to > wait.from)
            .max_by_key(|one| (one.from, one.to, one.stream));
        prop_assert_eq!(
            StretchesInOrder::new(stretches.clone()).last(&wait),
            last.map(|one| one.stream)
        );
    }
}
