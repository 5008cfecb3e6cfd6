//! The replay in chunks of every size is the model's to the tick.

use portmortem_tracer::format::{Dialect, Event};
use proptest::prelude::*;

use super::random::{self, Limits};
use super::{Events, Script, files, naive};
use crate::figures::StreamFigures;
use crate::figures::profile::{Profile, ViolationKind};
use crate::machine::Class;
use crate::reading::{self, Asked};
use crate::replay::chunk::{Before, Chunk};
use crate::replay::join::{GiveUp, Join};
use crate::replay::{ReplayOptions, schedule};
use crate::scope::Scope;

/// The profile of a script whose streams are cut into chunks of `size` events.
fn replay(script: &Script, size: usize) -> Result<Profile, GiveUp> {
    replay_in(script, size, &mut Vec::new())
}

/// As [`replay`], with what cannot happen.
pub(super) fn replay_in(
    script: &Script,
    size: usize,
    violations: &mut Vec<ViolationKind>,
) -> Result<Profile, GiveUp> {
    let scope = script.scope();
    let mut join = Join::new(&scope);
    let mut streams = Vec::new();
    for (events, id) in script.streams.iter().zip(1..) {
        let splits = !scope.has_transparent()
            && scope.window.is_none()
            && script.dialect == Dialect::EveryRedo;
        let figures = if splits && events.len() > size {
            parts(&mut join, &scope, events, size)?
        } else {
            whole(&mut join, &scope, script, events, violations)
        };
        streams.push(StreamFigures {
            stream: id,
            events: script.until_over(events).len() as u64,
            ..figures
        });
    }
    Ok(Profile {
        clauses: script.by_clause(&scope),
        ..join.into_profile(streams)
    })
}

fn ends(events: &Events) -> (u64, u64) {
    let tick = |event: Option<&(Event, u64)>| event.map_or(0, |&(_, tick)| tick);
    (tick(events.first()), tick(events.last()))
}

fn whole(
    join: &mut Join,
    scope: &Scope,
    script: &Script,
    events: &Events,
    violations: &mut Vec<ViolationKind>,
) -> StreamFigures {
    let (first, last) = ends(events);
    let mut chunk = Chunk::new(scope);
    chunk.begin_stream(first);
    feed(&mut chunk, script.dialect, script.until_over(events));
    assert!(!chunk.unusual);
    violations.extend(chunk.violations.listed.iter().map(|(_, what)| *what));
    let figures = chunk.finish_stream(first, last);
    join.add_streams(chunk);
    figures
}

/// Replays events until one is unusual, with some calls and their ends at once, others one by one.
fn feed(chunk: &mut Chunk, dialect: Dialect, mut events: &[(Event, u64)]) {
    let has_leaves = !chunk.hides && chunk.scope.window.is_none();
    while let [(event, tick), rest @ ..] = events
        && !chunk.unusual
    {
        let class = Class::of(*event);
        events = rest;
        if has_leaves
            && let [(end @ (Event::ExitDet | Event::Fail), then), after @ ..] = rest
            && matches!(class, Class::Enter(_) | Class::Depart(_))
            && (tick + then) % 4 != 0
        {
            chunk.advance(*tick);
            if chunk
                .replay_leaf(class, *end == Event::Fail, then - tick)
                .is_some()
            {
                events = after;
                continue;
            }
        }
        chunk.step(dialect, class, *tick);
    }
}

fn parts(
    join: &mut Join,
    scope: &Scope,
    events: &Events,
    size: usize,
) -> Result<StreamFigures, GiveUp> {
    let (first, last) = ends(events);
    join.begin_stream(first);
    for part in events.chunks(size) {
        let tick = part[0].1;
        let replay = |before: &Before| {
            let mut chunk = Chunk::new(scope);
            chunk.begin_part(tick, before);
            feed(&mut chunk, Dialect::EveryRedo, part);
            if chunk.unusual {
                return Err(GiveUp::Unusual);
            }
            chunk.end_part();
            chunk.ledger.finish();
            Ok(chunk)
        };
        let mut chunk = replay(&Before::default())?;
        let roots = join.find_roots(&chunk)?;
        let before = join.not_foreseen(&roots);
        if before != Before::default() {
            chunk = replay(&before)?;
        }
        join.add_part(&chunk, roots, 0, tick, true)?;
    }
    Ok(join.finish_stream(last))
}

/// A script of some streams, some predicates hidden if `hide`.
fn script(hide: bool) -> impl Strategy<Value = Script> {
    let dialect = if hide {
        prop_oneof![Just(Dialect::EveryRedo), Just(Dialect::InnermostRedo)].boxed()
    } else {
        Just(Dialect::EveryRedo).boxed()
    };
    let share = if hide { 0.15 } else { 0.0 };
    let hidden = prop::collection::vec(prop::bool::weighted(share), 1..6);
    let streams = prop::collection::vec(random::choices(200), 1..4);
    (dialect, hidden, streams).prop_map(|(dialect, hidden, streams)| {
        let limits = Limits {
            predicates: hidden.len() as u32,
            dialect,
            gaps: false,
            sites: true,
        };
        let streams = streams
            .iter()
            .map(|choices| random::run(choices, limits, 1000))
            .collect();
        Script {
            dialect,
            hidden,
            centers: Vec::new(),
            places: Vec::new(),
            window: None,
            streams,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn whole_streams_are_the_models(script in script(true)) {
        prop_assert_eq!(replay(&script, usize::MAX), Ok(naive::replay(&script)));
    }

    #[test]
    fn chunks_are_the_models(script in script(false), size in 1..60usize) {
        prop_assert_eq!(replay(&script, size), Ok(naive::replay(&script)));
    }
}

/// A trace of a long stream and some shorter ones, each of many blocks.
pub(crate) fn long() -> impl Strategy<Value = Script> {
    let streams = prop::collection::vec(random::choices(6000), 1..4);
    (1..9u32, streams).prop_map(|(predicates, streams)| scripted(predicates, &streams))
}

/// Streams that run so, after all ticks that the recorder itself reads.
pub(super) fn scripted(predicates: u32, streams: &[Vec<random::Choice>]) -> Script {
    let limits = Limits {
        predicates,
        dialect: Dialect::EveryRedo,
        gaps: false,
        sites: true,
    };
    let run = |choices: &Vec<_>| {
        let mut events = random::run(choices, limits, 0);
        files::later(&mut events);
        events
    };
    Script {
        dialect: Dialect::EveryRedo,
        hidden: vec![false; predicates as usize],
        centers: Vec::new(),
        places: Vec::new(),
        window: None,
        streams: streams.iter().map(run).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_threads_and_chunks_are_the_model(script in long()) {
        let trace = files::trace(files::record(&script));
        let scope = ReplayOptions::default().scope(&trace);
        let expected = files::comparable(naive::replay(&script));
        for threads in [1, 2, 3, 16] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for chunk_bytes in [1, 1000, 20_000, u64::MAX] {
                let options = ReplayOptions {
                    chunk_bytes: Some(chunk_bytes),
                    ..ReplayOptions::default()
                };
                let mut fast = pool.install(|| schedule::replay(&trace, &options, &scope, None));
                let found = pool.install(|| reading::read(&trace, &scope, Asked::default(), None));
                fast.clauses = found.unwrap().clauses;
                fast.settle();
                prop_assert_eq!(&files::comparable(fast), &expected);
            }
        }
    }
}
