//! Calibrating a platform: the ten programs of Mera et al. 2006, section 4, run and counted; the constants of every model
//! by least squares; those of built-ins by tests in which nothing else is called.

use std::collections::BTreeMap;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::least_squares::LeastSquaresError;
use crate::measure::{Bench, MeasureError, RunRequest, Tools, first_line};
use crate::model::{
    BUILT, BUILTIN, CONDITION, Components, EXPRESSION, Errors, FITTED, Model, OPERATOR, Observation,
};
use crate::platform::{Isolated, Machine, Platform};

const PROGRAMS: &str = include_str!("../prolog/calibration.pl");
const REFINEMENT: &str = include_str!("../prolog/refinement.pl");
const BUILTINS: &str = include_str!("../prolog/builtins.pl");

/// The calibration programs, in the order of table 1.
pub const CALIBRATION_PROGRAMS: [&str; 10] = [
    "environments",
    "no_arguments",
    "traverse",
    "traverse_last",
    "variables_in",
    "variables_out",
    "deep_in",
    "flat_in",
    "terms_out",
    "many_arguments",
];

/// Programs of our own that only the refined model is calibrated with, too.
pub const REFINEMENT_PROGRAMS: [&str; 4] = ["results", "selection", "lists", "taking_turns"];

/// Sizes of the generated data: 25, in equal steps.
const SIZES: u64 = 25;
const SIZE_STEP: u64 = 8;
/// Rounds of each; the paper's 250 repetitions for each program.
const ROUNDS: usize = 10;
/// Rounds of each built-in.
const BUILTIN_ROUNDS: usize = 7;
/// Iterations of a test of built-ins, and calls in each (`copies/1` in `builtins.pl`).
const ITERATIONS: u64 = 50;
const COPIES: u64 = 16;
/// Conditions in each call of their test, and cells in each of the test of terms.
const CONDITIONS: f64 = 2.0;
const CELLS: f64 = 6.0;
/// The test that calls nothing.
const EMPTY: &str = "empty";
/// Tests of no built-in or operator. In that of an expression all operators are evaluated.
const OTHERS: [&str; 8] = [
    EMPTY,
    EXPRESSION,
    "increment",
    "choice",
    "no_choice",
    CONDITION,
    BUILT,
    "not_built",
];

/// Why a platform could not be calibrated.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The programs could not be run.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// Their times tell nothing.
    #[error("no model suits the measurements: {0}")]
    Solve(#[from] LeastSquaresError),
}

/// Measurements that a calibration takes.
#[must_use]
pub fn measurements() -> u64 {
    programs().count() as u64 * SIZES * ROUNDS as u64 + (tests().count() * BUILTIN_ROUNDS) as u64
}

/// Calibrates this machine with this engine; `progress` is told of each measurement.
///
/// # Errors
/// [`CalibrationError`]
pub fn calibrate(tools: &Tools, progress: &mut dyn FnMut()) -> Result<Platform, CalibrationError> {
    let observations = observe(tools, progress)?;
    let tests = time_tests(tools, progress)?;
    Ok(platform(machine(tools)?, &observations, &tests)?)
}

/// The platform that suits observations of the calibration programs and times of the tests.
///
/// # Errors
/// [`LeastSquaresError`]
pub fn platform(
    machine: Machine,
    observations: &[Observation],
    tests: &Tests,
) -> Result<Platform, LeastSquaresError> {
    let of_the_paper: Vec<Observation> = observations
        .iter()
        .filter(|run| CALIBRATION_PROGRAMS.contains(&run.program.as_str()))
        .cloned()
        .collect();
    let models = Model::all(&of_the_paper)?;
    let mut refined = Model::calibrate(&FITTED, observations, Errors::Relative)?;
    let measured = [(CONDITION, tests.condition()), (BUILT, tests.built())];
    let named = measured.map(|(name, cost)| (name.to_owned(), cost));
    refined.nanoseconds.extend(named);
    Ok(Platform::new(machine, models, refined, tests.isolated()))
}

fn programs() -> impl Iterator<Item = &'static str> {
    CALIBRATION_PROGRAMS.into_iter().chain(REFINEMENT_PROGRAMS)
}

/// What the calibration programs do and take.
///
/// # Errors
/// [`MeasureError`]
pub fn observe(
    tools: &Tools,
    progress: &mut dyn FnMut(),
) -> Result<Vec<Observation>, MeasureError> {
    let mut requests = Vec::new();
    for program in programs() {
        for step in 1..=SIZES {
            requests.push(RunRequest {
                program: program.to_owned(),
                size: step * SIZE_STEP,
                seed: step,
            });
        }
    }
    let bench = Bench::new(tools.clone(), &[PROGRAMS, REFINEMENT].concat(), requests)?;
    let counts = bench.count()?;
    let times = bench.time(ROUNDS, progress)?;
    Ok(observations(bench.requests(), counts, &times))
}

/// Each request with its counts and the median of its times.
#[must_use]
pub fn observations(
    requests: &[RunRequest],
    counts: Vec<Components>,
    times: &[Vec<f64>],
) -> Vec<Observation> {
    let joined = requests.iter().zip(counts).zip(times);
    joined
        .map(|((request, components), times)| Observation {
            program: request.program.clone(),
            size: request.size,
            components,
            ns: median(times),
        })
        .collect()
}

/// Times of tests in which one thing is done again and again, in ns, by test.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tests(pub BTreeMap<String, f64>);

fn time_tests(tools: &Tools, progress: &mut dyn FnMut()) -> Result<Tests, MeasureError> {
    let request = |program: String| RunRequest {
        program,
        size: ITERATIONS,
        seed: 1,
    };
    let bench = Bench::new(tools.clone(), BUILTINS, tests().map(request).collect())?;
    let times = bench.time(BUILTIN_ROUNDS, progress)?;
    let medians = times.iter().map(|times| median(times));
    let programs = bench
        .requests()
        .iter()
        .map(|request| request.program.clone());
    Ok(Tests(programs.zip(medians).collect()))
}

impl Tests {
    /// What one call of `test` takes more than one of `base`.
    fn each(&self, test: &str, base: &str) -> f64 {
        let time = |test: &str| self.0.get(test).copied().unwrap_or(0.0);
        (time(test) - time(base)) / (ITERATIONS * COPIES) as f64
    }

    /// Of all tests whose names begin so.
    fn costs(&self, prefix: &str, base: &str) -> BTreeMap<String, f64> {
        let names = self.0.keys().filter_map(|test| test.strip_prefix(prefix));
        let cost = |name: &str| self.each(&format!("{prefix}{name}"), base).max(0.0);
        names.map(|name| (name.to_owned(), cost(name))).collect()
    }

    /// A condition that holds, or does not, without what it calls.
    fn condition(&self) -> f64 {
        let tested = self.each(CONDITION, EMPTY) / CONDITIONS;
        (tested - self.each("builtin:</2", EMPTY)).max(0.0)
    }

    /// A cell of a term that a body builds.
    fn built(&self) -> f64 {
        (self.each(BUILT, "not_built") / CELLS).max(0.0)
    }

    fn isolated(&self) -> Isolated {
        let mut builtins = self.costs(BUILTIN, EMPTY);
        let operators = self.costs(OPERATOR, EXPRESSION);
        let operator = |name: &str| operators.get(name).copied().unwrap_or(0.0);
        let expression = self.each(EXPRESSION, "builtin:is/2") - operator("+/2");
        // What such an `is` does not take of the usual one and its operator.
        let usual = self.each("builtin:is/2", EMPTY) + expression + operator("-/2");
        builtins.insert(
            "inline:is/2".to_owned(),
            self.each("increment", EMPTY) - usual,
        );
        let choice = self.each("choice", "no_choice").max(0.0);
        let control = [
            ("N".to_owned(), choice),
            (EXPRESSION.to_owned(), expression),
        ];
        Isolated {
            builtins,
            operators,
            control: control.into(),
        }
    }
}

/// The tests that `builtins.pl` makes: a line `builtin(NAME/ARITY, …` or `operator(NAME/ARITY, …` each.
fn tests() -> impl Iterator<Item = String> {
    let named = BUILTINS.lines().filter_map(|line| {
        let (prefix, rest) = match line.split_once('(')? {
            ("builtin", rest) => (BUILTIN, rest),
            ("operator", rest) => (OPERATOR, rest),
            _ => return None,
        };
        let (name, rest) = match rest.strip_prefix('(') {
            Some(quoted) => quoted.split_once(")/")?,
            None => rest.split_once('/')?,
        };
        let (arity, _) = rest.split_once(',')?;
        Some(format!("{prefix}{name}/{arity}"))
    });
    OTHERS.into_iter().map(str::to_owned).chain(named)
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (None, _) => 0.0,
        (Some(&time), 1) => time,
        (Some(&time), _) => f64::midpoint(sorted[middle - 1], time),
    }
}

/// This machine.
fn machine(tools: &Tools) -> Result<Machine, MeasureError> {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name))?.to_owned();
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory = field("/proc/meminfo", "MemTotal").and_then(|size| {
        let kilobytes: u64 = size.split_whitespace().next()?.parse().ok()?;
        kilobytes.checked_mul(1024)
    });
    let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Ok(Machine {
        processor: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: memory.unwrap_or(0),
        system: format!("{} {}", std::env::consts::OS, system.trim())
            .trim()
            .to_owned(),
        engine: first_line(&tools.swipl, &["--version"])?,
        calibrated_unix: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
        repetitions: SIZES as usize * ROUNDS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_runs_as_often_as_in_the_paper() {
        assert_eq!(SIZES as usize * ROUNDS, 250);
        for program in programs() {
            let input = format!("input({program},");
            let ours = REFINEMENT_PROGRAMS.contains(&program);
            assert_eq!(PROGRAMS.contains(&input), !ours, "{program}");
            assert_eq!(REFINEMENT.contains(&input), ours, "{program}");
        }
    }

    #[test]
    fn tests_of_built_ins_are_those_of_the_prolog_text() {
        let tests: Vec<String> = super::tests().collect();
        for name in [
            "empty",
            "builtin:is/2",
            "builtin:=</2",
            "builtin:=../2",
            "arith:+/2",
            "arith:///2",
            "arith:-/1",
        ] {
            assert!(tests.iter().any(|test| test == name), "{name} of {tests:?}");
        }
        let facts = BUILTINS
            .lines()
            .filter(|line| line.starts_with("builtin(") || line.starts_with("operator("));
        assert_eq!(tests.len(), facts.count() + OTHERS.len());
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 9.0]) - 3.0).abs() < 1e-12);
        assert!(median(&[]).abs() < 1e-12);
    }

    /// What each component costs on a made-up machine, in ns.
    const MADE_UP: [f64; 7] = [11.0, 5.0, 0.5, 2.0, 3.0, 1.5, 4.0];

    fn made_up_machine() -> Machine {
        Machine {
            processor: String::new(),
            processors: 1,
            memory_bytes: 0,
            system: String::new(),
            engine: String::new(),
            calibrated_unix: 0,
            repetitions: 0,
        }
    }

    /// Runs of every program that take what the made-up costs say; `scale` is for those of our own.
    fn runs(scale: f64) -> Vec<Observation> {
        let run = |(number, program): (u64, &str), size: u64| {
            let counts = (1u64..).map(|prime| (number * number * prime + 7 * number) % 11 * size);
            let components: Components =
                FITTED.into_iter().map(str::to_owned).zip(counts).collect();
            let costs = FITTED.iter().zip(MADE_UP);
            let ns: f64 = costs
                .map(|(&name, cost)| components[name] as f64 * cost)
                .sum();
            let ours = REFINEMENT_PROGRAMS.contains(&program);
            Observation {
                program: program.to_owned(),
                size,
                components,
                ns: if ours { ns * scale } else { ns },
            }
        };
        let numbered: Vec<(u64, &str)> = (1..).zip(programs()).collect();
        let sizes = [8, 16, 24];
        let all = sizes.map(|size| numbered.iter().map(move |&program| run(program, size)));
        all.into_iter().flatten().collect()
    }

    /// Times of tests whose loop takes 5 µs on that machine, each call so many ns.
    fn tests_of(calls: &[(&str, f64)]) -> Tests {
        let each = (ITERATIONS * COPIES) as f64;
        let time = |&(name, ns): &(&str, f64)| (name.to_owned(), 5000.0 + each * ns);
        Tests(calls.iter().map(time).collect())
    }

    #[test]
    fn made_up_costs_are_recovered() {
        let tests = tests_of(&[
            (EMPTY, 0.0),
            ("builtin:is/2", 30.0),
            ("builtin:</2", 25.0),
            // An expression 20, + 40, - 41, * 50; the increment takes 4.
            (EXPRESSION, 90.0),
            ("arith:+/2", 130.0),
            ("arith:-/2", 131.0),
            ("arith:*/2", 140.0),
            ("increment", 4.0),
            ("choice", 21.0),
            ("no_choice", 9.0),
            (CONDITION, 2.0 * (25.0 + 6.0)),
            ("not_built", 8.0),
            (BUILT, 8.0 + 6.0 * 1.5),
        ]);
        let platform = platform(made_up_machine(), &runs(1.0), &tests).unwrap();
        let refined = &platform.refined;
        let near = |component: &str, expected: f64| {
            let cost = platform.cost_of(refined, component).unwrap();
            assert!((cost - expected).abs() < 1e-6, "{component}: {cost}");
        };
        for (component, cost) in FITTED.into_iter().zip(MADE_UP) {
            near(component, cost);
        }
        near("builtin:is/2", 30.0);
        near("arith:+/2", 40.0);
        near("arith:*/2", 50.0);
        near(EXPRESSION, 20.0);
        near("N", 12.0);
        near(CONDITION, 6.0);
        near(BUILT, 1.5);
        // `N1 is N-1` counts all of them, and takes 4 ns together.
        let increment = [
            "builtin:is/2",
            "builtin:inline:is/2",
            EXPRESSION,
            "arith:-/2",
        ];
        let sum: f64 = increment
            .iter()
            .filter_map(|component| platform.cost_of(refined, component))
            .sum();
        assert!((sum - 4.0).abs() < 1e-6, "{sum}");
        assert!(refined.relative_error < 1e-9);
    }

    #[test]
    fn the_models_of_the_paper_are_of_its_ten_programs() {
        let tests = tests_of(&[]);
        let of = |scale| platform(made_up_machine(), &runs(scale), &tests).unwrap();
        let (even, odd) = (of(1.0), of(2.0));
        assert_eq!(even.models, odd.models);
        assert!(odd.refined.relative_error > 0.01);
        assert!(
            even.models
                .iter()
                .all(|model| !model.components().contains(&CONDITION))
        );
    }
}
