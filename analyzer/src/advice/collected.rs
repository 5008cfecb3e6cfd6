//! All solutions are collected, and then only looked at whether there is any.

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, source};
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::PredicateIndex;

fn remedy(evidence: &Evidence) -> String {
    format!(
        "if the question is whether there is a solution, ask for one: \\+ Goal for none, once(Goal) or Goal -> … for some{}",
        evidence.libraries.remedies.some_solutions
    )
}

/// Fewer calls are not worth another goal.
const LEAST: u64 = 100;

/// A finding for each `length/2` that follows a `findall/3` in its clause and often fails: it
/// compares with a number that is known.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for goals in evidence.clauses.values() {
        for (at, test) in goals.iter().enumerate() {
            // Goals in the arguments of a collector stand between the two.
            let before = goals[..at].iter().rev();
            let mut collectors = before.filter(|goal| {
                is_collecting(evidence, goal.callee) && goal.figures.calls >= test.figures.calls
            });
            let found = collectors.next();
            findings.extend(found.and_then(|collector| finding(evidence, collector, test)));
        }
        findings.extend(goals.iter().filter_map(|goal| counted(evidence, goal)));
    }
    findings
}

/// A finding for a goal that counts all solutions, if the text only asks whether there is one.
fn counted(evidence: &Evidence, goal: &SiteData) -> Option<Finding> {
    let calls = goal.figures.calls;
    let counts = evidence
        .libraries
        .counts_with(evidence.foreign_name(goal.callee)?)?;
    if calls < LEAST || !source::counted_to_test(evidence.analysis, goal, counts) {
        return None;
    }
    let (name, served) = (evidence.name(goal.callee), goal.figures.served_work_ticks);
    Some(Finding {
        cause: Cause::CollectedToTest,
        place: evidence.place_of(goal),
        cost_ticks: served,
        certainty: Certainty::ToCheck,
        title: format!("{name} counts all solutions to see whether there is one"),
        evidence: format!(
            "{name} {} was called {} times and took {}. What it counts is only compared with none: the first solution decides that.",
            evidence.at(goal),
            count(calls),
            evidence.time(served),
        ),
        remedy: remedy(evidence),
        predicates: vec![goal.callee],
        needs: Vec::new(),
    })
}

fn is_collecting(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let name = evidence.foreign_name(predicate);
    name.is_some_and(|name| ["findall", "bagof", "setof"].contains(&name))
}

fn finding(evidence: &Evidence, collector: &SiteData, test: &SiteData) -> Option<Finding> {
    let name = evidence.foreign_name(test.callee)?;
    if !evidence.libraries.is_measuring(name) {
        return None;
    }
    let (failed, calls) = (test.figures.fails, test.figures.calls);
    if calls < LEAST || failed < calls / 10 {
        return None;
    }
    let (from, by) = (evidence.name(collector.callee), evidence.name(test.callee));
    let cost_ticks = part_of(collector.figures.served_work_ticks, failed, calls);
    Some(Finding {
        cause: Cause::CollectedToTest,
        place: evidence.place_of(collector),
        cost_ticks,
        certainty: Certainty::ToCheck,
        title: format!("{from} collects all solutions, and {by} only tests how many there are"),
        evidence: format!(
            "{from} {} took {} in {} calls; then {by} {} failed at {} of {} calls ({}). A solution too many decides that, and all \
             others are found for nothing.",
            evidence.at(collector),
            evidence.time(collector.figures.served_work_ticks),
            count(collector.figures.calls),
            evidence.at(test),
            count(failed),
            count(calls),
            share(failed, calls),
        ),
        remedy: remedy(evidence),
        predicates: vec![collector.callee, test.callee],
        needs: Vec::new(),
    })
}
