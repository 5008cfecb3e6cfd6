//! All confirmed changes in one program: whether they go together, and their patch.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;
use similar::TextDiff;

use super::edits::{self, Edit};
use super::rounds::{self, Candidate};
use super::runs::Runs;
use super::verdict::Verdict;
use super::{Trial, say};

/// Confirmed changes that were made at once.
pub(crate) struct Together {
    names: Vec<String>,
    files: Vec<(PathBuf, Vec<Edit>)>,
    /// The change that gains most, how many times faster it is, and its edits.
    best: Option<(String, f64, PathBuf, Vec<Edit>)>,
    candidate: Option<Candidate>,
}

impl Together {
    /// The quickest confirmed change of each finding, as far as they do not overlap. Two or more
    /// run together once more.
    ///
    /// # Errors
    /// If a file cannot be read, or the program does not end.
    pub(super) fn of(runs: &Runs, trials: &[Trial]) -> Result<Self> {
        let mut chosen: Vec<&Trial> = Vec::new();
        for trial in trials.iter().filter(|trial| trial.is_confirmed()) {
            match chosen.iter_mut().find(|one| one.finding == trial.finding) {
                Some(one) if one.gain() < trial.gain() => *one = trial,
                Some(_) => {}
                None => chosen.push(trial),
            }
        }
        let mut together = Self {
            names: Vec::new(),
            files: Vec::new(),
            best: None,
            candidate: None,
        };
        // What gains most stays where two overlap.
        chosen.sort_by(|a, b| b.gain().total_cmp(&a.gain()));
        together.best = chosen.first().map(|best| {
            (
                best.name(),
                best.gain(),
                best.file.clone(),
                best.edits.clone(),
            )
        });
        for trial in chosen {
            together.add(trial)?;
        }
        if together.names.len() < 2 {
            return Ok(together);
        }
        let texts = together.files.iter().map(|(file, edits)| {
            let text = edits::apply(&fs::read_to_string(file)?, edits, true);
            Ok((file.clone(), text.context("changes overlap")?))
        });
        let mut candidates = [Candidate {
            texts: texts.collect::<Result<_>>()?,
            ..Candidate::default()
        }];
        say(&format!(
            "running it up to {} times more: as it is, and with the {} confirmed changes together",
            rounds::most_runs(runs, 1),
            together.names.len()
        ));
        rounds::compare(runs, &mut candidates)?;
        let [candidate] = candidates;
        together.candidate = Some(candidate);
        Ok(together)
    }

    fn add(&mut self, trial: &Trial) -> Result<()> {
        let at = self.files.iter().position(|(file, _)| *file == trial.file);
        let mut edits = at.map_or_else(Vec::new, |at| self.files[at].1.clone());
        edits.extend(trial.edits.iter().cloned());
        let text = fs::read_to_string(&trial.file)?;
        if edits::apply(&text, &edits, false).is_some() {
            match at {
                Some(at) => self.files[at].1 = edits,
                None => self.files.push((trial.file.clone(), edits)),
            }
            self.names.push(trial.name());
        }
        Ok(())
    }

    fn verdict(&self) -> Option<&Verdict> {
        self.candidate.as_ref()?.verdict.as_ref()
    }

    /// Whether one change alone is better than all of them.
    fn is_worse(&self) -> bool {
        let alone = self.best.as_ref().map_or(1.0, |(_, gain, ..)| *gain);
        match self.verdict() {
            None => false,
            Some(Verdict::Confirmed(_, _, times, _)) => *times < alone,
            Some(_) => true,
        }
    }

    /// What became of them, if there are two or more.
    pub(crate) fn outcome(&self) -> Option<String> {
        let verdict = self.verdict()?;
        let mut text = format!("{}: {verdict}", self.names.join("; "));
        if self.is_worse()
            && let Some((name, ..)) = &self.best
        {
            text += &format!(". Best alone: {name}");
        }
        Some(text)
    }

    /// For programs.
    pub(crate) fn object(&self) -> serde_json::Value {
        let (Some(verdict), Some(candidate)) = (self.verdict(), &self.candidate) else {
            return serde_json::Value::Null;
        };
        json!({
            "changes": self.names,
            "verdict": verdict.name(),
            "text": verdict.to_string(),
            "seconds": candidate.seconds,
        })
    }

    /// Writes them as a patch; the best one alone if that is better.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn write_patch(&self, path: &Path) -> Result<()> {
        let patch = match &self.best {
            Some((_, _, file, edits)) if self.is_worse() => patch(&[(file.clone(), edits.clone())]),
            _ => patch(&self.files),
        }?;
        fs::write(path, patch).with_context(|| format!("cannot write {}", path.display()))
    }
}

fn patch(files: &[(PathBuf, Vec<Edit>)]) -> Result<String> {
    let here = std::env::current_dir()?;
    let mut all = String::new();
    for (file, edits) in files {
        let old = fs::read_to_string(file)?;
        let new = edits::apply(&old, edits, false).context("changes overlap")?;
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
