//! `portmortem try`: makes the changes that findings propose, in memory, and compares runs.

mod child;
mod edits;
mod ending;
mod rounds;
mod runs;
mod together;
mod verdict;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::{
    Cause, Change, Finding, State, changes, collected, findings, state,
};
use portmortem_analyzer::export::json::Escaped;
use serde_json::json;

use super::analysis::{analyse_all, exit_code, warn_of_losses};
use super::record::is_trace;
use crate::cli::{AdviseFormat, TryArgs};
use edits::Edit;
use rounds::Candidate;
pub(crate) use runs::Runs;
pub(crate) use together::Together;
use verdict::Verdict;

/// A change and what becomes of it.
pub(crate) struct Trial {
    finding: String,
    /// The share of the time that goes at most, in percent.
    share: f64,
    file: PathBuf,
    change: Change,
    edits: Vec<Edit>,
    /// What it rests on, if it is confirmed.
    condition: Option<String>,
    seconds: Vec<f64>,
    verdict: Verdict,
}

/// The title of a finding that a person must mend, and its share of the time in percent.
pub(crate) type Unmechanical = (String, f64);

/// What became of all findings.
pub(crate) struct Attempt {
    pub(crate) trials: Vec<Trial>,
    pub(crate) unmechanical: Vec<Unmechanical>,
    pub(crate) together: Together,
}

/// Records if that is to be done, changes, runs, compares and tells.
pub(crate) fn run(args: &TryArgs) -> Result<ExitCode> {
    let how = &args.how;
    let (runs, analysis) = if is_trace(&args.program) {
        let analysis = analyse_all(&args.program)?;
        (Runs::of_trace(&analysis, how)?, analysis)
    } else {
        let runs = Runs::of_file(&args.program, how)?;
        say("recording the program");
        let trace = runs.directory().join("run.pmt");
        runs.record(&args.program, &trace, &[])?;
        (runs, analyse_all(&trace)?)
    };
    let found = findings(&analysis, how.least);
    let attempt = attempt(&runs, &analysis, &found)?;
    match how.format {
        AdviseFormat::Text => io::stdout().lock().write_all(attempt.text().as_bytes())?,
        AdviseFormat::Json => {
            let mut out = io::stdout().lock();
            serde_json::to_writer_pretty(Escaped(&mut out), &attempt.object())?;
            writeln!(out)?;
        }
    }
    warn_of_losses(&analysis);
    Ok(exit_code(&analysis))
}

/// Makes the changes that findings propose, compares, and writes a patch if that is asked for.
pub(crate) fn attempt(runs: &Runs, analysis: &Analysis, found: &[Finding]) -> Result<Attempt> {
    let (mut trials, unmechanical) = trials(runs, analysis, found)?;
    let mut candidates = Vec::new();
    for trial in &trials {
        let text = fs::read_to_string(&trial.file).ok();
        let text = text.and_then(|text| edits::apply(&text, &trial.edits, true));
        let verdict = match (&trial.verdict, &text) {
            (Verdict::Open, Some(_)) => None,
            (Verdict::Open, None) => {
                let why = "the source text cannot be changed".to_owned();
                Some(Verdict::NotTried(why))
            }
            (other, _) => Some(other.clone()),
        };
        candidates.push(Candidate {
            texts: vec![(trial.file.clone(), text.unwrap_or_default())],
            is_bound: matches!(trial.change, Change::Free(..)),
            seconds: Vec::new(),
            verdict,
        });
    }
    let open = candidates.iter().filter(|one| one.verdict.is_none());
    let open = open.count();
    if open > 0 {
        say(&format!(
            "running the program up to {} times: as it is, and with each of {open} changes",
            rounds::most_runs(runs, open)
        ));
        rounds::compare(runs, &mut candidates)?;
    }
    for (trial, candidate) in trials.iter_mut().zip(candidates) {
        trial.seconds = candidate.seconds;
        trial.verdict = candidate.verdict.unwrap_or(Verdict::Open);
    }
    let together = Together::of(runs, &trials)?;
    if let Some(path) = &runs.args.patch {
        together.write_patch(path)?;
    }
    Ok(Attempt {
        trials,
        unmechanical,
        together,
    })
}

impl Attempt {
    /// For people: a paragraph for each finding.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut last = "";
        for trial in &self.trials {
            if trial.finding != last {
                text += &format!("{:.1} % at most: {}\n", trial.share, trial.finding);
            }
            text += &format!("   {}\n", trial.outcome());
            last = &trial.finding;
        }
        for (title, share) in &self.unmechanical {
            text += &format!("{share:.1} % at most: {title}\n   no mechanical change\n");
        }
        if let Some(outcome) = self.together.outcome() {
            text += &format!("Together\n   {outcome}\n");
        }
        if text.is_empty() {
            text += "Nothing found that costs so much.\n";
        }
        text
    }

    /// For programs.
    fn object(&self) -> serde_json::Value {
        let others = self.unmechanical.iter();
        let others =
            others.map(|(title, share)| json!({"finding": title, "at_most_percent": share}));
        json!({
            "trials": self.trials.iter().map(Trial::object).collect::<Vec<_>>(),
            "not_mechanical": others.collect::<Vec<_>>(),
            "together": self.together.object(),
        })
    }
}

impl Trial {
    /// Whether it is made for that finding.
    pub(crate) fn is_of(&self, finding: &Finding) -> bool {
        self.finding == finding.title
    }

    /// Whether the program did the same, and faster.
    pub(crate) fn is_confirmed(&self) -> bool {
        matches!(self.verdict, Verdict::Confirmed(..))
    }

    /// How many times faster it is, if it is confirmed.
    fn gain(&self) -> f64 {
        match self.verdict {
            Verdict::Confirmed(_, _, times, _) => times,
            _ => 1.0,
        }
    }

    /// For programs.
    pub(crate) fn object(&self) -> serde_json::Value {
        json!({
            "finding": self.finding,
            "at_most_percent": self.share,
            "change": self.name(),
            "file": self.file,
            "verdict": self.verdict.name(),
            "text": self.text(),
            "seconds": self.seconds,
        })
    }

    /// The change in words.
    pub(crate) fn name(&self) -> String {
        self.change.to_string()
    }

    /// What became of it.
    fn text(&self) -> String {
        match &self.condition {
            Some(condition) if self.is_confirmed() => format!("{}, {condition}", self.verdict),
            _ => self.verdict.to_string(),
        }
    }

    /// The change, and what became of it.
    pub(crate) fn outcome(&self) -> String {
        format!("{}: {}", self.change, self.text())
    }
}

/// Tells the user what goes on.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "portmortem: {text}");
}

/// The trials to make, and the findings that no mechanical change mends.
fn trials(
    runs: &Runs,
    analysis: &Analysis,
    found: &[Finding],
) -> Result<(Vec<Trial>, Vec<Unmechanical>)> {
    let whole = analysis.whole();
    let part = |ticks: u64, of: u64| ticks as f64 * 100.0 / of.max(1) as f64;
    let mut asked: Vec<(String, f64, Change)> = Vec::new();
    let mut ask = |title: &str, share: f64, change: Change| {
        if !asked.iter().any(|(_, _, other)| *other == change) {
            asked.push((title.to_owned(), share, change));
        }
    };
    let of_findings: Vec<_> = found
        .iter()
        .map(|one| (one, changes(analysis, one)))
        .collect();
    for (finding, changes) in &of_findings {
        let share = part(finding.cost_ticks, whole.work_ticks);
        for change in changes {
            ask(&finding.title, share, change.clone());
        }
    }
    for (change, ticks) in collected(analysis) {
        let share = part(ticks, whole.work_ticks);
        if share >= runs.args.least {
            let title = "all solutions are collected to see whether there is one";
            ask(title, share, change);
        }
    }
    let in_files: Vec<_> = asked
        .iter()
        .map(|(.., change)| (located(analysis, change.file()), change.clone()))
        .collect();
    let planned = match in_files.is_empty() {
        true => Vec::new(),
        false => edits::plan(&runs.args.swipl, runs.directory(), &in_files)?,
    };
    let mut trials: Vec<Trial> = Vec::new();
    for (((finding, share, change), (file, _)), edits) in
        asked.into_iter().zip(in_files).zip(planned)
    {
        // Most changes are for other programs than this one: the text has no place for them.
        if edits.is_empty() {
            continue;
        }
        let (condition, verdict) = match state(analysis, &change) {
            State::None => (None, Verdict::Open),
            State::Kept(names) => {
                let names = names.join(", ");
                let condition =
                    format!("as long as no clause of {names} changes between its calls: none did");
                (Some(condition), Verdict::Open)
            }
            State::Changed => {
                let why =
                    "clauses that it reads changed between its calls, which a table would not see";
                (None, Verdict::NotTried(why.to_owned()))
            }
            State::Effects => {
                let why = "it reads or changes a state (clauses, global variables, streams), which a table would not see";
                (None, Verdict::NotTried(why.to_owned()))
            }
        };
        trials.push(Trial {
            finding,
            share,
            file,
            change,
            edits,
            condition,
            seconds: Vec::new(),
            verdict,
        });
    }
    let is_tried = |changes: &[Change]| trials.iter().any(|trial| changes.contains(&trial.change));
    let others = of_findings
        .iter()
        .filter(|(one, changes)| one.cause != Cause::Hottest && !is_tried(changes));
    let unmechanical = others.map(|(one, _)| {
        let share = part(one.cost_ticks, whole.work_ticks);
        (one.title.clone(), share)
    });
    let unmechanical = unmechanical.collect();
    Ok((trials, unmechanical))
}

/// Where the file is, by its shortest path: that of the trace begins in our own directory.
fn located(analysis: &Analysis, file: &str) -> PathBuf {
    let path = analysis.locate(file);
    fs::canonicalize(&path).unwrap_or(path)
}
