//! What the source files say, as far as they are there to read: no finding rests on them alone.

use std::collections::BTreeSet;
use std::fs;

use crate::Analysis;
use crate::tables::Site;
use crate::trace::{PredicateIndex, PredicateInfo};

/// The lines from the first clause of a predicate to the next predicate of the file.
pub(super) fn of_predicate(analysis: &Analysis, predicate: PredicateIndex) -> Option<String> {
    let (file, line) = analysis.source(predicate)?;
    let text = fs::read_to_string(analysis.locate(file)).ok()?;
    let predicates = analysis.trace.predicates();
    let file_of = |info: &PredicateInfo| info.declared.file;
    let own = file_of(predicates.get(predicate as usize)?);
    let others = predicates.iter();
    let next = others
        .filter(|info| file_of(info) == own && info.declared.line > line)
        .map(|info| info.declared.line)
        .min();
    let count = next.map_or(usize::MAX, |next| (next - line) as usize);
    let lines = text.lines().skip(line.saturating_sub(1) as usize);
    let lines: Vec<&str> = lines.take(count).collect();
    Some(lines.join("\n"))
}

/// Whether a predicate is written as a grammar rule: what it reads is another rest of the input at
/// each call.
pub(super) fn is_grammar(analysis: &Analysis, predicate: PredicateIndex) -> bool {
    of_predicate(analysis, predicate).is_some_and(|text| text.contains("-->"))
}

/// Whether a source file of the program declares a predicate of this name dynamic.
pub(super) fn is_declared_dynamic(analysis: &Analysis, predicate: PredicateIndex) -> bool {
    let infos = analysis.trace.predicates();
    let Some(info) = infos.get(predicate as usize) else {
        return false;
    };
    let files: BTreeSet<u32> = infos.iter().filter_map(|info| info.declared.file).collect();
    let name = &info.declared.name;
    let mut files = files
        .into_iter()
        .filter_map(|file| analysis.trace.file(file));
    files.any(|file| {
        if !analysis.is_of_program(file) {
            return false;
        }
        let text = fs::read_to_string(analysis.locate(file)).unwrap_or_default();
        let mut declarations = text.split(":- dynamic").skip(1);
        declarations.any(|rest| {
            let names = rest.split_once(".\n").map_or(rest, |(names, _)| names);
            let mut words = names.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.any(|word| word == name)
        })
    })
}

/// Whether `later` shares a variable with `earlier` that the head of the clause does not have: then
/// it needs what `earlier` binds, most likely.
pub(super) fn needs(
    analysis: &Analysis,
    later: &Site,
    earlier: &Site,
    caller: PredicateIndex,
) -> bool {
    let name = |site: &Site| {
        let info = analysis.trace.predicates().get(site.callee as usize)?;
        Some(info.declared.name.clone())
    };
    let place = |site: &Site| Some((site.file()?.to_owned(), site.line()? as usize));
    let read = || {
        let (file, at) = place(earlier)?;
        let text = fs::read_to_string(analysis.locate(&file)).ok()?;
        let lines: Vec<&str> = text.lines().collect();
        let of_caller = analysis.trace.predicates().get(caller as usize)?;
        let head = lines.get(..at)?.iter().rposition(|line| {
            line.strip_prefix(of_caller.declared.name.as_str())
                .is_some_and(|rest| rest.starts_with('('))
        })?;
        let head = variables(&call(&lines, head, &of_caller.declared.name)?.0);
        let goal = |site: &Site, line: usize| {
            let (text, _) = call(&lines, line.checked_sub(1)?, &name(site)?)?;
            Some(variables(&text))
        };
        let (_, then) = place(later)?;
        let (first, second) = (goal(earlier, at)?, goal(later, then)?);
        Some(first.intersection(&second).any(|name| !head.contains(name)))
    };
    read().unwrap_or(false)
}

/// Whether the goal is the whole condition of an if-then-else: that it fails rejects nothing then.
pub(super) fn is_condition(analysis: &Analysis, goal: &Site) -> bool {
    let read = || {
        let (file, line) = (goal.file()?, goal.line()?);
        let text = fs::read_to_string(analysis.locate(file)).ok()?;
        let lines: Vec<&str> = text.lines().collect();
        let callee = analysis.trace.predicates().get(goal.callee as usize)?;
        let line = (line as usize).checked_sub(1)?;
        let (_, rest) = call(&lines, line, &callee.declared.name)?;
        let rest = rest.trim_start();
        Some(rest.starts_with("->") || rest.starts_with("*->"))
    };
    read().unwrap_or(false)
}

/// The text of a compound term, from the first `name(` of a line to the bracket that closes it, and
/// what follows.
fn call(lines: &[&str], line: usize, name: &str) -> Option<(String, String)> {
    let text = lines.get(line..)?.join("\n");
    let begin = format!("{name}(");
    let is_begin = |&(at, _): &(usize, &str)| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    };
    let (at, _) = text.match_indices(&begin).find(is_begin)?;
    if text[..at].contains('\n') {
        return None;
    }
    let mut depth = 0_u32;
    for (end, c) in text[at..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => {
                let (whole, rest) = text[at..].split_at(end + 1);
                return Some((whole.to_owned(), rest.to_owned()));
            }
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The named variables in a text.
fn variables(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_variable = |word: &&str| {
        let mut letters = word.chars();
        match letters.next() {
            Some('_') => letters.next().is_some(),
            first => first.is_some_and(char::is_uppercase),
        }
    };
    words.filter(is_variable).map(str::to_owned).collect()
}
