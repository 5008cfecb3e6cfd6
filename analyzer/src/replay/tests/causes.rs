//! The causes of redos that `events` tells, counted, are the table `backtracks`: whatever is noted
//! between two steps of the program.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use portmortem_tracer::format::{
    ArgumentValue, Arguments, CompleteTable, Dialect, Event, SyncCall, SyncRole, ValueKind,
};
use proptest::prelude::*;

use super::random::{self, Limits};
use super::{Events, Script, files};
use crate::condition::ListedCondition;
use crate::figures::Caller;
use crate::listing::Listing;
use crate::machine::{Class, EventKind, WayOut};
use crate::replay::{ReplayOptions, replay};
use crate::tables::{PredicateMoment, SiteNames};
use crate::trace::{PredicateIndex, StreamInfo, Trace};
use crate::walk::Walk;

/// Predicates that take steps of the program, and those that stand between two.
const STEPS: u32 = 3;
const COLLECTION: u32 = 3;
const WAITING: u32 = 4;

/// What failed or asked for a solution, what was re-entered, and how often.
type Pairs = BTreeMap<(Caller, PredicateIndex), u64>;

/// An event of a kind, if it is a note.
fn note(kind: EventKind) -> Option<Event> {
    Some(match kind {
        EventKind::Mark => Event::Mark { text: 0 },
        EventKind::Clause => Event::Clause { clause: 0 },
        EventKind::Arguments => Event::Arguments(Arguments::NotGround),
        EventKind::Table => Event::Table(CompleteTable {
            predicate: 1,
            answers: 2,
            nodes: 3,
        }),
        EventKind::Value => Event::Value(ArgumentValue {
            when: 0,
            argument: 1,
            kind: ValueKind::Unbound,
            size: 0,
            hash: 0,
        }),
        EventKind::Sync => Event::Sync(SyncCall {
            role: SyncRole::Holds,
            shared: 0,
        }),
        EventKind::Call
        | EventKind::Tail
        | EventKind::ExitDet
        | EventKind::ExitNondet
        | EventKind::Redo
        | EventKind::Fail
        | EventKind::Exception
        | EventKind::Cut
        | EventKind::Pause
        | EventKind::Resume
        | EventKind::Gap => return None,
    })
}

/// What may happen between two steps of the program: every note, a pause, work of the engine.
fn all_between() -> Vec<Vec<Event>> {
    let boxed = |predicate| vec![Event::Call { predicate }, Event::ExitDet];
    let notes = EventKind::ALL.into_iter().filter_map(note);
    let mut all: Vec<_> = notes.map(|note| vec![note]).collect();
    all.push(vec![Event::Pause, Event::Resume]);
    all.extend([COLLECTION, WAITING].map(boxed));
    all
}

/// The same run, with something between each two events: which, `turns` tells in turn.
fn interspersed(run: Events, turns: &[prop::sample::Index]) -> Events {
    let all = all_between();
    let mut events = Vec::new();
    let mut paused = false;
    for ((event, tick), turn) in run.into_iter().zip(turns.iter().cycle()) {
        events.push((event, tick));
        match event {
            Event::Pause => paused = true,
            Event::Resume | Event::Gap { .. } => paused = false,
            _ => {}
        }
        if !paused {
            let between = turn.get(&all).iter();
            events.extend(between.map(|&event| (event, tick)));
        }
    }
    events
}

fn script() -> impl Strategy<Value = Script> {
    let dialect = prop_oneof![Just(Dialect::EveryRedo), Just(Dialect::InnermostRedo)];
    let turns = prop::collection::vec(any::<prop::sample::Index>(), 1..60);
    let streams = prop::collection::vec((random::choices(300), turns), 1..4);
    (dialect, any::<bool>(), streams).prop_map(|(dialect, gaps, streams)| {
        let limits = Limits {
            predicates: STEPS,
            dialect,
            gaps,
            sites: false,
        };
        let streams = streams.iter().map(|(choices, turns)| {
            let mut events = interspersed(random::run(choices, limits, 0), turns);
            files::later(&mut events);
            events
        });
        Script {
            dialect,
            streams: streams.collect(),
            ..Script::new(5, Vec::new())
        }
    })
}

/// By stream and event: the causes of all redos.
fn causes(trace: &Trace) -> BTreeMap<(u32, u64), Option<PredicateMoment>> {
    let sites = SiteNames::of(trace);
    let redos = ListedCondition::parse("port = redo", trace, &sites).unwrap();
    let mut causes = BTreeMap::new();
    let _ = Listing::new(trace, "", None, &sites).each(&redos, &mut |listed, _| {
        let at = &listed.at;
        causes.insert((at.stream, at.step.number), listed.facts.cause);
        ControlFlow::Continue(())
    });
    causes
}

/// Counts the causes of a stream. A chain of last calls is spoken of as what its box was called as,
/// a box that asks for a solution as what it runs. One redo may enter several boxes.
fn count(trace: &Trace, stream: &StreamInfo, pairs: &mut Pairs) {
    let causes = causes(trace);
    let mut walk = Walk::from(trace, None, stream, 0);
    let mut failed = BTreeMap::new();
    let mut outermost = Caller::Root;
    loop {
        let height = walk.moment().active().len();
        let Some(step) = walk.next() else { break };
        if step
            .of
            .is_some_and(|(of, _)| of.predicate >= STEPS && of.predicate <= WAITING)
        {
            continue;
        }
        match step.class() {
            Class::ReEnter => {
                let cause = match causes[&(stream.id, step.number)] {
                    Some(PredicateMoment {
                        event: Some(failure),
                        ..
                    }) => super::by(failed[&failure]),
                    cause => cause.map_or(outermost, |cause| super::by(cause.predicate)),
                };
                let active = walk.moment().active();
                for entered in active.newest().take(active.len() - height) {
                    *pairs.entry((cause, entered.called_as)).or_default() += 1;
                }
            }
            Class::Pause(_) | Class::Note(_) => {}
            class => {
                if let (Class::Leave(WayOut::Fail), Some((of, _))) = (class, step.of) {
                    failed.insert(step.number, of.called_as);
                }
                if let Class::Lose(_) = class {
                    outermost = super::by(trace.unknown_predicate());
                }
            }
        }
    }
}

/// The deepest of so many boxes has a second solution, and so have those around it. Nothing fails,
/// and the outermost box asks for all of these. Some are looked for in another piece of the stream
/// than the first one.
#[test]
fn redos_in_a_row_come_from_the_box_that_asked_for_the_first() {
    for depth in [2, 1000] {
        let inner = || (1..=depth).map(|_| Event::Call { predicate: 1 });
        let events = [Event::Call { predicate: 0 }].into_iter().chain(inner());
        let events = events.chain(inner().map(|_| Event::ExitNondet));
        let events = events.chain(inner().map(|_| Event::Redo));
        let script = Script::new(5, events.map(|event| (event, 0)).collect());
        let trace = files::trace(files::record(&script));
        let causes = causes(&trace).into_values();
        let causes: Vec<_> = causes.map(|cause| cause.map(|of| of.predicate)).collect();
        assert_eq!(causes, vec![Some(0); depth]);
        let profile = replay(&trace, &ReplayOptions::default());
        let backtracks = profile.backtracks.iter();
        let backtracks: Pairs = backtracks.map(|(pair, of)| (*pair, of.count)).collect();
        let expected = Pairs::from([((super::by(0), 1), depth as u64)]);
        assert_eq!(backtracks, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn causes_counted_by_pair_are_backtracks(script in script()) {
        let trace = files::trace(files::record(&script));
        let mut told = Pairs::new();
        for stream in trace.streams() {
            count(&trace, stream, &mut told);
        }
        for chunk_bytes in [None, Some(100)] {
            let profile = replay(&trace, &ReplayOptions { chunk_bytes, ..ReplayOptions::default() });
            let counted = profile.backtracks.iter();
            let counted: Pairs = counted.map(|(pair, figures)| (*pair, figures.count)).collect();
            prop_assert_eq!(&counted, &told);
        }
    }
}
