//! Data that is copied at each call: with a lambda, or into a global variable.

use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding, source};
use crate::text::count;

/// Fewer calls are no loop.
const LEAST: u64 = 500;

/// Calls that take less time, in ns, copy little.
const LEAST_NS: u64 = 10_000;

pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = lambdas(evidence);
    findings.extend(built_ins(evidence));
    findings
}

/// Lambdas that take long beside what they call.
fn lambdas(evidence: &Evidence) -> Vec<Finding> {
    let lambdas = evidence.predicates().filter(|(_, info, figures)| {
        let declared = &info.declared;
        evidence
            .libraries
            .is_lambda(&declared.module, &declared.name)
            && figures.calls >= LEAST
            && evidence.analysis.ns(figures.self_ticks / figures.calls) >= LEAST_NS
    });
    let finding = |(index, _, figures): (_, _, &crate::figures::PredicateFigures)| {
        let goal = evidence.costliest_goal_to(index)?;
        // A library calls it with whatever lambda it was given.
        let (cost_ticks, calls) = match goal.callee == index {
            true => (
                part_of(
                    figures.self_ticks,
                    goal.figures.served_work_ticks,
                    figures.inclusive_work_ticks,
                ),
                goal.figures.calls,
            ),
            false => (figures.self_ticks, figures.calls),
        };
        Some(Finding {
            cause: Cause::CopiedData,
            place: evidence.place_of(goal),
            cost_ticks,
            certainty: Certainty::ToCheck,
            title: format!("a lambda {} may copy its data at each call", evidence.at(goal)),
            evidence: format!(
                "The lambda was called {} times and worked {} itself, {} a call. A lambda that is called as it stands is copied at \
                 each call with all that its variables are bound to.",
                count(calls),
                evidence.time(cost_ticks),
                evidence.time(figures.self_ticks / figures.calls.max(1)),
            ),
            remedy: "write a predicate and hand it the data as an argument: foldl(step(Data), …). If the lambda has no large data, \
                     it is what the lambda calls in libraries."
                .to_owned(),
            predicates: vec![index],
            needs: Vec::new(),
        })
    };
    lambdas.filter_map(finding).collect()
}

/// Predicates of the program that take long themselves, and whose clauses name a built-in that
/// copies.
fn built_ins(evidence: &Evidence) -> Vec<Finding> {
    let slow = evidence.predicates().filter(|&(index, _, figures)| {
        evidence.is_of_program(index)
            && figures.calls >= LEAST
            && evidence.analysis.ns(figures.self_ticks / figures.calls) >= LEAST_NS
    });
    let finding = |(index, _, figures): (_, _, &crate::figures::PredicateFigures)| {
        let text = source::of_predicate(evidence.analysis, index)?;
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let built_in = words.find(|word| evidence.libraries.copies_unseen(word))?;
        let name = evidence.name(index);
        Some(Finding {
            cause: Cause::CopiedData,
            place: evidence.place(index),
            cost_ticks: figures.self_ticks,
            certainty: Certainty::ToCheck,
            title: format!("{name} may copy its data at each call: it calls {built_in}"),
            evidence: format!(
                "{name} worked {} itself in {} calls, {} a call: long for what is no recorded call. Its clauses name {built_in}, which copies \
                 the whole term each time.",
                evidence.time(figures.self_ticks),
                count(figures.calls),
                evidence.time(figures.self_ticks / figures.calls.max(1)),
            ),
            remedy: evidence.libraries.remedies.copied_data.to_owned(),
            predicates: vec![index],
            needs: Vec::new(),
        })
    };
    slow.filter_map(finding).collect()
}
