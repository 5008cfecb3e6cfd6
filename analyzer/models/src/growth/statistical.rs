//! Counts that follow no exact function (random inputs, several runs of one size): candidate classes of growth fitted by
//! least squares of relative errors, judged by how well each predicts the points that it is not shown.

use super::{Estimate, GrowthKind};
use crate::least_squares::{self, Solution};

/// Of the interval that predictions are given with.
pub const CONFIDENCE: f64 = 0.95;
/// A class may be the true one if the points are at least so likely under it as under the best one, as the logarithm of the
/// odds: 1 to 20. For k points and errors of a mean size that is k times the logarithm of the ratio of these sizes.
const ODDS: f64 = 3.0;
/// A count must not be negative at this part of the smallest size.
const BELOW: f64 = 0.1;
/// Errors below this, relative, are not told apart.
const NEGLIGIBLE: f64 = 1e-3;

/// Values below this are nothing: relative errors are of no less.
const LEAST: f64 = 1e-3;

/// A value at a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Size of the input.
    pub(crate) size: f64,
    /// The value, not negative.
    pub(crate) value: f64,
    /// How far it is to be believed: 1, or less if it is less exact.
    pub(crate) trust: f64,
}

/// A function of the size.
type GrowthTerm = fn(f64) -> f64;

/// A class of growth: its leading term, and lower ones that it may come with.
struct GrowthClass {
    kind: GrowthKind,
    name: &'static str,
    leading: GrowthTerm,
    lower: &'static [(&'static str, GrowthTerm)],
}

fn one(_: f64) -> f64 {
    1.0
}
fn log(n: f64) -> f64 {
    n.max(1.0).log2()
}
fn linear(n: f64) -> f64 {
    n
}
fn n_log_n(n: f64) -> f64 {
    n * log(n)
}
fn square(n: f64) -> f64 {
    n * n
}

/// In order of growth.
const CLASSES: [GrowthClass; 7] = [
    GrowthClass {
        kind: GrowthKind::Constant,
        name: "",
        leading: one,
        lower: &[],
    },
    GrowthClass {
        kind: GrowthKind::Logarithmic,
        name: "log2 n",
        leading: log,
        lower: &[("", one)],
    },
    GrowthClass {
        kind: GrowthKind::Polynomial { degree: 1 },
        name: "n",
        leading: linear,
        lower: &[("", one)],
    },
    GrowthClass {
        kind: GrowthKind::Linearithmic,
        name: "n log2 n",
        leading: n_log_n,
        lower: &[("n", linear)],
    },
    GrowthClass {
        kind: GrowthKind::Polynomial { degree: 2 },
        name: "n^2",
        leading: square,
        lower: &[("n", linear)],
    },
    GrowthClass {
        kind: GrowthKind::Polynomial { degree: 2 },
        name: "n^2 log2 n",
        leading: |n| n * n * log(n),
        lower: &[("n^2", square)],
    },
    GrowthClass {
        kind: GrowthKind::Polynomial { degree: 3 },
        name: "n^3",
        leading: |n| n * n * n,
        lower: &[("n^2", square)],
    },
];

/// A class with coefficients.
#[derive(Debug, Clone)]
struct FittedClass {
    kind: GrowthKind,
    names: Vec<&'static str>,
    terms: Vec<GrowthTerm>,
    /// Whether the logarithm of the count is what is fitted.
    of_logarithm: bool,
    solution: Solution,
    /// Mean relative error of predictions of points left out.
    left_out: f64,
}

/// The class that counts seem to follow.
#[derive(Debug, Clone)]
pub struct Fitted {
    best: FittedClass,
    /// All that may be true, the best included.
    plausible: Vec<FittedClass>,
}

impl Fitted {
    /// The class.
    #[must_use]
    pub fn kind(&self) -> GrowthKind {
        self.best.kind
    }

    /// Free parameters.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.best.terms.len()
    }

    /// Mean relative error with which it predicts each point from the others.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.best.left_out
    }

    /// Estimate and bounds at a size: the widest of the prediction intervals of all classes that may be true.
    #[must_use]
    pub fn at(&self, n: f64) -> Estimate {
        let mut estimate = self.best.at(n);
        for other in self.plausible.iter().map(|candidate| candidate.at(n)) {
            estimate.low = estimate.low.min(other.low);
            estimate.high = estimate.high.max(other.high);
        }
        estimate
    }

    /// `1.39 n log2 n - 2.8 n`
    #[must_use]
    pub fn formula(&self) -> String {
        let FittedClass {
            names,
            solution,
            of_logarithm,
            ..
        } = &self.best;
        let k = &solution.coefficients;
        match (of_logarithm, self.best.kind) {
            (true, GrowthKind::Exponential { base }) => {
                format!("{} {base:.4}^n", short(k[0].exp()))
            }
            (true, _) => format!("{} n^{}", short(k[0].exp()), short(k[1])),
            (false, _) => {
                let mut text = String::new();
                for (factor, name) in k.iter().zip(names) {
                    let sign = match (text.is_empty(), *factor < 0.0) {
                        (true, false) => "",
                        (true, true) => "-",
                        (false, false) => " + ",
                        (false, true) => " - ",
                    };
                    text.push_str(format!("{sign}{} {name}", short(factor.abs())).trim_end());
                }
                text
            }
        }
    }
}

/// Four significant digits.
fn short(value: f64) -> String {
    let magnitude = value.abs().max(1e-12).log10().floor();
    let decimals = (3.0 - magnitude).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

impl FittedClass {
    /// `None` if the points do not determine it, or it falls with the size.
    fn fit(
        kind: GrowthKind,
        (names, terms): (Vec<&'static str>, Vec<GrowthTerm>),
        of_logarithm: bool,
        points: &[Point],
    ) -> Option<Self> {
        let solution = solve(&terms, of_logarithm, points)?;
        let grows = solution.coefficients[usize::from(of_logarithm)] >= 0.0;
        let least = points
            .iter()
            .map(|point| point.size)
            .fold(f64::INFINITY, f64::min);
        let counts = value(&solution, &terms, of_logarithm, (BELOW * least).ceil()) >= 0.0;
        let (mut error, mut trust) = (0.0, 0.0);
        for left_out in 0..points.len() {
            let mut others = points.to_vec();
            let point = others.remove(left_out);
            let solution = solve(&terms, of_logarithm, &others)?;
            let missed = value(&solution, &terms, of_logarithm, point.size) - point.value;
            error += point.trust * missed.abs() / scale_of(point.value);
            trust += point.trust;
        }
        let left_out = error / trust;
        let candidate = Self {
            kind,
            names,
            terms,
            of_logarithm,
            solution,
            left_out,
        };
        (grows && counts && left_out.is_finite()).then_some(candidate)
    }

    fn at(&self, n: f64) -> Estimate {
        let value = value(&self.solution, &self.terms, self.of_logarithm, n).max(0.0);
        let row: Vec<f64> = self.terms.iter().map(|term| term(n)).collect();
        if self.of_logarithm {
            let width = self.solution.half_width(&row, CONFIDENCE).exp();
            return Estimate {
                value,
                low: value / width,
                high: value * width,
            };
        }
        // Errors are in proportion to the count: scaled, a new point has weight 1.
        let scale = scale_of(value);
        let row: Vec<f64> = row.iter().map(|term| term / scale).collect();
        let width = scale * self.solution.half_width(&row, CONFIDENCE);
        Estimate {
            value,
            low: (value - width).max(0.0),
            high: value + width,
        }
    }
}

/// Errors are in proportion to the value.
fn scale_of(value: f64) -> f64 {
    value.max(LEAST)
}

fn value(solution: &Solution, terms: &[GrowthTerm], of_logarithm: bool, n: f64) -> f64 {
    let row: Vec<f64> = terms.iter().map(|term| term(n)).collect();
    let value = solution.at(&row);
    if of_logarithm { value.exp() } else { value }
}

fn solve(terms: &[GrowthTerm], of_logarithm: bool, points: &[Point]) -> Option<Solution> {
    let scaled = |point: &Point| {
        let scale = if of_logarithm {
            1.0
        } else {
            scale_of(point.value)
        };
        let value = if of_logarithm {
            scale_of(point.value).ln()
        } else {
            point.value
        };
        let row = terms
            .iter()
            .map(|term| point.trust * term(point.size) / scale)
            .collect();
        (row, point.trust * value / scale)
    };
    let (rows, right): (Vec<Vec<f64>>, Vec<f64>) = points.iter().map(scaled).unzip();
    least_squares::solve(&rows, &right).ok()
}

/// The class that counts seem to follow. Of those that predict left-out points about as well as the best the one with
/// fewest terms; powers and exponentials of any base only where no other will do.
/// `None` if no class has points to spare.
pub(crate) fn fit(points: &[Point]) -> Option<Fitted> {
    let named = candidates(&CLASSES, points);
    let base = exponential_base(points);
    let free: Vec<FittedClass> = [
        (GrowthKind::Exponential { base }, linear as GrowthTerm),
        (GrowthKind::Power, |n: f64| n.max(1.0).ln()),
    ]
    .into_iter()
    .filter_map(|(kind, term)| {
        FittedClass::fit(kind, (vec!["", ""], vec![one, term]), true, points)
    })
    .collect();
    let use_free = least_error(&named) > limit(&free, points);
    let all = if use_free { free } else { named };
    let limit = limit(&all, points);
    let plausible: Vec<FittedClass> = all
        .into_iter()
        .filter(|candidate| candidate.left_out <= limit)
        .collect();
    let simplest = plausible
        .iter()
        .min_by_key(|candidate| candidate.terms.len())?;
    // Its lower terms, if they help.
    let best = plausible
        .iter()
        .filter(|candidate| candidate.names[0] == simplest.names[0])
        .min_by(|a, b| a.left_out.total_cmp(&b.left_out))?
        .clone();
    Some(Fitted { best, plausible })
}

/// The class that the time of one call seems to follow: times are measured, not counted, and small ones badly, so they
/// are the same at all sizes unless that is clearly not so, and no more than linear.
pub(crate) fn fit_time(points: &[Point]) -> Option<Fitted> {
    let all = candidates(&CLASSES[..3], points);
    let limit = limit(&all, points);
    let plausible: Vec<FittedClass> = all
        .into_iter()
        .filter(|candidate| candidate.left_out <= limit)
        .collect();
    let best = simplest(&plausible)?.clone();
    let plausible = vec![best.clone()];
    Some(Fitted { best, plausible })
}

/// Every class that `points` determine, with and without lower terms, in order of growth.
fn candidates(classes: &[GrowthClass], points: &[Point]) -> Vec<FittedClass> {
    let mut all = Vec::new();
    for class in classes {
        for lower in 0..=class.lower.len() {
            let lower = class.lower[..lower].iter().copied();
            let terms = [(class.name, class.leading)].into_iter().chain(lower);
            all.extend(FittedClass::fit(class.kind, terms.unzip(), false, points));
        }
    }
    all
}

fn least_error(candidates: &[FittedClass]) -> f64 {
    let errors = candidates.iter().map(|candidate| candidate.left_out);
    errors.fold(f64::INFINITY, f64::min)
}

/// Of those with fewest terms the one with the least error.
fn simplest(candidates: &[FittedClass]) -> Option<&FittedClass> {
    candidates.iter().min_by(|a, b| {
        let terms = a.terms.len().cmp(&b.terms.len());
        terms.then(a.left_out.total_cmp(&b.left_out))
    })
}

/// The error with which a candidate may be the true one.
fn limit(candidates: &[FittedClass], points: &[Point]) -> f64 {
    (ODDS / points.len() as f64).exp() * least_error(candidates).max(NEGLIGIBLE)
}

/// By how much counts grow when the size does by one, on the whole.
fn exponential_base(points: &[Point]) -> f64 {
    solve(&[one, linear], true, points).map_or(1.0, |solution| solution.coefficients[1].exp())
}
