//! The figures of the calls of a predicate, or of a goal.

use bincode::{Decode, Encode};

use super::growth::{CallGrowth, Trend};
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
    pub(super) fn order(&self) -> impl Ord + use<> {
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
    pub growth: CallGrowth,
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

    /// How long the usual call took in ns: the middle one by time, of two the faster one. `ns` is
    /// of ticks. Exact as far as the slowest calls are all calls, else at its place in its bin, as
    /// if those there were spread evenly. `None` if none is timed.
    #[must_use]
    pub fn usual_ns(&self, ns: impl Fn(u64) -> u64) -> Option<u64> {
        let calls = usize::try_from(self.timed).unwrap_or(usize::MAX);
        if calls == self.slowest.len() {
            return self.slowest.get(calls / 2).map(|call| ns(call.ticks));
        }
        let middle = self.timed.checked_sub(1)? / 2;
        let mut before = 0;
        for (bin, &calls) in self.histogram.iter().enumerate() {
            if before + calls <= middle {
                before += calls;
                continue;
            }
            let begin = bin_begin_ns(bin);
            let length = match bin + 1 {
                BINS => begin,
                next => bin_begin_ns(next) - begin,
            };
            // In the middle of its share of the bin.
            let place = u128::from(2 * (middle - before) + 1) * u128::from(length);
            let inside = place / u128::from(2 * calls);
            return Some(begin + u64::try_from(inside).unwrap_or(length));
        }
        None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_call_is_the_middle_one() {
        let bins = Bins::by(|ticks| ticks);
        assert_eq!(CallFigures::default().usual_ns(|ticks| ticks), None);
        for calls in [1, 2, 3, 9, 10, 11, 12, 50, 1001] {
            let mut figures = CallFigures::default();
            let times = (0..calls).map(|call| 100 + call * call * 37 % 9000);
            let mut times: Vec<u64> = times.collect();
            for (event, &ticks) in (0..).zip(&times) {
                let call = SlowCall {
                    ticks,
                    stream: 1,
                    event,
                    tick: event,
                    caller: Caller::Root,
                    site: None,
                };
                figures.time(call, &bins);
            }
            times.sort_unstable();
            let middle = times[(times.len() - 1) / 2];
            let usual = figures.usual_ns(|ticks| ticks).unwrap();
            if times.len() <= SLOWEST {
                assert_eq!(usual, middle, "{calls}");
            }
            assert_eq!(bins.place(usual), bins.place(middle), "{calls}");
        }
    }
}
