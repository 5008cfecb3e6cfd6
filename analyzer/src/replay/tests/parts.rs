//! The replay of a part of a trace: of what runs in some boxes, of what happens in a window of time.

use portmortem_tracer::format::{Dialect, Event};
use proptest::prelude::*;

use super::properties::center;
use super::random::{self, Limits};
use super::{Script, files, naive, parallel};
use crate::figures::Caller;
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::replay::{ReplayOptions, replay, try_replay};
use crate::scope::focus::{Focus, FocusOn};
use crate::scope::window::Window;

const CALL: fn(u32) -> Event = |predicate| Event::Call { predicate };

fn place() -> impl Strategy<Value = FocusOn> {
    prop_oneof![
        (0..5u32).prop_map(FocusOn::Predicate),
        Just(vec![0, 1, 2, 3]).prop_shuffle().prop_flat_map(|path| {
            (1..4usize).prop_map(move |length| FocusOn::Context(path[..length].to_vec()))
        }),
    ]
}

pub(super) fn script(gaps: bool) -> impl Strategy<Value = Script> {
    let dialect = prop_oneof![Just(Dialect::EveryRedo), Just(Dialect::InnermostRedo)];
    let hidden = prop::collection::vec((prop::bool::weighted(0.15), center()), 5);
    let places = prop::collection::vec(place(), 0..3);
    let window = prop::option::of((900..2500u64, 0..1500u64));
    let streams = prop::collection::vec(random::choices(120), 1..4);
    (dialect, hidden, places, window, streams).prop_map(
        move |(dialect, predicates, places, window, streams)| {
            let (hidden, centers) = predicates.into_iter().unzip();
            let limits = Limits {
                predicates: 5,
                dialect,
                gaps,
                sites: true,
            };
            Script {
                dialect,
                hidden,
                centers,
                places,
                window: window.map(|(from, length)| Window {
                    from,
                    until: from + length,
                }),
                streams: streams
                    .iter()
                    .map(|choices| random::run(choices, limits, 1000))
                    .collect(),
            }
        },
    )
}

/// Until the window of a script begins.
fn before(script: &Script) -> Script {
    Script {
        window: script.window.map(|window| window.before()),
        ..script.clone()
    }
}

/// The profile of the window of a script, made out of those of two parts of it.
pub(super) fn in_window(script: &Script, replay: impl Fn(&Script) -> Profile) -> Profile {
    let profile = replay(script);
    if script.window.is_none() {
        return profile;
    }
    profile.since(&replay(&before(script)))
}

/// Whatever is a sum over the moments of a run.
fn sums(profile: &Profile) -> Vec<Vec<u64>> {
    let of_predicates = profile.predicates.iter().map(|p| {
        vec![
            p.calls,
            p.tail_calls,
            p.exits(),
            p.exits_again,
            p.redos,
            p.fails,
            p.exceptions,
            p.cuts,
            p.self_ticks,
            p.inclusive_ticks,
            p.lifetime_ticks,
        ]
    });
    let of_streams = profile
        .streams
        .iter()
        .map(|s| vec![s.events, s.self_ticks, s.paused_ticks, s.untraced_ticks]);
    of_predicates.chain(of_streams).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn parts_are_those_of_the_model(script in script(false)) {
        let expected = in_window(&script, naive::replay);
        prop_assert_eq!(&in_window(&script, |script| script.replay().0), &expected);
        prop_assert_eq!(laws::check(&expected), []);
    }

    #[test]
    fn parts_after_gaps_keep_the_laws(script in script(true)) {
        prop_assert_eq!(laws::check(&in_window(&script, |script| script.replay().0)), []);
    }

    #[test]
    fn windows_after_gaps_are_those_of_the_model(script in script(true)) {
        let script = Script { centers: Vec::new(),
 places: Vec::new(), ..script };
        let profile = in_window(&script, |script| script.replay().0);
        prop_assert_eq!(profile, in_window(&script, naive::replay));
    }

    #[test]
    fn windows_add_up(script in script(false), at in 900..3000u64) {
        let part = |from, until| {
            let window = Some(Window { from, until });
            let script = Script { window, ..script.clone() };
            sums(&in_window(&script, |script| script.replay().0))
        };
        let whole = part(0, u64::MAX);
        let added: Vec<Vec<u64>> = part(0, at)
            .iter()
            .zip(&part(at, u64::MAX))
            .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect())
            .collect();
        prop_assert_eq!(whole, added);
    }
}

/// main (0) calls p (1) twice; it calls q (2) the second time.
fn twice() -> Script {
    let exit = Event::ExitDet;
    let events = [
        (CALL(0), 0),
        (CALL(1), 10),
        (exit, 30),
        (CALL(1), 40),
        (CALL(2), 50),
        (Event::Fail, 55),
        (exit, 70),
        (exit, 100),
    ];
    Script::new(3, events.to_vec())
}

#[test]
fn a_window_has_the_time_inside_it() {
    let script = Script {
        window: Some(Window {
            from: 20,
            until: 52,
        }),
        ..twice()
    };
    let profile = in_window(&script, |script| script.replay().0);
    let [main, p, q] = [0, 1, 2].map(|at| profile.predicates[at]);
    assert_eq!((main.calls, main.open_before, main.open), (0, 1, 1));
    assert_eq!((main.inclusive_ticks, main.self_ticks), (32, 10));
    assert_eq!((p.calls, p.exits_det, p.open_before, p.open), (1, 1, 1, 1));
    assert_eq!((p.inclusive_ticks, p.self_ticks), (22, 20));
    assert_eq!((q.calls, q.fails, q.open, q.self_ticks), (1, 0, 1, 2));
    // The failure comes later, so the time is not known to end in one.
    assert_eq!((q.failed_ticks, q.open_ticks), (0, 2));
    assert_eq!(profile.streams[0].events, 3);
    assert_eq!(laws::check(&profile), []);
}

#[test]
fn a_focus_has_no_caller() {
    let script = Script {
        places: vec![FocusOn::Predicate(1)],
        ..twice()
    };
    let profile = script.replay().0;
    assert_eq!(profile.predicates[0], Default::default());
    assert_eq!(profile.edges[&(Caller::Root, 1)].served_ticks, 50);
    assert_eq!(profile.edges[&(Caller::Predicate(1), 2)].served_ticks, 5);
    assert_eq!(profile.streams[0].untraced_ticks, 50);
}

#[test]
fn a_cancelled_replay_has_no_result() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    std::fs::write(&path, files::record(&twice())).unwrap();
    let trace = crate::Trace::open(&path).unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let mut options = ReplayOptions {
        cancel: Some(&cancel),
        focus: Focus::default().within(&FocusOn::Predicate(1)),
        ..ReplayOptions::default()
    };
    assert_eq!(try_replay(&trace, &options), None);
    assert_eq!(replay(&trace, &options).predicates[1].calls, 2);
    options.window = Some(Window { from: 0, until: 0 });
    assert_eq!(replay(&trace, &options).predicates[1].calls, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// In files, where blocks begin and end.
    #[test]
    fn windows_of_traces_are_those_of_their_events(
        script in parallel::long(), from in 0..20_000u64, length in 0..20_000u64,
    ) {
        let begin = script.streams.iter().flatten().map(|&(_, tick)| tick).min().unwrap_or(0);
        let window = Some(Window { from: begin + from, until: begin + from + length });
        let trace = files::trace(files::record(&script));
        let found = replay(&trace, &ReplayOptions { window, ..ReplayOptions::default() });
        prop_assert_eq!(laws::check(&found), []);
        let expected = in_window(&Script { window, ..script }, naive::replay);
        prop_assert_eq!(files::comparable(found), files::comparable(expected));
    }
}
