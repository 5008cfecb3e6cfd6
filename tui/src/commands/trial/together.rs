//! The best of the confirmed changes in one program, and their patch.
//!
//! Changes are added one by one, the one that gains most first. One stays if the program is
//! confirmed to be faster with it than without it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use similar::TextDiff;

use super::edits::{self, Edit};
use super::rounds::{self, Candidate};
use super::runs::Runs;
use super::verdict::TrialVerdict;
use super::{ChangeTrial, say};

/// Confirmed changes that are made at once, compared with the program as it is.
#[derive(Default)]
pub(crate) struct Together {
    changes: CompatibleChanges,
    verdict: Option<TrialVerdict>,
    seconds: Vec<f64>,
}

/// Changes that do not exclude one another.
#[derive(Debug, Clone, Default)]
struct CompatibleChanges {
    names: Vec<String>,
    files: Vec<(PathBuf, Vec<Edit>)>,
    /// Names of confirmed changes that are not among them, and why.
    left_out: Vec<(String, String)>,
}

/// What became of changed programs, and their seconds.
type TrialOutcome = (TrialVerdict, Vec<f64>);

/// Compares changed programs with another one: its changes, theirs, and that in words.
type Compare<'a> =
    dyn FnMut(&CompatibleChanges, &[&CompatibleChanges], &str) -> Result<Vec<TrialOutcome>> + 'a;

impl Together {
    /// The best combination of the confirmed changes.
    ///
    /// # Errors
    /// If a file cannot be read, or the program does not end.
    pub(super) fn of(runs: &Runs, trials: &[ChangeTrial]) -> Result<Self> {
        Self::best(trials, &mut |base, changed, how| {
            let candidates = changed.iter().map(|one| {
                let texts = one.texts()?;
                Ok(Candidate {
                    texts,
                    ..Candidate::default()
                })
            });
            let mut candidates: Vec<_> = candidates.collect::<Result<_>>()?;
            let most = rounds::most_runs(runs, candidates.len());
            say(&format!("running it up to {most} times more: {how}"));
            rounds::compare(runs, &base.texts()?, &mut candidates)?;
            let outcomes = candidates.into_iter().map(|one| {
                let verdict = one.verdict.unwrap_or(TrialVerdict::Open);
                (verdict, one.seconds)
            });
            Ok(outcomes.collect())
        })
    }

    /// Where the change that gains most excludes others, these may be more together: then each of
    /// them begins a combination, too, and the fastest one is taken.
    fn best(trials: &[ChangeTrial], compare: &mut Compare) -> Result<Self> {
        let confirmed = trials.iter().filter(|trial| trial.is_confirmed());
        let mut confirmed: Vec<&ChangeTrial> = confirmed.collect();
        confirmed.sort_by(|a, b| b.gain().total_cmp(&a.gain()));
        let Some(first) = confirmed.first() else {
            return Ok(Self::default());
        };
        let mut purposes = Vec::new();
        let mut all: Vec<CompatibleChanges> = Vec::new();
        for begin in &confirmed {
            let is_other = !purposes.contains(&begin.purpose());
            purposes.push(begin.purpose());
            let begins = std::ptr::eq(*begin, *first) || is_other && begin.excludes(first);
            if !begins {
                continue;
            }
            let grown = CompatibleChanges::grown(begin, &confirmed, compare)?;
            if !all.iter().any(|other| other.is_as(&grown)) {
                all.push(grown);
            }
        }
        if let [only] = all.as_slice()
            && only.names.len() == 1
        {
            return Ok(Self {
                verdict: Some(first.verdict.clone()),
                seconds: first.seconds.clone(),
                changes: only.clone(),
            });
        }
        let how = match all.as_slice() {
            [only] => format!("with {} changes together", only.names.len()),
            _ => format!("with each of {} combinations of changes", all.len()),
        };
        let how = format!("as it is, and {how}");
        let outcomes = compare(
            &CompatibleChanges::default(),
            &all.iter().collect::<Vec<_>>(),
            &how,
        )?;
        let mut compared: Vec<_> = all.into_iter().zip(outcomes).collect();
        compared.sort_by(|(_, (a, _)), (_, (b, _))| b.gain().total_cmp(&a.gain()));
        let (changes, (verdict, seconds)) = compared.swap_remove(0);
        Ok(Self {
            changes,
            verdict: Some(verdict),
            seconds,
        })
    }

    /// What is in the patch, and what is not, if more than one change was confirmed.
    pub(crate) fn outcome(&self) -> Option<String> {
        let CompatibleChanges {
            names, left_out, ..
        } = &self.changes;
        let mut text = match (names.as_slice(), &self.verdict) {
            ([name], Some(_)) if !left_out.is_empty() => format!("{name} alone is the fastest"),
            ([_, _, ..], Some(verdict)) => format!("{}: {verdict}", names.join("; ")),
            _ => return None,
        };
        for (name, why) in left_out {
            text += &format!(". Not with {name}: {why}");
        }
        Some(text)
    }

    /// For programs.
    pub(crate) fn object(&self) -> Value {
        let Some(verdict) = &self.verdict else {
            return Value::Null;
        };
        let left_out = self.changes.left_out.iter();
        let left_out = left_out.map(|(name, why)| json!({"change": name, "why": why}));
        let files = self.changes.files.iter();
        let files =
            files.map(|(file, edits)| json!({"file": file, "edits": edits::objects(file, edits)}));
        json!({
            "changes": self.changes.names,
            "left_out": left_out.collect::<Vec<_>>(),
            "verdict": verdict.name(),
            "text": verdict.to_string(),
            "figures": verdict.figures(),
            "seconds": self.seconds,
            "files": files.collect::<Vec<_>>(),
        })
    }

    /// Writes them as a patch.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn write_patch(&self, path: &Path) -> Result<()> {
        let patch = self.changes.patch()?;
        fs::write(path, patch).with_context(|| format!("cannot write {}", path.display()))
    }
}

impl CompatibleChanges {
    fn of(trial: &ChangeTrial) -> Self {
        Self {
            names: vec![trial.name()],
            files: vec![(trial.file.clone(), trial.edits.clone())],
            left_out: Vec::new(),
        }
    }

    /// The first one, and all others with which the program is faster still.
    fn grown(
        first: &ChangeTrial,
        confirmed: &[&ChangeTrial],
        compare: &mut Compare,
    ) -> Result<Self> {
        let mut all = Self::of(first);
        let mut chosen = vec![first];
        let mut purposes = vec![first.purpose()];
        for trial in confirmed {
            if purposes.contains(&trial.purpose()) {
                continue;
            }
            if let Some(other) = chosen.iter().find(|other| trial.excludes(other)) {
                let why = format!("it changes the same text as {}", other.name());
                all.left_out.push((trial.name(), why));
                continue;
            }
            purposes.push(trial.purpose());
            let more = all.with(trial);
            let how = format!("with {}, and with {} besides", all.shown(), trial.name());
            let outcome = compare(&all, &[&more], &how)?.pop();
            match outcome {
                Some((TrialVerdict::Confirmed(..), _)) => {
                    chosen.push(trial);
                    all = more;
                }
                other => {
                    let why = other.map_or(TrialVerdict::Open, |(verdict, _)| verdict);
                    all.left_out.push((trial.name(), why.to_string()));
                }
            }
        }
        Ok(all)
    }

    fn with(&self, trial: &ChangeTrial) -> Self {
        let mut more = self.clone();
        more.names.push(trial.name());
        match more.files.iter_mut().find(|(file, _)| *file == trial.file) {
            Some((_, edits)) => edits.extend(trial.edits.iter().cloned()),
            None => more.files.push((trial.file.clone(), trial.edits.clone())),
        }
        more
    }

    fn is_as(&self, other: &Self) -> bool {
        let names = |of: &Self| of.names.iter().cloned().collect::<BTreeSet<_>>();
        names(self) == names(other)
    }

    fn shown(&self) -> String {
        self.names.join("; ")
    }

    fn texts(&self) -> Result<Vec<(PathBuf, String)>> {
        let texts = self.files.iter().map(|(file, edits)| {
            let text = edits::apply(&fs::read_to_string(file)?, edits, true);
            Ok((file.clone(), text.context("changes overlap")?))
        });
        texts.collect()
    }

    fn patch(&self) -> Result<String> {
        let here = std::env::current_dir()?;
        let mut all = String::new();
        for (file, edits) in &self.files {
            let old = fs::read_to_string(file)?;
            let new = edits::apply(&old, edits, false).context("changes overlap")?;
            let name = file.strip_prefix(&here).unwrap_or(file);
            let name = name.display().to_string();
            let diff = TextDiff::from_lines(&old, &new);
            all += &diff.unified_diff().header(&name, &name).to_string();
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use portmortem_analyzer::advice::{Change, WrittenPredicate};

    use super::*;

    /// A change that writes at one place and was measured.
    fn trial(name: &str, at: usize, seconds: f64) -> ChangeTrial {
        let of = WrittenPredicate {
            name: name.to_owned(),
            arity: 0,
            file: String::new(),
        };
        ChangeTrial {
            finding: name.to_owned(),
            also: Vec::new(),
            share: 50.0,
            file: PathBuf::from("p.pl"),
            change: Change::Table(of),
            edits: vec![Edit::for_tests(at, name)],
            condition: None,
            seconds: Vec::new(),
            verdict: TrialVerdict::Confirmed(10.0, seconds, 10.0 / seconds, 0.0),
        }
    }

    /// The best of them if programs take what a function says of their changes.
    fn best(
        trials: &[ChangeTrial],
        takes: impl Fn(&str) -> f64,
    ) -> (String, Vec<String>, Option<f64>) {
        let together = Together::best(trials, &mut |base, changed, _| {
            let old = takes(&base.shown());
            let outcomes = changed.iter().map(|one| {
                let new = takes(&one.shown());
                let verdict = match new < old {
                    true => TrialVerdict::Confirmed(old, new, old / new, 0.0),
                    false => TrialVerdict::NoFaster(old, new),
                };
                (verdict, vec![new])
            });
            Ok(outcomes.collect())
        })
        .unwrap();
        let left_out = together.changes.left_out.iter();
        let names = left_out.map(|(name, _)| name.clone()).collect();
        let gain = together.verdict.as_ref().map(TrialVerdict::gain);
        (together.changes.shown(), names, gain)
    }

    #[test]
    fn a_change_stays_if_the_program_is_faster_with_it() {
        let trials = [trial("a", 1, 5.0), trial("b", 3, 2.0), trial("c", 5, 4.0)];
        // With b, a is for nothing.
        let takes = |changes: &str| match changes {
            "" => 10.0,
            "table b/0" => 2.0,
            "table b/0; table c/0" => 1.0,
            _ => 3.0,
        };
        let (changes, left_out, gain) = best(&trials, takes);
        assert_eq!(changes, "table b/0; table c/0");
        assert_eq!(left_out, ["table a/0"]);
        assert_eq!(gain, Some(10.0));
    }

    #[test]
    fn the_best_one_alone_needs_no_other_run() {
        let together = Together::best(&[trial("a", 1, 5.0)], &mut |_, _, _| {
            panic!("it was measured before")
        });
        let together = together.unwrap();
        assert_eq!(together.changes.shown(), "table a/0");
        assert_eq!(together.outcome(), None);
    }

    /// b writes at the same place as a.
    #[test]
    fn what_the_best_one_excludes_may_be_better_together() {
        let trials = [trial("a", 1, 4.0), trial("b", 1, 5.0), trial("c", 3, 5.0)];
        let takes = |changes: &str| match changes {
            "" => 10.0,
            "table a/0" => 4.0,
            "table b/0" => 5.0,
            "table b/0; table c/0" => 1.0,
            _ => 4.0,
        };
        let (changes, left_out, gain) = best(&trials, takes);
        assert_eq!(changes, "table b/0; table c/0");
        assert_eq!(left_out, ["table a/0"]);
        assert_eq!(gain, Some(10.0));
    }

    /// Two ways to mend one predicate are alternatives; two predicates of one finding are not.
    #[test]
    fn a_finding_may_have_several_changes() {
        let mut trials = [trial("a", 1, 2.0), trial("a", 3, 3.0), trial("b", 5, 5.0)];
        for one in &mut trials {
            one.finding = "choicepoints".to_owned();
        }
        let (changes, left_out, _) = best(&trials, |changes| 1.0 / changes.len() as f64);
        assert_eq!(changes, "table a/0; table b/0");
        assert!(left_out.is_empty(), "{left_out:?}");
    }
}
