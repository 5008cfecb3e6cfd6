//! Where most of the work is, whatever its cause: an answer for programs that have none of the
//! known causes.

use std::collections::BTreeMap;

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, Need, may_repeat};
use crate::remarks::hottest_path;
use crate::tables::Site;
use crate::text::{counted, shell_quoted};
use crate::trace::{PredicateIndex, PredicateInfo};

/// From such a part of the work on, in percent, what runs inside one library is worth another
/// recording.
const MOST_IN_LIBRARY: u64 = 50;

/// The goal whose callee worked longest itself. One finding, unless nothing worked.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    // A goal's part of the self time of what it calls, by its part of the inclusive time.
    let own = |site: &Site| {
        let figures = evidence.figures(site.callee);
        let served = site.figures.served_ticks;
        part_of(figures.self_ticks, served, figures.inclusive_ticks)
    };
    let infos = evidence.analysis.trace.predicates();
    let is_work = |predicate: PredicateIndex| {
        let info = infos.get(predicate as usize);
        info.is_some_and(PredicateInfo::is_called_by_program)
    };
    let goals = evidence.sites().filter(|site| is_work(site.callee));
    let goal = goals.max_by_key(|site| own(site));
    let predicates = evidence.predicates().filter(|&(index, ..)| is_work(index));
    let hottest = predicates.max_by_key(|(_, _, figures)| figures.self_ticks);
    match (goal, hottest) {
        (Some(goal), _) if own(goal) > 0 => vec![of_goal(evidence, goal, own(goal))],
        (_, Some((index, _, figures))) if figures.self_ticks > 0 => {
            vec![of_predicate(evidence, index, figures.self_ticks)]
        }
        _ => Vec::new(),
    }
}

fn of_goal(evidence: &Evidence, goal: &Site, own_ticks: u64) -> Finding {
    let name = evidence.name(goal.callee);
    let calls = goal.figures.calls;
    let (library, remedy, mut needs) = library(evidence, goal.callee);
    let remedy = match may_repeat::recursive(evidence) {
        Some(again) => {
            let name = evidence.name(again);
            needs.push(Need::Arguments(name.to_owned()));
            let option = shell_quoted(name);
            format!(
                "{remedy} {name} calls itself in a tree: record with --arguments {option} to see whether the same calls come again, \
                 which a table would keep."
            )
        }
        None => remedy,
    };
    Finding {
        cause: Cause::Hottest,
        place: evidence.place_of(goal),
        cost_ticks: own_ticks,
        certainty: Certainty::Counted,
        title: format!("most of the work: {name} {}", evidence.at(goal)),
        evidence: format!(
            "{name} itself worked {} in {} there, {} a call: {} of the work, which is what would be saved at most if it cost nothing. \
             {}{library}",
            evidence.time(own_ticks),
            counted(calls, "call", "calls"),
            evidence.time(own_ticks / calls.max(1)),
            share(own_ticks, evidence.total_ticks),
            path(evidence),
        ),
        remedy,
        predicates: vec![goal.callee],
        needs,
    }
}

/// What no goal is known to call.
fn of_predicate(evidence: &Evidence, predicate: PredicateIndex, own_ticks: u64) -> Finding {
    let name = evidence.name(predicate);
    let (library, remedy, needs) = library(evidence, predicate);
    Finding {
        cause: Cause::Hottest,
        place: evidence.place(predicate),
        cost_ticks: own_ticks,
        certainty: Certainty::Counted,
        title: format!("most of the work: {name}"),
        evidence: format!(
            "{name} itself worked {}: {} of the work, which is what would be saved at most if it cost nothing. {}{library}",
            evidence.time(own_ticks),
            share(own_ticks, evidence.total_ticks),
            path(evidence),
        ),
        remedy,
        predicates: vec![predicate],
        needs,
    }
}

fn path(evidence: &Evidence) -> String {
    let path = hottest_path(evidence.analysis, None);
    let names: Vec<&str> = path
        .iter()
        .map(|&(index, _)| evidence.name(index))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("The hottest path: {}.", names.join(" > ")),
    }
}

/// What is said of the library that most of the work is in, if it is one, and what to do.
fn library(evidence: &Evidence, hottest: PredicateIndex) -> (String, String, Vec<Need>) {
    let mut modules = BTreeMap::<&str, u64>::new();
    for (index, info, figures) in evidence.predicates() {
        let module = info.declared.module.as_str();
        let is_library = module != "system" && !module.starts_with('$');
        if is_library && evidence.foreign_name(index).is_some() {
            let sum = modules.entry(module).or_default();
            *sum = sum.saturating_add(figures.self_ticks);
        }
    }
    let enough = evidence.total_ticks / 100 * MOST_IN_LIBRARY;
    let most = modules.into_iter().max_by_key(|&(_, ticks)| ticks);
    let most = most
        .filter(|&(module, ticks)| ticks > 0 && ticks >= enough && !is_recorded(evidence, module));
    if let Some((module, ticks)) = most {
        let share = share(ticks, evidence.total_ticks);
        let text = format!(
            " {share} of the work is inside library {module}, whose own calls were not recorded."
        );
        let remedy = "record again with --libraries to see what the library does; or call it less often, with less.";
        return (text, remedy.to_owned(), vec![Need::Libraries]);
    }
    let remedy = match evidence.is_of_program(hottest) {
        true => {
            "call it less often, let it do less in each call, or do what does not change once before; --clauses shows which clauses work."
        }
        false => "call it less often, or with less.",
    };
    (String::new(), remedy.to_owned(), Vec::new())
}

/// Whether calls of a library's predicates among themselves are in the trace.
fn is_recorded(evidence: &Evidence, module: &str) -> bool {
    let infos = evidence.analysis.trace.predicates();
    let is_in = |index: PredicateIndex| {
        let info = infos.get(index as usize);
        info.is_some_and(|info| info.declared.module == module)
    };
    let mut clauses = evidence.clauses.keys();
    clauses.any(|&(predicate, _)| is_in(predicate))
}
