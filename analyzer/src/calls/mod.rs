//! From events to the times of single calls, by predicate and by goal, and to the tables that were
//! completed, in one pass over the streams.
//!
//! The pass is not part of the replay: it is made when the times are asked for. Memory is that of
//! the open boxes, and of a row for each predicate and goal.

pub mod behaviour;
pub mod complete;
pub mod figures;
mod follower;
pub mod growth;
mod ledger;
pub(crate) mod pass;
pub(crate) mod so_far;
mod usual;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bincode::{Decode, Encode};

use crate::figures::Caller;
use crate::machine::pass::{PassWatch, over_streams};
use crate::progress::Progress;
use crate::scope::Scope;
use crate::trace::{PredicateIndex, SiteIndex, Trace};
use behaviour::Behaviour;
use complete::CompleteTables;
use figures::{Bins, CallFigures};
use follower::Follower;
pub(crate) use ledger::CallLedger;
use pass::Timer;
pub use usual::{AgainstUsual, Did, Doing, PredicateInBoth};

/// A goal that made calls, as the table `sites` has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Goal {
    /// What is called.
    pub callee: PredicateIndex,
    /// The predicate whose clause has the goal; of calls without a site, what called.
    pub caller: Caller,
    /// The goal, if calls name it.
    pub site: Option<SiteIndex>,
}

/// The times of single calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Calls {
    predicates: Vec<CallFigures>,
    goals: BTreeMap<Goal, CallFigures>,
    /// What was gone back to, by goal.
    pub behaviour: Behaviour,
    tables: complete::ByPredicate,
}

impl Calls {
    /// The calls of what is looked at. Streams are read in parallel on rayon's current threads. The
    /// events are read again: a caller must ask [`Trace::check_whole`] before it shows anything of
    /// this.
    #[must_use]
    pub fn of(trace: &Trace, scope: &Scope) -> Self {
        Self::watched(trace, scope, &Progress::default()).unwrap_or_default()
    }

    /// The same. `progress` counts up the events read; `None` if it was cancelled.
    #[must_use]
    pub fn watched(trace: &Trace, scope: &Scope, progress: &Progress) -> Option<Self> {
        let timing = Timing::of(trace);
        let watch = PassWatch {
            progress: Some(progress.counter()),
            cancel: Some(progress.stop_flag()),
        };
        over_streams(
            trace,
            scope,
            watch,
            || timing.observer(scope),
            Self::observed,
            Self::and,
        )
    }

    /// What the observers of some streams found.
    pub(crate) fn observed((timer, (follower, counter)): Observed) -> Self {
        Self {
            behaviour: follower.into_behaviour(),
            tables: counter.into_found(),
            ..timer.into_books().into_calls()
        }
    }

    /// Bins are by a clock, whose rate is known better at the end of a recording.
    #[cfg(test)]
    pub(crate) fn without_bins(mut self) -> Self {
        for figures in self.predicates.iter_mut().chain(self.goals.values_mut()) {
            figures.histogram = figures::Histogram::default();
        }
        self
    }

    /// There are rows for so many predicates, the unknown one included, which has no calls.
    fn make_room(&mut self, predicates: usize) {
        let rows = self.predicates.len().max(predicates);
        self.predicates.resize(rows, CallFigures::default());
    }

    /// Whether all that it names is in a trace.
    pub(crate) fn may_be_of(&self, trace: &Trace) -> bool {
        let unknown = trace.unknown_predicate();
        let is_goal = |goal: &Goal| {
            goal.callee <= unknown
                && goal.caller.predicate().is_none_or(|of| of <= unknown)
                && goal.site.is_none_or(|site| is_site(trace, site))
        };
        let is_slow = |figures: &CallFigures| {
            let mut slowest = figures.slowest.iter();
            slowest.all(|call| {
                call.caller.predicate().is_none_or(|of| of <= unknown)
                    && call.site.is_none_or(|site| is_site(trace, site))
            })
        };
        self.predicates.len() <= unknown as usize + 1
            && self.goals.keys().all(is_goal)
            && self
                .predicates
                .iter()
                .chain(self.goals.values())
                .all(is_slow)
            && self.tables.keys().all(|of| *of <= unknown)
            && self.behaviour.may_be_of(trace)
    }

    /// The figures of the calls of a predicate; `None` if it has none.
    #[must_use]
    pub fn predicate(&self, index: PredicateIndex) -> Option<&CallFigures> {
        let figures = self.predicates.get(index as usize);
        figures.filter(|figures| **figures != CallFigures::default())
    }

    /// The tables of a predicate that were completed; `None` if none was.
    #[must_use]
    pub fn tables(&self, index: PredicateIndex) -> Option<&CompleteTables> {
        self.tables.get(&index)
    }

    /// The predicates that have some, in the order of the trace.
    pub fn predicates(&self) -> impl Iterator<Item = (PredicateIndex, &CallFigures)> {
        (0..self.predicates.len() as PredicateIndex)
            .filter_map(|index| Some((index, self.predicate(index)?)))
    }

    /// The figures of the calls that a goal made; `None` if it has none.
    #[must_use]
    pub fn goal(&self, goal: &Goal) -> Option<&CallFigures> {
        self.goals.get(goal)
    }

    /// All goals, by callee. Those of a predicate add up to it, but for growth: each goal has
    /// ordinals of its own.
    pub fn goals(&self) -> impl Iterator<Item = (&Goal, &CallFigures)> {
        self.goals.iter()
    }

    /// The goals that called a predicate.
    pub fn goals_of(&self, callee: PredicateIndex) -> impl Iterator<Item = (&Goal, &CallFigures)> {
        let goal = |caller, site| Goal {
            callee,
            caller,
            site,
        };
        let last = Caller::Predicate(PredicateIndex::MAX);
        self.goals
            .range(goal(Caller::Root, None)..=goal(last, Some(SiteIndex::MAX)))
    }

    /// With the calls of other streams.
    pub(crate) fn and(mut self, other: Self) -> Self {
        if self.predicates.is_empty() {
            return other;
        }
        complete::add(&mut self.tables, &other.tables);
        for (sum, part) in self.predicates.iter_mut().zip(&other.predicates) {
            sum.add(part);
        }
        for (goal, part) in &other.goals {
            self.goals.entry(*goal).or_default().add(part);
        }
        self.behaviour = self.behaviour.and(other.behaviour);
        self
    }
}

fn is_site(trace: &Trace, site: SiteIndex) -> bool {
    (site as usize) < trace.sites().len()
}

/// What finds all of it in one pass.
pub(crate) type Observed<'s> = (Timer<'s>, (Follower<'s>, complete::TableCounter<'s>));

/// What times of calls are booked by, of a trace.
#[derive(Debug)]
pub(crate) struct Timing {
    bins: Bins,
    /// By site: the predicate whose clause it is in.
    callers: Vec<PredicateIndex>,
    unknown: PredicateIndex,
}

impl Timing {
    pub(crate) fn of(trace: &Trace) -> Self {
        Self {
            bins: Bins::of(trace.clock()),
            callers: trace.sites().iter().map(|site| site.caller).collect(),
            unknown: trace.unknown_predicate(),
        }
    }

    /// One for some streams.
    pub(crate) fn observer<'s>(&'s self, scope: &'s Scope) -> Observed<'s> {
        let ledger = CallLedger::new(scope, &self.bins, &self.callers, self.unknown);
        let follower = Follower::new(scope, &self.callers, self.unknown);
        (
            Timer::new(ledger),
            (follower, complete::TableCounter::new(scope)),
        )
    }
}

/// The calls of a part of a trace, once they were asked for.
#[derive(Debug)]
pub struct CallsOnRequest {
    scope: Arc<Scope>,
    found: OnceLock<Arc<Calls>>,
}

impl CallsOnRequest {
    /// Nothing is read yet. `scope` is of the trace that [`Self::get`] will be given.
    #[must_use]
    pub fn new(scope: Arc<Scope>) -> Self {
        Self {
            scope,
            found: OnceLock::new(),
        }
    }

    /// The calls; the first time, the events are read for them ([`Calls::of`]).
    pub fn get(&self, trace: &Trace) -> &Calls {
        self.found
            .get_or_init(|| Arc::new(Calls::of(trace, &self.scope)))
    }

    /// The calls if they were found already; reads nothing.
    #[must_use]
    pub fn known(&self) -> Option<&Arc<Calls>> {
        self.found.get()
    }

    /// Keeps what was found; reads nothing.
    pub(crate) fn keep(&self, calls: Arc<Calls>) {
        // Another thread may have found the same meanwhile.
        let _ = self.found.set(calls);
    }

    /// Finds the calls, unless that was done; `progress` counts up the events read. Whether they
    /// are known then: not if it was cancelled.
    pub fn find(&self, trace: &Trace, progress: &Progress) -> bool {
        if self.found.get().is_none()
            && let Some(calls) = Calls::watched(trace, &self.scope, progress)
        {
            self.keep(Arc::new(calls));
        }
        self.found.get().is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scope::Filters;
    use growth::Verdict;

    /// The sample has lookups that go through all that was entered before, and the same naive
    /// reverse 60 times.
    #[test]
    fn lookups_that_scan_grow_and_naive_reverses_do_not() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/scan.pmt");
        let trace = Trace::open(&path).unwrap();
        let calls = Calls::of(&trace, &Scope::of(&trace, &Filters::default()));
        for (name, verdict, outermost) in [
            ("lookup/2", Verdict::Linear, 500),
            ("system:memberchk/2", Verdict::Linear, 500),
            ("app/3", Verdict::Constant, 720),
            ("nrev/2", Verdict::Constant, 60),
            ("reverses/1", Verdict::Constant, 60),
            // One chain of last calls.
            ("enter/3", Verdict::Unknown, 1),
        ] {
            let mut predicates = trace.predicates().iter();
            let index = predicates.position(|info| info.indicator == name).unwrap();
            let figures = calls.predicate(index as PredicateIndex).unwrap();
            let trend = figures.trend();
            assert_eq!((trend.verdict, trend.calls), (verdict, outermost), "{name}");
            let outer = calls.goals_of(index as PredicateIndex);
            let outer = outer.filter(|(goal, _)| {
                goal.caller != Caller::Predicate(goal.callee) && goal.site.is_some()
            });
            for (goal, figures) in outer.filter(|_| verdict != Verdict::Unknown) {
                assert_eq!(figures.trend(), trend, "{goal:?}");
            }
        }
    }

    #[test]
    fn a_pass_can_be_cancelled_and_made_again() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/threads_exceptions.pmt");
        let trace = Trace::open(&path).unwrap();
        let scope = Arc::new(Scope::of(&trace, &Filters::default()));
        let calls = CallsOnRequest::new(Arc::clone(&scope));
        let progress = Progress::default();
        progress.stop();
        assert!(!calls.find(&trace, &progress));
        assert_eq!(calls.known(), None);
        let progress = Progress::default();
        assert!(calls.find(&trace, &progress));
        assert_eq!(*calls.known().unwrap().as_ref(), Calls::of(&trace, &scope));
        let events = trace.streams().iter().map(|stream| trace.events(stream));
        let events: usize = events.map(Iterator::count).sum();
        assert_eq!(progress.done(), events as u64);
    }
}
