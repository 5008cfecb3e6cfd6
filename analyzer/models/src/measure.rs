//! Running programs on generated data under SWI-Prolog: timed as they are, and counted in a symbolic recording.
//!
//! Both runs load the same harness (`prolog/harness.pl`), which makes the same data from the same seeds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use portmortem_analyzer::costs::Costs;
use portmortem_analyzer::trace::{Trace, TraceError};
use portmortem_analyzer::{ReplayOptions, replay};
use tempfile::TempDir;

use crate::model::{Components, FRAME};

const HARNESS: &str = include_str!("../prolog/harness.pl");

/// What runs programs.
#[derive(Debug, Clone)]
pub struct Tools {
    /// SWI-Prolog.
    pub swipl: PathBuf,
    /// The program `portmortem`, which records.
    pub portmortem: PathBuf,
}

/// A run of a program on data of a size, generated from a seed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunRequest {
    /// First argument of `input/3`.
    pub program: String,
    /// Second argument.
    pub size: u64,
    /// Of the random generator.
    pub seed: u64,
}

/// Why programs could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A program could not be started, or files for it not written.
    #[error("cannot run {what}: {source}")]
    Run {
        /// What.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// It ended with an error.
    #[error("{what} failed: {message}")]
    Failed {
        /// What.
        what: String,
        /// What it said, or its status.
        message: String,
    },
    /// It printed something else than measurements.
    #[error("not a measurement: {line}")]
    Unexpected {
        /// What it printed.
        line: String,
    },
    /// The recording cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The recording has no counts, or not those of a request.
    #[error("the symbolic recording has no complete counts{}", of(.request.as_ref()))]
    NotCounted {
        /// Whose.
        request: Option<RunRequest>,
    },
}

fn of(request: Option<&RunRequest>) -> String {
    request.map_or_else(String::new, |request| format!(" of {}", request.name()))
}

impl RunRequest {
    /// What its cost centre is called.
    fn name(&self) -> String {
        format!("{} {} {}", self.program, self.size, self.seed)
    }
}

/// Programs in a directory of their own, ready to run.
#[derive(Debug)]
pub struct Bench {
    tools: Tools,
    directory: TempDir,
    requests: Vec<RunRequest>,
}

impl Bench {
    /// Writes `programs`, a Prolog text with clauses of `input/3`, and the requests where the engine finds them.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn new(
        tools: Tools,
        programs: &str,
        requests: Vec<RunRequest>,
    ) -> Result<Self, MeasureError> {
        let failed = |source| MeasureError::Run {
            what: "calibration".to_owned(),
            source,
        };
        let directory = tempfile::Builder::new()
            .prefix("portmortem-")
            .tempdir()
            .map_err(failed)?;
        for (name, text) in [("harness.pl", HARNESS), ("programs.pl", programs)] {
            fs::write(directory.path().join(name), text).map_err(failed)?;
        }
        Ok(Self {
            tools,
            directory,
            requests,
        })
    }

    /// What is asked for.
    #[must_use]
    pub fn requests(&self) -> &[RunRequest] {
        &self.requests
    }

    /// Processor times of one run, in ns, of every round, by request; `progress` is told of each measurement.
    ///
    /// # Errors
    /// If the engine fails, or prints what is no measurement.
    pub fn time(
        &self,
        rounds: usize,
        progress: &mut dyn FnMut(),
    ) -> Result<Vec<Vec<f64>>, MeasureError> {
        let mut command = Command::new(&self.tools.swipl);
        command.arg(self.file("harness.pl")).arg("--");
        command.args(self.arguments("time", rounds)?);
        let index: BTreeMap<&RunRequest, usize> = self.requests.iter().zip(0..).collect();
        let mut times = vec![Vec::new(); self.requests.len()];
        lines_of(command, "SWI-Prolog", &mut |line| {
            let unexpected = || MeasureError::Unexpected {
                line: line.to_owned(),
            };
            let (request, time) = measurement(line).ok_or_else(unexpected)?;
            let at = *index.get(&request).ok_or_else(unexpected)?;
            times[at].push(time);
            progress();
            Ok(())
        })?;
        match times.iter().find(|times| times.len() != rounds) {
            Some(times) => Err(MeasureError::Unexpected {
                line: format!("{} of {rounds} rounds", times.len()),
            }),
            None => Ok(times),
        }
    }

    /// What each request does, counted in one symbolic recording.
    ///
    /// # Errors
    /// If the recording fails or has no counts.
    pub fn count(&self) -> Result<Vec<Components>, MeasureError> {
        let trace = self.file("counts.pmt");
        let mut command = Command::new(&self.tools.portmortem);
        command
            .args(["record", "--symbolic", "--force", "--output"])
            .arg(&trace);
        command.arg("--swipl").arg(&self.tools.swipl);
        command.arg(self.file("harness.pl")).arg("--");
        command.args(self.arguments("count", 0)?);
        lines_of(command, "portmortem record", &mut |_| Ok(()))?;
        let mut by_center = by_center(&Trace::open(&trace)?)?;
        let counted = |request: &RunRequest| {
            let components = by_center.remove(&request.name());
            components.ok_or_else(|| MeasureError::NotCounted {
                request: Some(request.clone()),
            })
        };
        self.requests.iter().map(counted).collect()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What the harness is called with; writes the requests.
    fn arguments(&self, mode: &str, rounds: usize) -> Result<[PathBuf; 3], MeasureError> {
        let path = self.file("requests.pl");
        let mut text = format!("rounds({rounds}).\n");
        for RunRequest {
            program,
            size,
            seed,
        } in &self.requests
        {
            let program = program.replace('\\', r"\\");
            // Writing to a string does not fail.
            let _ = writeln!(text, "request('{program}', {size}, {seed}).");
        }
        let what = path.display().to_string();
        fs::write(&path, text).map_err(|source| MeasureError::Run { what, source })?;
        Ok([self.file("programs.pl"), PathBuf::from(mode), path])
    }
}

/// The components of each cost centre, by its name.
fn by_center(trace: &Trace) -> Result<BTreeMap<String, Components>, MeasureError> {
    let costs = Costs::of(trace);
    if !costs.is_symbolic() || !costs.is_complete() {
        return Err(MeasureError::NotCounted { request: None });
    }
    let mut all = BTreeMap::<String, Components>::new();
    for row in costs.rows() {
        let Some(center) = row
            .center
            .and_then(|center| trace.predicates().get(center as usize))
        else {
            continue;
        };
        let components = all.entry(center.declared.name.clone()).or_default();
        *components
            .entry(row.component.name().into_owned())
            .or_default() += row.count;
    }
    for (&(center, predicate), figures) in &replay(trace, &ReplayOptions::default()).centers {
        let info = center.and_then(|center| trace.predicates().get(center as usize));
        let components = info.and_then(|info| all.get_mut(&info.declared.name));
        if let (Some(components), None) = (components, trace.center(predicate)) {
            let frames = figures.calls.saturating_sub(figures.tail_calls);
            *components.entry(FRAME.to_owned()).or_default() += frames;
        }
    }
    Ok(all)
}

/// `PROGRAM SIZE SEED NANOSECONDS`
fn measurement(line: &str) -> Option<(RunRequest, f64)> {
    let mut words = line.split_whitespace();
    let request = RunRequest {
        program: words.next()?.to_owned(),
        size: words.next()?.parse().ok()?,
        seed: words.next()?.parse().ok()?,
    };
    let time: f64 = words.next()?.parse().ok()?;
    (words.next().is_none() && time.is_finite()).then_some((request, time))
}

/// Runs a command and hands on each line that it prints.
fn lines_of(
    mut command: Command,
    what: &str,
    each: &mut dyn FnMut(&str) -> Result<(), MeasureError>,
) -> Result<(), MeasureError> {
    let run = |source| MeasureError::Run {
        what: what.to_owned(),
        source,
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(run)?;
    let errors = child
        .stderr
        .take()
        .map(|stderr| thread::spawn(|| io::read_to_string(stderr)));
    let mut outcome = Ok(());
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|stdout| BufReader::new(stdout).lines())
    {
        outcome = line.map_err(run).and_then(|line| each(&line));
        if outcome.is_err() {
            // It ends when it next prints, if not by this.
            let _ = child.kill();
            break;
        }
    }
    let status = child.wait().map_err(run)?;
    let said = errors
        .and_then(|errors| errors.join().ok())
        .and_then(Result::ok)
        .unwrap_or_default();
    outcome?;
    if status.success() {
        return Ok(());
    }
    let message = said
        .lines()
        .next()
        .map_or_else(|| status.to_string(), str::to_owned);
    Err(MeasureError::Failed {
        what: what.to_owned(),
        message,
    })
}

/// The first line that a program prints.
pub(crate) fn first_line(program: &Path, arguments: &[&str]) -> Result<String, MeasureError> {
    let mut command = Command::new(program);
    command.args(arguments);
    let mut first = None;
    lines_of(command, &program.display().to_string(), &mut |line| {
        first.get_or_insert_with(|| line.to_owned());
        Ok(())
    })?;
    Ok(first.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_read() {
        let request = RunRequest {
            program: "builtin:is/2".to_owned(),
            size: 50,
            seed: 1,
        };
        assert_eq!(measurement("builtin:is/2 50 1 12.5"), Some((request, 12.5)));
        for line in ["", "p 1 2", "p 1 2 x", "p 1 2 3 4", "p 1 -2 3", "p 1 2 nan"] {
            assert_eq!(measurement(line), None, "{line}");
        }
    }
}
