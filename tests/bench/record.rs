//! `make bench-record`: what recording costs.
//!
//! Runs every program of `tests/corpus.json` untraced and traced, alternating, in this one run, and prints the ratio of processor
//! times of the goal alone (loading not counted), the events recorded and their size. Then the same for whole programs, and what set-up
//! takes for each clause, if it is given no names of programs. With the argument `setup` it measures that alone.

mod setup;
mod slow;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use portmortem_analyzer::trace::Trace;
use portmortem_tests::catalogue::{self, Program};

/// Best of so many runs, traced and untraced in turn.
const ROUNDS: usize = 5;

/// The goal is repeated until the untraced run takes at least so many seconds.
const LONG_ENOUGH: f64 = 0.1;

/// Programs that take less say more about the engine's start than about recording.
const LEAST_SECONDS: f64 = 0.001;

struct Measured {
    name: String,
    untraced: f64,
    traced: f64,
    events: u64,
    bytes: u64,
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.traced / self.untraced
    }
}

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let directory = tempfile::tempdir()?;
    if wanted == ["setup"] {
        return setup::measure(directory.path());
    }
    let mut programs = catalogue::corpus(directory.path());
    programs.retain(|program| wanted.is_empty() || wanted.contains(&program.name));
    println!(
        "{:<20}{:>12}{:>12}{:>8}{:>14}{:>13}",
        "program", "untraced s", "traced s", "ratio", "events/run", "bytes/event"
    );
    let mut all = Vec::new();
    for program in &programs {
        let measured = measure(program, directory.path())
            .with_context(|| format!("program {}", program.name))?;
        println!(
            "{:<20}{:>12.4}{:>12.4}{:>8.2}{:>14}{:>13.2}",
            measured.name,
            measured.untraced,
            measured.traced,
            measured.ratio(),
            measured.events,
            measured.bytes as f64 / measured.events as f64
        );
        all.push(measured);
    }
    summary(&all);
    if wanted.is_empty() {
        slow::measure(directory.path())?;
        setup::measure(directory.path())?;
    }
    Ok(())
}

fn measure(program: &Program, directory: &Path) -> Result<Measured> {
    let runner = Runner { program, directory };
    let once = runner.untraced(1)?.max(1e-6);
    let repetitions = (LONG_ENOUGH / once).ceil().max(1.0) as u64;
    let (mut untraced, mut traced) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        untraced = untraced.min(runner.untraced(repetitions)?);
        traced = traced.min(runner.traced(repetitions)?);
    }
    // The size of one run's recording, not of one that repeats it.
    runner.traced(1)?;
    let trace = Trace::open(&runner.trace())?;
    let events = trace
        .streams()
        .iter()
        .filter_map(|s| s.end)
        .map(|end| end.events)
        .sum();
    let repetitions = repetitions as f64;
    Ok(Measured {
        name: program.name.clone(),
        untraced: untraced / repetitions,
        traced: traced / repetitions,
        events,
        bytes: trace.size(),
    })
}

struct Runner<'a> {
    program: &'a Program,
    directory: &'a Path,
}

impl Runner<'_> {
    fn trace(&self) -> PathBuf {
        self.directory.join("run.pmt")
    }

    fn untraced(&self, repetitions: u64) -> Result<f64> {
        let mut command = Command::new("swipl");
        command
            .arg("-g")
            .arg(self.goal(repetitions))
            .args(["-t", "halt"]);
        command
            .arg(&self.program.file)
            .arg("--")
            .args(&self.program.counter.args);
        self.seconds(command)
    }

    fn traced(&self, repetitions: u64) -> Result<f64> {
        let portmortem = std::env::current_exe()?.with_file_name("portmortem");
        let mut command = Command::new(portmortem);
        command.args(["record", "--force", "-o"]).arg(self.trace());
        command.arg("-g").arg(self.goal(repetitions));
        command
            .arg(&self.program.file)
            .arg("--")
            .args(&self.program.counter.args);
        self.seconds(command)
    }

    /// Runs the program's goal so many times and writes the processor time it took to a file.
    fn goal(&self, repetitions: u64) -> String {
        let goal = &self.program.counter.goal;
        let goal = if self.program.all {
            format!("({goal}, fail ; true)")
        } else {
            goal.clone()
        };
        format!(
            "statistics(cputime, PmT0), \
             ( between(1, {repetitions}, _), catch(once(({goal})), _, true), fail ; true ), \
             statistics(cputime, PmT1), PmT is PmT1-PmT0, \
             open('{}', write, PmS), print(PmS, PmT), close(PmS), halt",
            self.seconds_file().display()
        )
    }

    fn seconds_file(&self) -> PathBuf {
        self.directory.join("seconds")
    }

    fn seconds(&self, mut command: Command) -> Result<f64> {
        let _ = fs::remove_file(self.seconds_file());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.current_dir(self.directory);
        let status = command
            .status()
            .with_context(|| format!("cannot run {command:?}"))?;
        let Ok(text) = fs::read_to_string(self.seconds_file()) else {
            bail!("{command:?} did not get to its end: {status}");
        };
        text.trim()
            .parse()
            .with_context(|| format!("not a time: {text}"))
    }
}

fn summary(all: &[Measured]) {
    let timed: Vec<&Measured> = all
        .iter()
        .filter(|measured| measured.untraced >= LEAST_SECONDS)
        .collect();
    let logarithms: f64 = timed.iter().map(|measured| measured.ratio().ln()).sum();
    let worst = timed
        .iter()
        .map(|measured| measured.ratio())
        .fold(0.0, f64::max);
    let events: u64 = all.iter().map(|measured| measured.events).sum();
    let bytes: u64 = all.iter().map(|measured| measured.bytes).sum();
    println!(
        "ratio over {} programs that run at least 1 ms: geometric mean {:.2}, worst {worst:.2}",
        timed.len(),
        (logarithms / timed.len() as f64).exp()
    );
    println!(
        "bytes per event over the corpus: {:.2}",
        bytes as f64 / events as f64
    );
}
