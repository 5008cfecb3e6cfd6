//! The figures of the calls of a predicate, or of a goal.

use bincode::{Decode, Encode};

use super::growth::{Growth, Trend};
use crate::figures::Caller;
use crate::trace::SiteIndex;
use crate::trace::clock::Clock;

/// How many calls each row keeps as its slowest.
pub const SLOWEST: usize = 10;

/// How many bins a [`Histogram`] has.
pub const BINS: usize = 29;

/// Binary logarithm of the least ns of the second bin.
const FIRST_POWER: usize = 7;

/// Calls by their time. A bin ends where the next one begins: the first with 0 ns, the second with
/// 128 ns, each further one with twice as many; the last, from 2³⁴ ns (17 s), has no end.
pub type Histogram = [u64; BINS];

/// The least time of a bin, in ns.
#[must_use]
pub const fn bin_begin_ns(bin: usize) -> u64 {
    match bin {
        0 => 0,
        _ => 1 << (FIRST_POWER + bin - 1),
    }
}

/// In which bin a time is.
#[derive(Debug, Clone)]
pub(crate) struct Bins {
    /// The least ticks of each bin but the first.
    begins: [u64; BINS - 1],
}

impl Bins {
    /// Those of times by a clock.
    pub(crate) fn of(clock: &Clock) -> Self {
        Self::by(|ticks| clock.duration_ns(ticks))
    }

    /// Those of times whose ns `ns` says, which never falls.
    pub(crate) fn by(ns: impl Fn(u64) -> u64) -> Self {
        let mut begins = [u64::MAX; BINS - 1];
        for (bin, begin) in (1..).zip(&mut begins) {
            let (mut less, mut most) = (0, u64::MAX);
            while less < most {
                let middle = less + (most - less) / 2;
                if ns(middle) < bin_begin_ns(bin) {
                    less = middle + 1;
                } else {
                    most = middle;
                }
            }
            *begin = less;
        }
        Self { begins }
    }

    fn place(&self, ticks: u64) -> usize {
        self.begins.partition_point(|&begin| begin <= ticks)
    }
}

/// A call among the slowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct SlowCall {
    /// How long it took.
    pub ticks: u64,
    /// Number of the stream.
    pub stream: u32,
    /// Number of its call, or last call, in the stream: `seq` of the table `events`.
    pub event: u64,
    /// When it was called, in ticks.
    pub tick: u64,
    /// What called it: of a call with a site the predicate whose clause has the goal.
    pub caller: Caller,
    /// The goal that made the call, if it is known.
    pub site: Option<SiteIndex>,
}

impl SlowCall {
    /// The slowest first; of equal ones the first.
    fn order(&self) -> impl Ord + use<> {
        (std::cmp::Reverse(self.ticks), self.stream, self.event)
    }
}

/// The figures of the calls of one predicate, or of one goal.
///
/// The **time of one call** is the inclusive time of the activation that its call begins, up to the
/// first way out: exit, failure or exception. `calls = timed + departed + open`; the bins of the
/// histogram add up to `timed`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct CallFigures {
    /// Calls, last calls included.
    pub calls: u64,
    /// Calls whose time is known.
    pub timed: u64,
    /// Last calls in a chain that had called the predicate before: their time is not known.
    pub departed: u64,
    /// Calls that had not ended at the end, or where the trace lost track.
    pub open: u64,
    /// Activations that a redo began. They are in no other figure here.
    pub redos: u64,
    /// Ticks of all timed calls; those of a recursive call are also in those of its caller.
    pub ticks: u128,
    /// Timed calls by their time.
    pub histogram: Histogram,
    /// The slowest timed calls, the slowest first; of equal ones the first.
    pub slowest: Vec<SlowCall>,
    /// How the time of outermost calls changed: those made while no box of the predicate was on the
    /// active chain. Garbage collections, stack shifts, loading, set-up and waiting are not in it,
    /// and have none themselves.
    pub growth: Growth,
}

impl CallFigures {
    /// Mean ticks of a timed call; `None` if there is none.
    #[must_use]
    pub fn mean_ticks(&self) -> Option<u64> {
        let mean = self.ticks.checked_div(self.timed.into())?;
        Some(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// Ticks of the slowest call; `None` if none is timed.
    #[must_use]
    pub fn max_ticks(&self) -> Option<u64> {
        self.slowest.first().map(|call| call.ticks)
    }

    /// How the time of a call changed with its ordinal.
    #[must_use]
    pub fn trend(&self) -> Trend {
        self.growth.trend()
    }

    /// A call has ended.
    pub(super) fn time(&mut self, call: SlowCall, bins: &Bins) {
        self.timed += 1;
        self.ticks += u128::from(call.ticks);
        self.histogram[bins.place(call.ticks)] += 1;
        self.keep(call);
    }

    fn keep(&mut self, call: SlowCall) {
        if self.slowest.len() == SLOWEST {
            match self.slowest.last() {
                Some(last) if last.order() <= call.order() => return,
                _ => self.slowest.pop(),
            };
        }
        let before = |other: &SlowCall| other.order() <= call.order();
        self.slowest
            .insert(self.slowest.partition_point(before), call);
    }

    /// Adds the calls of other streams.
    pub(super) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.timed += other.timed;
        self.departed += other.departed;
        self.open += other.open;
        self.redos += other.redos;
        self.ticks += other.ticks;
        for (sum, part) in self.histogram.iter_mut().zip(&other.histogram) {
            *sum += part;
        }
        other.slowest.iter().for_each(|&call| self.keep(call));
        self.growth.merge(&other.growth);
    }
}
