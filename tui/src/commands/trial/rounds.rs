//! The program as it is and changed programs run in turn, and are compared.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;

use super::child::ChildRun;
use super::runs::{Runs, difference};
use super::verdict::{self, TrialVerdict};

/// If the program as it is has run for so long, and so often, it need not run again.
const LONG_ENOUGH: Duration = Duration::from_secs(30);
const FEWEST: u32 = 3;
/// How often it runs otherwise, if the user does not say.
const USUAL: u32 = 5;

/// A changed program.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    /// Files, and what stands in their place.
    pub(super) texts: Vec<(PathBuf, String)>,
    /// A goal is left out that may bind something.
    pub(super) is_bound: bool,
    pub(super) seconds: Vec<f64>,
    pub(super) verdict: Option<TrialVerdict>,
}

/// How often the program runs at most to compare so many changed ones with it.
pub(super) fn most_runs(runs: &Runs, candidates: usize) -> u32 {
    let candidates = u32::try_from(candidates).unwrap_or(u32::MAX);
    let rounds = runs.args.runs.unwrap_or(USUAL);
    rounds.saturating_mul(candidates.saturating_add(1)) + 1
}

/// Runs the program with the texts of `base` in place of its files, and each candidate without a
/// verdict, in turn; and gives it one.
///
/// # Errors
/// If the program does not end, or does something else each time.
pub(super) fn compare(
    runs: &Runs,
    base: &[(PathBuf, String)],
    candidates: &mut [Candidate],
) -> Result<()> {
    let rounds = runs.args.runs.unwrap_or(USUAL);
    let mut of_base = Vec::new();
    let mut first: Option<ChildRun> = None;
    let bar = ProgressBar::new(most_runs(runs, candidates.len()).into());
    let begin = Instant::now();
    for round in 0..rounds {
        let is_enough = runs.args.runs.is_none()
            && round >= FEWEST
            && begin.elapsed() > LONG_ENOUGH * (1 + u32::try_from(candidates.len())?);
        if is_enough {
            break;
        }
        let run = runs.run(base, first.as_ref())?;
        let run = run.context("the program did not end in time; see --time-limit")?;
        bar.inc(1);
        of_base.push(run.seconds);
        let first = first.get_or_insert(run);
        for candidate in candidates.iter_mut() {
            bar.inc(1);
            if candidate.verdict.is_none() {
                candidate.try_once(runs, first)?;
            }
        }
        if round == 0 {
            let again = runs.run(base, Some(first))?;
            let again = again.context("the program did not end in time; see --time-limit")?;
            bar.inc(1);
            if let Some(difference) = difference(first, &again) {
                bail!("the program does something else when it runs again: {difference}");
            }
        }
    }
    bar.finish_and_clear();
    for candidate in candidates {
        if candidate.verdict.is_none() {
            let compared = verdict::compare(&of_base, &candidate.seconds);
            candidate.verdict = Some(match candidate.is_bound {
                true => compared.into_bound(),
                false => compared,
            });
        }
    }
    Ok(())
}

impl Candidate {
    fn try_once(&mut self, runs: &Runs, first: &ChildRun) -> Result<()> {
        let without_it = || {
            let why = "the program does not run to its end without what this goal binds";
            Some(TrialVerdict::NotTried(why.to_owned()))
        };
        self.verdict = match runs.run(&self.texts, Some(first))? {
            None if self.is_bound => without_it(),
            None => {
                let status = "it did not end in ten times the time".to_owned();
                Some(TrialVerdict::OtherStatus(status))
            }
            Some(_) if !runs.loaded_changes() => {
                let why = "the program does not load this source file".to_owned();
                Some(TrialVerdict::NotTried(why))
            }
            Some(run) => {
                self.seconds.push(run.seconds);
                match difference(first, &run) {
                    // Without what a goal binds, the output may be another.
                    Some(TrialVerdict::OtherOutput(_)) if self.is_bound => None,
                    Some(TrialVerdict::OtherStatus(_)) if self.is_bound => without_it(),
                    other => other,
                }
            }
        };
        Ok(())
    }
}
