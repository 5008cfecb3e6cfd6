//! Ticks to nanoseconds.
//!
//! Blocks carry pairs of (tick, monotonic ns) read together. Two of them far apart give the rate;
//! one rate serves the whole trace, so that sums of durations stay sums: a piecewise rate would
//! give a total of ticks from many places no meaning. Conversion is in integers, monotone, and
//! exact to rounding (half a nanosecond).

/// A moment read on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The clock of events.
    pub tick: u64,
    /// The monotonic clock, nanoseconds.
    pub ns: u64,
}

/// Collects pairs: only the first and the last moment are of use.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pairs {
    ends: Option<(Pair, Pair)>,
}

impl Pairs {
    /// The first and the last moment, if there is one.
    pub(crate) fn ends(&self) -> Option<(Pair, Pair)> {
        self.ends
    }

    /// Adds a pair, in any order.
    pub fn add(&mut self, pair: Pair) {
        let (first, last) = self.ends.get_or_insert((pair, pair));
        if pair.tick < first.tick {
            *first = pair;
        }
        if pair.tick > last.tick {
            *last = pair;
        }
    }
}

/// The rate of a trace's clock, and its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    origin: u64,
    /// `ns` nanoseconds take `ticks` ticks.
    ns: u64,
    ticks: u64,
}

/// Pairs closer together than this, in ns, say less about the rate than the machine does: reading
/// both clocks takes some 50 ns.
const SHORT_NS: u64 = 1_000_000;

const SECOND_NS: u64 = 1_000_000_000;

impl Clock {
    /// The clock of a trace with these pairs, on a machine that states `ticks_per_second` (0: it
    /// does not).
    #[must_use]
    pub fn new(pairs: &Pairs, ticks_per_second: u64) -> Self {
        let Some((first, last)) = pairs.ends else {
            return Self::stated(0, ticks_per_second);
        };
        let ticks = last.tick - first.tick;
        let ns = last.ns.saturating_sub(first.ns);
        let measured = ticks > 0 && ns > 0;
        if !measured || (ns < SHORT_NS && ticks_per_second > 0) {
            return Self::stated(first.tick, ticks_per_second);
        }
        Self {
            origin: first.tick,
            ns,
            ticks,
        }
    }

    /// The same, for a trace that begins at `tick` at the latest.
    #[must_use]
    pub fn beginning_at(self, tick: Option<u64>) -> Self {
        let origin = tick.map_or(self.origin, |tick| tick.min(self.origin));
        Self { origin, ..self }
    }

    fn stated(origin: u64, ticks_per_second: u64) -> Self {
        match ticks_per_second {
            // Nothing is known of the rate: a tick is shown as a nanosecond.
            0 => Self {
                origin,
                ns: 1,
                ticks: 1,
            },
            rate => Self {
                origin,
                ns: SECOND_NS,
                ticks: rate,
            },
        }
    }

    /// How many nanoseconds `ticks` ticks are, rounded.
    #[must_use]
    pub fn duration_ns(&self, ticks: u64) -> u64 {
        let scaled = u128::from(ticks) * u128::from(self.ns) + u128::from(self.ticks / 2);
        u64::try_from(scaled / u128::from(self.ticks)).unwrap_or(u64::MAX)
    }

    /// When `tick` was, in nanoseconds since the beginning of the trace; 0 if it was before.
    #[must_use]
    pub fn since_start_ns(&self, tick: u64) -> u64 {
        self.duration_ns(tick.saturating_sub(self.origin))
    }

    /// The first tick that is not before so many nanoseconds since the beginning of the trace.
    #[must_use]
    pub fn tick_at_ns(&self, ns: u64) -> u64 {
        let ticks = (u128::from(ns) * u128::from(self.ticks)).div_ceil(u128::from(self.ns.max(1)));
        let ticks = u64::try_from(ticks).unwrap_or(u64::MAX);
        self.origin.saturating_add(ticks)
    }

    /// Ticks per second, for people.
    #[must_use]
    pub fn ticks_per_second(&self) -> f64 {
        self.ticks as f64 * SECOND_NS as f64 / self.ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(pairs: &[(u64, u64)], stated: u64) -> Clock {
        let mut all = Pairs::default();
        for &(tick, ns) in pairs {
            all.add(Pair { tick, ns });
        }
        Clock::new(&all, stated)
    }

    #[test]
    fn two_pairs_far_apart_give_the_rate() {
        let clock = clock(
            &[(1000, 5), (3_000_001_000, 1_000_000_005), (2_000, 300)],
            2_000_000_000,
        );
        assert_eq!(clock.duration_ns(3_000_000_000), 1_000_000_000);
        assert_eq!(clock.duration_ns(3), 1);
        assert_eq!(clock.duration_ns(1), 0);
        assert_eq!(clock.since_start_ns(4_000), 1_000);
        assert_eq!(clock.since_start_ns(1), 0);
        assert_eq!((clock.tick_at_ns(0), clock.tick_at_ns(1)), (1000, 1003));
    }

    #[test]
    fn a_stream_may_begin_before_the_first_pair() {
        let pair = clock(&[(1000, 5)], 1_000_000_000);
        assert_eq!(pair.beginning_at(Some(2000)), pair);
        assert_eq!(pair.beginning_at(None), pair);
        let earlier = pair.beginning_at(Some(990));
        assert_eq!(earlier.since_start_ns(990), 0);
        assert_eq!(earlier.since_start_ns(1000), 10);
        assert_eq!(earlier.tick_at_ns(10), 1000);
        assert_eq!(earlier.duration_ns(7), pair.duration_ns(7));
    }

    #[test]
    fn pairs_close_together_leave_it_to_the_machine() {
        assert_eq!(
            clock(&[(0, 0), (4000, 1000)], 2_000_000_000).duration_ns(4000),
            2000
        );
        assert_eq!(clock(&[(0, 0), (4000, 1000)], 0).duration_ns(4000), 1000);
        assert_eq!(clock(&[(7, 7)], 0).duration_ns(4000), 4000);
        assert_eq!(clock(&[], 0).duration_ns(4000), 4000);
    }

    #[test]
    fn nonsense_is_survived() {
        assert_eq!(clock(&[(0, u64::MAX), (u64::MAX, 0)], 0).duration_ns(9), 9);
        let steep = clock(&[(0, 0), (1, u64::MAX)], 0);
        assert_eq!(steep.duration_ns(u64::MAX), u64::MAX);
        let flat = clock(&[(0, 0), (u64::MAX, 1)], 0);
        assert_eq!(flat.duration_ns(5), 0);
    }
}
