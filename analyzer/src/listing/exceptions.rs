//! Exceptions: where they were raised, where they were caught, and what that cost; and failures by
//! which a box was re-entered.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{Bounds, Listing, Pending, Wanted};
use crate::machine::EventKind;
use crate::scope::Window;
use crate::tables::{Listed, SiteNames};
use crate::trace::{PredicateIndex, SiteIndex, Trace};
use crate::walk::{Step, Trail};

/// Exceptions that were raised and caught at the same places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thrown {
    /// The predicate of the first box that they left.
    pub raised: PredicateIndex,
    /// The goal that called that box, if it is known.
    pub site: Option<SiteIndex>,
    /// The predicate of the box that they did not leave; `None` if they left all.
    pub caught: Option<PredicateIndex>,
    /// How many.
    pub count: u64,
    /// Time in the outermost boxes that they left, in ticks.
    pub ticks: u64,
    /// The costliest of them: the number of its stream, and of the event by which it left the first
    /// box.
    pub costliest: (u32, u64),
    /// What that one cost, in ticks.
    pub most_ticks: u64,
}

/// What is raised, which goal called it, what catches it.
type ExceptionKey = (PredicateIndex, Option<SiteIndex>, Option<PredicateIndex>);

/// An exception on its way out.
#[derive(Debug, Clone, Copy)]
struct ExceptionFlight {
    stream: u32,
    /// By which it left the first box.
    event: u64,
    key: ExceptionKey,
    /// In the outermost box so far.
    ticks: u64,
}

/// The exceptions of a trace in a window of time, the costliest first. Nothing is hidden.
#[must_use]
pub fn thrown(trace: &Trace, trail: Option<&Trail>, window: Option<Window>) -> Vec<Thrown> {
    let sites = SiteNames::default();
    let mut listing = Listing::new(trace, "", trail, &sites);
    if let Some(window) = window {
        listing.window = window;
    }
    let mut all = BTreeMap::new();
    let mut flight: Option<ExceptionFlight> = None;
    // The closure never stops the listing.
    let _ = listing.each(&OfKind(EventKind::Exception), &mut |listed, _| {
        let (stream, step) = (listed.at.stream, listed.at.step);
        let Some((of, _)) = step.of else {
            return ControlFlow::Continue(());
        };
        let cause = listed.facts.cause;
        let event = cause.and_then(|cause| cause.event).unwrap_or(step.number);
        let caught = listed.facts.caught.map(|caught| caught.predicate);
        let ticks = listed.facts.took.unwrap_or(0);
        match &mut flight {
            Some(flight) if (flight.stream, flight.event) == (stream, event) => {
                flight.ticks = flight.ticks.max(ticks);
                flight.key.2 = caught;
            }
            _ => {
                let raised = cause.map_or(of.predicate, |cause| cause.predicate);
                let landed = flight.replace(ExceptionFlight {
                    stream,
                    event,
                    key: (raised, listed.facts.site, caught),
                    ticks,
                });
                book(landed, &mut all);
            }
        }
        ControlFlow::Continue(())
    });
    book(flight, &mut all);
    let mut all: Vec<Thrown> = all.into_values().collect();
    all.sort_by_key(|thrown| Reverse((thrown.ticks, thrown.count)));
    all
}

fn book(landed: Option<ExceptionFlight>, all: &mut BTreeMap<ExceptionKey, Thrown>) {
    let Some(ExceptionFlight {
        stream,
        event,
        key,
        ticks,
    }) = landed
    else {
        return;
    };
    let (raised, site, caught) = key;
    let thrown = all.entry(key).or_insert(Thrown {
        raised,
        site,
        caught,
        count: 0,
        ticks: 0,
        costliest: (stream, event),
        most_ticks: ticks,
    });
    thrown.count += 1;
    thrown.ticks = thrown.ticks.saturating_add(ticks);
    if ticks > thrown.most_ticks {
        (thrown.costliest, thrown.most_ticks) = ((stream, event), ticks);
    }
}

/// A failure of one predicate by which another one was re-entered: the number of the stream and of
/// the event. Where nothing failed that was recorded, the event of the re-entry. `None` if there is
/// none.
#[must_use]
pub fn failure_into(
    trace: &Trace,
    trail: Option<&Trail>,
    window: Option<Window>,
    failed: PredicateIndex,
    resumed: PredicateIndex,
) -> Option<(u32, u64)> {
    let sites = SiteNames::default();
    let mut listing = Listing::new(trace, "", trail, &sites);
    if let Some(window) = window {
        listing.window = window;
    }
    let mut found = None;
    let _ = listing.each(&OfKind(EventKind::Redo), &mut |listed, _| {
        let step = listed.at.step;
        let is_it = step.of.is_some_and(|(of, _)| of.predicate == resumed);
        match listed.facts.cause {
            Some(cause) if is_it && cause.predicate == failed => {
                let event = cause.event.unwrap_or(step.number);
                found = Some((listed.at.stream, event));
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    });
    found
}

/// All events of a kind.
struct OfKind(EventKind);

impl Wanted for OfKind {
    fn quick(&self, step: &Step) -> Option<bool> {
        Some(step.kind() == self.0)
    }

    fn decide(&self, event: &Listed, _: Pending) -> Option<bool> {
        self.quick(&event.at.step)
    }

    fn needs_end(&self) -> bool {
        false
    }

    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::figures::Caller;

    #[test]
    fn all_exceptions_are_in_the_table_and_some_are_caught() {
        let analysis = Analysis::of_sample("threads_exceptions.pmt");
        let all = thrown(&analysis.trace, analysis.trail(), None);
        assert!(!all.is_empty());
        assert!(all.iter().any(|thrown| thrown.caught.is_some()), "{all:?}");
        // Each leaves at least one box, and the boxes that it leaves are all that were left so.
        let figures = analysis.profile.predicates.iter();
        let left: u64 = figures.map(|figures| figures.exceptions).sum();
        let count: u64 = all.iter().map(|thrown| thrown.count).sum();
        assert!(count > 0 && count <= left, "{count} of {left}");
        for thrown in &all {
            assert!(thrown.most_ticks <= thrown.ticks);
            let figures = analysis.profile.predicates[thrown.raised as usize];
            assert!(figures.exceptions >= thrown.count, "{thrown:?}");
        }
        // Those that leave all boxes are the exceptions of boxes without a caller.
        let uncaught = all.iter().filter(|thrown| thrown.caught.is_none());
        let edges = analysis.profile.edges.iter();
        let out = edges.filter(|((caller, _), _)| *caller == Caller::Root);
        let out: u64 = out.map(|(_, edge)| edge.exceptions).sum();
        assert_eq!(uncaught.map(|thrown| thrown.count).sum::<u64>(), out);
    }
}
