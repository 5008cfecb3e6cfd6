//! Counts that follow no exact function (random inputs, several runs of one size): candidate classes of growth fitted by
//! least squares of relative errors, judged by how well each predicts the points that it is not shown.

use super::{Estimate, Kind};
use crate::least_squares::{self, Solution};

/// Of the interval that predictions are given with.
pub const CONFIDENCE: f64 = 0.95;
/// A class that predicts left-out points with so many times the error of the best one may be the true one, too.
const PLAUSIBLE: f64 = 2.0;
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
type Term = fn(f64) -> f64;

/// A class of growth: its leading term, and lower ones that it may come with.
struct Class {
    kind: Kind,
    name: &'static str,
    leading: Term,
    lower: &'static [(&'static str, Term)],
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
const CLASSES: [Class; 7] = [
    Class {
        kind: Kind::Constant,
        name: "",
        leading: one,
        lower: &[],
    },
    Class {
        kind: Kind::Logarithmic,
        name: "log2 n",
        leading: log,
        lower: &[("", one)],
    },
    Class {
        kind: Kind::Polynomial { degree: 1 },
        name: "n",
        leading: linear,
        lower: &[("", one)],
    },
    Class {
        kind: Kind::Linearithmic,
        name: "n log2 n",
        leading: n_log_n,
        lower: &[("n", linear)],
    },
    Class {
        kind: Kind::Polynomial { degree: 2 },
        name: "n^2",
        leading: square,
        lower: &[("n", linear)],
    },
    Class {
        kind: Kind::Polynomial { degree: 2 },
        name: "n^2 log2 n",
        leading: |n| n * n * log(n),
        lower: &[("n^2", square)],
    },
    Class {
        kind: Kind::Polynomial { degree: 3 },
        name: "n^3",
        leading: |n| n * n * n,
        lower: &[("n^2", square)],
    },
];

/// A class with coefficients.
#[derive(Debug, Clone)]
struct Candidate {
    kind: Kind,
    names: Vec<&'static str>,
    terms: Vec<Term>,
    /// Whether the logarithm of the count is what is fitted.
    of_logarithm: bool,
    solution: Solution,
    /// Mean relative error of predictions of points left out.
    left_out: f64,
}

/// The class that counts seem to follow.
#[derive(Debug, Clone)]
pub struct Fitted {
    best: Candidate,
    /// All that may be true, the best included.
    plausible: Vec<Candidate>,
}

impl Fitted {
    /// The class.
    #[must_use]
    pub fn kind(&self) -> Kind {
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
        let Candidate {
            names,
            solution,
            of_logarithm,
            ..
        } = &self.best;
        let k = &solution.coefficients;
        match (of_logarithm, self.best.kind) {
            (true, Kind::Exponential { base }) => format!("{} {base:.4}^n", short(k[0].exp())),
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

impl Candidate {
    /// `None` if the points do not determine it, or it falls with the size.
    fn fit(
        kind: Kind,
        (names, terms): (Vec<&'static str>, Vec<Term>),
        of_logarithm: bool,
        points: &[Point],
    ) -> Option<Self> {
        let solution = solve(&terms, of_logarithm, points)?;
        let grows = solution.coefficients[usize::from(of_logarithm)] >= 0.0;
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
        (grows && left_out.is_finite()).then_some(candidate)
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

fn value(solution: &Solution, terms: &[Term], of_logarithm: bool, n: f64) -> f64 {
    let row: Vec<f64> = terms.iter().map(|term| term(n)).collect();
    let value = solution.at(&row);
    if of_logarithm { value.exp() } else { value }
}

fn solve(terms: &[Term], of_logarithm: bool, points: &[Point]) -> Option<Solution> {
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

/// The class that `points` seem to follow. Of those that predict left-out points about as well as the
/// best the one with fewest terms, then the slowest growing; powers and exponentials of any base only where no other will do.
/// `None` if no class has points to spare.
pub(crate) fn fit(points: &[Point]) -> Option<Fitted> {
    let mut named: Vec<Candidate> = Vec::new();
    for class in &CLASSES {
        for lower in 0..=class.lower.len() {
            let terms = [(class.name, class.leading)]
                .into_iter()
                .chain(class.lower[..lower].iter().copied());
            named.extend(Candidate::fit(class.kind, terms.unzip(), false, points));
        }
    }
    let base = exponential_base(points);
    let free: Vec<Candidate> = [
        (Kind::Exponential { base }, linear as Term),
        (Kind::Power, |n: f64| n.max(1.0).ln()),
    ]
    .into_iter()
    .filter_map(|(kind, term)| Candidate::fit(kind, (vec!["", ""], vec![one, term]), true, points))
    .collect();
    let best = |candidates: &[Candidate]| {
        candidates
            .iter()
            .map(|candidate| candidate.left_out)
            .fold(f64::INFINITY, f64::min)
    };
    let limit = |least: f64| PLAUSIBLE * least.max(NEGLIGIBLE);
    let use_free = best(&named) > limit(best(&free));
    let all: Vec<Candidate> = if use_free { free } else { named };
    let limit = limit(best(&all));
    let plausible: Vec<Candidate> = all
        .into_iter()
        .filter(|one| one.left_out <= limit)
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

/// By how much counts grow when the size does by one, on the whole.
fn exponential_base(points: &[Point]) -> f64 {
    solve(&[one, linear], true, points).map_or(1.0, |solution| solution.coefficients[1].exp())
}
