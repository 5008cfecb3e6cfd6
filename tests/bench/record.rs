//! `make bench-record`: what recording costs.
//!
//! Runs every program of `tests/corpus.json` untraced, recorded with ports and recorded with stubs, in turn, in this one run. Prints the ratios of
//! processor times of the goal alone (loading not counted), the events recorded and their size. Beside them stands the floor: the ratio if
//! an event cost no more than reading the clock. Then the same for whole programs, and what set-up
//! takes for each clause, if it is given no names of programs. With the argument `setup` it measures that alone.

mod setup;
mod slow;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use portmortem_analyzer::trace::Trace;
use portmortem_tests::catalogue::{self, Program};
use portmortem_tracer::clock;

/// Best of so many runs, traced and untraced in turn.
const ROUNDS: usize = 5;

/// The goal is repeated until the untraced run takes at least so many seconds.
const LONG_ENOUGH: f64 = 0.1;

/// Programs that take less say more about the engine's start than about recording.
const LEAST_SECONDS: f64 = 0.001;

struct Measured {
    name: String,
    untraced: f64,
    ports: f64,
    stubs: f64,
    /// What reading the clock takes for all its events.
    clock: f64,
    events: u64,
    bytes: u64,
}

impl Measured {
    fn ports_ratio(&self) -> f64 {
        self.ports / self.untraced
    }

    fn stubs_ratio(&self) -> f64 {
        self.stubs / self.untraced
    }

    fn floor_ratio(&self) -> f64 {
        (self.untraced + self.clock) / self.untraced
    }
}

/// How recorded programs are recorded.
#[derive(Clone, Copy)]
enum Recorder {
    Ports,
    Stubs,
}

/// Readings of the clock that are timed.
const READINGS: u32 = 10_000_000;

/// Seconds that one reading of the clock takes.
fn clock_seconds() -> f64 {
    let once = || {
        let begin = clock::thread_cpu_ns();
        for _ in 0..READINGS {
            black_box(clock::ticks());
        }
        (clock::thread_cpu_ns() - begin) as f64 / 1e9 / f64::from(READINGS)
    };
    (0..ROUNDS).map(|_| once()).fold(f64::MAX, f64::min)
}

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let directory = tempfile::tempdir()?;
    if wanted == ["setup"] {
        return setup::measure(directory.path());
    }
    if wanted == ["slow"] {
        return slow::measure(directory.path());
    }
    let mut programs = catalogue::corpus(directory.path());
    programs.retain(|program| wanted.is_empty() || wanted.contains(&program.name));
    let reading = clock_seconds();
    println!("reading the clock takes {:.1} ns", reading * 1e9);
    println!(
        "{:<20}{:>12}{:>8}{:>8}{:>8}{:>14}{:>13}",
        "program", "untraced s", "ports", "stubs", "floor", "events/run", "bytes/event"
    );
    let mut all = Vec::new();
    for program in &programs {
        let measured = measure(program, directory.path(), reading)
            .with_context(|| format!("program {}", program.name))?;
        println!(
            "{:<20}{:>12.4}{:>8.2}{:>8.2}{:>8.2}{:>14}{:>13.2}",
            measured.name,
            measured.untraced,
            measured.ports_ratio(),
            measured.stubs_ratio(),
            measured.floor_ratio(),
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

fn measure(program: &Program, directory: &Path, reading: f64) -> Result<Measured> {
    let runner = Runner { program, directory };
    let once = runner.untraced(1)?.max(1e-6);
    let repetitions = (LONG_ENOUGH / once).ceil().max(1.0) as u64;
    let (mut untraced, mut ports, mut stubs) = (f64::MAX, f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        untraced = untraced.min(runner.untraced(repetitions)?);
        ports = ports.min(runner.traced(repetitions, Recorder::Ports)?);
        stubs = stubs.min(runner.traced(repetitions, Recorder::Stubs)?);
    }
    // The size of one run's recording, not of one that repeats it.
    runner.traced(1, Recorder::Stubs)?;
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
        ports: ports / repetitions,
        stubs: stubs / repetitions,
        clock: events as f64 * reading,
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

    fn traced(&self, repetitions: u64, recorder: Recorder) -> Result<f64> {
        let portmortem = std::env::current_exe()?.with_file_name("portmortem");
        let mut command = Command::new(portmortem);
        command.args(["record", "--force", "-o"]).arg(self.trace());
        if let Recorder::Ports = recorder {
            command.arg("--ports");
        }
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
    let events: u64 = all.iter().map(|measured| measured.events).sum();
    let bytes: u64 = all.iter().map(|measured| measured.bytes).sum();
    println!(
        "ratios over {} programs that run at least 1 ms, geometric mean and worst:",
        timed.len()
    );
    type Ratio = fn(&Measured) -> f64;
    let kinds: [(&str, Ratio); 3] = [
        ("ports", Measured::ports_ratio),
        ("stubs", Measured::stubs_ratio),
        ("floor", Measured::floor_ratio),
    ];
    for (name, ratio) in kinds {
        let ratios = timed.iter().map(|measured| ratio(measured));
        let logarithms: f64 = ratios.clone().map(f64::ln).sum();
        let mean = (logarithms / timed.len() as f64).exp();
        println!("{name:<8}{mean:>6.2}{:>8.2}", ratios.fold(0.0, f64::max));
    }
    println!(
        "bytes per event over the corpus: {:.2}",
        bytes as f64 / events as f64
    );
}
