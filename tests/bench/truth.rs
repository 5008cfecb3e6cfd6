//! `make bench-truth`: compensated times against the truth.
//!
//! Runs every program of `tests/corpus.json` unrecorded and recorded, in turn, in this one run; repeats its goal until the
//! unrecorded run takes 0.2 s. Of the recorded run it takes the inclusive time of the predicate that repeats the goal, as recorded and
//! compensated, and prints how far the compensated one is from the time of the unrecorded run. Twice: as it is estimated from the
//! costs of ports that were measured before the run, and with a baseline, as `record --baseline` makes it. Runs for the baseline
//! are no runs that it is compared with.
//!
//! The engine is started as `portmortem record` starts it, without the program itself: this needs no more than the engine
//! library beside this program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use portmortem_analyzer::baseline::{Outermost, fit};
use portmortem_analyzer::compensation::Compensation;
use portmortem_analyzer::{Profile, ReplayOptions, Trace, replay};
use portmortem_tests::catalogue::{self, Program};
use portmortem_tests::repository;

/// Medians of so many runs, recorded and not in turn. Each recorded run has costs of its own.
const ROUNDS: usize = 3;

/// The goal is repeated until the unrecorded run takes at least so many seconds.
const LONG_ENOUGH: f64 = 0.2;

/// Programs whose goal does next to nothing are left out.
const MOST_REPEATS: u64 = 1_000_000;

/// What the issue asks for.
const AIM_EACH: f64 = 0.10;
const AIM_MEDIAN: f64 = 0.04;

/// The predicate that repeats the goal.
const DRIVER: &str = "portmortem_truth/0";

/// Processor seconds of the repeated goal.
struct Measured {
    untraced: f64,
    traced: f64,
    /// Compensated by costs measured before the run.
    estimated: f64,
    /// Compensated by costs fitted to a baseline.
    fitted: f64,
}

impl Measured {
    /// How far a compensated time is from the truth.
    fn error(&self, compensated: f64) -> f64 {
        compensated / self.untraced - 1.0
    }
}

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let directory = tempfile::tempdir()?;
    let mut programs = catalogue::corpus(directory.path());
    programs.retain(|program| wanted.is_empty() || wanted.contains(&program.name));
    println!(
        "{:<20}{:>8}{:>12}{:>12}{:>8}{:>14}{:>9}{:>16}{:>9}",
        "program",
        "repeats",
        "untraced s",
        "recorded s",
        "ratio",
        "estimated s",
        "error",
        "with baseline s",
        "error"
    );
    let (mut estimated, mut fitted) = (Vec::new(), Vec::new());
    for program in &programs {
        let runner = Runner::new(program, directory.path())?;
        let Some(repeats) = runner.repeats()? else {
            continue;
        };
        let measured = runner
            .measure(repeats)
            .with_context(|| format!("program {}", program.name))?;
        let errors = [measured.estimated, measured.fitted].map(|time| measured.error(time));
        println!(
            "{:<20}{repeats:>8}{:>12.4}{:>12.4}{:>8.2}{:>14.4}{:>8.1}%{:>16.4}{:>8.1}%",
            program.name,
            measured.untraced,
            measured.traced,
            measured.traced / measured.untraced,
            measured.estimated,
            errors[0] * 100.0,
            measured.fitted,
            errors[1] * 100.0
        );
        estimated.push((errors[0].abs(), program.name.as_str()));
        fitted.push((errors[1].abs(), program.name.as_str()));
    }
    summary("estimated", estimated);
    summary("with baseline", fitted);
    Ok(())
}

fn summary(how: &str, mut errors: Vec<(f64, &str)>) {
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(median), Some((worst, program))) = (errors.get(errors.len() / 2), errors.last())
    else {
        return;
    };
    let within = errors
        .iter()
        .filter(|(error, _)| *error <= AIM_EACH)
        .count();
    println!(
        "{how:<14} {} programs: median error {:.1} % (aim {:.0} %), worst {:.1} % ({program}), \
         {within} within {:.0} %",
        errors.len(),
        median.0 * 100.0,
        AIM_MEDIAN * 100.0,
        worst * 100.0,
        AIM_EACH * 100.0
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

struct Runner<'a> {
    program: &'a Program,
    directory: &'a Path,
    /// The directory with the engine library.
    library: PathBuf,
}

impl<'a> Runner<'a> {
    fn new(program: &'a Program, directory: &'a Path) -> Result<Self> {
        let beside = std::env::current_exe()?;
        let library = beside.parent().unwrap_or(Path::new(".")).to_owned();
        if !library.join("libportmortem_swi.so").is_file() {
            bail!("no libportmortem_swi.so beside {}", beside.display());
        }
        Ok(Self {
            program,
            directory,
            library,
        })
    }

    /// How often to repeat the goal; `None` if no number in reason makes it long enough. The first time a goal
    /// runs it takes longer, for what is loaded then.
    fn repeats(&self) -> Result<Option<u64>> {
        let mut repeats = 1;
        while repeats <= MOST_REPEATS {
            let seconds = self.untraced(repeats)?;
            if seconds >= LONG_ENOUGH {
                return Ok(Some(repeats));
            }
            let factor = (LONG_ENOUGH * 1.2 / seconds.max(1e-4)).clamp(1.5, 30.0);
            repeats = (repeats as f64 * factor).ceil() as u64;
        }
        Ok(None)
    }

    fn measure(&self, repeats: u64) -> Result<Measured> {
        let mut measured: [Vec<f64>; 4] = Default::default();
        for _ in 0..ROUNDS {
            let untraced = self.untraced(repeats)?;
            let (recorded, estimated, fitted) = self.traced(repeats)?;
            for (all, one) in measured
                .iter_mut()
                .zip([untraced, recorded, estimated, fitted])
            {
                all.push(one);
            }
        }
        let [untraced, traced, estimated, fitted] = measured.map(median);
        Ok(Measured {
            untraced,
            traced,
            estimated,
            fitted,
        })
    }

    fn untraced(&self, repeats: u64) -> Result<f64> {
        self.run(Command::new("swipl"), repeats)
    }

    /// Processor seconds as recorded, as estimated from that, and with a baseline.
    fn traced(&self, repeats: u64) -> Result<(f64, f64, f64)> {
        let (seconds, trace, profile) = self.record(repeats, &[])?;
        let whole = Outermost::new(&trace, &profile);
        let outermost: Vec<String> = whole.counts.keys().cloned().collect();
        let (baseline, _, _) = self.record(repeats, &outermost)?;
        let costs = trace
            .port_costs()
            .context("the trace does not say what recording cost")?;
        let driver = driver(&trace)?;
        let seconds_of = |ticks| trace.clock().duration_ns(ticks) as f64 / 1e9;
        let compensated = |all: &Compensation| seconds_of(all.predicates[driver].inclusive_ticks);
        // The clock of a trace goes on while others have the processor; that is no time of the program's.
        let recorded = seconds_of(profile.predicates[driver].inclusive_ticks);
        let others = recorded - seconds;
        // Of the baseline, the same much of others' time, or a busy machine would count twice.
        let around = seconds_of(recorded_ticks(&profile)) - recorded;
        let wanted = (baseline + others + around) * 1e9;
        let fitted = fit(&trace, &profile, costs, wanted as u64);
        let fitted = Compensation::new(&profile, &fitted, &trace.arities());
        let estimated = profile.compensation.as_ref();
        Ok((
            seconds,
            estimated.map_or(f64::NAN, compensated) - others,
            compensated(&fitted) - others,
        ))
    }

    /// Records only these predicates, or all. Processor seconds, and what was recorded.
    fn record(&self, repeats: u64, only: &[String]) -> Result<(f64, Trace, Profile)> {
        let path = self.directory.join("truth.pmt");
        let boot = self.directory.join("truth-boot.pl");
        let include = match only {
            [] => String::new(),
            only => format!(", include(['{}'])", only.join("', '")),
        };
        fs::write(
            &boot,
            format!(
                ":- asserta(user:file_search_path(library, '{}')).\n\
                 :- asserta(user:file_search_path(foreign, '{}')).\n\
                 :- use_module(library(portmortem), []).\n\
                 :- portmortem:boot('{}', [force(true){include}]).\n",
                repository("tracer/swi/prolog").display(),
                self.library.display(),
                path.display()
            ),
        )?;
        let mut command = Command::new("swipl");
        command.arg("-s").arg(boot);
        let seconds = self.run(command, repeats)?;
        let trace = Trace::open(&path)?;
        let profile = replay(&trace, &ReplayOptions::default());
        // Its pages stay mapped; the next recording begins a new file.
        fs::remove_file(&path)?;
        Ok((seconds, trace, profile))
    }

    /// Processor seconds of the repeated goal.
    fn run(&self, mut command: Command, repeats: u64) -> Result<f64> {
        let seconds = self.directory.join("seconds");
        let _ = fs::remove_file(&seconds);
        command
            .args(["-g", "portmortem_truth_timed", "-t", "halt"])
            .arg(self.driver(repeats)?)
            .arg("--")
            .args(&self.program.counter.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir(self.directory);
        let status = command.status().context("cannot run swipl")?;
        if !status.success() {
            bail!("{command:?} ended with {status}");
        }
        let text = fs::read_to_string(&seconds).context("the run did not get to its end")?;
        text.trim()
            .parse()
            .with_context(|| format!("not a time: {text}"))
    }

    /// A program that loads the program, repeats its goal, and writes how long that took.
    fn driver(&self, repeats: u64) -> Result<PathBuf> {
        let path = self.directory.join("truth-driver.pl");
        let goal = &self.program.counter.goal;
        let goal = if self.program.all {
            format!("({goal}, fail ; true)")
        } else {
            goal.clone()
        };
        let text = format!(
            ":- consult('{}').\n\
             portmortem_truth :- ( between(1, {repeats}, _), catch(once(({goal})), _, true), fail ; true ).\n\
             portmortem_truth_timed :-\n\
                 statistics(cputime, T0), portmortem_truth, statistics(cputime, T1), T is T1-T0,\n\
                 open('{}', write, S), print(S, T), close(S).\n",
            self.program.file.display(),
            self.directory.join("seconds").display()
        );
        fs::write(&path, text)?;
        Ok(path)
    }
}

fn recorded_ticks(profile: &Profile) -> u64 {
    profile.contexts.iter().map(|row| row.self_ticks).sum()
}

/// The predicate that repeats the goal.
fn driver(trace: &Trace) -> Result<usize> {
    (0..trace.unknown_predicate())
        .find(|predicate| trace.predicate_name(*predicate) == DRIVER)
        .map(|predicate| predicate as usize)
        .with_context(|| format!("{DRIVER} is not in the trace"))
}
