//! The replay of files that the real recorder wrote.

use std::path::Path;
use std::sync::atomic::AtomicU64;

use portmortem_tracer::format::{
    Clause, Dialect, Event, Header, Outcome, Role, Roles, Site, StreamKind,
};
use portmortem_tracer::{Keep, NewPredicate, Options, Recorder, clock};
use proptest::prelude::*;

use super::random::{self, Limits};
use super::{Events, Script, collects, kind, naive};
use crate::export::{self, Exporter, Table};
use crate::figures::Caller;
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::replay::{ReplayOptions, replay};
use crate::scope::hide::Hide;
use crate::tables::Tables;
use crate::trace::BoxKind;
use crate::trace::Trace;
use crate::trace::mapping::Mapping;

/// The predicates of test traces are `p0/0`, `p1/1`, … in module `user`; one is garbage collections.
pub(super) fn declare(recorder: &Recorder, predicates: u32) {
    for i in 0..predicates {
        assert_eq!(declare_one(recorder, i), i);
    }
}

/// What the file calls a predicate.
pub(super) fn declare_one(recorder: &Recorder, predicate: u32) -> u32 {
    let (module, name, arity) = named(predicate);
    recorder.predicate(
        NewPredicate::named(module, &name, arity)
            .at("p.pl", predicate + 1)
            .with_roles(roles(predicate)),
    )
}

fn named(predicate: u32) -> (&'static str, String, u32) {
    match kind(predicate) {
        _ if collects(predicate) => ("system", "forall".to_owned(), 2),
        BoxKind::EngineWork => ("system", "garbage_collect".to_owned(), 0),
        BoxKind::Waiting => ("system", "waiting".to_owned(), 0),
        BoxKind::SetUp => ("portmortem", "instrument".to_owned(), 0),
        BoxKind::Autoload => ("system", "autoload".to_owned(), 0),
        BoxKind::Call { arity } => ("user", format!("p{predicate}"), arity),
    }
}

fn roles(predicate: u32) -> Roles {
    match kind(predicate) {
        _ if collects(predicate) => Roles::of(&[Role::Collector]),
        BoxKind::EngineWork => Roles::of(&[Role::Collection]),
        BoxKind::Waiting => Roles::of(&[Role::Waiting]),
        BoxKind::SetUp => Roles::of(&[Role::SetUp]),
        BoxKind::Autoload => Roles::of(&[Role::Loading]),
        BoxKind::Call { .. } => Roles::default(),
    }
}

pub(super) fn recorder(path: &Path, options: &Options) -> Recorder {
    Recorder::create(path, &Header::of_this_process("test engine"), options).unwrap()
}

/// The bytes of a closed trace of the script.
pub(crate) fn record(script: &Script) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let recorder = recorder(&path, &Options::default());
    let predicates = script.hidden.len() as u32;
    declare(&recorder, predicates);
    for (callee, site) in script.callees().into_iter().zip(0..) {
        let site = Site {
            callee,
            caller: site % 3 % predicates,
            clause: 1,
            goal: site + 1,
            line: 0,
            file: None,
            then_fails: super::then_fails(site),
        };
        assert_eq!(recorder.site(site), predicates + site.goal - 1);
    }
    for (predicate, at) in script.clauses().into_iter().zip(0..) {
        let clause = Clause {
            predicate,
            number: at / predicates + 1,
            line: 0,
            file: None,
        };
        assert_eq!(recorder.clause(clause), at);
    }
    // No id stands for the unknown predicate.
    let id = |callable| callable - u32::from(callable > predicates);
    for events in &script.streams {
        let stream = recorder.stream(StreamKind::Thread, "a thread", script.dialect);
        for &(event, tick) in events {
            let event = match event {
                Event::Call { predicate } => Event::Call {
                    predicate: id(predicate),
                },
                Event::Tail { predicate } => Event::Tail {
                    predicate: id(predicate),
                },
                other => other,
            };
            stream.record_at(event, tick);
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    std::fs::read(&path).unwrap()
}

pub(super) fn trace(bytes: Vec<u8>) -> Trace {
    Trace::read(Mapping::from(bytes), Path::new("trace.pmt")).unwrap()
}

/// Long after any tick that the recorder itself reads.
pub(super) fn later(events: &mut Events) {
    let base = clock::ticks() + (1 << 40);
    events.iter_mut().for_each(|(_, tick)| *tick += base);
}

/// Without what files add to a script: time before the first event.
pub(super) fn comparable(mut profile: Profile) -> Profile {
    for stream in &mut profile.streams {
        (stream.first_tick, stream.last_tick, stream.untraced_ticks) = (0, 0, 0);
    }
    profile
}

pub(super) fn script() -> impl Strategy<Value = Script> {
    let dialect = prop_oneof![Just(Dialect::EveryRedo), Just(Dialect::InnermostRedo)];
    let hidden = prop::collection::vec(prop::bool::weighted(0.15), 1..8);
    let streams = prop::collection::vec(random::choices(150), 1..5);
    (dialect, hidden, streams).prop_map(|(dialect, hidden, streams)| {
        let limits = Limits {
            predicates: hidden.len() as u32,
            dialect,
            gaps: true,
            sites: true,
        };
        let mut streams: Vec<Events> = streams
            .iter()
            .map(|choices| random::run(choices, limits, 0))
            .collect();
        for events in &mut streams {
            // The time from the beginning of the stream must not be a gap's.
            events.insert(0, (Event::Mark { text: 0 }, 0));
            later(events);
        }
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
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_file_is_its_events(script in script()) {
        let trace = trace(record(&script));
        prop_assert_eq!(trace.verify(), []);
        let hidden = (0..).zip(&script.hidden).filter(|&(_, &hidden)| hidden);
        let hide = Hide::new(hidden.map(|(i, _)| {
            let (module, name, arity) = named(i);
            format!("{module}:{name}/{arity}")
        }));
        let profile = replay(&trace, &ReplayOptions { hide, ..ReplayOptions::default() });
        prop_assert_eq!(laws::check(&profile), []);
        prop_assert_eq!(comparable(profile), comparable(naive::replay(&script)));
    }
}

/// `p0` calls `p1` a hundred thousand times, for one tick each.
pub(super) fn long() -> Script {
    let mut events = vec![(Event::Call { predicate: 0 }, 0)];
    for i in 0..100_000 {
        events.push((Event::Call { predicate: 1 }, 2 * i + 1));
        events.push((Event::ExitDet, 2 * i + 2));
    }
    events.push((Event::ExitDet, 200_002));
    later(&mut events);
    Script::new(2, events)
}

#[test]
fn many_blocks_and_any_number_of_threads() {
    let mut script = long();
    script.streams = vec![script.streams[0].clone(); 5];
    let trace = trace(record(&script));
    let profiles: Vec<Profile> = [1, 2, 7]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| replay(&trace, &ReplayOptions::default()))
        })
        .into();
    assert_eq!(profiles[0], profiles[1]);
    assert_eq!(profiles[0], profiles[2]);
    assert_eq!(profiles[0].predicates[1].calls, 500_000);
    assert_eq!(profiles[0].predicates[1].self_ticks, 500_000);
    assert_eq!(profiles[0].damage, []);
    assert_eq!(laws::check(&profiles[0]), []);
}

#[test]
fn progress_counts_every_block() {
    let trace = trace(record(&long()));
    let read = AtomicU64::new(0);
    let options = ReplayOptions {
        hide: Hide::default(),
        progress: Some(&read),
        ..ReplayOptions::default()
    };
    let _ = replay(&trace, &options);
    let read = read.into_inner();
    assert!(
        read > 400_000 && read < trace.size(),
        "{read} of {}",
        trace.size()
    );
}

#[test]
fn a_trace_that_was_never_closed_is_readable() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("killed.pmt");
    let recorder = recorder(&path, &Options::default());
    declare(&recorder, 2);
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    stream.call(0);
    for _ in 0..10_000 {
        stream.call(1);
        stream.exit_nondet();
    }
    // What kill -9 would leave.
    let trace = trace(std::fs::read(&path).unwrap());
    assert_eq!(trace.end(), None);
    assert_eq!(trace.verify(), []);
    let profile = replay(&trace, &ReplayOptions::default());
    assert_eq!(profile.damage, []);
    assert_eq!(profile.lost_events(), 0);
    assert_eq!(profile.predicates[0].open, 1);
    assert_eq!(profile.predicates[1].pending, 10_000);
    assert_eq!(laws::check(&profile), []);
    drop(stream);
}

#[test]
fn a_recording_that_reached_its_limit() {
    // If no process folds the trace, no block of it makes room.
    for keep in [Keep::First, Keep::Last, Keep::Figures] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("full.pmt");
        let options = Options {
            max_size: Some(128 << 10),
            keep,
            overwrite: false,
        };
        let recorder = recorder(&path, &options);
        declare(&recorder, 2);
        let stream = recorder.stream(StreamKind::Engine, "main", Dialect::EveryRedo);
        stream.call(0);
        for _ in 0..100_000 {
            stream.call(1);
            stream.exit_det();
        }
        stream.exit_det();
        drop(stream);
        recorder.close(Outcome::Exited(0)).unwrap();
        let trace = Trace::open(&path).unwrap();
        let profile = replay(&trace, &ReplayOptions::default());
        assert_eq!(laws::check(&profile), []);
        assert_eq!(profile.violation_count, 0);
        let stream = profile.streams[0];
        assert!(stream.lost_events > 0);
        assert_eq!(stream.events + stream.lost_events, 200_002, "{keep:?}");
        let unknown = profile.predicates[2];
        match keep {
            Keep::First | Keep::Figures | Keep::FiguresBeyond(_) => {
                assert_eq!(profile.predicates[0].open, 1);
            }
            Keep::Last => assert!(unknown.exits_det > 0 && unknown.self_ticks > 0),
        }
    }
}

#[test]
fn the_tables_say_what_the_profile_has() {
    let trace = trace(record(&long()));
    let profile = replay(&trace, &ReplayOptions::default());
    let tables = Tables::new("long", &trace, &profile);
    let row = tables
        .predicates()
        .find(|row| row.predicate == "p1/1")
        .unwrap();
    assert_eq!(
        (row.file, row.line, row.calls),
        (Some("p.pl"), Some(2), 100_000)
    );
    assert_eq!(row.determinism, Some("det"));
    assert_eq!(row.self_ns, trace.clock().duration_ns(100_000));
    let pairs: Vec<_> = tables.edges().map(|row| (row.caller, row.callee)).collect();
    assert_eq!(pairs, [("<root>", "p0/0"), ("p0/0", "p1/1")]);
    assert_eq!(profile.edges[&(Caller::Root, 0)].calls, 1);
    let mut csv = Vec::new();
    export::Csv
        .write(&tables, Table::Predicates, &mut csv)
        .unwrap();
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 3);
}
