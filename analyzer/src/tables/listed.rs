//! What `portmortem events` lists: the columns of the table `events`, and what only an event's way
//! there tells.

use super::events::EventAt;
use super::row::rows;
use crate::machine::WayOut;
use crate::trace::names::{file_line, file_name};
use crate::trace::{PredicateIndex, SiteIndex, SiteInfo, Trace};

rows! {
    /// A row of `portmortem events`.
    pub struct ListedRow<'t> of l: Listed<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = l.at.name;
        /// Number of the stream.
        "stream" None stream: u32 = l.at.stream;
        /// Number of the event in its stream, from 0; lost events count. Of a gap: the last one
        /// lost.
        "event" None seq: u64 = l.at.step.number;
        /// When, in ns since the beginning of the trace.
        "at" Clock ns: u64 = l.at.trace.clock().since_start_ns(l.at.step.tick);
        /// `call`, `tail`, `exit_det`, `exit_nondet`, `redo`, `fail`, `exception`, `cut`, `pause`,
        /// `resume`, `gap`, `mark`, `clause`, `arguments`, `table`, `value` or `sync`.
        "port" None port: &'t str = l.at.step.kind().name();
        /// Indicator of the predicate that the box runs; of a call or last call, the predicate that
        /// is called.
        "predicate" None predicate: Option<&'t str> = l.at.step.of.map(|(of, _)| l.at.trace.predicate_name(of.predicate));
        /// Boxes around the box.
        "depth" Count depth: Option<u64> = l.at.step.of.map(|(_, depth)| depth);
        /// The box: number of the event by which it was called.
        "box" None r#box: Option<u64> = l.at.step.of.map(|(of, _)| of.called);
        /// The box around it, likewise; empty if there is none.
        "parent" None parent: Option<u64> = l.at.step.of.and_then(|(of, _)| of.caller);
        /// Of a cut: how many boxes lost their choicepoints. Of a gap: how many events were lost.
        "count" Count count: Option<u64> = l.at.count();
        /// Of a mark: its text. Of a `sync`: the name of the mutex, queue or thread.
        "text" None text: Option<&'t str> = l.at.text();
        /// Of a `clause`: the number of the clause that the box enters, from 1.
        "clause" None clause: Option<u32> = l.at.clause();
        /// File and line of the goal that called the box, or whose last call it runs:
        /// `queens.pl:12`. Empty: no goal is known, as of calls by `call/1` or from an unrecorded
        /// predicate.
        "site" None site: Option<&'t str> = l.site_name().map(|name| name.place.as_str());
        /// That goal: the predicate, its clause, and the goal in the clause, from 1: `safe/1 2.1`.
        "goal" None goal: Option<&'t str> = l.site_name().map(|name| name.goal.as_str());
        /// Source file of the clause with that goal.
        "file" None file: Option<&'t str> = l.site().and_then(|site| l.at.trace.file(site.file?));
        /// Line of the goal.
        "line" None line: Option<u32> = l.site().map(|site| site.line).filter(|&line| line != 0);
        /// How the activation ends that a call, last call or redo begins, or that the event ends:
        /// `exit_det`, `exit_nondet`, `fail`, `exception`, `open` (not before the end of the
        /// stream) or `lost` (in a gap). Of calls and redos only if a condition asks for `outcome`
        /// or `took`.
        "outcome" None outcome: Option<&'t str> = l.facts.outcome.map(WayOut::name);
        /// Time from the call or redo that begins the activation to the way out that ends it, less
        /// pauses, in ns; of a last call, from there. Of calls and redos only if a condition asks
        /// for `outcome` or `took`.
        "took" Clock took_ns: Option<u64> = l.facts.took.map(|ticks| l.at.trace.clock().duration_ns(ticks));
        /// Of a failure: the predicate that failed last inside of the activation; empty if none
        /// did. Of a redo: the predicate whose failure caused it. Of an exception: the predicate
        /// that it left first.
        "cause" None cause: Option<&'t str> = l.facts.cause.map(|cause| l.at.trace.predicate_name(cause.predicate));
        /// The number of the event by which it did that. Of a redo, empty: no recorded box failed;
        /// the active one, which is the cause, did so in its own clause or asked for another
        /// solution.
        "cause event" None cause_event: Option<u64> = l.facts.cause.and_then(|cause| cause.event);
        /// Of an exception: the predicate of the box that it does not leave; empty if it leaves
        /// all.
        "caught in" None caught: Option<&'t str> = l.facts.caught.map(|caught| l.at.trace.predicate_name(caught.predicate));
    }
}

/// What a row is made of.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'t> {
    /// The event.
    pub at: EventAt<'t>,
    /// What goals are called.
    pub sites: &'t SiteNames,
    /// What else is known of it.
    pub facts: EventFacts,
}

/// What is known of an event beside the boxes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventFacts {
    /// The goal that called the box, or that made the last call which it runs.
    pub site: Option<SiteIndex>,
    /// How the activation ended that it begins or ends.
    pub outcome: Option<WayOut>,
    /// How long that took, in ticks.
    pub took: Option<u64>,
    /// Who failed or raised the exception.
    pub cause: Option<PredicateMoment>,
    /// The box that an exception stops at.
    pub caught: Option<PredicateMoment>,
}

/// A predicate, and when it did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PredicateMoment {
    /// The predicate.
    pub predicate: PredicateIndex,
    /// Number of the event in the stream.
    pub event: Option<u64>,
}

impl<'t> Listed<'t> {
    fn site(&self) -> Option<&'t SiteInfo> {
        self.at.trace.sites().get(self.facts.site? as usize)
    }

    fn site_name(&self) -> Option<&'t SiteName> {
        self.sites.names.get(self.facts.site? as usize)
    }
}

/// What the goals of a trace are called.
#[derive(Debug, Clone, Default)]
pub struct SiteNames {
    names: Vec<SiteName>,
}

#[derive(Debug, Clone)]
struct SiteName {
    place: String,
    goal: String,
}

impl SiteNames {
    /// Those of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let name = |site: &SiteInfo| SiteName {
            place: place(trace, site),
            goal: format!(
                "{} {}.{}",
                trace.predicate_name(site.caller),
                site.clause,
                site.goal
            ),
        };
        Self {
            names: trace.sites().iter().map(name).collect(),
        }
    }

    /// Places and goals, by site.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.names.iter();
        names.map(|name| (name.place.as_str(), name.goal.as_str()))
    }
}

/// `file:line`, the file without its directories, as far as that is known.
fn place(trace: &Trace, site: &SiteInfo) -> String {
    let file = site.file.and_then(|file| trace.file(file));
    match (file.unwrap_or("?"), site.line) {
        (file, 0) => file_name(file),
        (file, line) => file_line(file, line),
    }
}
