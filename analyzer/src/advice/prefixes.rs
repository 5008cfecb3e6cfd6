//! Clauses that begin with the same goal: it is done again in each of them that is tried.

use std::collections::BTreeMap;

use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding, effects};
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::PredicateIndex;

/// A box of the predicate enters each clause at most once between two of its redos. So what the first goals of its clauses are called more often
/// than the predicate is called and redone was done more than once in the same box.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut beginnings = BTreeMap::<(PredicateIndex, PredicateIndex), Vec<&SiteData>>::new();
    for (&(predicate, _), goals) in &evidence.clauses {
        if let Some(first) = goals.first() {
            let same = beginnings.entry((predicate, first.callee)).or_default();
            same.push(first);
        }
    }
    let findings = beginnings.iter().filter(|(_, goals)| goals.len() > 1);
    findings
        .filter_map(|(&(predicate, callee), goals)| finding(evidence, predicate, callee, goals))
        .collect()
}

fn finding(
    evidence: &Evidence,
    predicate: PredicateIndex,
    callee: PredicateIndex,
    goals: &[&SiteData],
) -> Option<Finding> {
    let sum = |value: fn(&SiteData) -> u64| {
        let values = goals.iter().map(|goal| value(goal));
        values.fold(0_u64, u64::saturating_add)
    };
    let calls = sum(|goal| goal.figures.calls);
    let own = evidence.figures(predicate);
    let repeated = calls.saturating_sub(own.calls.saturating_add(own.redos));
    // Where the first of them failed, the same goal would fail again: what later clauses called so
    // often was another one, such as one with its arguments exchanged.
    let failed = goals.first().map_or(0, |goal| goal.figures.fails_dry);
    let later = goals
        .iter()
        .skip(1)
        .map(|goal| goal.figures.calls.saturating_sub(failed));
    let repeated = repeated.min(later.fold(0_u64, u64::saturating_add));
    let cost_ticks = part_of(sum(|goal| goal.figures.served_work_ticks), repeated, calls);
    let (name, first) = (evidence.name(predicate), evidence.name(callee));
    let lines: Vec<String> = goals
        .iter()
        .filter_map(|goal| goal.line())
        .map(|line| line.to_string())
        .collect();
    if repeated == 0 {
        return None;
    }
    let table = match effects::depends_on_more(evidence, predicate) {
        true => String::new(),
        false => format!("; or {}", evidence.libraries.remedies.to_table(name)),
    };
    Some(Finding {
        cause: Cause::RepeatedPrefix,
        place: evidence.place(predicate),
        cost_ticks,
        certainty: Certainty::Likely,
        title: format!("clauses of {name} do {first} again that an earlier clause did"),
        evidence: format!(
            "{} clauses of {name} begin with {first} (lines {}). They called it {} times for {} calls of {name}: \
             when the rest of a clause fails, the next clause does the same work again.",
            goals.len(),
            lines.join(", "),
            count(calls),
            count(own.calls),
        ),
        remedy: format!(
            "write what the clauses have in common once: one clause that calls {first}, and then a new predicate with \
             a clause for each of the rests{table}."
        ),
        predicates: vec![predicate, callee],
        needs: Vec::new(),
    })
}
