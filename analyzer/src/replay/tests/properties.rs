//! What holds for every run.

use portmortem_tracer::format::{
    ArgumentValue, Arguments, CompleteTable, Dialect, Event, SyncCall, SyncRole, ValueKind,
};
use proptest::prelude::*;

use super::random::{self, Choice, Limits};
use super::{Events, Script, naive};
use crate::figures::Port;
use crate::figures::centers::CenterFigures;
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::trace::Center;

/// The cost centre that boxes of a predicate enter, often none.
pub(super) fn center() -> impl Strategy<Value = Center> {
    prop::option::weighted(0.4, 0..3u32)
}

/// A script of some streams with some predicates hidden, some in cost centres.
fn script(gaps: bool) -> impl Strategy<Value = Script> {
    let dialect = prop_oneof![Just(Dialect::EveryRedo), Just(Dialect::InnermostRedo)];
    let hidden = prop::collection::vec((prop::bool::weighted(0.15), center()), 1..8);
    let streams = prop::collection::vec(random::choices(120), 1..4);
    (dialect, hidden, streams).prop_map(move |(dialect, predicates, streams)| {
        let (hidden, centers): (Vec<bool>, Vec<Center>) = predicates.into_iter().unzip();
        let predicates = hidden.len() as u32;
        let centers = centers
            .into_iter()
            .map(|center| Some(center? % predicates))
            .collect();
        let limits = Limits {
            predicates,
            dialect,
            gaps,
            sites: true,
        };
        let run = |choices: &Vec<Choice>| random::run(choices, limits, 1000);
        let streams = streams.iter().map(run).collect();
        Script {
            dialect,
            hidden,
            centers,
            places: Vec::new(),
            window: None,
            streams,
        }
    })
}

/// One of so many predicates, or of their sites.
fn callable(predicates: u32) -> impl Strategy<Value = u32> {
    prop_oneof![0..predicates, predicates + 1..=3 * predicates]
}

/// Any events whatever, most of them impossible; cuts of up to so many.
fn nonsense(cut: u32) -> impl Strategy<Value = Script> {
    let event = prop_oneof![
        4 => callable(4).prop_map(|predicate| Event::Call { predicate }),
        2 => callable(4).prop_map(|predicate| Event::Tail { predicate }),
        2 => Just(Event::ExitDet),
        2 => Just(Event::ExitNondet),
        2 => Just(Event::Redo),
        2 => (0..9u32).prop_map(|clause| Event::Clause { clause }),
        1 => Just(Event::Arguments(Arguments::NotGround)),
        1 => callable(4).prop_map(|predicate| Event::Table(CompleteTable {
            predicate,
            answers: 2,
            nodes: 3,
        })),
        1 => (0..4u8, 0..4u8, 0..9u64).prop_map(|(when, argument, hash)| Event::Value(ArgumentValue {
            when,
            argument,
            kind: ValueKind::Ground,
            size: 1,
            hash,
        })),
        1 => Just(Event::Sync(SyncCall {
            role: SyncRole::Holds,
            shared: 0,
        })),
        1 => Just(Event::Fail),
        1 => Just(Event::Exception),
        1 => prop_oneof![0..4u32, 0..=cut].prop_map(|count| Event::Cut { count }),
        1 => prop_oneof![
            8 => Just(Event::Pause),
            8 => Just(Event::Resume),
            1 => Just(Event::Gap { lost: 1 }),
        ],
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
            centers: Vec::new(),
            places: Vec::new(),
            window: None,
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
    profile
        .sites
        .values_mut()
        .for_each(|figures| figures.tail_calls = 0);
    profile
        .contexts
        .iter_mut()
        .for_each(|figures| figures.tail_calls = 0);
    profile
        .centers
        .values_mut()
        .for_each(|figures| figures.tail_calls = 0);
    profile.streams.clear();
    profile
}

/// Without what tells physical boxes apart. Of boxes re-entered together the outermost is the one that
/// is backtracked into; in a run without last calls all of them are.
fn without_physical_boxes(mut profile: Profile) -> Profile {
    profile
        .predicates
        .iter_mut()
        .for_each(|figures| figures.max_height = 0);
    for row in &mut profile.contexts {
        (row.inside, row.outside, row.hidden) = Default::default();
    }
    for row in profile.centers.values_mut() {
        (row.inside, row.outside, row.hidden) = Default::default();
    }
    profile
        .backtracks
        .values_mut()
        .for_each(|figures| figures.count = 0);
    profile
        .backtracks
        .retain(|_, figures| figures.undone_ticks > 0 || figures.collected_ticks > 0);
    without_tail_counts(profile)
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

    /// Of boxes of before a gap only that is known what they do after it. What they call then, and
    /// depart into, has all its figures.
    #[test]
    fn what_is_called_after_a_gap_is_known(choices in random::choices(150), begin: prop::sample::Index) {
        const EACH: usize = 4;
        let limits = Limits { predicates: EACH as u32, dialect: Dialect::EveryRedo, gaps: false, sites: false, };
        // After a gap the replay takes an unknown box for active, so a box is around this run, too.
        let mut events = vec![(Event::Call { predicate: 0 }, 0)];
        events.extend(random::run(&choices, limits, 0));
        events.retain(|(event, _)| !matches!(event, Event::Pause | Event::Resume));
        let begin = begin.index(events.len()) + 1;
        for (event, _) in &mut events[begin..] {
            if let Event::Call { predicate } | Event::Tail { predicate } = event {
                *predicate += EACH as u32;
            }
        }
        let figures = |events: Events| {
            let (mut profile, violations) = Script::new(2 * EACH, events).replay();
            let called = &mut profile.predicates[EACH..2 * EACH];
            // How high the choice stack was is not known, nor whether a box of before collects.
            called.iter_mut().for_each(|figures| (figures.max_height, figures.undone_ticks) = (0, 0));
            (called.to_vec(), violations)
        };
        let gap = (Event::Gap { lost: begin as u64 }, events[begin - 1].1);
        let rest = [gap].into_iter().chain(events[begin..].iter().copied());
        prop_assert_eq!(figures(rest.collect()), figures(events));
    }

    #[test]
    fn streams_add_up_in_any_order(script in script(true)) {
        let mut merged = Profile::default();
        for (at, events) in script.streams.iter().enumerate().rev() {
            let alone = Script { streams: vec![events.clone()], ..script.clone() };
            let mut profile = alone.replay().0;
            profile.streams[0].stream = at as u32 + 1;
            merged.merge(profile);
        }
        prop_assert_eq!(merged, script.replay().0);
    }

    /// Those of the program: what happens between two ports departs into nothing.
    #[test]
    fn last_calls_count_like_calls(choices in random::choices(150)) {
        let limits = Limits { predicates: 3, dialect: Dialect::EveryRedo, gaps: false, sites: true, };
        let events = random::run(&choices, limits, 0);
        let expanded = Script::new(3, without_last_calls(&events)).replay().0;
        let profile = Script::new(3, events).replay().0;
        prop_assert_eq!(without_physical_boxes(profile), without_physical_boxes(expanded));
    }

    #[test]
    fn nonsense_keeps_the_laws(script in nonsense(u32::MAX)) {
        prop_assert_eq!(laws::check(&script.replay().0), []);
    }

    /// With every redo there. When events mean more than one redo, what was inside a box that is gone
    /// for good may be taken for what was inside another one.
    #[test]
    fn nonsense_is_taken_at_its_word(mut script in nonsense(4)) {
        script.dialect = Dialect::EveryRedo;
        let without_cuts = |mut profile: Profile| {
            // Whom a box is cut from, when its caller is gone, is anybody's guess.
            for row in &mut profile.contexts {
                row.outside[Port::Cut as usize] = 0;
                row.hidden.outside[Port::Cut as usize] = 0;
            }
            for row in profile.centers.values_mut() {
                row.outside[Port::Cut as usize] = 0;
                row.hidden.outside[Port::Cut as usize] = 0;
            }
            // So is what lies inside of a box.
            for row in profile.clauses.values_mut() {
                (row.left, row.left_redos, row.left_cuts, row.left_pending) = (0, 0, 0, 0);
            }
            profile.centers.retain(|_, row| *row != CenterFigures::default());
            profile
        };
        prop_assert_eq!(
            without_cuts(script.replay().0),
            without_cuts(naive::replay_nonsense(&script))
        );
    }
}

/// A box that departs there has the room of one that had called what is re-entered.
#[test]
fn a_box_in_the_room_of_a_caller() {
    use Event::{Call, ExitDet, ExitNondet, Redo, Tail};
    let events = [
        Call { predicate: 0 },
        Redo,
        Call { predicate: 0 },
        Call { predicate: 0 },
        ExitNondet,
        Tail { predicate: 0 },
        ExitNondet,
        ExitDet,
        Call { predicate: 0 },
        Redo,
        ExitDet,
        Call { predicate: 0 },
        ExitNondet,
        Tail { predicate: 1 },
        Redo,
    ];
    let script = Script::new(4, events.into_iter().map(|event| (event, 0)).collect());
    assert_eq!(script.replay().0, naive::replay_nonsense(&script));
}
