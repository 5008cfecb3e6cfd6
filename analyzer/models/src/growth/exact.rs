//! Counts as an exact function of the size: linear combinations of a few [`Basis`] functions with rational
//! coefficients, found by solving for as many points as there are coefficients and checked at all others.

use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::basis::{Basis, bits_of, dominant};
use super::{GrowthEvidence, GrowthKind, linear};

/// Highest degree of a polynomial looked for.
const MAX_DEGREE: u32 = 6;
/// Bases of exponentials looked for.
const BASES: std::ops::RangeInclusive<u32> = 2..=10;
/// Recurrences looked for: (p, q) of [`Basis::Lucas`].
const RECURRENCES: [(u32, u32); 11] = [
    (1, 1),
    (1, 2),
    (2, 1),
    (0, 2),
    (0, 3),
    (1, 3),
    (2, 2),
    (2, 3),
    (3, 1),
    (3, 2),
    (3, 3),
];
/// Evidence that each coefficient needs, in bits ([`Family::convinces`]).
const BITS_PER_COEFFICIENT: f64 = 2.0;
/// Bits that a basis function may have above those of the counts: with more, its coefficient would be no
/// number that programs count with.
const SPARE_BITS: f64 = 20.0;
/// Places after the last point where a count must not be negative, as multiples of the largest size.
const FURTHER: [u64; 3] = [2, 10, 100];

/// A function that counts follow exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact {
    /// Factors, none of them zero, and what they belong to; what grows fastest first.
    pub terms: Vec<(BigRational, Basis)>,
}

impl Exact {
    /// The value at a size; `None` if it has thousands of digits.
    #[must_use]
    pub fn at(&self, n: u64) -> Option<BigRational> {
        self.terms
            .iter()
            .try_fold(BigRational::zero(), |sum, (factor, basis)| {
                Some(sum + factor * BigRational::from(basis.at(n)?))
            })
    }

    /// What it is, by the term that grows fastest.
    #[must_use]
    pub fn kind(&self) -> GrowthKind {
        match self.terms.first().map(|(_, basis)| *basis) {
            None | Some(Basis::Power(0)) => GrowthKind::Constant,
            Some(Basis::Power(degree)) => GrowthKind::Polynomial { degree },
            Some(Basis::Exponential { base, .. }) => GrowthKind::Exponential { base: base.into() },
            Some(Basis::Lucas { p, q, .. }) => GrowthKind::Exponential {
                base: dominant(p, q),
            },
            Some(Basis::FloorLog) => GrowthKind::Logarithmic,
            Some(Basis::LogSum) => GrowthKind::Linearithmic,
            Some(Basis::Factorial | Basis::Arrangements) => GrowthKind::Factorial,
        }
    }
}

impl fmt::Display for Exact {
    /// `1/2 n^2 + 3/2 n + 1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return write!(f, "0");
        }
        for (index, (factor, basis)) in self.terms.iter().enumerate() {
            let sign = match (index, factor.is_negative()) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let size = factor.abs();
            if *basis == Basis::Power(0) {
                write!(f, "{sign}{size}")?;
            } else if size.is_one() {
                write!(f, "{sign}{basis}")?;
            } else {
                write!(f, "{sign}{size} {basis}")?;
            }
        }
        Ok(())
    }
}

/// Functions that differ in their coefficients only, and how many such sets there are to choose from.
#[derive(Debug, Clone)]
struct Family {
    bases: Vec<Basis>,
    choices: usize,
}

impl Family {
    /// Free parameters; a choice from a list is one.
    fn parameters(&self) -> usize {
        self.bases.len() + usize::from(self.choices > 1)
    }

    /// Whether agreement at the other points is more than chance. A point that agrees is worth as many bits
    /// as it takes to say which of the counts it could have been; what was chosen from a list costs that choice.
    fn convinces(&self, points: &[(u64, BigInt)]) -> bool {
        let counts = || points.iter().map(|(_, count)| count);
        let (Some(least), Some(most)) = (counts().min(), counts().max()) else {
            return false;
        };
        let checks = points.len().saturating_sub(self.bases.len());
        let bits = checks as f64 * bits_of(&(most - least)) - (self.choices as f64).log2();
        let constant = self.bases == [Basis::Power(0)];
        points.len() > self.parameters()
            && (constant || bits >= BITS_PER_COEFFICIENT * self.bases.len() as f64)
    }

    /// The member that goes through all points and makes sense as a count.
    fn member(&self, points: &[(u64, BigInt)]) -> Option<Exact> {
        let most = points
            .iter()
            .map(|(_, count)| bits_of(count))
            .fold(0.0, f64::max);
        let largest = points.last()?.0;
        let is_polynomial = |basis: &Basis| matches!(basis, Basis::Power(_));
        let too_large =
            |basis: &Basis| !is_polynomial(basis) && basis.bits(largest) > most + SPARE_BITS;
        if self.bases.iter().any(too_large) || !self.convinces(points) {
            return None;
        }
        let row = |n: u64| -> Option<Vec<BigRational>> {
            self.bases
                .iter()
                .map(|basis| Some(BigRational::from(basis.at(n)?)))
                .collect()
        };
        let solved = &points[..self.bases.len()];
        let rows = solved
            .iter()
            .map(|(n, _)| row(*n))
            .collect::<Option<Vec<_>>>()?;
        let right = solved
            .iter()
            .map(|(_, count)| BigRational::from(count.clone()))
            .collect();
        let factors = linear::solve(rows, right)?;
        let terms = factors
            .into_iter()
            .zip(self.bases.iter().copied())
            .filter(|(factor, _)| !factor.is_zero())
            .collect();
        let exact = Exact { terms };
        let agrees = points.iter().all(|(n, count)| {
            exact
                .at(*n)
                .is_some_and(|value| value == BigRational::from(count.clone()))
        });
        (agrees && counts_something(&exact, points)).then_some(exact)
    }
}

/// Whether the function is a whole number at the sizes in between that the points are a part of (with every second
/// size measured, every second one), and is not negative beyond.
fn counts_something(exact: &Exact, points: &[(u64, BigInt)]) -> bool {
    let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) else {
        return false;
    };
    let step = points
        .windows(2)
        .fold(0, |step, pair| gcd(step, pair[1].0 - pair[0].0));
    let inner =
        (0..=u64::from(2 * MAX_DEGREE)).filter_map(|i| first.checked_add(step.checked_mul(i)?));
    let beyond = FURTHER.iter().filter_map(|times| {
        let steps = last
            .checked_mul(*times)?
            .checked_sub(*first)?
            .checked_div(step)?;
        first.checked_add(step.checked_mul(steps)?)
    });
    inner
        .chain(beyond)
        .filter_map(|n| exact.at(n))
        .all(|value| value.is_integer() && !value.is_negative())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The functions before, and a polynomial with so many coefficients.
fn family(leading: &[Basis], coefficients: u32, choices: usize) -> Family {
    let polynomial = (0..coefficients).rev().map(Basis::Power);
    Family {
        bases: leading.iter().copied().chain(polynomial).collect(),
        choices,
    }
}

/// All that is looked for, by number of parameters; of those with as many, polynomials first.
fn families(has_zero: bool) -> Vec<Family> {
    let mut all: Vec<Family> = (1..=MAX_DEGREE + 1).map(|n| family(&[], n, 1)).collect();
    if !has_zero {
        let mixed = [Basis::Power(1), Basis::FloorLog, Basis::Power(0)];
        all.push(family(&[Basis::FloorLog], 1, 1));
        all.push(family(&[Basis::LogSum], 2, 1));
        all.push(family(&mixed, 0, 1));
        all.push(family(&[&[Basis::LogSum], &mixed[..]].concat(), 0, 1));
    }
    for base in BASES {
        let power = |power| Basis::Exponential { base, power };
        for coefficients in 0..=3 {
            all.push(family(&[power(0)], coefficients, BASES.count()));
            all.push(family(&[power(1), power(0)], coefficients, BASES.count()));
        }
    }
    for (p, q) in RECURRENCES {
        let shift = |shift| Basis::Lucas { p, q, shift };
        for coefficients in 0..=2 {
            all.push(family(
                &[shift(1), shift(0)],
                coefficients,
                RECURRENCES.len(),
            ));
        }
    }
    all.push(family(&[Basis::Factorial], 1, 1));
    all.push(family(&[Basis::Arrangements, Basis::Factorial], 1, 1));
    all.sort_by_key(Family::parameters);
    all
}

/// The simplest function through all points, which are of different sizes in ascending order, and the evidence for it.
pub(super) fn find(points: &[(u64, BigInt)]) -> Option<(Exact, GrowthEvidence)> {
    let has_zero = points.first().is_some_and(|(n, _)| *n == 0);
    families(has_zero).iter().find_map(|family| {
        let evidence = GrowthEvidence {
            points: points.len(),
            parameters: family.parameters(),
        };
        Some((family.member(points)?, evidence))
    })
}

/// As a floating-point number, for times.
pub(super) fn to_f64(value: &BigRational) -> f64 {
    value.to_f64().unwrap_or(f64::INFINITY)
}
