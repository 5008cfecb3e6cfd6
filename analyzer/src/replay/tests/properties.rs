//! What holds for every run.

use portmortem_tracer::format::{Dialect, Event};
use proptest::prelude::*;

use super::random::{self, Choice, Limits};
use super::{Events, Script, naive};
use crate::laws;
use crate::profile::Profile;

/// A script of some streams with some predicates hidden.
fn script(gaps: bool) -> impl Strategy<Value = Script> {
    let dialect = prop_oneof![Just(Dialect::EveryRedo), Just(Dialect::InnermostRedo)];
    let hidden = prop::collection::vec(prop::bool::weighted(0.15), 1..6);
    let streams = prop::collection::vec(random::choices(120), 1..4);
    (dialect, hidden, streams).prop_map(move |(dialect, hidden, streams)| {
        let predicates = hidden.len() as u32;
        let limits = Limits {
            predicates,
            dialect,
            gaps,
        };
        let run = |choices: &Vec<Choice>| random::run(choices, limits, 1000);
        let streams = streams.iter().map(run).collect();
        Script {
            dialect,
            hidden,
            streams,
        }
    })
}

/// Any events whatever, most of them impossible.
fn nonsense() -> impl Strategy<Value = Script> {
    let event = prop_oneof![
        4 => (0..4u32).prop_map(|predicate| Event::Call { predicate }),
        2 => (0..4u32).prop_map(|predicate| Event::Tail { predicate }),
        2 => Just(Event::ExitDet),
        2 => Just(Event::ExitNondet),
        2 => Just(Event::Redo),
        1 => Just(Event::Fail),
        1 => Just(Event::Exception),
        1 => prop_oneof![0..4u32, any::<u32>()].prop_map(|count| Event::Cut { count }),
        1 => prop_oneof![Just(Event::Pause), Just(Event::Resume)],
    ];
    let dialect = prop_oneof![Just(Dialect::EveryRedo), Just(Dialect::InnermostRedo)];
    let events = prop::collection::vec((event, 0..9u64), 0..200);
    let hidden = prop::collection::vec(prop::bool::weighted(0.2), 4);
    (dialect, hidden, events).prop_map(|(dialect, hidden, mut events)| {
        let mut now = 0;
        for (_, tick) in &mut events {
            now += *tick;
            *tick = now;
        }
        Script {
            dialect,
            hidden,
            streams: vec![events],
        }
    })
}

/// The run of an engine that never reuses a frame: every logical box has events of its own.
fn without_last_calls(events: &Events) -> Events {
    let mut lengths = vec![0u32];
    let mut choices = Vec::new();
    let mut out = Vec::new();
    for &(event, tick) in events {
        let times = match event {
            Event::Call { .. } => {
                lengths.push(1);
                1
            }
            Event::Tail { predicate } => {
                *lengths.last_mut().unwrap() += 1;
                out.push((Event::Call { predicate }, tick));
                continue;
            }
            Event::ExitDet | Event::Fail | Event::Exception => lengths.pop().unwrap(),
            Event::ExitNondet => {
                choices.push(*lengths.last().unwrap());
                lengths.pop().unwrap()
            }
            Event::Redo => {
                lengths.push(choices.pop().unwrap());
                *lengths.last().unwrap()
            }
            Event::Cut { count } => {
                let count = choices.drain(choices.len() - count as usize..).sum();
                out.push((Event::Cut { count }, tick));
                continue;
            }
            _ => 1,
        };
        out.extend((0..times).map(|_| (event, tick)));
    }
    out
}

fn without_tail_counts(mut profile: Profile) -> Profile {
    profile
        .predicates
        .iter_mut()
        .for_each(|figures| figures.tail_calls = 0);
    profile
        .edges
        .values_mut()
        .for_each(|figures| figures.tail_calls = 0);
    profile.streams.clear();
    profile
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_replay_is_the_model(script in script(false)) {
        let (profile, violations) = script.replay();
        prop_assert_eq!(violations, []);
        prop_assert_eq!(laws::check(&profile), []);
        prop_assert_eq!(profile, naive::replay(&script));
    }

    #[test]
    fn after_gaps_too(script in script(true)) {
        let (profile, violations) = script.replay();
        prop_assert_eq!(violations, []);
        prop_assert_eq!(laws::check(&profile), []);
        prop_assert_eq!(profile, naive::replay(&script));
    }

    #[test]
    fn last_calls_count_like_calls(choices in random::choices(150)) {
        let limits = Limits { predicates: 4, dialect: Dialect::EveryRedo, gaps: false };
        let events = random::run(&choices, limits, 0);
        let expanded = Script::new(4, without_last_calls(&events)).replay().0;
        let profile = Script::new(4, events).replay().0;
        prop_assert_eq!(without_tail_counts(profile), without_tail_counts(expanded));
    }

    #[test]
    fn nonsense_keeps_the_laws(script in nonsense()) {
        prop_assert_eq!(laws::check(&script.replay().0), []);
    }
}
