//! Cost models: which components of a program's work make up its time, and what each costs (Mera et al. 2006,
//! sections 2.2 and 4).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::growth::Estimate;
use crate::least_squares::{self, LeastSquaresError};

/// How often each component occurred, by name: `step`, `giunif`, …, `builtin:is/2`, `arith:+/2`.
pub type Components = BTreeMap<String, u64>;

/// Prefix of the components that are built-in predicates.
pub const BUILTIN: &str = "builtin:";
/// Prefix of the components that are arithmetic operators.
pub const OPERATOR: &str = "arith:";

/// Calls that are no last calls: their frames are kept until they are done. The paper proposes to count "whether activation
/// records are created or not" and does not.
pub const FRAME: &str = "frame";

/// Conditions that are proved, and cells of terms that bodies build. What they cost is measured, not fitted: programs that are
/// as regular as a calibration needs do not tell it from that of a step.
pub const CONDITION: &str = "condition";
/// See [`CONDITION`].
pub const BUILT: &str = "built";
/// Arithmetic expressions with an operator: what the first costs more than others.
pub const EXPRESSION: &str = "expression";

/// What is fitted for the refined model: [`RESOLUTION`] and [`FRAME`].
pub const FITTED: [&str; 7] = [
    "step", FRAME, "nargs", "giunif", "gounif", "viunif", "vounif",
];

/// What models are made of.
pub const COMPONENTS: [&str; 9] = [
    "step", FRAME, "nargs", "giunif", "gounif", "viunif", "vounif", CONDITION, BUILT,
];

/// The components of section 2.2.
pub const RESOLUTION: [&str; 6] = ["step", "nargs", "giunif", "gounif", "viunif", "vounif"];

/// The four models that the paper has in its tables, in the order of table 2.
pub const OF_THE_PAPER: [&[&str]; 4] = [
    &RESOLUTION,
    &["step", "giunif", "gounif", "viunif", "vounif"],
    &["step", "giunif", "gounif", "vounif"],
    &["step"],
];

/// A run: what it did, and how long it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// What ran.
    pub program: String,
    /// Size of its input.
    pub size: u64,
    /// What it did.
    pub components: Components,
    /// Processor time of one run, in ns.
    pub ns: f64,
}

/// Which errors the constants make least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// Those of times, as in the paper: long runs decide.
    Absolute,
    /// Those of times in proportion to the time, which is how predictions are judged.
    Relative,
}

/// A model with its constants for a platform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// S of section 5, in µs.
    pub standard_error_us: f64,
    /// Root of the mean square of relative errors of the calibration programs.
    pub relative_error: f64,
    /// Each component and what one occurrence takes, in ns.
    pub nanoseconds: BTreeMap<String, f64>,
}

impl Model {
    /// The model with these components that suits the observations best.
    ///
    /// # Errors
    /// If they are too few, or do not tell the components apart.
    pub fn calibrate(
        components: &[&str],
        observations: &[Observation],
        errors: Errors,
    ) -> Result<Self, LeastSquaresError> {
        let row = |observation: &Observation| -> Vec<f64> {
            components
                .iter()
                .map(|name| occurrences(&observation.components, name) as f64)
                .collect()
        };
        let rows: Vec<Vec<f64>> = observations.iter().map(row).collect();
        let times: Vec<f64> = observations
            .iter()
            .map(|observation| observation.ns)
            .collect();
        let scale = |time: f64| match errors {
            Errors::Absolute => 1.0,
            // A clock that shows nothing is off by something.
            Errors::Relative => time.max(1.0),
        };
        let scaled = rows.iter().zip(&times).map(|(row, &time)| {
            let row: Vec<f64> = row.iter().map(|count| count / scale(time)).collect();
            (row, time / scale(time))
        });
        let (scaled_rows, scaled_times): (Vec<_>, Vec<_>) = scaled.unzip();
        let solution = least_squares::solve(&scaled_rows, &scaled_times)?;
        let residuals = || {
            let pairs = rows.iter().zip(&times);
            pairs.map(|(row, &time)| (solution.at(row) - time, time.max(1.0)))
        };
        let absolute: f64 = residuals().map(|(residual, _)| residual * residual).sum();
        let relative: f64 = residuals()
            .map(|(residual, time)| (residual / time).powi(2))
            .sum();
        let names = components.iter().map(|&name| name.to_owned());
        Ok(Self {
            standard_error_us: (absolute / solution.degrees_of_freedom as f64).sqrt() / 1e3,
            relative_error: (relative / times.len() as f64).sqrt(),
            nanoseconds: names.zip(solution.coefficients.iter().copied()).collect(),
        })
    }

    /// All combinations of the components of section 2.2 that the observations tell apart, by standard error.
    ///
    /// # Errors
    /// If no combination can be calibrated.
    pub fn all(observations: &[Observation]) -> Result<Vec<Self>, LeastSquaresError> {
        let mut models = Vec::new();
        let mut last = LeastSquaresError::TooFew {
            rows: observations.len(),
            columns: 1,
        };
        for chosen in 1u32..1 << RESOLUTION.len() {
            let components: Vec<&str> = (0..RESOLUTION.len())
                .filter(|bit| chosen & (1 << bit) != 0)
                .map(|bit| RESOLUTION[bit])
                .collect();
            match Self::calibrate(&components, observations, Errors::Absolute) {
                Ok(model) => models.push(model),
                Err(error) => last = error,
            }
        }
        models.sort_by(|a, b| a.standard_error_us.total_cmp(&b.standard_error_us));
        if models.is_empty() {
            Err(last)
        } else {
            Ok(models)
        }
    }

    /// Its components in the order of [`COMPONENTS`].
    #[must_use]
    pub fn components(&self) -> Vec<&str> {
        COMPONENTS
            .into_iter()
            .filter(|name| self.nanoseconds.contains_key(*name))
            .collect()
    }

    /// Whether it has these components and no others.
    #[must_use]
    pub fn is(&self, components: &[&str]) -> bool {
        self.components() == components
    }

    /// A time with what it lies between in all but 5 % of cases, if errors are like those of the calibration programs.
    #[must_use]
    pub fn with_bounds(&self, time: f64) -> Estimate {
        let part = 1.96 * self.relative_error;
        let value = time.max(0.0);
        Estimate {
            value,
            low: value * (1.0 - part).max(0.0),
            high: value * (1.0 + part),
        }
    }
}

fn occurrences(components: &Components, name: &str) -> u64 {
    components.get(name).copied().unwrap_or(0)
}

/// The global error of table 4: the square mean of relative errors (0.1 is 10 %).
#[must_use]
pub fn square_mean(errors: &[f64]) -> f64 {
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    (squares / errors.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A platform where a step takes 20 ns, a symbol 3 and a variable nothing.
    fn observations() -> Vec<Observation> {
        let mut all = Vec::new();
        for (step, giunif, viunif) in [
            (100, 0, 7),
            (10, 300, 3),
            (50, 50, 100),
            (80, 20, 1),
            (7, 3, 90),
        ] {
            let components = [("step", step), ("giunif", giunif), ("viunif", viunif)];
            all.push(Observation {
                program: "p".to_owned(),
                size: step,
                components: components
                    .map(|(name, count)| (name.to_owned(), count))
                    .into(),
                ns: (20 * step + 3 * giunif) as f64,
            });
        }
        all
    }

    #[test]
    fn constants_are_found_again() {
        let components = ["step", "giunif", "viunif"];
        for errors in [Errors::Absolute, Errors::Relative] {
            constants_are_found(&Model::calibrate(&components, &observations(), errors).unwrap());
        }
    }

    fn constants_are_found(model: &Model) {
        assert!((model.nanoseconds["step"] - 20.0).abs() < 1e-9);
        assert!((model.nanoseconds["giunif"] - 3.0).abs() < 1e-9);
        assert!(model.nanoseconds["viunif"].abs() < 1e-9);
        assert!(model.standard_error_us < 1e-9 && model.relative_error < 1e-9);
    }

    #[test]
    fn long_runs_decide_or_all_the_same() {
        // 10 ns a step in a short run, 20 in a long one.
        let run = |steps: u64, ns| Observation {
            program: "p".to_owned(),
            size: steps,
            components: [("step".to_owned(), steps)].into(),
            ns,
        };
        let observations = [run(10, 100.0), run(1000, 20_000.0)];
        let step = |errors| {
            Model::calibrate(&["step"], &observations, errors)
                .unwrap()
                .nanoseconds["step"]
        };
        assert!(step(Errors::Absolute) > 19.99);
        // Least squares of 10 k/100 − 1 and 1000 k/20000 − 1: k (0.01 + 0.0025) = 0.15.
        assert!((step(Errors::Relative) - 12.0).abs() < 1e-9);
    }

    #[test]
    fn models_that_cannot_be_told_apart_are_left_out() {
        // No gounif, vounif or nargs was ever observed.
        let models = Model::all(&observations()).unwrap();
        assert_eq!(models.len(), 7);
        assert!(models[0].standard_error_us <= models[6].standard_error_us);
        assert!(models.iter().any(|model| model.is(&["step", "giunif"])));
        assert!(Model::all(&[]).is_err());
    }

    #[test]
    fn the_global_error_is_that_of_the_paper() {
        // Table 3, intel, step nargs giunif gounif viunif vounif; 53.17 in table 4 (from unrounded errors).
        let errors = [0.44, 0.31, 0.68, 0.18, 0.59, 0.75];
        assert!((square_mean(&errors) - 0.5317).abs() < 0.01);
        assert!(square_mean(&[]).abs() < 1e-12);
    }
}
