//! `make bench-truth`: net times against the truth.
//!
//! Runs every program of `tests/corpus.json` unrecorded, recorded, and for a baseline, in turn, in
//! this one run; repeats its goal until the unrecorded run takes 0.2 s. Of the recorded run it
//! takes the inclusive time of the predicate that repeats the goal, as recorded and net, and prints
//! how far the net one is from the time of the unrecorded run. Twice: as it is estimated from the
//! costs of ports that were measured before the run, and with a baseline, as `record --baseline`
//! makes it, of the quickest recorded run. Runs for the baseline are no runs that it is compared
//! with.
//!
//! Times are processor times of the thread that runs the goal: unrecorded as the engine says,
//! recorded without `system:waiting/0`. Others that use the machine only make them longer, so of
//! all runs of a kind the quickest counts.
//!
//! The engine is started as `portmortem record` starts it, without the program itself: this needs
//! no more than the engine library beside this program.

#[path = "../../tui/src/commands/boot_script.rs"]
mod boot_script;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use portmortem_analyzer::figures::net_times::NetTimes;
use portmortem_analyzer::net::Rates;
use portmortem_analyzer::net::baseline::{Outermost, UnrecordedRuns as Baseline};
use portmortem_analyzer::trace::PredicateInfo;
use portmortem_analyzer::{Profile, ReplayOptions, Trace, replay};
use portmortem_tests::catalogue::{self, Program};
use portmortem_tests::repository;

use boot_script::boot_script;

/// The quickest of so many runs of each kind counts: as many as `record --baseline` makes of quick
/// programs.
const ROUNDS: usize = 5;

/// The goal is repeated until the unrecorded run takes at least so many seconds.
const LONG_ENOUGH: f64 = 0.2;

/// Programs whose goal does next to nothing are left out.
const MOST_REPEATS: u64 = 1_000_000;

/// What is wanted.
const AIM_EACH: f64 = 0.10;
const AIM_MEDIAN: f64 = 0.05;

/// Asks for a recording with ports in place of stubs.
const WITH_PORTS: &str = "--ports";

/// The predicate that repeats the goal.
const DRIVER: &str = "portmortem_truth/0";

/// Seconds of the repeated goal.
struct Measured {
    untraced: f64,
    traced: f64,
    /// Net, by costs measured before the run.
    estimated: f64,
    /// The least and the most that reports give it.
    range: [f64; 2],
    /// Net, by costs fitted to a baseline.
    fitted: f64,
}

/// A recorded run.
struct Recording {
    trace: Trace,
    profile: Profile,
    /// The rows of the call tree from the predicate on that repeats the goal, but waiting.
    work: Vec<usize>,
}

impl Recording {
    fn new(trace: Trace, profile: Profile) -> Result<Self> {
        let driver = driver(&trace)?;
        let mut below: Vec<bool> = Vec::new();
        for row in &profile.contexts {
            let under = row.parent.is_some_and(|parent| below[parent as usize]);
            below.push(under || row.predicate as usize == driver);
        }
        let is_work = |&at: &usize| {
            let info = trace
                .predicates()
                .get(profile.contexts[at].predicate as usize);
            below[at] && !info.is_some_and(PredicateInfo::is_waiting)
        };
        let work = (0..below.len()).filter(is_work).collect();
        Ok(Self {
            trace,
            profile,
            work,
        })
    }

    fn seconds(&self, ticks: u64) -> f64 {
        self.trace.clock().duration_ns(ticks) as f64 / 1e9
    }

    fn traced(&self) -> f64 {
        let rows = &self.profile.contexts;
        self.seconds(self.work.iter().map(|&at| rows[at].self_ticks).sum())
    }

    fn net(&self, by: &NetTimes) -> f64 {
        let rows = &by.contexts;
        self.seconds(self.work.iter().map(|&at| rows[at].self_ticks).sum())
    }
}

impl Measured {
    /// How far a net time is from the truth.
    fn error(&self, net: f64) -> f64 {
        net / self.untraced - 1.0
    }

    fn is_in_range(&self) -> bool {
        (self.range[0]..=self.range[1]).contains(&self.untraced)
    }
}

fn main() -> Result<()> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    let with_ports = wanted.iter().any(|word| word == WITH_PORTS);
    wanted.retain(|word| word != WITH_PORTS);
    let directory = tempfile::tempdir()?;
    let mut programs = catalogue::corpus(directory.path());
    programs.retain(|program| wanted.is_empty() || wanted.contains(&program.name));
    println!(
        "{:<20}{:>8}{:>12}{:>12}{:>8}{:>14}{:>9}{:>16}{:>16}{:>9}",
        "program",
        "repeats",
        "untraced s",
        "recorded s",
        "ratio",
        "estimated s",
        "error",
        "range s",
        "with baseline s",
        "error"
    );
    let (mut estimated, mut fitted, mut in_range) = (Vec::new(), Vec::new(), 0);
    for program in &programs {
        let runner = Runner::new(program, directory.path(), with_ports)?;
        let Some(repeats) = runner.repeats()? else {
            continue;
        };
        let measured = runner
            .measure(repeats)
            .with_context(|| format!("program {}", program.name))?;
        let errors = [measured.estimated, measured.fitted].map(|time| measured.error(time));
        println!(
            "{:<20}{repeats:>8}{:>12.4}{:>12.4}{:>8.2}{:>14.4}{:>8.1}%{:>16}{:>16.4}{:>8.1}%",
            program.name,
            measured.untraced,
            measured.traced,
            measured.traced / measured.untraced,
            measured.estimated,
            errors[0] * 100.0,
            format!(
                "{:.2}–{:.2}{}",
                measured.range[0],
                measured.range[1],
                if measured.is_in_range() { "" } else { " !" }
            ),
            measured.fitted,
            errors[1] * 100.0
        );
        in_range += usize::from(measured.is_in_range());
        estimated.push((errors[0].abs(), program.name.as_str()));
        fitted.push((errors[1].abs(), program.name.as_str()));
    }
    println!(
        "range          {in_range} of {} programs are in theirs",
        estimated.len()
    );
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

fn quickest(times: impl IntoIterator<Item = f64>) -> f64 {
    times.into_iter().fold(f64::INFINITY, f64::min)
}

struct Runner<'a> {
    program: &'a Program,
    directory: &'a Path,
    /// The directory with the engine library.
    library: PathBuf,
    with_ports: bool,
}

impl<'a> Runner<'a> {
    fn new(program: &'a Program, directory: &'a Path, with_ports: bool) -> Result<Self> {
        let beside = std::env::current_exe()?;
        let library = beside.parent().unwrap_or(Path::new(".")).to_owned();
        if !library.join("libportmortem_swi.so").is_file() {
            bail!("no libportmortem_swi.so beside {}", beside.display());
        }
        Ok(Self {
            program,
            directory,
            library,
            with_ports,
        })
    }

    /// How often to repeat the goal; `None` if no number in reason makes it long enough. The first
    /// time a goal runs it takes longer, for what is loaded then.
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
        let (mut untraced, mut again) = (Vec::new(), Vec::new());
        let mut recording: Option<Recording> = None;
        for _ in 0..ROUNDS {
            untraced.push(self.untraced(repeats)?);
            let (trace, profile) = self.record(repeats, &[])?;
            let whole = Outermost::new(&trace, &profile);
            let this = Recording::new(trace, profile)?;
            if recording
                .as_ref()
                .is_none_or(|best| this.traced() < best.traced())
            {
                recording = Some(this);
            }
            let only: Vec<String> = whole.counts.keys().cloned().collect();
            let (trace, profile) = self.record(repeats, &only)?;
            again.push(Outermost::new(&trace, &profile));
        }
        let recording = recording.context("nothing was recorded")?;
        let (trace, profile) = (&recording.trace, &recording.profile);
        let estimated = profile.net.as_ref();
        let measured =
            Baseline::new(&Outermost::new(trace, profile), &again).context("nothing ran again")?;
        let rates = Rates::of(trace).context("the trace does not say what recording cost")?;
        let fits = measured.fits(trace, profile, &rates);
        let bounds = Rates::bounds(trace).context("the trace has no trials")?;
        let [most, least] = bounds.map(|rates| recording.net(&NetTimes::of(profile, &rates)));
        let rates = rates.fitted(trace, measured.baseline.engine_work, &fits);
        let fitted = NetTimes::of(profile, &rates);
        Ok(Measured {
            untraced: quickest(untraced),
            traced: recording.traced(),
            range: [least, most],
            estimated: estimated.map_or(f64::NAN, |by| recording.net(by)),
            fitted: recording.net(&fitted),
        })
    }

    fn untraced(&self, repeats: u64) -> Result<f64> {
        self.run(Command::new("swipl"), repeats)
    }

    /// Records only these predicates, or all.
    fn record(&self, repeats: u64, only: &[String]) -> Result<(Trace, Profile)> {
        let path = self.directory.join("truth.pmt");
        let boot = self.directory.join("truth-boot.pl");
        let mut options = format!("force(true), ports({})", self.with_ports);
        if !only.is_empty() {
            options += &format!(", boundary(false), include(['{}'])", only.join("', '"));
        }
        let sources = repository("tracer/swi/prolog");
        fs::write(&boot, boot_script(&sources, &self.library, &path, &options))?;
        let mut command = Command::new("swipl");
        command.arg("-s").arg(boot);
        self.run(command, repeats)?;
        let trace = Trace::open(&path)?;
        let profile = replay(&trace, &ReplayOptions::default());
        // Its pages stay mapped; the next recording begins a new file.
        fs::remove_file(&path)?;
        Ok((trace, profile))
    }

    /// Seconds of the repeated goal.
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

/// The predicate that repeats the goal.
fn driver(trace: &Trace) -> Result<usize> {
    (0..trace.unknown_predicate())
        .find(|predicate| trace.predicate_name(*predicate) == DRIVER)
        .map(|predicate| predicate as usize)
        .with_context(|| format!("{DRIVER} is not in the trace"))
}
