//! The figures of a profile: plain rows, as the replay leaves them. Times are integer ticks.
//!
//! Definitions: `ARCHITECTURE.md`, "Words"; Debray 1988, sections 3.2 and 3.3; SWI-Prolog manual
//! 4.41.2.
//!
//! All of it counts *logical* boxes: a last call whose caller's frame is gone has a box like any
//! other call. Only [`StreamFigures`] speaks of physical boxes, which such calls share.

pub mod arguments;
pub mod centers;
pub mod clauses;
pub mod contexts;
pub mod counted;
mod difference;
pub mod laws;
pub mod net_times;
pub mod profile;
mod totals;
pub mod values;
pub mod waits;
pub mod whole;
pub mod work;

use std::ops::Range;

use bincode::{Decode, Encode};

use crate::trace::PredicateIndex;
pub use totals::PortTotals;
use totals::has_totals;

/// Kinds of port events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// A box of its own is called.
    Call,
    /// The active box departs into another.
    Tail,
    /// An exit that left no choicepoint.
    ExitDet,
    /// An exit that left a choicepoint.
    ExitNondet,
    /// A re-entry.
    Redo,
    /// A final failure.
    Fail,
    /// A re-enterable box is discarded.
    Cut,
    /// A box is left by an exception.
    Exception,
}

impl Port {
    /// All of them, in the order of their indices, which is that of
    /// [`portmortem_tracer::format::PortCosts`].
    pub const ALL: [Self; 8] = [
        Self::Call,
        Self::Tail,
        Self::ExitDet,
        Self::ExitNondet,
        Self::Redo,
        Self::Fail,
        Self::Cut,
        Self::Exception,
    ];
}

/// Port events of *physical* boxes, one for each that the recorder wrote, by index of [`Port`].
pub type PortCounts = [u64; Port::ALL.len()];

/// Adds counts of another part of the run.
pub(crate) fn add_ports(sums: &mut PortCounts, parts: &PortCounts) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum = sum.saturating_add(*part);
    }
}

/// Takes away counts of a part of the run.
pub(crate) fn take_ports(counts: &mut PortCounts, parts: &PortCounts) {
    for (count, part) in counts.iter_mut().zip(parts) {
        *count = count.saturating_sub(*part);
    }
}

/// The figures of one predicate. Counts of port events, then ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct PredicateFigures {
    /// How often its boxes passed each port.
    pub ports: PortTotals,
    /// Boxes that were active when the [window](crate::scope::window) began; without one none were.
    pub open_before: u64,
    /// Boxes that were re-enterable when the window began.
    pub pending_before: u64,
    /// Ticks while a box of the predicate was the active one.
    pub self_ticks: u64,
    /// Ticks while a box of the predicate was on the active chain; recursion counted once.
    pub inclusive_ticks: u64,
    /// The work in them: those while the active box was of a predicate that the program calls, and
    /// no waiting, loading, collection or set-up.
    pub inclusive_work_ticks: u64,
    /// The part of `inclusive_ticks` in outermost activations that ended in failure. What is in
    /// none of the three parts ended in exits.
    pub failed_ticks: u64,
    /// The work in them.
    pub failed_work_ticks: u64,
    /// The part of `inclusive_ticks` in outermost activations left by an exception.
    pub raised_ticks: u64,
    /// The work in them.
    pub raised_work_ticks: u64,
    /// The part of `inclusive_ticks` in outermost activations that did not end (or where the trace
    /// lost track).
    pub open_ticks: u64,
    /// The work in them.
    pub open_work_ticks: u64,
    /// The part of `self_ticks` in activations, outermost or not, that ended in failure.
    pub self_failed_ticks: u64,
    /// The part of `self_ticks` in activations left by an exception.
    pub self_raised_ticks: u64,
    /// The part of `self_ticks` in activations that did not end.
    pub self_open_ticks: u64,
    /// Ticks of work, of any predicate, thrown away by redos into boxes of this one because
    /// something failed: all since the box exited, less what redos in between had thrown away
    /// already. Where one event re-enters several boxes the outermost is charged first. What was
    /// collected is not in it ([`BacktrackFigures::collected_ticks`]).
    pub undone_ticks: u64,
    /// Ticks that choicepoints of the predicate lived: for each re-enterable box from its exit
    /// until it was re-entered or cut, or the end; pauses and gaps not counted.
    pub lifetime_ticks: u64,
    /// Greatest height of the choice stack, in physical boxes, with a box of the predicate on top.
    pub max_height: u64,
}

/// The figures of one caller–callee pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct EdgeFigures {
    /// Of the callee's boxes that this caller called.
    pub ports: PortTotals,
    /// Ticks of outermost activations of the callee entered from this caller. Sums over callers to
    /// the callee's inclusive time.
    pub served_ticks: u64,
    /// The work in them. Sums over callers to the callee's.
    pub served_work_ticks: u64,
    /// Ticks while the caller's innermost box waits for the callee. Sums over callees, with self,
    /// to the caller's inclusive time.
    pub spent_ticks: u64,
    /// The work in them. Sums over callees, with self if that is work, to the caller's.
    pub spent_work_ticks: u64,
}

/// The figures of one site: a goal in a clause. Calls of a predicate by a caller that do not say
/// their site have a row of their own.
///
/// Ports of a pair of caller and callee sum to those of its [`EdgeFigures`]. The caller is the
/// predicate of the box that called: for a goal in an argument, as of `findall/3`, that is not the
/// predicate of the site's clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct SiteFigures {
    /// Of boxes called there.
    pub ports: PortTotals,
    /// Ticks while a box called there was on the active chain: of outermost activations of the
    /// goal. Sites inside activations of their callee have them, too, so the sum over the sites of
    /// a pair is at least [`EdgeFigures::served_ticks`]. Calls of a predicate that do not say their
    /// site are one goal.
    pub served_ticks: u64,
    /// The work in them.
    pub served_work_ticks: u64,
    /// Ticks while a box called there, outermost or not, was the active one. Sums over callers to
    /// [`PredicateFigures::self_ticks`] of the callee.
    pub self_ticks: u64,
    /// Ticks of work thrown away by redos into boxes called there, likewise. Sums over callers to
    /// [`PredicateFigures::undone_ticks`] of the callee.
    pub undone_ticks: u64,
}

/// A caller: a predicate, or the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum Caller {
    /// Outside all boxes: the callee has no recorded ancestor.
    Root,
    /// A predicate.
    Predicate(PredicateIndex),
}

impl Caller {
    /// The predicate, if it is one.
    #[must_use]
    pub fn predicate(self) -> Option<PredicateIndex> {
        match self {
            Self::Root => None,
            Self::Predicate(predicate) => Some(predicate),
        }
    }
}

/// What backtracking from the failure of one predicate into boxes of another threw away: the
/// *backtrack edge* (Debray 1988, section 3.3).
///
/// What failed is the outermost logical box of the last port event before the redo, if that was a
/// failure of a visible box; else the innermost visible box that is active: something in it that is
/// not traced failed. A cut is a port, too: it proves that control went on after what failed before
/// it. Further redos with no other port in between belong to the same failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct BacktrackFigures {
    /// Boxes, outermost logical ones, that were re-entered.
    pub count: u64,
    /// Ticks of work undone because something failed. They sum over what failed to
    /// [`PredicateFigures::undone_ticks`] of what was re-entered.
    pub undone_ticks: u64,
    /// Ticks of work undone where nothing failed: a collector (`findall/3` and the like,
    /// [`crate::trace::PredicateInfo::is_collector`]) was active and asked for the next solution;
    /// or a driver loop was, which the call that exited last says
    /// ([`crate::trace::SiteInfo::then_fails`]).
    pub collected_ticks: u64,
}

/// What happened to one stream.
///
/// `self + untraced + paused + gap = last − first`, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct StreamFigures {
    /// Stream id.
    pub stream: u32,
    /// Events read.
    pub events: u64,
    /// Events known to be lost.
    pub lost_events: u64,
    /// Events, lost ones included, before the [window](crate::scope::window) began; without one
    /// there were none.
    pub events_before: u64,
    /// Tick of its beginning, or of its first event if the beginning was lost.
    pub first_tick: u64,
    /// Tick of its end, or of its last event if it was never ended.
    pub last_tick: u64,
    /// Ticks while a traced box was active, or one of before a gap.
    pub self_ticks: u64,
    /// The part of `self_ticks` in which the thread had no processor (boxes of `system:waiting/0`).
    pub waiting_ticks: u64,
    /// The part of `self_ticks` that is work: waiting, loading, collections, stack shifts and
    /// set-up are not in it.
    pub work_ticks: u64,
    /// Ticks while no traced box was active: before, between and after them.
    pub untraced_ticks: u64,
    /// Ticks between pause and resume.
    pub paused_ticks: u64,
    /// Ticks in gaps: from the last event before a loss to where recording goes on.
    pub gap_ticks: u64,
    /// Greatest number of physical boxes open at once; one of them holds all boxes of a chain of
    /// last calls. Hidden ones count.
    pub max_depth: u64,
    /// Greatest height of the choice stack, in physical boxes. Hidden ones count.
    pub max_choices: u64,
}

/// Determinism as observed: what a predicate did in this run, not what it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Determinism {
    /// Every box that ended had exited, and none could exit again.
    Det,
    /// Some box failed without an exit, and none could exit again.
    Semidet,
    /// Every box that ended had exited, and some could exit again.
    Multi,
    /// Some box failed without an exit, and some could exit again.
    Nondet,
    /// Boxes failed, and none ever exited.
    Failing,
}

impl Determinism {
    /// The word of PlDoc and Mercury for it, `failing` for their `failure`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Det => "det",
            Self::Semidet => "semidet",
            Self::Multi => "multi",
            Self::Nondet => "nondet",
            Self::Failing => "failing",
        }
    }
}

impl StreamFigures {
    /// Numbers of its events, lost ones included.
    #[must_use]
    pub fn numbers(&self) -> Range<u64> {
        let events = self.events.saturating_add(self.lost_events);
        self.events_before..self.events_before.saturating_add(events)
    }

    /// With those of a later part of the same stream, which begins where these end.
    pub(crate) fn and_after_loss(self, later: &Self) -> Self {
        Self {
            stream: self.stream,
            events: self.events.saturating_add(later.events),
            lost_events: self.lost_events.saturating_add(later.lost_events),
            events_before: self.events_before,
            first_tick: self.first_tick,
            last_tick: later.last_tick,
            self_ticks: self.self_ticks.saturating_add(later.self_ticks),
            work_ticks: self.work_ticks.saturating_add(later.work_ticks),
            waiting_ticks: self.waiting_ticks.saturating_add(later.waiting_ticks),
            untraced_ticks: self.untraced_ticks.saturating_add(later.untraced_ticks),
            paused_ticks: self.paused_ticks.saturating_add(later.paused_ticks),
            gap_ticks: self.gap_ticks.saturating_add(later.gap_ticks),
            max_depth: self.max_depth.max(later.max_depth),
            max_choices: self.max_choices.max(later.max_choices),
        }
    }
}

has_totals!(PredicateFigures, EdgeFigures, SiteFigures);

impl PredicateFigures {
    /// Whether none of its boxes was open or re-enterable when the window began.
    pub(crate) fn has_no_past(&self) -> bool {
        self.open_before == 0 && self.pending_before == 0
    }

    /// Whether any port event of the predicate was seen.
    #[must_use]
    pub fn is_used(&self) -> bool {
        // In a window the calls may have been before it.
        let counts = [
            self.calls,
            self.exits(),
            self.redos,
            self.fails,
            self.exceptions,
            self.cuts,
            self.inclusive_ticks,
        ];
        counts.iter().any(|&count| count > 0)
    }

    /// The observed determinism; `None` if no box exited or failed (all threw, or never ended).
    ///
    /// A box *could exit again* if it did, or if it exited and left a choicepoint, whether or not
    /// that was ever tried: what Prolog programmers call determinism is whether a choicepoint is
    /// left. In a recording with `--byrd` (`byrd`) every exit leaves one on purpose, so there only
    /// second exits count. Exceptions, cuts and boxes that never ended say nothing.
    #[must_use]
    pub fn determinism(&self, byrd: bool) -> Option<Determinism> {
        let again = self.exits_again > 0 || (!byrd && self.exits_nondet > 0);
        match (self.exits() > 0, self.fails_dry > 0) {
            (true, false) if again => Some(Determinism::Multi),
            (true, false) => Some(Determinism::Det),
            (true, true) if again => Some(Determinism::Nondet),
            (true, true) => Some(Determinism::Semidet),
            (false, true) => Some(Determinism::Failing),
            (false, false) => None,
        }
    }

    /// Adds the figures of another part of the run.
    pub fn add(&mut self, other: &Self) {
        let Self {
            ports,
            open_before,
            pending_before,
            self_ticks,
            inclusive_ticks,
            inclusive_work_ticks,
            failed_ticks,
            failed_work_ticks,
            raised_ticks,
            raised_work_ticks,
            open_ticks,
            open_work_ticks,
            self_failed_ticks,
            self_raised_ticks,
            self_open_ticks,
            undone_ticks,
            lifetime_ticks,
            max_height,
        } = self;
        ports.add(&other.ports);
        *max_height = (*max_height).max(other.max_height);
        for (sum, part) in [
            (open_before, other.open_before),
            (pending_before, other.pending_before),
            (self_ticks, other.self_ticks),
            (inclusive_ticks, other.inclusive_ticks),
            (inclusive_work_ticks, other.inclusive_work_ticks),
            (failed_ticks, other.failed_ticks),
            (failed_work_ticks, other.failed_work_ticks),
            (raised_ticks, other.raised_ticks),
            (raised_work_ticks, other.raised_work_ticks),
            (open_ticks, other.open_ticks),
            (open_work_ticks, other.open_work_ticks),
            (self_failed_ticks, other.self_failed_ticks),
            (self_raised_ticks, other.self_raised_ticks),
            (self_open_ticks, other.self_open_ticks),
            (undone_ticks, other.undone_ticks),
            (lifetime_ticks, other.lifetime_ticks),
        ] {
            *sum = sum.saturating_add(part);
        }
    }
}

impl EdgeFigures {
    /// Adds the figures of another part of the run.
    pub fn add(&mut self, other: &Self) {
        self.ports.add(&other.ports);
        for (sum, part) in [
            (&mut self.served_ticks, other.served_ticks),
            (&mut self.served_work_ticks, other.served_work_ticks),
            (&mut self.spent_ticks, other.spent_ticks),
            (&mut self.spent_work_ticks, other.spent_work_ticks),
        ] {
            *sum = sum.saturating_add(part);
        }
    }
}

impl SiteFigures {
    /// Adds the figures of another part of the run.
    pub fn add(&mut self, other: &Self) {
        self.ports.add(&other.ports);
        for (sum, part) in [
            (&mut self.served_ticks, other.served_ticks),
            (&mut self.served_work_ticks, other.served_work_ticks),
            (&mut self.self_ticks, other.self_ticks),
            (&mut self.undone_ticks, other.undone_ticks),
        ] {
            *sum = sum.saturating_add(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn determinism_is_what_was_seen() {
        let seen = |exits_det, exits_nondet, exits_again, fails_dry, byrd| {
            let ports = PortTotals {
                exits_det,
                exits_nondet,
                exits_again,
                fails_dry,
                ..PortTotals::default()
            };
            PredicateFigures {
                ports,
                ..PredicateFigures::default()
            }
            .determinism(byrd)
            .map(Determinism::name)
        };
        assert_eq!(seen(3, 0, 0, 0, false), Some("det"));
        assert_eq!(seen(3, 0, 0, 1, false), Some("semidet"));
        assert_eq!(seen(3, 1, 0, 0, false), Some("multi"));
        assert_eq!(seen(3, 1, 1, 2, false), Some("nondet"));
        assert_eq!(seen(0, 0, 0, 2, false), Some("failing"));
        assert_eq!(seen(0, 0, 0, 0, false), None);
        assert_eq!(seen(0, 3, 0, 0, true), Some("det"));
        assert_eq!(seen(0, 3, 1, 1, true), Some("nondet"));
    }
}
