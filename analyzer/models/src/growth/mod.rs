//! Counts as a function of the size of the input: what the static analysis of Mera et al. 2006 (section 2) derives from the
//! clauses is inferred here from recordings of several sizes.
//!
//! An exact function is looked for first, on integers and rationals; it counts as found only if it agrees with more
//! points than it has free parameters, and by more than chance. Otherwise counts are fitted statistically, with bounds.

mod basis;
mod exact;
mod linear;
mod statistical;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use num_bigint::BigInt;

pub use basis::Basis;
pub use exact::Exact;
use statistical::fit;
pub use statistical::{CONFIDENCE, Fitted};
pub(crate) use statistical::{Point, fit_time};

/// A count at a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// Size of the input.
    pub size: u64,
    /// What was counted.
    pub count: u64,
}

/// What kind of function it is, by what grows fastest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GrowthKind {
    /// The same at every size.
    Constant,
    /// `log n`
    Logarithmic,
    /// `n^degree`, perhaps times `log n`
    Polynomial {
        /// Highest power of the size.
        degree: u32,
    },
    /// `n log n`
    Linearithmic,
    /// `base^n`
    Exponential {
        /// Factor from one size to the next.
        base: f64,
    },
    /// `n!`
    Factorial,
    /// A power of the size that is no whole number.
    Power,
}

impl fmt::Display for GrowthKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => write!(f, "constant"),
            Self::Logarithmic => write!(f, "logarithmic"),
            Self::Polynomial { degree: 1 } => write!(f, "linear"),
            Self::Polynomial { degree: 2 } => write!(f, "quadratic"),
            Self::Polynomial { degree: 3 } => write!(f, "cubic"),
            Self::Polynomial { degree } => write!(f, "polynomial of degree {degree}"),
            Self::Linearithmic => write!(f, "n log n"),
            Self::Exponential { base } => write!(f, "exponential, base {base:.4}"),
            Self::Factorial => write!(f, "factorial"),
            Self::Power => write!(f, "power"),
        }
    }
}

/// What speaks for a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrowthEvidence {
    /// Points that it was found from: different sizes of an exact function, samples of a fitted one.
    pub points: usize,
    /// Free parameters; a base or a recurrence chosen from a list is one.
    pub parameters: usize,
}

impl GrowthEvidence {
    /// Points that it could have missed.
    #[must_use]
    pub fn checks(self) -> usize {
        self.points.saturating_sub(self.parameters)
    }
}

/// A number and what it lies between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Estimate {
    /// A number that is known.
    #[must_use]
    pub fn certain(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
        }
    }

    /// The product, of quantities that are not negative.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            low: self.low * other.low,
            high: self.high * other.high,
        }
    }

    /// The sum; both may be at their bounds at once.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }
}

/// How a count grows with the size.
#[derive(Debug, Clone)]
pub enum Growth {
    /// Exactly so, as far as the evidence goes.
    Exact {
        /// The function.
        function: Exact,
        /// What speaks for it.
        evidence: GrowthEvidence,
    },
    /// About so.
    Fitted {
        /// The class, with bounds.
        fitted: Fitted,
        /// Points and parameters of the fit.
        evidence: GrowthEvidence,
    },
    /// Too few sizes to say.
    Unknown {
        /// How many there are.
        sizes: usize,
    },
}

impl Growth {
    /// What samples, in any order, tell. Several of one size must agree for an exact function.
    #[must_use]
    pub fn infer(samples: &[Sample]) -> Self {
        let mut by_size: BTreeMap<u64, Option<u64>> = BTreeMap::new();
        for sample in samples {
            by_size
                .entry(sample.size)
                .and_modify(|count| *count = count.filter(|&count| count == sample.count))
                .or_insert(Some(sample.count));
        }
        let points: Option<Vec<(u64, BigInt)>> = by_size
            .iter()
            .map(|(&size, &count)| Some((size, BigInt::from(count?))))
            .collect();
        if let Some((function, evidence)) = points.as_deref().and_then(exact::find) {
            return Self::Exact { function, evidence };
        }
        let sizes = by_size.len();
        // Two sizes agree with every function of two parameters.
        let fitted = (sizes > 2).then(|| {
            let point = |sample: &Sample| Point {
                size: sample.size as f64,
                value: sample.count as f64,
                trust: 1.0,
            };
            fit(&samples.iter().map(point).collect::<Vec<_>>())
        });
        match fitted.flatten() {
            Some(fitted) => {
                let evidence = GrowthEvidence {
                    points: samples.len(),
                    parameters: fitted.parameters(),
                };
                Self::Fitted { fitted, evidence }
            }
            None => Self::Unknown { sizes },
        }
    }

    /// The count at a size, with bounds; `None` if it is unknown or beyond all numbers. An exact function is certain, but for a
    /// size at which it is no whole number: then the two next to it bound it.
    #[must_use]
    pub fn at(&self, size: u64) -> Option<Estimate> {
        let estimate = match self {
            Self::Exact { function, .. } => {
                let value = function.at(size)?;
                Estimate {
                    value: exact::to_f64(&value),
                    low: exact::to_f64(&value.floor()),
                    high: exact::to_f64(&value.ceil()),
                }
            }
            Self::Fitted { fitted, .. } => fitted.at(size as f64),
            Self::Unknown { .. } => return None,
        };
        Some(estimate).filter(|estimate| estimate.high.is_finite())
    }

    /// As a formula in `n`; `None` if unknown.
    #[must_use]
    pub fn formula(&self) -> Option<String> {
        match self {
            Self::Exact { function, .. } => Some(function.to_string()),
            Self::Fitted { fitted, .. } => Some(fitted.formula()),
            Self::Unknown { .. } => None,
        }
    }

    /// What kind of function it is; `None` if unknown.
    #[must_use]
    pub fn kind(&self) -> Option<GrowthKind> {
        match self {
            Self::Exact { function, .. } => Some(function.kind()),
            Self::Fitted { fitted, .. } => Some(fitted.kind()),
            Self::Unknown { .. } => None,
        }
    }

    /// Points and free parameters; `None` if unknown.
    #[must_use]
    pub fn evidence(&self) -> Option<GrowthEvidence> {
        match self {
            Self::Exact { evidence, .. } | Self::Fitted { evidence, .. } => Some(*evidence),
            Self::Unknown { .. } => None,
        }
    }

    /// Whether it is exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Exact { .. })
    }
}
