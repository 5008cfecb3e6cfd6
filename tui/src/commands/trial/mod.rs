//! `portmortem try`: makes the changes that findings propose, in memory, and compares runs.

mod child;
mod edits;
mod ending;
mod rounds;
mod runs;
mod together;
mod verdict;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::{
    Cause, Change, ChangeSubject, Dependence, Finding, changes, collected, findings, state,
};
use portmortem_analyzer::export::json::Escaped;
use serde_json::{Value, json};

use super::analysis::{analyse_all, exit_code, warn_of_losses};
use super::record::is_trace;
use crate::cli::{AdviseFormat, TryArgs};
use crate::report;
use edits::{Edit, EditPlan};
use rounds::Candidate;
pub(crate) use runs::Runs;
pub(crate) use together::Together;
use verdict::TrialVerdict;

/// A change and what becomes of it.
pub(crate) struct ChangeTrial {
    finding: String,
    /// Other findings that ask for the same change.
    also: Vec<String>,
    /// The share of the time that goes at most, in percent.
    share: f64,
    file: PathBuf,
    change: Change,
    edits: Vec<Edit>,
    /// What it rests on, if it is confirmed.
    condition: Option<String>,
    seconds: Vec<f64>,
    verdict: TrialVerdict,
}

/// The title of a finding that a person must mend, and its share of the time in percent.
type Unmechanical = (String, f64);

/// What became of all findings.
pub(crate) struct Attempt {
    trials: Vec<ChangeTrial>,
    unmechanical: Vec<Unmechanical>,
    pub(crate) together: Together,
    /// What was not tried is told, too.
    shows_untried: bool,
}

/// Records if that is to be done, changes, runs, compares and tells.
pub(crate) fn run(args: &TryArgs) -> Result<ExitCode> {
    let how = &args.how;
    let trace = how.run.program.as_deref().filter(|path| is_trace(path));
    let (runs, analysis) = if let Some(trace) = trace {
        let analysis = analyse_all(trace)?;
        (Runs::of_trace(&analysis, how, "try")?, analysis)
    } else {
        let runs = Runs::of_program(how, "try")?;
        say("recording the program");
        let trace = runs.directory().join("run.pmt");
        runs.record(&trace, &[])?;
        (runs, analyse_all(&trace)?)
    };
    let found = findings(&analysis, how.least);
    let attempt = attempt(&runs, &analysis, &found)?;
    match how.format {
        AdviseFormat::Text => io::stdout().lock().write_all(attempt.text().as_bytes())?,
        AdviseFormat::Json => {
            let mut out = io::stdout().lock();
            let all = json!({
                "work_ns": analysis.ns(analysis.whole().work_ticks),
                "findings": attempt.objects(&analysis, &found),
                "together": attempt.together.object(),
            });
            serde_json::to_writer_pretty(Escaped(&mut out), &all)?;
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
            (TrialVerdict::Open, Some(_)) => None,
            (TrialVerdict::Open, None) => {
                let why = "the source text cannot be changed".to_owned();
                Some(TrialVerdict::NotTried(why))
            }
            (other, _) => Some(other.clone()),
        };
        candidates.push(Candidate {
            texts: vec![(trial.file.clone(), text.unwrap_or_default())],
            is_bound: trial.is_bound(),
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
        rounds::compare(runs, &[], &mut candidates)?;
    }
    for (trial, candidate) in trials.iter_mut().zip(candidates) {
        trial.seconds = candidate.seconds;
        trial.verdict = candidate.verdict.unwrap_or(TrialVerdict::Open);
    }
    let together = Together::of(runs, &trials)?;
    if let Some(path) = &runs.args.patch {
        together.write_patch(path)?;
    }
    Ok(Attempt {
        trials,
        unmechanical,
        together,
        shows_untried: runs.args.untried,
    })
}

impl Attempt {
    /// The trials to tell of: those that were made, and all if that is asked for.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &ChangeTrial> {
        let trials = self.trials.iter();
        trials.filter(|trial| trial.is_tried() || self.shows_untried)
    }

    /// The findings that still stand, and those that the trials refuted. Where a change was
    /// measured to save a tenth of the time or more, its finding comes first: what was measured
    /// says more than what may be saved at most. The others keep their order.
    pub(crate) fn weighed<'f>(
        &self,
        found: &'f [Finding],
    ) -> (Vec<&'f Finding>, Vec<Refuted<'f, '_>>) {
        let mut refuted = Vec::new();
        let mut standing = Vec::new();
        for finding in found {
            match self.refuting(finding) {
                Some(trials) => refuted.push(Refuted { finding, trials }),
                None => standing.push(finding),
            }
        }
        let gain = |finding: &Finding| {
            let own = self.trials.iter().filter(|trial| trial.is_of(finding));
            let gain = own.map(ChangeTrial::gain).fold(1.0, f64::max);
            if gain * 0.9 >= 1.0 { gain } else { 1.0 }
        };
        standing.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        (standing, refuted)
    }

    /// The trials of a finding's own remedies, if all of them were made and all were refuted.
    fn refuting(&self, finding: &Finding) -> Option<Vec<&ChangeTrial>> {
        let trials = self.trials.iter();
        let own: Vec<&ChangeTrial> = trials
            .filter(|trial| trial.is_for(finding) && !trial.is_bound())
            .collect();
        let are_refuted = own.iter().all(|trial| trial.verdict.refutation().is_some());
        (finding.cause.is_mended_by_changes() && !own.is_empty() && are_refuted).then_some(own)
    }

    /// How many findings have no change that was tried, in a line; nothing if none.
    pub(crate) fn untried(&self) -> Option<String> {
        // What a goal costs is asked of the goal with most of the work, and is no change to make.
        let changes = self.trials.iter().filter(|trial| !trial.is_bound());
        let of_changes: BTreeSet<&str> = changes.map(|trial| trial.finding.as_str()).collect();
        let tried = self.trials.iter().filter(|trial| trial.is_tried());
        let tried: BTreeSet<&str> = tried.map(|trial| trial.finding.as_str()).collect();
        let count = self.unmechanical.len() + of_changes.difference(&tried).count();
        let hint = match self.shows_untried {
            true => "",
            false => "; --untried names them",
        };
        match count {
            0 => None,
            1 => Some(format!("1 finding has no change that could be tried{hint}")),
            _ => Some(format!(
                "{count} findings have no change that could be tried{hint}"
            )),
        }
    }

    /// For people: a paragraph for each finding.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut last = "";
        for trial in self.shown() {
            if trial.finding != last {
                text += &format!("{:.1} % at most: {}\n", trial.share, trial.finding);
            }
            text += &format!("   {}\n", trial.outcome());
            last = &trial.finding;
        }
        if self.shows_untried {
            for (title, share) in &self.unmechanical {
                text += &format!("{share:.1} % at most: {title}\n   no mechanical change\n");
            }
        }
        if let Some(outcome) = self.together.outcome() {
            text += &format!("Together\n   {outcome}\n");
        }
        if let Some(untried) = self.untried() {
            text += &format!("{untried}\n");
        }
        if text.is_empty() {
            text += "Nothing found that costs so much.\n";
        }
        text
    }

    /// The findings with the changes that were tried for each, for programs: those of `advise` in
    /// the order of the page, with those that were refuted behind them, then others that only have
    /// changes.
    pub(crate) fn objects(&self, analysis: &Analysis, found: &[Finding]) -> Vec<Value> {
        let (standing, refuted) = self.weighed(found);
        let standing = standing.into_iter().map(|finding| (finding, false));
        let refuted = refuted.into_iter().map(|one| (one.finding, true));
        let tried = |title: &str| {
            let trials = self.trials.iter().filter(|trial| trial.finding == title);
            trials.map(ChangeTrial::object).collect::<Vec<_>>()
        };
        let mut titles: BTreeSet<&str> = BTreeSet::new();
        let mut all = Vec::new();
        for (finding, is_refuted) in standing.chain(refuted) {
            titles.insert(&finding.title);
            let mut object = report::finding_object(analysis, finding);
            object["refuted"] = json!(is_refuted);
            object["tried"] = json!(tried(&finding.title));
            all.push(object);
        }
        for trial in &self.trials {
            if titles.insert(&trial.finding) {
                all.push(json!({"title": trial.finding, "tried": tried(&trial.finding)}));
            }
        }
        all
    }
}

/// A finding that is none any more, and why.
pub(crate) struct Refuted<'f, 'a> {
    finding: &'f Finding,
    trials: Vec<&'a ChangeTrial>,
}

impl Refuted<'_, '_> {
    /// What was tried, and why it failed.
    pub(crate) fn outcome(&self) -> String {
        let Finding { title, place, .. } = self.finding;
        let trials = self.trials.iter();
        let trials = trials.filter_map(|trial| {
            let why = trial.verdict.refutation()?;
            Some(format!("{}: {why}", trial.change))
        });
        let trials = trials.collect::<Vec<_>>().join("; ");
        format!("{title} ({}): {trials}", place.predicate)
    }
}

impl ChangeTrial {
    /// Whether that finding asks for it, perhaps as another one did before.
    fn is_for(&self, finding: &Finding) -> bool {
        self.is_of(finding) || self.also.contains(&finding.title)
    }

    /// Whether it is made for that finding.
    pub(crate) fn is_of(&self, finding: &Finding) -> bool {
        self.finding == finding.title
    }

    /// Whether the program did the same, and faster.
    pub(crate) fn is_confirmed(&self) -> bool {
        matches!(self.verdict, TrialVerdict::Confirmed(..))
    }

    /// How many times faster it is, if it is confirmed.
    fn gain(&self) -> f64 {
        self.verdict.gain()
    }

    /// Whether it cannot be made beside the other one.
    fn excludes(&self, other: &Self) -> bool {
        self.file == other.file && edits::exclude(&self.edits, &other.edits)
    }

    /// What it is for: of changes of one finding, those of one predicate or place are alternatives.
    fn purpose(&self) -> (&str, &Path, String) {
        let of = match self.change.subject() {
            ChangeSubject::Predicate(of) => format!("{}/{}", of.name, of.arity),
            ChangeSubject::Clause(at) => format!("line {}", at.line),
        };
        (&self.finding, &self.file, of)
    }

    /// Whether the change was made and the program run.
    fn is_tried(&self) -> bool {
        !matches!(self.verdict, TrialVerdict::NotTried(_) | TrialVerdict::Open)
    }

    /// For programs.
    fn object(&self) -> Value {
        json!({
            "finding": self.finding,
            "at_most_percent": self.share,
            "change": self.name(),
            "file": self.file,
            "edits": edits::objects(&self.file, &self.edits),
            "verdict": self.verdict.name(),
            "text": self.text(),
            "figures": self.verdict.figures(),
            "seconds": self.seconds,
        })
    }

    /// The change in words.
    pub(crate) fn name(&self) -> String {
        self.change.to_string()
    }

    /// Whether it only tells what a goal costs.
    fn is_bound(&self) -> bool {
        matches!(self.change, Change::Free(..))
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
) -> Result<(Vec<ChangeTrial>, Vec<Unmechanical>)> {
    let whole = analysis.whole();
    let part = |ticks: u64, of: u64| ticks as f64 * 100.0 / of.max(1) as f64;
    let mut asked: Vec<(Vec<String>, f64, Change)> = Vec::new();
    let mut ask = |title: &str, share: f64, change: Change| match asked
        .iter_mut()
        .find(|(_, _, other)| *other == change)
    {
        Some((titles, ..)) => titles.push(title.to_owned()),
        None => asked.push((vec![title.to_owned()], share, change)),
    };
    let of_findings: Vec<_> = found
        .iter()
        .map(|one| (one, changes(analysis, one)))
        .collect();
    for (finding, changes) in &of_findings {
        let share = part(finding.cost_ticks, finding.whole_ticks(whole.work_ticks));
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
    let planned = planned(runs, &in_files)?;
    let mut trials: Vec<ChangeTrial> = Vec::new();
    for (((titles, share, change), (file, _)), edits) in
        asked.into_iter().zip(in_files).zip(planned)
    {
        // Most changes are for other programs than this one: the text has no place for them.
        if edits.is_empty() {
            continue;
        }
        let (condition, verdict) = match state(analysis, &change) {
            Dependence::None => (None, TrialVerdict::Open),
            Dependence::Kept(names) => {
                let names = names.join(", ");
                let condition =
                    format!("as long as no clause of {names} changes between its calls: none did");
                (Some(condition), TrialVerdict::Open)
            }
            Dependence::Changed => {
                let why =
                    "clauses that it reads changed between its calls, which a table would not see";
                (None, TrialVerdict::NotTried(why.to_owned()))
            }
            Dependence::Effects => {
                let why = "it reads or changes a state (clauses, global variables, streams), which a table would not see";
                (None, TrialVerdict::NotTried(why.to_owned()))
            }
        };
        let mut titles = titles.into_iter();
        trials.push(ChangeTrial {
            finding: titles.next().unwrap_or_default(),
            also: titles.collect(),
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
        let share = part(one.cost_ticks, one.whole_ticks(whole.work_ticks));
        (one.title.clone(), share)
    });
    let unmechanical = unmechanical.collect();
    Ok((trials, unmechanical))
}

/// The edits of each change. If goals come earlier, the program runs once to see what is bound
/// there; what is not known to be is not moved.
fn planned(runs: &Runs, changes: &[(PathBuf, Change)]) -> Result<Vec<Vec<Edit>>> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let plan = EditPlan {
        engine: &runs.start().engine,
        directory: runs.directory(),
        changes,
    };
    let probes = plan.probes()?;
    let mut seen = String::new();
    if !probes.is_empty() {
        say("running the program once, to see what is bound where goals may come earlier");
        seen = runs.bound(&probes)?;
    }
    plan.edits(&seen)
}

/// Where the file is, by its shortest path: that of the trace begins in our own directory.
fn located(analysis: &Analysis, file: &str) -> PathBuf {
    let path = analysis.locate(file);
    fs::canonicalize(&path).unwrap_or(path)
}
