//! A goal that generates, and a later one, or a test, that rejects most of it.

use std::collections::BTreeSet;

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding};
use crate::tables::Site;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer rejected solutions are no pattern.
const LEAST: u64 = 100;

/// For each goal of a clause that rejects: the last goal before it that generates what it rejects. For each other goal that is redone: tests in
/// the clause.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (&(predicate, _), goals) in &evidence.clauses {
        let mut explained = BTreeSet::new();
        for (at, test) in goals.iter().enumerate() {
            let mut generators = (0..at)
                .rev()
                .filter(|&before| goals[before].figures.redos >= LEAST);
            let found = generators.find_map(|before| {
                let finding = by_goal(evidence, &goals[before], test)?;
                Some((before, finding))
            });
            if let Some((before, finding)) = found {
                explained.insert(before);
                findings.push(finding);
            }
        }
        let others = (0..goals.len()).filter(|at| !explained.contains(at));
        findings.extend(others.filter_map(|at| by_test(evidence, predicate, &goals[at])));
    }
    findings
}

/// `test` rejects what `generator` gave: it fails at once more often than not, and then the generator is redone.
fn by_goal(evidence: &Evidence, generator: &Site, test: &Site) -> Option<Finding> {
    let backtracks = evidence.backtracks(test.callee, generator.callee);
    let rejected = test.figures.fails_dry.min(backtracks.count);
    if rejected < LEAST || rejected < test.figures.calls / 2 {
        return None;
    }
    let (from, by) = (evidence.name(generator.callee), evidence.name(test.callee));
    let rejected_share = share(rejected, test.figures.calls);
    Some(Finding {
        cause: Cause::Generator,
        place: evidence.place_of(test),
        cost_ticks: part_of(backtracks.undone_ticks, rejected, backtracks.count),
        certainty: Certainty::Likely,
        title: format!("{by} rejects {rejected_share} of what {from} generates"),
        evidence: format!(
            "{from} {} gave {} solutions; {by} {} failed at {} of {} calls, and each time backtracking went into \
             {from} and threw away the work since.",
            evidence.at(generator),
            count(generator.figures.exits()),
            evidence.at(test),
            count(rejected),
            count(test.figures.calls),
        ),
        remedy: format!(
            "generate less: compute the solutions that {by} accepts, or test as soon as what {by} needs is known, \
             before the last {from} runs; with constraints (library(clpfd)) the test comes first."
        ),
        predicates: vec![test.callee, generator.callee],
    })
}

/// Something in the clauses of `predicate` that is no box rejects what `generator` gave.
fn by_test(evidence: &Evidence, predicate: PredicateIndex, generator: &Site) -> Option<Finding> {
    let backtracks = evidence.backtracks(predicate, generator.callee);
    let rejected = backtracks.count.min(generator.figures.redos);
    if rejected < LEAST || rejected < generator.figures.exits() / 2 {
        return None;
    }
    let (from, by) = (evidence.name(generator.callee), evidence.name(predicate));
    Some(Finding {
        cause: Cause::Generator,
        place: evidence.place_of(generator),
        cost_ticks: part_of(backtracks.undone_ticks, rejected, backtracks.count),
        certainty: Certainty::Likely,
        title: format!(
            "tests in {by} reject {} of what {from} generates",
            share(rejected, generator.figures.exits())
        ),
        evidence: format!(
            "{from} {} gave {} solutions; a comparison, unification or other test after it in {by} failed {} times, \
             and each time backtracking went into {from}.",
            evidence.at(generator),
            count(generator.figures.exits()),
            count(rejected),
        ),
        remedy: format!(
            "let {from} generate only what passes: narrower bounds, a key that is bound before the call, or the test \
             directly after what it needs."
        ),
        predicates: vec![predicate, generator.callee],
    })
}
