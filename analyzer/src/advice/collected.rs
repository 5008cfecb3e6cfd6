//! All solutions are collected, and then only looked at whether there is any.

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding};
use crate::tables::Site;
use crate::text::count;
use crate::trace::PredicateIndex;

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
                let names = ["findall", "bagof", "setof"];
                is(evidence, goal.callee, &names) && goal.figures.calls >= test.figures.calls
            });
            let found = collectors.next();
            findings.extend(found.and_then(|collector| finding(evidence, collector, test)));
        }
    }
    findings
}

fn is(evidence: &Evidence, predicate: PredicateIndex, names: &[&str]) -> bool {
    let name = evidence.foreign_name(predicate);
    name.is_some_and(|name| names.contains(&name))
}

fn finding(evidence: &Evidence, collector: &Site, test: &Site) -> Option<Finding> {
    if !is(evidence, test.callee, &["length"]) {
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
        remedy: "if the question is whether there is a solution, ask for one: \\+ Goal for none, once(Goal) or Goal -> … for \
                 some; for at least N, findnsols/4 or limit/2 of library(solution_sequences)."
            .to_owned(),
        predicates: vec![collector.callee, test.callee],
        needs: Vec::new(),
    })
}
