//! Changes as edits of the text of source files. The engine reads the files, so that operators and
//! syntax are its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use portmortem_analyzer::advice::{Change, ClauseLine, ConjunctionGoal, WrittenPredicate};
use portmortem_analyzer::trace::names::quoted;
use serde_json::{Value, json};

/// Reads the files.
const PLAN: &str = include_str!("../../../prolog/portmortem_plan.pl");

/// Text of a file, from one character to another, that is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    clause: usize,
    from: usize,
    until: usize,
    text: New,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum New {
    Text(String),
    Line(String),
    Range(usize, usize),
}

/// Changes of files, and what is known of the program.
pub(super) struct EditPlan<'a> {
    pub(super) engine: &'a str,
    /// A place for temporary files.
    pub(super) directory: &'a Path,
    pub(super) changes: &'a [(PathBuf, Change)],
}

impl EditPlan<'_> {
    /// The edits of each change, in the order of the changes; none where the text does not allow
    /// the change. `seen` is what a run with [`EditPlan::probes`] noted.
    ///
    /// # Errors
    /// If the engine cannot be started.
    pub(super) fn edits(&self, seen: &str) -> Result<Vec<Vec<Edit>>> {
        let mut all = self.ask(seen)?;
        for (edits, (_, change)) in all.iter_mut().zip(self.changes) {
            if let Change::CommitFirst(_) | Change::CommitLast(_) = change {
                let last = edits.iter().map(|edit| edit.clause).max();
                edits.retain(|edit| Some(edit.clause) != last);
            }
        }
        Ok(all)
    }

    /// Files in which goals note what is bound before them, where that decides whether a goal may
    /// come earlier.
    ///
    /// # Errors
    /// If the engine cannot be started, or a file cannot be read.
    pub(super) fn probes(&self) -> Result<Vec<(PathBuf, String)>> {
        let moves = |change: &Change| {
            matches!(
                change,
                Change::Before(..) | Change::Behind(..) | Change::EarlyTests(_)
            )
        };
        if !self.changes.iter().any(|(_, change)| moves(change)) {
            return Ok(Vec::new());
        }
        let all = self.ask("probing.\n")?;
        let mut of_files: BTreeMap<&Path, BTreeMap<usize, BTreeSet<String>>> = BTreeMap::new();
        for (edits, (file, change)) in all.into_iter().zip(self.changes) {
            for edit in edits.into_iter().filter(|_| moves(change)) {
                if let New::Text(text) = edit.text {
                    let of_file = of_files.entry(file).or_default();
                    of_file.entry(edit.from).or_default().insert(text);
                }
            }
        }
        let texts = of_files.into_iter().map(|(file, places)| {
            let edits = places.into_iter().map(|(from, texts)| Edit {
                clause: from,
                from,
                until: from,
                text: New::Text(texts.into_iter().collect()),
            });
            let edits: Vec<Edit> = edits.collect();
            let text = apply(&fs::read_to_string(file)?, &edits, true);
            Ok((file.to_owned(), text.context("changes overlap")?))
        });
        texts.collect()
    }

    /// What the engine says of the changes, given some more facts.
    fn ask(&self, facts: &str) -> Result<Vec<Vec<Edit>>> {
        let script = self.directory.join("portmortem_plan.pl");
        fs::write(&script, PLAN)?;
        let requests = self.directory.join("requests.pl");
        let terms = self.changes.iter().enumerate().map(|(id, (file, change))| {
            let file = quoted(&file.display().to_string());
            format!("change({id}, {file}, {}).\n", request(change))
        });
        fs::write(&requests, terms.collect::<String>() + facts)?;
        let goal = format!(
            "portmortem_plan:plan({})",
            quoted(&requests.display().to_string())
        );
        let mut command = Command::new(self.engine);
        command.args(["-f", "none", "-g", &goal, "-t", "halt"]);
        let output = command.arg(&script).stdin(Stdio::null()).output()?;
        let mut all = vec![Vec::new(); self.changes.len()];
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some((id, edit)) = read(line)
                && let Some(edits) = all.get_mut(id)
            {
                edits.push(edit);
            }
        }
        Ok(all)
    }
}

fn request(change: &Change) -> String {
    let goal =
        |ConjunctionGoal { name, arity }: &ConjunctionGoal| format!("{}/{arity}", quoted(name));
    let of = |WrittenPredicate { name, arity, .. }: &WrittenPredicate| {
        format!("{}, {arity}", quoted(name))
    };
    let order = |at: &ClauseLine, how: &str, one: &ConjunctionGoal, other: &ConjunctionGoal| {
        format!("order({}, {how}, {}, {})", at.line, goal(one), goal(other))
    };
    match change {
        Change::Table(written) => format!("table({})", of(written)),
        Change::CommitFirst(written) => format!("commit(first, {})", of(written)),
        Change::CommitLast(written) => format!("commit(last, {})", of(written)),
        Change::Before(at, one, other) => order(at, "before", one, other),
        Change::Behind(at, one, other) => order(at, "behind", one, other),
        Change::EarlyTests(at) => format!("tests({})", at.line),
        Change::Exists(at) => format!("exists({})", at.line),
        Change::First(at) => format!("first({})", at.line),
        Change::Labelled(at, order) => format!("labelled({}, {order})", at.line),
        Change::ConstraintsFirst(at, of, others) => {
            let others: Vec<String> = others.iter().map(goal).collect();
            let (line, of) = (at.line, goal(of));
            format!("constraints_first({line}, {of}, [{}])", others.join(", "))
        }
        Change::RuleModes(_, modes) => {
            let mode = |ground: &bool| if *ground { "+" } else { "?" };
            let of = |(of, ground): &(ConjunctionGoal, Vec<bool>)| {
                let modes: Vec<&str> = ground.iter().map(mode).collect();
                format!("{}-[{}]", goal(of), modes.join(", "))
            };
            let all: Vec<String> = modes.iter().map(of).collect();
            format!("rule_modes([{}])", all.join(", "))
        }
        Change::Once(at, one) => format!("once({}, {})", at.line, goal(one)),
        Change::ArgumentFirst(written) => format!("first({})", of(written)),
        Change::Without(at, one) | Change::Free(at, one) => {
            format!("without({}, {})", at.line, goal(one))
        }
    }
}

fn read(line: &str) -> Option<(usize, Edit)> {
    let mut fields = line.splitn(6, '\t');
    let mut number = || fields.next()?.parse::<usize>().ok();
    let (id, clause, from, until) = (number()?, number()?, number()?, number()?);
    let (kind, text) = (fields.next()?, fields.next()?);
    let text = match kind {
        "l" => New::Line(text.to_owned()),
        "r" => {
            let (from, until) = text.split_once(' ')?;
            New::Range(from.parse().ok()?, until.parse().ok()?)
        }
        _ => New::Text(text.to_owned()),
    };
    let edit = Edit {
        clause,
        from,
        until,
        text,
    };
    Some((id, edit))
}

/// The text with the edits made; `None` if they overlap or are beyond it. What is a line of its own
/// for a person is none for the engine, so
/// that all lines keep their numbers.
pub(super) fn apply(text: &str, edits: &[Edit], for_engine: bool) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut ordered: BTreeMap<(usize, usize), &Edit> = BTreeMap::new();
    for edit in edits {
        let other = ordered.insert((edit.from, edit.until), edit);
        if other.is_some_and(|other| other != edit) {
            return None;
        }
    }
    let mut new = String::new();
    let mut at = 0;
    for edit in ordered.values() {
        new.extend(letters.get(at..edit.from)?);
        match &edit.text {
            New::Text(text) => new.push_str(text),
            New::Line(text) => {
                new.push_str(text);
                new.push(if for_engine { ' ' } else { '\n' });
            }
            New::Range(from, until) => new.extend(letters.get(*from..*until)?),
        }
        at = edit.until;
    }
    new.extend(letters.get(at..)?);
    Some(new)
}

/// Whether one of the changes cannot be made beside the other, as they write the same text, touch
/// one another, or copy text that the other one writes. What both do alike is done once.
pub(super) fn exclude(some: &[Edit], others: &[Edit]) -> bool {
    some.iter().any(|one| {
        others
            .iter()
            .any(|other| one != other && (one.disturbs(other) || other.disturbs(one)))
    })
}

impl Edit {
    /// Whether it writes what the other one writes or copies.
    fn disturbs(&self, other: &Self) -> bool {
        let touches = |from: usize, until: usize| self.from <= until && from <= self.until;
        touches(other.from, other.until)
            || matches!(other.text, New::Range(from, until) if touches(from, until))
    }
}

/// The lines that edits change, for programs: of each clause, the first line and all from there to
/// the last one, before and after.
pub(super) fn objects(file: &Path, edits: &[Edit]) -> Vec<Value> {
    let old = fs::read_to_string(file).unwrap_or_default();
    let mut of_clauses: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        let of_clause = of_clauses.entry(edit.clause).or_default();
        of_clause.push(edit.clone());
    }
    let all = of_clauses.into_values();
    all.filter_map(|edits| object(&old, &edits)).collect()
}

fn object(old: &str, edits: &[Edit]) -> Option<Value> {
    let new: Vec<char> = apply(old, edits, false)?.chars().collect();
    let old: Vec<char> = old.chars().collect();
    let from = edits.iter().map(|edit| edit.from).min()?;
    let until = edits.iter().map(|edit| edit.until).max()?;
    let is_end = |c: &char| *c == '\n';
    let begin = old[..from].iter().rposition(is_end).map_or(0, |at| at + 1);
    let end = old[until..].iter().position(is_end);
    let rest = end.map_or(0, |at| old.len() - (until + at + 1));
    let lines = |text: &[char]| text[begin..text.len() - rest].iter().collect::<String>();
    Some(json!({
        "line": 1 + old[..begin].iter().filter(|c| is_end(c)).count(),
        "before": lines(&old),
        "after": lines(&new),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(from: usize, until: usize, text: New) -> Edit {
        Edit {
            clause: 0,
            from,
            until,
            text,
        }
    }

    impl Edit {
        /// A text at one place.
        pub(in super::super) fn for_tests(at: usize, text: &str) -> Self {
            edit(at, at, New::Text(text.to_owned()))
        }
    }

    #[test]
    fn changes_exclude_one_another_where_they_write_the_same_text() {
        let text = |from, until| [edit(from, until, New::Text("x".to_owned()))];
        let moves = [
            edit(10, 20, New::Range(30, 40)),
            edit(30, 40, New::Range(10, 20)),
        ];
        assert!(!exclude(&text(2, 3), &text(5, 6)));
        assert!(exclude(&text(2, 4), &text(3, 6)));
        // Which of two comes first where they touch, is not known.
        assert!(exclude(&text(2, 4), &text(4, 4)));
        assert!(!exclude(&text(4, 4), &text(4, 4)), "the same twice");
        assert!(exclude(&moves, &text(35, 36)), "it would be copied");
        assert!(exclude(&text(12, 13), &moves));
        assert!(!exclude(&moves, &text(22, 28)), "a goal between them");
    }
}
