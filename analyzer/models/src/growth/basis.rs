//! The functions of a size that counts are made of, with exact integer values.

use std::fmt;

use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};

/// No value has more bits: a count that large is not a prediction, and would fill the memory.
const MAX_BITS: f64 = 4096.0;

/// A function from sizes to integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// `n^d`
    Power(u32),
    /// `n^power · base^n`
    Exponential {
        /// At least 2.
        base: u32,
        /// Of `n`.
        power: u32,
    },
    /// `U(n + shift)` of the Lucas sequence `U(0) = 0, U(1) = 1, U(n) = p·U(n-1) + q·U(n-2)`; `p = q = 1` are the
    /// Fibonacci numbers.
    Lucas {
        /// Factor of the term before.
        p: u32,
        /// Factor of the term before that.
        q: u32,
        /// 0 or 1.
        shift: u32,
    },
    /// `⌊log2 n⌋`, 0 at 0: halvings.
    FloorLog,
    /// `Σ ⌈log2 i⌉ for i = 1…n  =  n⌈log2 n⌉ − 2^⌈log2 n⌉ + 1`: what splitting in halves and work in
    /// proportion to each part comes to, at every size. `n log2 n − n + 1` at powers of two.
    LogSum,
    /// `n!`
    Factorial,
    /// `Σ n!/k! for k = 0…n`: selections in order, of any length.
    Arrangements,
}

impl Basis {
    /// Its value at `n`; `None` if that has thousands of digits.
    #[must_use]
    pub fn at(self, n: u64) -> Option<BigInt> {
        if self.bits(n) > MAX_BITS {
            return None;
        }
        Some(match self {
            Self::Power(degree) => BigInt::from(n).pow(degree),
            Self::Exponential { base, power } => {
                BigInt::from(n).pow(power) * BigInt::from(base).pow(u32::try_from(n).ok()?)
            }
            Self::Lucas { p, q, shift } => lucas(p, q, n + u64::from(shift)),
            Self::FloorLog => BigInt::from(n.max(1).ilog2()),
            Self::LogSum => log_sum(n),
            Self::Factorial => (1..=n).map(BigInt::from).product(),
            // a(n) = n·a(n-1) + 1
            Self::Arrangements => (1..=n).fold(BigInt::one(), |a, i| a * i + 1),
        })
    }

    /// Upper bound of the bits of its value at `n`.
    pub(super) fn bits(self, n: u64) -> f64 {
        let size = n as f64;
        let digits = (size + 1.0).log2();
        match self {
            Self::Power(degree) => f64::from(degree) * digits,
            Self::Exponential { base, power } => {
                size * f64::from(base).log2() + f64::from(power) * digits
            }
            Self::Lucas { p, q, shift } => (size + f64::from(shift)) * dominant(p, q).log2(),
            Self::FloorLog => 7.0,
            Self::LogSum => digits + 7.0,
            Self::Factorial => size * digits,
            Self::Arrangements => size * digits + 2.0,
        }
    }
}

/// The larger root of `x² = p·x + q`: by what the sequence grows at each step.
pub(super) fn dominant(p: u32, q: u32) -> f64 {
    let (p, q) = (f64::from(p), f64::from(q));
    f64::midpoint(p, (p * p + 4.0 * q).sqrt())
}

fn lucas(p: u32, q: u32, n: u64) -> BigInt {
    let (mut this, mut next) = (BigInt::zero(), BigInt::one());
    for _ in 0..n {
        let after = &next * p + &this * q;
        this = next;
        next = after;
    }
    this
}

fn log_sum(n: u64) -> BigInt {
    if n < 2 {
        return BigInt::zero();
    }
    let log = (n - 1).ilog2() + 1;
    BigInt::from(n) * log - BigInt::from(2).pow(log) + 1
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Power(0) => write!(f, "1"),
            Self::Power(1) => write!(f, "n"),
            Self::Power(degree) => write!(f, "n^{degree}"),
            Self::Exponential { base, power: 0 } => write!(f, "{base}^n"),
            Self::Exponential { base, power } => write!(f, "{} {base}^n", Self::Power(power)),
            Self::Lucas { p: 1, q: 1, shift } => write!(f, "F({})", shifted(shift)),
            Self::Lucas { p, q, shift } => write!(f, "U[{p},{q}]({})", shifted(shift)),
            Self::FloorLog => write!(f, "floor(log2 n)"),
            Self::LogSum => write!(f, "sum(ceil(log2 i), i=1..n)"),
            Self::Factorial => write!(f, "n!"),
            Self::Arrangements => write!(f, "sum(n!/k!, k=0..n)"),
        }
    }
}

fn shifted(shift: u32) -> &'static str {
    if shift == 0 { "n" } else { "n+1" }
}

/// Bits of a count.
pub(super) fn bits_of(count: &BigInt) -> f64 {
    count
        .to_f64()
        .map_or(MAX_BITS, |value| (value.abs() + 1.0).log2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(basis: Basis, sizes: std::ops::RangeInclusive<u64>) -> Vec<i64> {
        sizes
            .map(|n| basis.at(n).unwrap().to_i64().unwrap())
            .collect()
    }

    #[test]
    fn values_are_those_of_the_tables() {
        assert_eq!(values(Basis::Power(3), 0..=3), [0, 1, 8, 27]);
        let exponential = Basis::Exponential { base: 2, power: 1 };
        assert_eq!(values(exponential, 0..=4), [0, 2, 8, 24, 64]);
        let fibonacci = Basis::Lucas {
            p: 1,
            q: 1,
            shift: 0,
        };
        assert_eq!(values(fibonacci, 0..=7), [0, 1, 1, 2, 3, 5, 8, 13]);
        let pell = Basis::Lucas {
            p: 2,
            q: 1,
            shift: 1,
        };
        assert_eq!(values(pell, 0..=4), [1, 2, 5, 12, 29]);
        assert_eq!(values(Basis::FloorLog, 1..=9), [0, 1, 1, 2, 2, 2, 2, 3, 3]);
        assert_eq!(values(Basis::LogSum, 0..=8), [0, 0, 1, 3, 5, 8, 11, 14, 17]);
        assert_eq!(values(Basis::Factorial, 0..=5), [1, 1, 2, 6, 24, 120]);
        assert_eq!(values(Basis::Arrangements, 0..=4), [1, 2, 5, 16, 65]);
    }

    #[test]
    fn a_value_too_large_is_none_at_once() {
        for basis in [
            Basis::Exponential { base: 2, power: 0 },
            Basis::Lucas {
                p: 1,
                q: 1,
                shift: 0,
            },
            Basis::Factorial,
            Basis::Arrangements,
        ] {
            assert_eq!(basis.at(u64::MAX / 2), None);
        }
        assert!(Basis::Power(6).at(u64::MAX).is_some());
    }
}
