//! How the time of a call changed with its ordinal: sums over pieces of the ordinals, and a verdict
//! on them.
//!
//! Invariant: the pieces of a set of calls are the same in whatever order the calls are added, or
//! parts of them merged.

use bincode::{Decode, Encode};

/// Most pieces of a [`CallGrowth`].
pub(crate) const MOST_PIECES: usize = 64;

/// There is no verdict on fewer calls.
pub(crate) const LEAST_CALLS: u64 = 48;

/// A verdict compares so many stretches of ordinals.
const STRETCHES: usize = 8;

/// One in so many pieces at the beginning is left out, rounded up: a program warms up.
const LEADING: usize = 16;

/// Pairs of stretches, of the 28, that may be in the wrong order. Fewer than 3 in 1,000 random
/// orders have so few.
const MOST_DISORDER: usize = 3;

/// Stretches are as fast as each other unless the faster one takes less than this part of the time
/// of the slower one.
const ALIKE: f64 = 0.9;

/// What grows, or falls, does so by this factor at least.
const LEAST_FACTOR: f64 = 2.0;

/// What is constant differs by this factor at most.
const MOST_FACTOR: f64 = 1.5;

/// A smaller difference may be the clock's, in ticks.
const LEAST_DIFFERENCE: f64 = 16.0;

/// The second half of a growth, as a multiple of the first: of `n log n` it is 1.2, of the square
/// root 0.7, of the square 2.2.
const LINEAR: std::ops::Range<f64> = 0.6..1.6;

/// Sums of times of calls by pieces of their ordinals. All pieces have the same length, the
/// smallest power of two with which there are no more than 64.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct CallGrowth {
    /// Binary logarithm of the length of a piece.
    shift: u32,
    pieces: Vec<GrowthPiece>,
}

/// Calls with consecutive ordinals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
struct GrowthPiece {
    calls: u64,
    ticks: u64,
    /// Of the slowest call.
    max: u64,
}

/// An eighth of the ordinals, without the leading ones.
#[derive(Debug, Clone, Copy)]
struct OrdinalStretch {
    /// Of a call: the median over pieces of the mean without the slowest call.
    ticks: f64,
    calls: u64,
}

/// How the time of a call changed with its ordinal. Each is certain; where nothing is, it is
/// unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Too few calls, or times without order.
    Unknown,
    /// No stretch of calls took more than 1.5 times as long as another.
    Constant,
    /// It fell to less than half.
    Falling,
    /// It grew, less in the second half of the calls than in the first.
    Sublinear,
    /// It grew about as much in the second half of the calls as in the first.
    Linear,
    /// It grew more in the second half of the calls than in the first.
    Superlinear,
}

impl Verdict {
    /// As tables call it; unknown has no name.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Unknown => None,
            Self::Constant => Some("constant"),
            Self::Falling => Some("falling"),
            Self::Sublinear => Some("sublinear"),
            Self::Linear => Some("linear"),
            Self::Superlinear => Some("superlinear"),
        }
    }

    /// Whether later calls took longer.
    #[must_use]
    pub fn grows(self) -> bool {
        matches!(self, Self::Sublinear | Self::Linear | Self::Superlinear)
    }
}

/// A verdict and the figures behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trend {
    /// How the time changed.
    pub verdict: Verdict,
    /// Ticks of a call in the first eighth of the calls, without the leading ones, and in the last:
    /// the median over pieces of the mean without the slowest call. `None` if there are too few
    /// calls.
    pub ends: Option<(u64, u64)>,
    /// Calls that it is based on: outermost ones that ended.
    pub calls: u64,
    /// Ticks that they took more than if all had taken what the first ones took, rounded down:
    /// what has grown. An outlier has not.
    pub grown_ticks: u64,
}

impl GrowthPiece {
    fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.max = self.max.max(other.max);
    }

    /// Ticks of a call, without the slowest one if there are others: an outlier is no tendency.
    fn typical(&self) -> Option<f64> {
        match self.calls {
            0 => None,
            1 => Some(self.ticks as f64),
            calls => Some(self.ticks.saturating_sub(self.max) as f64 / (calls - 1) as f64),
        }
    }
}

impl CallGrowth {
    /// Adds the call with this ordinal, from 0.
    pub(crate) fn add(&mut self, ordinal: u64, ticks: u64) {
        while ordinal >> self.shift >= MOST_PIECES as u64 {
            self.fold();
        }
        let at = (ordinal >> self.shift) as usize;
        let one = GrowthPiece {
            calls: 1,
            ticks,
            max: ticks,
        };
        self.merge_at(at, &one);
    }

    /// Adds the calls of another stream, where ordinals begin anew.
    pub(crate) fn merge(&mut self, other: &Self) {
        while self.shift < other.shift {
            self.fold();
        }
        let more = self.shift - other.shift;
        for (at, piece) in other.pieces.iter().enumerate() {
            self.merge_at(at >> more, piece);
        }
    }

    fn merge_at(&mut self, at: usize, piece: &GrowthPiece) {
        if at >= self.pieces.len() {
            self.pieces.resize(at + 1, GrowthPiece::default());
        }
        self.pieces[at].merge(piece);
    }

    /// Makes one piece of each two.
    fn fold(&mut self) {
        self.shift += 1;
        let pairs = self.pieces.chunks(2).map(|pair| {
            let mut sum = GrowthPiece::default();
            pair.iter().for_each(|piece| sum.merge(piece));
            sum
        });
        self.pieces = pairs.collect();
    }

    /// The verdict.
    #[must_use]
    pub fn trend(&self) -> Trend {
        let calls = self.pieces.iter().map(|piece| piece.calls).sum();
        let stretches = (calls >= LEAST_CALLS).then(|| self.stretches()).flatten();
        let ticks = stretches.map(|stretches| stretches.map(|stretch| stretch.ticks));
        Trend {
            verdict: ticks.map_or(Verdict::Unknown, |ticks| verdict(&ticks)),
            ends: ticks.map(|ticks| {
                let round = |ticks: f64| ticks.round() as u64;
                (round(ticks[0]), round(ticks[STRETCHES - 1]))
            }),
            calls,
            grown_ticks: stretches.map_or(0, |stretches| grown(&stretches)),
        }
    }

    /// The stretches of ordinals; `None` if too many calls are missing.
    fn stretches(&self) -> Option<[OrdinalStretch; STRETCHES]> {
        let leading = self.pieces.len().div_ceil(LEADING);
        let pieces = self.pieces.iter().skip(leading);
        let times = pieces.filter_map(|piece| Some((piece.typical()?, piece.calls)));
        let times: Vec<(f64, u64)> = times.collect();
        if times.len() < 2 * STRETCHES {
            return None;
        }
        let place = |at: usize| at * times.len() / STRETCHES;
        Some(std::array::from_fn(|at| {
            let part = &times[place(at)..place(at + 1)];
            OrdinalStretch {
                ticks: median(part.iter().map(|&(ticks, _)| ticks)),
                calls: part.iter().map(|&(_, calls)| calls).sum(),
            }
        }))
    }
}

/// Ticks beyond those that all calls would have taken at the pace of the first stretch.
fn grown(stretches: &[OrdinalStretch; STRETCHES]) -> u64 {
    let first = stretches[0].ticks;
    let more = stretches
        .iter()
        .map(|stretch| (stretch.ticks - first).max(0.0) * stretch.calls as f64);
    more.sum::<f64>() as u64
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    match times.len() % 2 {
        0 => f64::midpoint(times[middle - 1], times[middle]),
        _ => times[middle],
    }
}

fn verdict(ticks: &[f64; STRETCHES]) -> Verdict {
    let least = ticks.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ticks.iter().copied().fold(0.0, f64::max);
    if most <= least * MOST_FACTOR || most - least < LEAST_DIFFERENCE {
        return Verdict::Constant;
    }
    if has_grown(ticks) {
        // Means of stretches 1 and 2, 4 and 5, 7 and 8 are as far from each other.
        let at = |first: usize| f64::midpoint(ticks[first], ticks[first + 1]);
        let halves = (at(6) - at(3)) / (at(3) - at(0)).max(f64::MIN_POSITIVE);
        return match halves {
            _ if halves < LINEAR.start => Verdict::Sublinear,
            _ if halves < LINEAR.end => Verdict::Linear,
            _ => Verdict::Superlinear,
        };
    }
    let mut reversed = *ticks;
    reversed.reverse();
    match has_grown(&reversed) {
        true => Verdict::Falling,
        false => Verdict::Unknown,
    }
}

/// Whether the last of some times is much more than the first, and hardly one is less than one
/// before it.
fn has_grown(ticks: &[f64; STRETCHES]) -> bool {
    let is_less = |&(before, after): &(usize, usize)| ticks[after] < ticks[before] * ALIKE;
    let pairs =
        (0..STRETCHES).flat_map(|before| (before + 1..STRETCHES).map(move |after| (before, after)));
    let (first, last) = (ticks[0], ticks[STRETCHES - 1]);
    let is_much = last >= first * LEAST_FACTOR && last - first >= LEAST_DIFFERENCE;
    is_much && pairs.filter(is_less).count() <= MOST_DISORDER
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of calls whose times are these, in their order.
    fn growth(times: impl IntoIterator<Item = u64>) -> CallGrowth {
        let mut growth = CallGrowth::default();
        for (ordinal, ticks) in (0..).zip(times) {
            growth.add(ordinal, ticks);
        }
        growth
    }

    fn verdict_of(calls: u64, time: impl Fn(u64) -> u64) -> Verdict {
        growth((0..calls).map(time)).trend().verdict
    }

    /// Numbers below 100 without any order.
    fn noise(ordinal: u64) -> u64 {
        (ordinal.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % 100
    }

    /// Numbers of calls, of which a verdict does not depend.
    const CALLS: [u64; 7] = [48, 63, 64, 65, 500, 2_000, 123_456];

    #[test]
    fn functions_of_the_ordinal_have_their_class() {
        for calls in CALLS {
            let scaled = |f: fn(f64) -> f64| {
                move |ordinal: u64| (f(ordinal as f64 / calls as f64) * 1e6) as u64 + 300
            };
            for (f, expected) in [
                ((|_| 0.5) as fn(f64) -> f64, Verdict::Constant),
                (|x| x, Verdict::Linear),
                (|x| 0.2 + x, Verdict::Linear),
                (|x| (x - 0.06).max(0.0).powf(0.4), Verdict::Sublinear),
                (|x| x * x, Verdict::Superlinear),
                (|x| (8.0 * x).exp2() / 256.0, Verdict::Superlinear),
                (|x| (1.0 + 1000.0 * x).ln() / 7.0, Verdict::Constant),
                (|x| (x * 30.0).min(1.0), Verdict::Constant),
                (|x| 1.0 - 0.9 * x, Verdict::Falling),
                (
                    |x| if (0.4..0.6).contains(&x) { 0.9 } else { 0.1 },
                    Verdict::Unknown,
                ),
            ] {
                let verdict = verdict_of(calls, scaled(f));
                assert_eq!(verdict, expected, "{calls} calls, {}", f(0.5));
            }
        }
    }

    #[test]
    fn noise_makes_no_verdict_and_hides_none() {
        for calls in CALLS {
            assert_eq!(verdict_of(calls, |at| 1000 + noise(at)), Verdict::Constant);
            let linear = |at| 100 + at * 1000 / calls + noise(at);
            assert_eq!(verdict_of(calls, linear), Verdict::Linear, "{calls}");
        }
        // The clock's own steps are no tendency.
        assert_eq!(verdict_of(500, |at| 3 + at / 50), Verdict::Constant);
        let grows = (0..1000).filter(|&seed| {
            let times = (0..100).map(|at| noise(at + seed * 1000).pow(4) / 1000);
            growth(times).trend().verdict.grows()
        });
        assert!(grows.count() < 10);
    }

    #[test]
    fn neither_a_slow_beginning_nor_one_outlier_makes_a_verdict() {
        for calls in CALLS {
            let warm = |at| if at < 3 { 1_000_000 } else { 500 + noise(at) };
            assert_eq!(verdict_of(calls, warm), Verdict::Constant, "{calls}");
            for outlier in [0, calls / 3, calls - 1] {
                let time = |at| {
                    if at == outlier {
                        1 << 40
                    } else {
                        500 + noise(at)
                    }
                };
                assert_eq!(
                    verdict_of(calls, time),
                    Verdict::Constant,
                    "{calls} {outlier}"
                );
                let falls = |at| {
                    if at == outlier {
                        1 << 40
                    } else {
                        900 - at * 800 / calls
                    }
                };
                assert_eq!(
                    verdict_of(calls, falls),
                    Verdict::Falling,
                    "{calls} {outlier}"
                );
            }
        }
    }

    #[test]
    fn sizes_in_turn_are_no_growth() {
        // As of `append/3` in naive reverses of 30 elements.
        let verdict = verdict_of(30 * 400, |at| 100 + 40 * (at % 30));
        assert_eq!(verdict, Verdict::Constant);
    }

    #[test]
    fn few_calls_have_no_verdict() {
        let few = growth((0..LEAST_CALLS - 1).map(|at| at * 1000)).trend();
        assert_eq!((few.verdict, few.ends), (Verdict::Unknown, None));
        assert_eq!(CallGrowth::default().trend().calls, 0);
        // Most calls did not end.
        let mut holes = growth([5; 60]);
        holes.add(1 << 40, 9);
        assert_eq!(holes.trend().verdict, Verdict::Unknown);
        holes.add(u64::MAX, u64::MAX);
        holes.add(u64::MAX, u64::MAX);
        assert_eq!(holes.trend().ends, None);
    }

    #[test]
    fn ends_are_times_of_a_call() {
        let trend = growth((0..2000).map(|at| 1000 + 10 * at)).trend();
        let (first, last) = trend.ends.unwrap();
        assert_eq!((trend.verdict, trend.calls), (Verdict::Linear, 2000));
        assert!((3_000..5_000).contains(&first) && (18_000..21_000).contains(&last));
    }

    /// Each call takes 10 more than the one before, from 1,000 on; or one of them takes very long.
    #[test]
    fn what_has_grown_is_no_outlier() {
        let time = |at| 1000 + 10 * at;
        let grown = |outlier: Option<u64>, calls: u64| {
            let time = |at| {
                if outlier == Some(at) {
                    1 << 40
                } else {
                    time(at)
                }
            };
            let trend = growth((0..calls).map(time)).trend();
            assert!(trend.verdict.grows());
            trend.grown_ticks
        };
        let beyond: u64 = (0..2000).map(|at| time(at) - time(0)).sum();
        assert!((beyond * 7 / 10..=beyond).contains(&grown(None, 2000)));
        for calls in [500, 2000] {
            let none = grown(None, calls);
            for outlier in [0, calls / 2, calls - 1] {
                let some = grown(Some(outlier), calls);
                assert!(some.abs_diff(none) <= none / 10, "{calls}: {some} {none}");
            }
        }
        assert_eq!(growth((0..500).map(|_| 1000)).trend().grown_ticks, 0);
        assert_eq!(CallGrowth::default().trend().grown_ticks, 0);
    }

    #[test]
    fn order_and_parts_do_not_matter() {
        let times: Vec<u64> = (0..1000).map(noise).collect();
        let all = growth(times.iter().copied());
        let mut backwards = CallGrowth::default();
        for (ordinal, &ticks) in (0..1000_usize).zip(&times).rev() {
            backwards.add(ordinal as u64, ticks);
        }
        assert_eq!(backwards, all);
        let (few, many) = (
            growth(times[..70].iter().copied()),
            growth(times[70..].iter().copied()),
        );
        let (mut one, mut other) = (few.clone(), many.clone());
        one.merge(&many);
        other.merge(&few);
        assert_eq!(one, other);
        let mut each = many;
        for (ordinal, &ticks) in (0..70).zip(&times) {
            each.add(ordinal, ticks);
        }
        assert_eq!(each, other);
    }
}
