//! Cost centres: hand-made streams, and the sums on random ones.

use std::collections::BTreeMap;
use std::path::Path;

use portmortem_tracer::format::{
    COST_UNIT, Dialect, Event, Header, Outcome, PortCosts, Record, Role, Roles, StreamKind,
};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
use proptest::prelude::*;

use super::random::{self, Choice, Limits};
use crate::figures::counted::Counted;
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::net::centers::by_center;
use crate::replay::{ReplayOptions, replay};
use crate::scope::focus::{Focus, FocusOn};
use crate::scope::hide::Hide;
use crate::scope::window::Window;
use crate::trace::mapping::Mapping;
use crate::trace::{Center, Trace};

/// Ids in the order in which [`trace`] names them: two cost centres, a predicate declared to be in the second, two plain ones.
const A: u32 = 0;
const B: u32 = 1;
const IN_B: u32 = 2;
const P: u32 = 3;
const Q: u32 = 4;
/// What the engine does by itself.
const COLLECTION: u32 = 5;

fn trace(streams: &[Vec<Event>], dialect: Dialect) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    assert_eq!(
        [recorder.cost_center("a"), recorder.cost_center("b")],
        [A, B]
    );
    assert_eq!(recorder.cost_center("a"), A);
    recorder.recording_costs(&Record::PortCosts(PortCosts {
        inside: [2 * COST_UNIT as u32; 8],
        outside: [COST_UNIT as u32; 8],
        ..PortCosts::default()
    }));
    for (name, id) in [("in_b", IN_B), ("p", P), ("q", Q)] {
        assert_eq!(recorder.predicate(NewPredicate::named("user", name, 0)), id);
    }
    let roles = Roles::of(&[Role::Collection]);
    assert_eq!(
        recorder.predicate(NewPredicate::named("engine", "collect", 0).with_roles(roles)),
        COLLECTION
    );
    recorder.in_cost_center(IN_B, B);
    let base = clock::ticks() + (1 << 40);
    for events in streams {
        let stream = recorder.stream(StreamKind::Thread, "a thread", dialect);
        for (&event, at) in events.iter().zip(1..) {
            // Every stretch is of another length, so that none can be taken for another.
            stream.record_at(event, base + at * at);
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    Trace::read(
        Mapping::from(std::fs::read(&path).unwrap()),
        Path::new("trace.pmt"),
    )
    .unwrap()
}

fn call(predicate: u32) -> Event {
    Event::Call { predicate }
}

fn tail(predicate: u32) -> Event {
    Event::Tail { predicate }
}

/// Calls and ticks by centre and predicate.
fn found(events: Vec<Event>) -> BTreeMap<(Center, u32), (u64, u64)> {
    let trace = trace(&[events], Dialect::EveryRedo);
    let rows = replay(&trace, &ReplayOptions::default())
        .centers
        .into_iter();
    rows.map(|(key, figures)| (key, (figures.calls, figures.self_ticks)))
        .collect()
}

#[test]
fn the_innermost_centre_wins() {
    use Event::{ExitDet, Fail};
    let events = vec![
        call(P),    // outside: 3
        call(A),    // 5
        call(P),    // in a: 7
        call(B),    // 9
        call(Q),    // in b: 11
        call(IN_B), // in b: 13
        call(A),    // 15
        call(Q),    // in a: 17
        Fail,       // a again: 19
        Fail,       // in_b: 21
        ExitDet,    // q in b: 23
        ExitDet,    // b: 25
        ExitDet,    // p in a: 27
        ExitDet,    // a: 29
        ExitDet,    // p outside: 31
        ExitDet,
    ];
    let expected = [
        ((None, P), (1, 3 + 31)),
        ((Some(A), A), (2, 5 + 29 + 15 + 19)),
        ((Some(A), P), (1, 7 + 27)),
        ((Some(A), Q), (1, 17)),
        ((Some(B), B), (1, 9 + 25)),
        ((Some(B), Q), (1, 11 + 23)),
        ((Some(B), IN_B), (1, 13 + 21)),
    ];
    assert_eq!(found(events), expected.into());
}

#[test]
fn collections_take_time_in_a_centre_and_are_no_calls() {
    use Event::ExitDet;
    let events = vec![
        call(A),          // 3
        call(P),          // 5
        call(COLLECTION), // 7
        ExitDet,          // 9
        ExitDet,          // 11
        ExitDet,
    ];
    let trace = trace(&[events], Dialect::EveryRedo);
    let profile = replay(&trace, &ReplayOptions::default());
    let sum = by_center(&trace, &profile, Counted::All)[&Some(A)];
    assert_eq!((sum.entered, sum.figures.calls), (1, 1));
    assert_eq!(sum.figures.self_ticks, 3 + 5 + 7 + 9 + 11);
}

#[test]
fn a_hidden_box_goes_on_to_be_in_its_centre() {
    use Event::ExitDet;
    let events = vec![
        call(Q),    // outside: 3
        call(IN_B), // in b: 5
        call(P),    // in b: 7
        ExitDet,    // in_b: 9
        ExitDet,    // q: 11
        ExitDet,
    ];
    let trace = trace(&[events], Dialect::EveryRedo);
    let hidden = |predicates: &[u32]| {
        let hide = predicates.iter().copied().fold(Hide::default(), Hide::and);
        let options = ReplayOptions {
            hide,
            ..ReplayOptions::default()
        };
        let rows = replay(&trace, &options).centers.into_iter();
        rows.map(|(key, figures)| (key, (figures.calls, figures.self_ticks)))
            .collect::<BTreeMap<_, _>>()
    };
    let outside = ((None, Q), (1, 3 + 11));
    assert_eq!(
        hidden(&[IN_B]),
        [outside, ((Some(B), P), (1, 7)), ((Some(B), Q), (0, 5 + 9)),].into()
    );
    assert_eq!(
        hidden(&[IN_B, P]),
        [outside, ((Some(B), Q), (0, 5 + 7 + 9))].into()
    );
    assert_eq!(hidden(&[IN_B, P, Q]), [].into());
}

#[test]
fn a_redo_goes_on_in_the_centre_of_its_box() {
    use Event::{ExitNondet, Fail, Redo};
    let events = vec![
        call(A),    // 3
        call(P),    // in a: 5
        ExitNondet, // a: 7
        ExitNondet, // no box: 9
        call(Q),    // outside: 11
        Fail,       // no box: 13
        Redo,       // a: 15
        Redo,       // p in a: 17
        call(Q),    // in a: 19
        Fail,       // p in a: 21
        Fail,       // a: 23
        Fail,
    ];
    let expected = [
        ((None, Q), (1, 11)),
        ((Some(A), A), (1, 3 + 7 + 15 + 23)),
        ((Some(A), P), (1, 5 + 17 + 21)),
        ((Some(A), Q), (1, 19)),
    ];
    assert_eq!(found(events), expected.into());
}

#[test]
fn last_calls_run_in_the_centre_they_departed_into() {
    use Event::ExitDet;
    let events = vec![
        call(P),    // outside: 3
        tail(A),    // 5
        tail(P),    // in a: 7
        tail(IN_B), // 9
        tail(P),    // in b: 11
        tail(P),    // in b: 13
        ExitDet,    // no box: 15
        call(P),    // outside: 17
        ExitDet,
    ];
    let trace = trace(&[events], Dialect::EveryRedo);
    let rows = replay(&trace, &ReplayOptions::default()).centers;
    let of = |center, predicate| {
        let figures = rows[&(center, predicate)];
        (figures.calls, figures.exits_det, figures.self_ticks)
    };
    assert_eq!(of(None, P), (2, 2, 3 + 17));
    assert_eq!(of(Some(A), A), (1, 1, 5));
    assert_eq!(of(Some(A), P), (1, 1, 7));
    assert_eq!(of(Some(B), IN_B), (1, 1, 9));
    assert_eq!(of(Some(B), P), (2, 2, 11 + 13));
}

#[test]
fn the_boxes_of_centres_are_entries_and_no_calls() {
    let events = vec![call(A), call(IN_B), Event::ExitDet, Event::ExitDet];
    let trace = trace(&[events], Dialect::EveryRedo);
    let profile = replay(&trace, &ReplayOptions::default());
    let sums = by_center(&trace, &profile, Counted::All);
    let calls = |center| {
        sums.get(&center)
            .map(|sum| (sum.entered, sum.figures.calls))
    };
    assert_eq!(calls(Some(A)), Some((1, 0)));
    assert_eq!(calls(Some(B)), Some((1, 1)));
    assert_eq!(calls(None), None);
}

/// Net times of centres sum to that of a part of a trace.
fn agrees(trace: &Trace, options: &ReplayOptions) {
    let profile: Profile = replay(trace, options);
    assert_eq!(laws::check(&profile), []);
    let sums = by_center(trace, &profile, Counted::All);
    let net: Option<u64> = sums.values().map(|sum| sum.net_ticks).sum();
    let all = profile.net.as_ref().unwrap().net_ticks;
    assert_eq!(net, Some(all));
}

/// What is hidden or not looked at, and when.
fn part() -> impl Strategy<Value = ReplayOptions<'static>> {
    let hidden = prop::collection::vec(0..6u32, 0..3);
    let focus = prop::option::weighted(0.3, 0..5u32);
    let window = prop::option::weighted(0.3, (0..8000u64, 0..8000u64));
    (hidden, focus, window).prop_map(|(hidden, focus, window)| {
        let hide = hidden.into_iter().fold(Hide::default(), Hide::and);
        let places = focus.map(FocusOn::Predicate);
        ReplayOptions {
            hide,
            focus: places.iter().fold(Focus::default(), Focus::within),
            // Relative to the beginning of the streams.
            window: window.map(|(from, length)| Window {
                from,
                until: from + length,
            }),
            ..ReplayOptions::default()
        }
    })
}

/// The same part of a trace that begins at some tick.
fn since(part: &ReplayOptions<'static>, begin: u64) -> ReplayOptions<'static> {
    ReplayOptions {
        window: part.window.map(|window| Window {
            from: begin + window.from,
            until: begin + window.until,
        }),
        ..part.clone()
    }
}

/// With everything but the boxes that enter a centre hidden, their time is that of the centres.
fn agrees_with_hiding(trace: &Trace) {
    let hide = Hide::new(["user:p/0", "user:q/0"]);
    let options = ReplayOptions {
        hide,
        ..ReplayOptions::default()
    };
    let profile = replay(trace, &options);
    let unknown = trace.unknown_predicate();
    let mut times = BTreeMap::<Center, u64>::new();
    for (index, figures) in (0..).zip(&profile.predicates) {
        let center = if index == unknown {
            Some(unknown)
        } else {
            trace.center(index)
        };
        *times.entry(center).or_default() += figures.self_ticks;
    }
    times.remove(&None);
    let mut found = BTreeMap::<Center, u64>::new();
    for (&(center, _), figures) in &replay(trace, &ReplayOptions::default()).centers {
        *found.entry(center).or_default() += figures.self_ticks;
    }
    for (center, time) in times {
        assert_eq!(found.get(&center).copied().unwrap_or(0), time, "{center:?}");
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0..5u32).prop_map(|predicate| Event::Call { predicate }),
        2 => (0..5u32).prop_map(|predicate| Event::Tail { predicate }),
        3 => Just(Event::ExitDet),
        3 => Just(Event::ExitNondet),
        3 => Just(Event::Redo),
        2 => Just(Event::Fail),
        1 => Just(Event::Exception),
        1 => (1..4u32).prop_map(|count| Event::Cut { count }),
        1 => Just(Event::Pause),
        1 => Just(Event::Resume),
        1 => (0..3u64).prop_map(|lost| Event::Gap { lost }),
    ]
}

/// Events that can happen where they stand: the impossible a hidden replay may blame on another box.
fn run(choices: &[Choice], dialect: Dialect, gaps: bool) -> Vec<Event> {
    let limits = Limits {
        predicates: 5,
        dialect,
        gaps,
        sites: false,
    };
    let events = random::run(choices, limits, 0);
    events.into_iter().map(|(event, _)| event).collect()
}

proptest! {
    /// Gaps included, and impossible events; not with redos of which one means several boxes, where it would be anybody's
    /// guess which.
    #[test]
    fn centres_sum_to_the_whole(
        streams in prop::collection::vec(prop::collection::vec(event(), 0..120), 1..4),
    ) {
        agrees(&trace(&streams, Dialect::EveryRedo), &ReplayOptions::default());
    }

    #[test]
    fn centres_of_a_part_sum_to_the_part(
        streams in prop::collection::vec(random::choices(120), 1..4),
        innermost in any::<bool>(),
        gaps in any::<bool>(),
        part in part(),
    ) {
        let dialect = if innermost { Dialect::InnermostRedo } else { Dialect::EveryRedo };
        let streams = streams.iter().map(|choices| run(choices, dialect, gaps));
        let trace = trace(&streams.collect::<Vec<_>>(), dialect);
        let firsts = trace.streams().iter().filter_map(|stream| trace.events(stream).next());
        let begin = firsts.map(|first| first.tick).min().unwrap_or(0);
        agrees(&trace, &since(&part, begin));
    }

    #[test]
    fn time_is_that_of_a_replay_with_all_else_hidden(
        choices in random::choices(120),
        gaps in any::<bool>(),
    ) {
        agrees_with_hiding(&trace(&[run(&choices, Dialect::EveryRedo, gaps)], Dialect::EveryRedo));
    }
}
