//! Calibrating a platform: the ten programs of Mera et al. 2006, section 4, run and counted; the constants of every model
//! by least squares; those of built-ins by tests in which nothing else is called.

use std::collections::BTreeMap;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::least_squares::LeastSquaresError;
use crate::measure::{Bench, MeasureError, Request, Tools, first_line};
use crate::model::{BUILTIN, COMPONENTS, Components, Errors, Model, OPERATOR, Observation};
use crate::platform::{Isolated, Machine, Platform};

const PROGRAMS: &str = include_str!("../prolog/calibration.pl");
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
/// The test that calls nothing, and the one that all operators are evaluated by.
const EMPTY: &str = "empty";
/// Tests of no built-in or operator.
const OTHERS: [&str; 4] = [EMPTY, "increment", "choice", "no_choice"];
const EVALUATION: &str = "builtin:is/2";

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
    CALIBRATION_PROGRAMS.len() as u64 * SIZES * ROUNDS as u64
        + (tests().count() * BUILTIN_ROUNDS) as u64
}

/// Calibrates this machine with this engine; `progress` is told of each measurement.
///
/// # Errors
/// [`CalibrationError`]
pub fn calibrate(tools: &Tools, progress: &mut dyn FnMut()) -> Result<Platform, CalibrationError> {
    let observations = observe(tools, progress)?;
    let models = Model::all(&observations)?;
    let refined = Model::calibrate(&COMPONENTS, &observations, Errors::Relative)?;
    let costs = isolated(tools, progress)?;
    Ok(Platform::new(machine(tools)?, models, refined, costs))
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
    for program in CALIBRATION_PROGRAMS {
        for step in 1..=SIZES {
            requests.push(Request {
                program: program.to_owned(),
                size: step * SIZE_STEP,
                seed: step,
            });
        }
    }
    let bench = Bench::new(tools.clone(), PROGRAMS, requests)?;
    let counts = bench.count()?;
    let times = bench.time(ROUNDS, progress)?;
    Ok(observations(bench.requests(), counts, &times))
}

/// Each request with its counts and the median of its times.
#[must_use]
pub fn observations(
    requests: &[Request],
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

/// What each test calls costs, in ns.
fn isolated(tools: &Tools, progress: &mut dyn FnMut()) -> Result<Isolated, MeasureError> {
    let request = |program: String| Request {
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
        .map(|request| request.program.as_str());
    let by_test: BTreeMap<&str, f64> = programs.zip(medians).collect();
    let time = |test: &str| by_test.get(test).copied().unwrap_or(0.0);
    let each = |test: &str, base: &str| (time(test) - time(base)) / (ITERATIONS * COPIES) as f64;
    let costs = |prefix: &str, base: &str| -> BTreeMap<String, f64> {
        let names = by_test.keys().filter_map(|test| test.strip_prefix(prefix));
        let cost = |name: &str| each(&format!("{prefix}{name}"), base).max(0.0);
        names.map(|name| (name.to_owned(), cost(name))).collect()
    };
    let mut builtins = costs(BUILTIN, EMPTY);
    // What such an `is` does not take of the usual one and its operator.
    let saved = each("increment", EMPTY) - each("arith:-/2", EMPTY);
    builtins.insert("inline:is/2".to_owned(), saved);
    Ok(Isolated {
        builtins,
        operators: costs(OPERATOR, EVALUATION),
        control: [("N".to_owned(), each("choice", "no_choice").max(0.0))].into(),
    })
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
        for program in CALIBRATION_PROGRAMS {
            assert!(PROGRAMS.contains(&format!("input({program},")), "{program}");
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
}
