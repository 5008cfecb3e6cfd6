//! `portmortem try`: makes the changes that findings propose, in memory, and compares runs.

mod child;
mod edits;
mod verdict;

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use indicatif::ProgressBar;
use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::{Change, changes, collected, findings, reads_state};
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::trace::names::printable;
use serde_json::json;
use similar::TextDiff;

use super::analysis::analyse_all;
use super::engine::{atom, atoms};
use crate::cli::{AdviseFormat, TryArgs};
use child::Run;
use edits::Edit;
use verdict::Verdict;

/// A first run may take so long.
const PATIENCE: Duration = Duration::from_secs(600);
/// Later runs may take this, or so many times what the first one took.
const LEAST_LIMIT: Duration = Duration::from_secs(10);
const LIMIT: u32 = 10;

/// A change and what becomes of it.
struct Trial {
    finding: String,
    /// The share of the time that goes at most, in percent.
    share: f64,
    file: PathBuf,
    change: Change,
    edits: Vec<Edit>,
    seconds: Vec<f64>,
    verdict: Option<Verdict>,
}

/// The title of a finding that a person must mend, and its share of the time in percent.
type Unmechanical = (String, f64);

/// Records, changes, runs, compares and tells.
pub(crate) fn run(args: &TryArgs) -> Result<ExitCode> {
    ensure!(
        args.program.is_file(),
        "{}: no such Prolog file",
        args.program.display()
    );
    let interrupted = child::interrupts()?;
    let directory = tempfile::Builder::new().prefix("portmortem-").tempdir()?;
    let directory = directory.path();
    let input = directory.join("input");
    let mut read = Vec::new();
    if !io::stdin().is_terminal() {
        io::stdin().read_to_end(&mut read)?;
    }
    fs::write(&input, read)?;
    say("recording the program");
    let trace = record(args, directory, &input, &interrupted)?;
    let analysis = analyse_all(&trace)?;
    let (mut trials, unmechanical) = trials(args, &analysis, directory)?;
    let tried = trials.iter().filter(|trial| trial.verdict.is_none());
    let tried = u32::try_from(tried.count())?;
    if tried > 0 {
        let most = args.runs * (tried + 1) + 1;
        say(&format!(
            "running the program {most} times: {} times as it is, and with each of {tried} changes",
            args.runs
        ));
        rounds(args, directory, &input, &interrupted, &mut trials)?;
    }
    print(args, &trials, &unmechanical)?;
    if let Some(path) = &args.patch {
        fs::write(path, patch(&trials)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "portmortem: {text}");
}

/// A trace of the program, in the directory.
fn record(
    args: &TryArgs,
    directory: &Path,
    input: &Path,
    interrupted: &AtomicBool,
) -> Result<PathBuf> {
    let trace = directory.join("run.pmt");
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["record", "--no-index", "-o"]).arg(&trace);
    command.arg("--swipl").arg(&args.swipl);
    if let Some(goal) = &args.goal {
        command.arg("--goal").arg(goal);
    }
    command.arg(&args.program).arg("--").args(&args.arguments);
    let run = child::run(command, input, directory, PATIENCE, interrupted)?;
    let run = run.context("the recorded program did not end in 10 minutes")?;
    if !trace.is_file() {
        bail!(
            "nothing was recorded: {}",
            String::from_utf8_lossy(&run.stderr).trim()
        );
    }
    Ok(trace)
}

/// The trials to make, and the findings that no mechanical change mends.
fn trials(
    args: &TryArgs,
    analysis: &Analysis,
    directory: &Path,
) -> Result<(Vec<Trial>, Vec<Unmechanical>)> {
    let whole = analysis.profile.total_ticks().max(1) as f64;
    let share = |ticks: u64| ticks as f64 * 100.0 / whole;
    let (mut asked, mut unmechanical) = (Vec::new(), Vec::new());
    for finding in findings(analysis, args.least) {
        let of_finding = changes(analysis, &finding);
        let title = (finding.title.clone(), share(finding.cost_ticks));
        if of_finding.is_empty() {
            unmechanical.push(title.clone());
        }
        let all = of_finding.into_iter().map(|change| (title.clone(), change));
        asked.extend(all);
    }
    let mut seen = Vec::new();
    asked.retain(|(_, change)| {
        !seen.contains(change) && {
            seen.push(change.clone());
            true
        }
    });
    let of_findall = collected(analysis)
        .into_iter()
        .filter(|&(_, ticks)| share(ticks) >= args.least);
    let of_findall = of_findall.map(|(change, ticks)| {
        let title = "all solutions are collected to see whether there is one".to_owned();
        ((title, share(ticks)), change)
    });
    let from_here = asked.len();
    asked.extend(of_findall);
    let in_files: Vec<_> = asked
        .iter()
        .map(|(_, change)| (located(analysis, file(change)), change.clone()))
        .collect();
    let planned = if in_files.is_empty() {
        Vec::new()
    } else {
        edits::plan(&args.swipl, directory, &in_files)?
    };
    let mut trials = Vec::new();
    let all = asked.into_iter().zip(in_files).zip(planned).enumerate();
    for (at, ((((finding, share), change), (file, _)), edits)) in all {
        // Most uses of findall/3 are of no interest.
        if at >= from_here && edits.is_empty() {
            continue;
        }
        let why_not = match edits.is_empty() {
            true => Some("the source text has no place for this change"),
            false if reads_state(analysis, &change) => Some(
                "it reads or changes a state (clauses, global variables, streams), which a table would not see",
            ),
            false => None,
        };
        let verdict = why_not.map(|why| Verdict::NotTried(why.to_owned()));
        trials.push(Trial {
            finding,
            share,
            file,
            change,
            edits,
            seconds: Vec::new(),
            verdict,
        });
    }
    Ok((trials, unmechanical))
}

/// Where the file is, by its shortest path: that of the trace begins in our own directory.
fn located(analysis: &Analysis, file: &str) -> PathBuf {
    let path = analysis.locate(file);
    fs::canonicalize(&path).unwrap_or(path)
}

/// The file that is changed, as the trace names it.
fn file(change: &Change) -> &str {
    match change {
        Change::Table(of) | Change::CommitFirst(of) | Change::CommitLast(of) => &of.file,
        Change::Before(at, ..) | Change::Behind(at, ..) => &at.file,
        Change::EarlyTests(at) | Change::Exists(at) => &at.file,
    }
}

/// Runs the program as it is and with each change, in turn, and decides.
fn rounds(
    args: &TryArgs,
    directory: &Path,
    input: &Path,
    interrupted: &AtomicBool,
    trials: &mut [Trial],
) -> Result<()> {
    let mut of_original = Vec::new();
    let mut first: Option<Run> = None;
    let bar = ProgressBar::new(u64::from(args.runs) * (trials.len() as u64 + 1));
    for round in 0..args.runs {
        let command = engine(args, directory, None)?;
        let limit = first.as_ref().map_or(PATIENCE, limit_of);
        let run = child::run(command, input, directory, limit, interrupted)?;
        let run = run.context("the program did not end in time")?;
        bar.inc(1);
        of_original.push(run.seconds);
        let first = first.get_or_insert(run);
        for (number, trial) in trials.iter_mut().enumerate() {
            bar.inc(1);
            if trial.verdict.is_some() {
                continue;
            }
            let text = fs::read_to_string(&trial.file).ok();
            let text = text.and_then(|text| edits::apply(&text, &trial.edits, true));
            let Some(text) = text else {
                let why = "the source text cannot be changed".to_owned();
                trial.verdict = Some(Verdict::NotTried(why));
                continue;
            };
            let changed = directory.join(format!("changed-{number}.pl"));
            fs::write(&changed, text)?;
            let loaded = directory.join("loaded");
            let _ = fs::remove_file(&loaded);
            let command = engine(args, directory, Some((&trial.file, &changed)))?;
            match child::run(command, input, directory, limit_of(first), interrupted)? {
                None => {
                    let status = "it did not end in ten times the time".to_owned();
                    trial.verdict = Some(Verdict::OtherStatus(status));
                }
                Some(_) if !loaded.exists() => {
                    let why = "the program does not load this source file".to_owned();
                    trial.verdict = Some(Verdict::NotTried(why));
                }
                Some(run) => {
                    trial.verdict = difference(first, &run);
                    trial.seconds.push(run.seconds);
                }
            }
        }
        if round == 0 {
            let command = engine(args, directory, None)?;
            let again = child::run(command, input, directory, limit_of(first), interrupted)?;
            let again = again.context("the program did not end in time")?;
            if let Some(difference) = difference(first, &again) {
                bail!("the program does something else when it runs again: {difference}");
            }
        }
    }
    bar.finish_and_clear();
    for trial in trials.iter_mut().filter(|trial| trial.verdict.is_none()) {
        trial.verdict = Some(verdict::compare(&of_original, &trial.seconds));
    }
    Ok(())
}

fn limit_of(first: &Run) -> Duration {
    (first.elapsed * LIMIT).max(LEAST_LIMIT)
}

/// How a run differs from the first one, but for the time.
fn difference(first: &Run, run: &Run) -> Option<Verdict> {
    if first.status != run.status {
        return Some(Verdict::OtherStatus(format!(
            "{}, not {}",
            run.status, first.status
        )));
    }
    for (name, old, new) in [
        ("", &first.stdout, &run.stdout),
        ("on standard error, ", &first.stderr, &run.stderr),
    ] {
        // That a variable stands only once now is no fault of the change.
        let (old, new) = (&without_warnings(old), &without_warnings(new));
        if old == new {
            continue;
        }
        let lines = |text: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(text);
            text.lines().map(printable).collect()
        };
        let (old, new) = (lines(old), lines(new));
        let at = (0..).find(|&at| old.get(at) != new.get(at) || at >= old.len());
        let at = at.unwrap_or_default();
        let line = |lines: &[String]| match lines.get(at) {
            Some(line) => format!("\"{line}\""),
            None => "the end".to_owned(),
        };
        return Some(Verdict::OtherOutput(format!(
            "{name}line {} is {}, not {}",
            at + 1,
            line(&new),
            line(&old)
        )));
    }
    None
}

/// The text without the warnings that the compiler gives of singleton variables.
fn without_warnings(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let is = |at: usize, word: &str| {
        let line = lines.get(at).map(|line| String::from_utf8_lossy(line));
        line.is_some_and(|line| line.starts_with("Warning:") && line.contains(word))
    };
    let kept = (0..lines.len()).filter(|&at| {
        let is_singleton = is(at, "Singleton");
        // The place stands in the line above.
        !(is_singleton || is(at, "") && is(at + 1, "Singleton"))
    });
    kept.flat_map(|at| lines[at].iter().copied()).collect()
}

/// The engine with the program, and a changed text in place of one of its files.
fn engine(args: &TryArgs, directory: &Path, changed: Option<(&Path, &Path)>) -> Result<Command> {
    let mut words = Vec::new();
    if let Some(goal) = &args.goal {
        words.extend(["-g", goal, "-t", "halt"].map(str::to_owned));
    }
    words.push(args.program.display().to_string());
    words.push("--".to_owned());
    words.extend(args.arguments.iter().cloned());
    let swipl = args.swipl.display().to_string();
    let all: Vec<String> = std::iter::once(swipl)
        .chain(words.iter().cloned())
        .collect();
    let mut script = format!(":- set_prolog_flag(os_argv, [{}]).\n", atoms(&all));
    if let Some((file, text)) = changed {
        let [file, text, loaded] =
            [file, text, &directory.join("loaded")].map(|path| atom(&path.display().to_string()));
        script += &format!(
            ":- multifile prolog:open_source_hook/3.\n\
             :- dynamic prolog:open_source_hook/3.\n\
             prolog:open_source_hook(Path, In, _) :-\n    same_file(Path, {file}), !,\n    \
             open({loaded}, write, Out), close(Out),\n    open({text}, read, In),\n    \
             set_stream(In, file_name(Path)).\n"
        );
    }
    let site = super::start::site_file(directory);
    fs::write(&site, script)?;
    let mut command = Command::new(&args.swipl);
    command.args(super::start::site_option(&site)).args(words);
    Ok(command)
}

fn print(args: &TryArgs, trials: &[Trial], unmechanical: &[Unmechanical]) -> Result<()> {
    let mut out = io::stdout().lock();
    let verdict = |trial: &Trial| {
        trial
            .verdict
            .clone()
            .unwrap_or(Verdict::NotTried(String::new()))
    };
    if args.format == AdviseFormat::Json {
        let trials = trials.iter().map(|trial| {
            let verdict = verdict(trial);
            json!({
                "finding": trial.finding,
                "at_most_percent": trial.share,
                "change": trial.change.to_string(),
                "file": trial.file,
                "verdict": verdict.name(),
                "text": verdict.to_string(),
                "seconds": trial.seconds,
            })
        });
        let others = unmechanical.iter();
        let others =
            others.map(|(title, share)| json!({"finding": title, "at_most_percent": share}));
        let all = json!({
            "trials": trials.collect::<Vec<_>>(),
            "not_mechanical": others.collect::<Vec<_>>(),
        });
        serde_json::to_writer_pretty(Escaped(&mut out), &all)?;
        writeln!(out)?;
        return Ok(());
    }
    let mut last = "";
    for trial in trials {
        if trial.finding != last {
            writeln!(out, "{:.1} % at most: {}", trial.share, trial.finding)?;
        }
        writeln!(out, "   {}: {}", trial.change, verdict(trial))?;
        last = &trial.finding;
    }
    for (title, share) in unmechanical {
        writeln!(
            out,
            "{share:.1} % at most: {title}\n   not tried: no mechanical change"
        )?;
    }
    if trials.is_empty() && unmechanical.is_empty() {
        writeln!(out, "Nothing found that costs so much.")?;
    }
    Ok(())
}

/// The confirmed changes that go together, the first of each finding, as a patch.
fn patch(trials: &[Trial]) -> Result<String> {
    let mut files: Vec<(&Path, Vec<Edit>)> = Vec::new();
    let mut done = Vec::new();
    let confirmed = |trial: &&Trial| matches!(trial.verdict, Some(Verdict::Confirmed(..)));
    for trial in trials.iter().filter(confirmed) {
        if done.contains(&&trial.finding) {
            continue;
        }
        let text = fs::read_to_string(&trial.file)?;
        let at = files.iter().position(|(file, _)| *file == trial.file);
        let at = at.unwrap_or_else(|| {
            files.push((&trial.file, Vec::new()));
            files.len() - 1
        });
        let mut together = files[at].1.clone();
        together.extend(trial.edits.iter().cloned());
        if edits::apply(&text, &together, false).is_some() {
            files[at].1 = together;
            done.push(&trial.finding);
        }
    }
    let here = std::env::current_dir()?;
    let mut all = String::new();
    for (file, edits) in files {
        let old = fs::read_to_string(file)?;
        let new = edits::apply(&old, &edits, false).context("changes overlap")?;
        let name = file
            .strip_prefix(&here)
            .unwrap_or(file)
            .display()
            .to_string();
        let diff = TextDiff::from_lines(&old, &new);
        all += &diff.unified_diff().header(&name, &name).to_string();
    }
    Ok(all)
}
