//! Figures of boxes that were entered by one arc.

use bincode::{Decode, Encode};

use super::clock::Ticks;
use crate::figures::{Port, PortTotals};
pub(super) use crate::machine::WayOut;
use crate::trace::{Callable, PredicateIndex};

/// Outcomes that time is split by: exit, failure, exception, none.
pub(super) const OUTCOMES: usize = 4;

impl WayOut {
    /// Index of the outcome.
    #[inline]
    pub(super) fn outcome(self) -> usize {
        match self {
            Self::ExitDet | Self::ExitNondet => 0,
            Self::Fail => 1,
            Self::Exception => 2,
            Self::Open | Self::Lost => 3,
        }
    }

    /// The box is gone and nothing inside may be re-entered.
    #[inline]
    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::ExitDet | Self::Fail)
    }
}

/// Ports that a chain of last calls shares: see [`Figures::followed`]. Ways out come first, in the
/// order of [`WayOut`].
pub(super) const SHARED_PORTS: usize = 6;
pub(super) const SHARED: [Port; SHARED_PORTS] = [
    Port::ExitDet,
    Port::ExitNondet,
    Port::Fail,
    Port::Exception,
    Port::Redo,
    Port::Cut,
];
pub(super) const REDO: usize = 4;
pub(super) const CUT: usize = 5;

impl WayOut {
    /// The event; none at the end.
    pub(super) fn port(self) -> Option<Port> {
        self.shared().map(|at| SHARED[at])
    }

    /// Index among the ports that a chain shares; `None` if it is no event.
    #[inline]
    fn shared(self) -> Option<usize> {
        match self {
            Self::ExitDet => Some(0),
            Self::ExitNondet => Some(1),
            Self::Fail => Some(2),
            Self::Exception => Some(3),
            Self::Open | Self::Lost => None,
        }
    }
}

/// Counts and times of boxes entered by one arc. Times in ticks.
///
/// What most events touch comes first, for the sake of the cache. Arcs are not aligned to cache
/// lines: that gained nothing more on `mixed`, and cost a quarter more time where there are very
/// many contexts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
#[repr(C)]
pub(super) struct Figures {
    pub(super) inner: Ticks,
    pub(super) less: Ticks,
    pub(super) self_by: [u64; OUTCOMES],
    /// Of outermost activations of the goal.
    pub(super) outer_by: [Ticks; OUTCOMES],
    pub(super) ports: PortTotals,
    /// Work that was thrown away by redos, and not collected.
    pub(super) undone: u64,
    pub(super) lifetime: u64,
    /// Ports at which others than the outermost box of a chain were counted: with the outermost
    /// only, each event counts once.
    pub(super) followed: [u64; SHARED_PORTS],
    /// Ports at which others than the innermost box of a chain were counted.
    pub(super) covered: [u64; SHARED_PORTS],
}

/// Figures of usual boxes: those that exit once, determinately, or fail without an exit. No box of
/// their predicate waits for them, unless by the same arc. While those were on the chain that are
/// the outermost of their goal, all was work.
///
/// A usual box touches this one cache line of its arc.
/// [`Ledger::total`](super::ledger::Ledger::total) adds it to [`Figures`].
#[derive(Debug, Clone, Copy, Default, Encode, Decode)]
#[repr(C, align(64))]
pub(super) struct Usual {
    /// As of the [`CallArc`](super::ledger::CallArc).
    pub(super) predicate: PredicateIndex,
    pub(super) callable: Callable,
    /// Of all boxes, last calls left out.
    pub(super) calls: u64,
    pub(super) exits: BoxesLeft,
    pub(super) fails: BoxesLeft,
}

impl Usual {
    /// Adds counts and times of another part of the run.
    pub(super) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.exits.add(&other.exits);
        self.fails.add(&other.fails);
    }

    /// Counts a box that was left.
    #[inline(always)]
    pub(super) fn count(&mut self, way_out: WayOut, own: u64, outer: u64) {
        let left = match way_out {
            WayOut::Fail => &mut self.fails,
            _ => &mut self.exits,
        };
        left.boxes += 1;
        add(&mut left.own, own);
        add(&mut left.outer, outer);
    }

    /// Adds them to the figures of the arc.
    pub(super) fn book(&self, figures: &mut Figures) {
        figures.ports.calls += self.calls;
        for (way_out, left) in [(WayOut::ExitDet, &self.exits), (WayOut::Fail, &self.fails)] {
            figures.count_way_out(way_out, left.boxes, left.boxes);
            add(&mut figures.self_by[way_out.outcome()], left.own);
            add(&mut figures.outer_by[way_out.outcome()].all, left.outer);
        }
    }
}

/// Figures of usual chains of last calls: those that were left as [usual](Usual) boxes are, once
/// and for good.
///
/// Such a chain touches this one cache line of each arc that its boxes departed by.
#[derive(Debug, Clone, Copy, Default, Encode, Decode)]
#[repr(C, align(64))]
pub(super) struct UsualChains {
    /// Boxes that were departed into.
    exits: BoxesLeft,
    fails: BoxesLeft,
    /// Boxes that were not the innermost of their chain, of those that were called, too.
    covered_exits: u64,
    covered_fails: u64,
}

impl UsualChains {
    /// Counts boxes that were departed into.
    #[inline]
    pub(super) fn count(&mut self, way_out: WayOut, boxes: u64, own: u64, outer: u64) {
        let left = match way_out {
            WayOut::Fail => &mut self.fails,
            _ => &mut self.exits,
        };
        left.boxes += boxes;
        add(&mut left.own, own);
        add(&mut left.outer, outer);
    }

    /// Counts boxes that were not the innermost ones.
    #[inline]
    pub(super) fn cover(&mut self, way_out: WayOut, boxes: u64) {
        match way_out {
            WayOut::Fail => self.covered_fails += boxes,
            _ => self.covered_exits += boxes,
        }
    }

    /// What is counted, times left out.
    pub(super) fn counts(&self) -> [u64; 4] {
        [
            self.exits.boxes,
            self.fails.boxes,
            self.covered_exits,
            self.covered_fails,
        ]
    }

    /// Adds counts and times of another part of the run.
    pub(super) fn add(&mut self, other: &Self) {
        self.exits.add(&other.exits);
        self.fails.add(&other.fails);
        self.covered_exits += other.covered_exits;
        self.covered_fails += other.covered_fails;
    }

    /// Adds them to the figures of the arc.
    pub(super) fn book(&self, figures: &mut Figures) {
        for (way_out, left, covered) in [
            (WayOut::ExitDet, &self.exits, self.covered_exits),
            (WayOut::Fail, &self.fails, self.covered_fails),
        ] {
            figures.count_last_calls(left.boxes);
            figures.count_way_out(way_out, left.boxes, left.boxes);
            figures.count_shared_way_out(way_out, left.boxes, covered);
            add(&mut figures.self_by[way_out.outcome()], left.own);
            add(&mut figures.outer_by[way_out.outcome()].all, left.outer);
        }
    }
}

/// Boxes that were left in one way.
#[derive(Debug, Clone, Copy, Default, Encode, Decode)]
#[repr(C)]
pub(super) struct BoxesLeft {
    pub(super) boxes: u64,
    /// Ticks while they were active themselves.
    pub(super) own: u64,
    /// Ticks while those were on the chain that are the outermost of their goal.
    pub(super) outer: u64,
}

impl BoxesLeft {
    fn add(&mut self, other: &Self) {
        self.boxes += other.boxes;
        add(&mut self.own, other.own);
        add(&mut self.outer, other.outer);
    }
}

impl Figures {
    /// How often the boxes passed the ports that chains share.
    pub(super) fn shared_ports(&self) -> [u64; SHARED_PORTS] {
        let ports = &self.ports;
        [
            ports.exits_det,
            ports.exits_nondet,
            ports.fails,
            ports.exceptions,
            ports.redos,
            ports.cuts,
        ]
    }

    /// Counts boxes of a chain, at a port, that are neither its outermost nor (all of them)
    /// its innermost.
    pub(super) fn count_shared(&mut self, port: usize, followed: u64, covered: u64) {
        self.followed[port] += followed;
        self.covered[port] += covered;
    }

    /// As [`Figures::count_shared`], at a way out.
    pub(super) fn count_shared_way_out(&mut self, way_out: WayOut, followed: u64, covered: u64) {
        if let Some(port) = way_out.shared() {
            self.count_shared(port, followed, covered);
        }
    }

    /// Time of outermost activations of the goal.
    pub(super) fn outer(&self) -> Ticks {
        self.outer_by.into_iter().sum()
    }

    /// Counts calls that were last ones.
    #[inline]
    pub(super) fn count_last_calls(&mut self, calls: u64) {
        self.ports.calls += calls;
        self.ports.tail_calls += calls;
    }

    /// Counts that `boxes` boxes, `fresh` of which had never exited, are left.
    #[inline]
    pub(super) fn count_way_out(&mut self, way_out: WayOut, boxes: u64, fresh: u64) {
        let ports = &mut self.ports;
        match way_out {
            WayOut::ExitDet => {
                ports.exits_det += boxes;
                ports.exits_again += boxes - fresh;
            }
            WayOut::ExitNondet => {
                ports.exits_nondet += boxes;
                ports.exits_again += boxes - fresh;
            }
            WayOut::Fail => {
                ports.fails += boxes;
                ports.fails_dry += fresh;
            }
            WayOut::Exception => ports.exceptions += boxes,
            WayOut::Open | WayOut::Lost => ports.open += boxes,
        }
    }

    /// Adds figures of another part of the run.
    pub(super) fn add(&mut self, other: &Self) {
        self.add_counts(other, 1);
        for outcome in 0..OUTCOMES {
            add(&mut self.self_by[outcome], other.self_by[outcome]);
            self.outer_by[outcome].add(other.outer_by[outcome]);
        }
        for port in 0..SHARED_PORTS {
            add(&mut self.followed[port], other.followed[port]);
            add(&mut self.covered[port], other.covered[port]);
        }
        self.inner.add(other.inner);
        self.less.add(other.less);
        add(&mut self.undone, other.undone);
    }

    /// Adds counts and lifetimes, `times` over: those of a box that stands for so many.
    pub(super) fn add_counts(&mut self, other: &Self, times: u64) {
        self.ports.add_times(&other.ports, times);
        add(&mut self.lifetime, other.lifetime.wrapping_mul(times));
    }
}

/// Adds modulo 2⁶⁴.
#[inline]
pub(super) fn add(sum: &mut u64, part: u64) {
    *sum = sum.wrapping_add(part);
}
