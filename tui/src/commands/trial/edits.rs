//! Changes as edits of the text of source files. The engine reads the files, so that operators and
//! syntax are its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use portmortem_analyzer::advice::{Change, Goal, Spot, Written};

use super::super::engine::atom;

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

/// The edits of each change, in the order of the changes; none where the text does not allow the
/// change.
pub(super) fn plan(
    swipl: &Path,
    directory: &Path,
    changes: &[(PathBuf, Change)],
) -> Result<Vec<Vec<Edit>>> {
    let script = directory.join("portmortem_plan.pl");
    fs::write(&script, PLAN)?;
    let requests = directory.join("requests.pl");
    let terms = changes.iter().enumerate().map(|(id, (file, change))| {
        let file = atom(&file.display().to_string());
        format!("change({id}, {file}, {}).\n", request(change))
    });
    fs::write(&requests, terms.collect::<String>())?;
    let goal = format!(
        "portmortem_plan:plan({})",
        atom(&requests.display().to_string())
    );
    let mut command = Command::new(swipl);
    command.args(["-f", "none", "-g", &goal, "-t", "halt"]);
    let output = command.arg(&script).stdin(Stdio::null()).output()?;
    let mut all = vec![Vec::new(); changes.len()];
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((id, edit)) = read(line)
            && let Some(edits) = all.get_mut(id)
        {
            edits.push(edit);
        }
    }
    for (edits, (_, change)) in all.iter_mut().zip(changes) {
        if let Change::CommitFirst(_) | Change::CommitLast(_) = change {
            let last = edits.iter().map(|edit| edit.clause).max();
            edits.retain(|edit| Some(edit.clause) != last);
        }
    }
    Ok(all)
}

fn request(change: &Change) -> String {
    let goal = |Goal { name, arity }: &Goal| format!("{}/{arity}", atom(name));
    let of = |Written { name, arity, .. }: &Written| format!("{}, {arity}", atom(name));
    let order = |at: &Spot, how: &str, one: &Goal, other: &Goal| {
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
        Change::FirstFail(at) => format!("labelled({}, ff)", at.line),
        Change::Bisect(at) => format!("labelled({}, bisect)", at.line),
        Change::ConstraintsFirst(at, of, others) => {
            let others: Vec<String> = others.iter().map(goal).collect();
            let (line, of) = (at.line, goal(of));
            format!("constraints_first({line}, {of}, [{}])", others.join(", "))
        }
        Change::RuleModes(_, modes) => {
            let mode = |ground: &bool| if *ground { "+" } else { "?" };
            let of = |(of, ground): &(Goal, Vec<bool>)| {
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
