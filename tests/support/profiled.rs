//! A trace, replayed by the analyzer library.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use portmortem_analyzer::calls::CallsOnRequest;
use portmortem_analyzer::figures::laws;
use portmortem_analyzer::tables::{EdgeRow, PredicateRow};
use portmortem_analyzer::trace::PredicateInfo;
use portmortem_analyzer::{Filters, Profile, ReplayOptions, Scope, Tables, Trace, replay};
use portmortem_tracer::format::{Event, StreamKind};

/// A trace with its figures.
#[derive(Debug)]
pub struct Profiled {
    /// The trace.
    pub trace: Trace,
    /// Its figures.
    pub profile: Profile,
    /// The times of its single calls.
    pub calls: CallsOnRequest,
}

impl Profiled {
    /// The trace at `path`, replayed on one thread and on two, which must agree to the tick; every
    /// conservation law must hold, and no event may be impossible.
    ///
    /// # Panics
    /// If one of that is not so.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let trace = Trace::open(path).unwrap_or_else(|error| panic!("{error}"));
        let profile = on_threads(1, &trace);
        assert_eq!(
            profile,
            on_threads(2, &trace),
            "{}: 1 and 2 threads",
            path.display()
        );
        let imbalances = laws::check(&profile);
        assert!(imbalances.is_empty(), "{}: {imbalances:?}", path.display());
        assert!(
            profile.violations.is_empty(),
            "{}: {:?}",
            path.display(),
            profile.violations
        );
        let scope = Scope::of(&trace, &Filters::default());
        let calls = CallsOnRequest::new(Arc::new(scope));
        Self {
            trace,
            profile,
            calls,
        }
    }

    /// The table `predicates`.
    #[must_use]
    pub fn predicates(&self) -> Vec<PredicateRow<'_>> {
        Tables::new("trace", &self.trace, &self.profile)
            .predicates()
            .collect()
    }

    /// The table `edges`.
    #[must_use]
    pub fn edges(&self) -> Vec<EdgeRow<'_>> {
        Tables::new("trace", &self.trace, &self.profile)
            .edges()
            .collect()
    }

    /// The row of a predicate, by its indicator.
    #[must_use]
    pub fn find(&self, predicate: &str) -> Option<PredicateRow<'_>> {
        self.predicates()
            .into_iter()
            .find(|row| row.predicate == predicate)
    }

    /// The row of a predicate that must have run.
    ///
    /// # Panics
    /// If it is not in the table.
    #[must_use]
    pub fn row(&self, predicate: &str) -> PredicateRow<'_> {
        self.find(predicate)
            .unwrap_or_else(|| panic!("no {predicate} among {:?}", self.names()))
    }

    /// The edge between two predicates, or from `<root>`.
    ///
    /// # Panics
    /// If it is not in the table.
    #[must_use]
    pub fn edge(&self, caller: &str, callee: &str) -> EdgeRow<'_> {
        let mut edges = self.edges().into_iter();
        edges
            .find(|edge| edge.caller == caller && edge.callee == callee)
            .unwrap_or_else(|| panic!("no edge from {caller} to {callee} in {:#?}", self.edges()))
    }

    /// The program's predicates that ran, alphabetically: without the engine's own work, which
    /// depends on time, and notes on tables.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let engine = self.trace.predicates().iter();
        let engine: Vec<&str> = engine
            .filter(|info| info.is_engine_work() || info.is_filling())
            .map(|info| info.indicator.as_str())
            .collect();
        let mut names: Vec<String> = self
            .predicates()
            .iter()
            .filter(|row| !engine.contains(&row.predicate))
            .map(|row| row.predicate.to_owned())
            .collect();
        names.sort();
        names
    }

    /// Calls and exits of each predicate, by `(module, name, arity)`, without the engine's own work
    /// and notes on tables.
    #[must_use]
    pub fn calls_and_exits(&self) -> BTreeMap<(String, String, u32), (u64, u64)> {
        let known = self.trace.predicates().iter().zip(&self.profile.predicates);
        known
            .filter(|(info, figures)| {
                figures.is_used() && !info.is_engine_work() && !info.is_filling()
            })
            .map(|(info, figures)| {
                let declared = &info.declared;
                let key = (
                    declared.module.clone(),
                    declared.name.clone(),
                    declared.arity,
                );
                (key, (figures.calls, figures.exits()))
            })
            .collect()
    }

    /// Kind and name of each stream, by stream number.
    #[must_use]
    pub fn streams(&self) -> Vec<(&'static str, String)> {
        let kind = |kind| match kind {
            StreamKind::Thread => "thread",
            StreamKind::Engine => "engine",
        };
        self.trace
            .streams()
            .iter()
            .map(|stream| (kind(stream.kind()), stream.name().to_owned()))
            .collect()
    }

    /// How many events of the program's ports each stream has: without pauses, which the recorder makes for its own work,
    /// marks, and all events of garbage collections, stack shifts and autoloads. By the stream's name.
    #[must_use]
    pub fn port_events(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for stream in self.trace.streams() {
            let count = counts.entry(stream.name().to_owned()).or_default();
            // How many boxes are open from the engine's own one on.
            let mut inside = 0;
            for timed in self.trace.events(stream) {
                match timed.event {
                    Event::Pause
                    | Event::Resume
                    | Event::Mark { .. }
                    | Event::Clause { .. }
                    | Event::Arguments(_)
                    | Event::Table(_)
                    | Event::Value(_)
                    | Event::Sync(_)
                    | Event::Gap { .. } => {}
                    Event::Call { predicate } if inside > 0 || self.is_engine_work(predicate) => {
                        inside += 1;
                    }
                    Event::ExitDet | Event::Fail | Event::Exception if inside > 0 => inside -= 1,
                    _ if inside > 0 => {}
                    _ => *count += 1,
                }
            }
        }
        counts
    }

    fn is_engine_work(&self, predicate: u32) -> bool {
        let info = self.trace.predicates().get(predicate as usize);
        info.is_some_and(PredicateInfo::is_engine_work)
    }

    /// How many of the program's events there were at least and at most, where some were lost: how
    /// many of those were collections, stack shifts and waits is unknown. On a busy machine a
    /// thread waits hundreds of times a second; one event in a hundred is more than that.
    #[must_use]
    pub fn events_with_lost(&self) -> RangeInclusive<u64> {
        let most = self.events() + self.profile.lost_events();
        let of_engine = 100 + most / 100;
        most.saturating_sub(of_engine)..=most
    }

    /// Events of all streams together, without those of garbage collections, stack shifts and autoloads: how many of
    /// the first two there are depends on time.
    #[must_use]
    pub fn events(&self) -> u64 {
        let all: u64 = self
            .profile
            .streams
            .iter()
            .map(|stream| stream.events)
            .sum();
        let known = self.trace.predicates().iter().zip(&self.profile.predicates);
        let engine = known.filter(|(info, _)| info.is_engine_work());
        all - engine
            .map(|(_, figures)| {
                figures.calls + figures.exits() + figures.fails + figures.exceptions
            })
            .sum::<u64>()
    }
}

fn on_threads(count: usize, trace: &Trace) -> Profile {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    pool.unwrap()
        .install(|| replay(trace, &ReplayOptions::default()))
}
