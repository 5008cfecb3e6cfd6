//! Work that exceptions threw away.

use std::collections::BTreeMap;

use super::evidence::{Evidence, share};
use super::{Cause, Certainty, Finding};
use crate::figures::Caller;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer exceptions are errors, not a way to work.
const LEAST: u64 = 10;

/// The predicate whose calls lost the most time so, and the one of the program that raised most
/// often.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    // An exception leaves many boxes on its way, of a recursion all that are open; it is raised in
    // one of them.
    let raised = raised(evidence, |_| true);
    if raised
        .values()
        .fold(0_u64, |sum, raised| sum.saturating_add(*raised))
        < LEAST
    {
        return Vec::new();
    }
    let of_program = self::raised(evidence, |predicate| evidence.is_of_program(predicate));
    let raising = evidence.predicates().filter(|(index, info, figures)| {
        info.is_called_by_program()
            && evidence.is_of_program(*index)
            && figures.exceptions > 0
            && left_for_another(evidence, *index) >= LEAST
    });
    let left = raising.max_by_key(|(_, _, figures)| figures.raised_work_ticks);
    let source = of_program.iter().max_by_key(|&(_, raised)| *raised);
    let (Some((left, _, figures)), Some((&source, &times))) = (left, source) else {
        return Vec::new();
    };
    let (name, by) = (evidence.name(left), evidence.name(source));
    vec![Finding {
        cause: Cause::Exceptions,
        place: evidence.place(left),
        cost_ticks: figures.raised_work_ticks,
        certainty: Certainty::Likely,
        title: format!("calls of {name} end in exceptions"),
        evidence: format!(
            "{} of {} calls of {name} ({}) were left by an exception, after {} in them. Most were raised in {by}: {}.",
            count(figures.exceptions),
            count(figures.calls),
            share(figures.exceptions, figures.calls),
            evidence.time(figures.raised_work_ticks),
            count(times),
        ),
        remedy: format!(
            "test before the work what makes {by} raise the exception, or let it fail; an exception is costly where \
             it is the usual way out. What is thrown is copied: throw a small term, and no data that the catcher has."
        ),
        predicates: vec![left, source],
        needs: Vec::new(),
    }]
}

/// Exceptions that left a predicate for another one, or for the root: those on the way out of a recursion are not counted.
fn left_for_another(evidence: &Evidence, predicate: PredicateIndex) -> u64 {
    let itself = (Caller::Predicate(predicate), predicate);
    let edge = evidence.analysis.profile.edges.get(&itself);
    let within = edge.map_or(0, |edge| edge.exceptions);
    evidence
        .figures(predicate)
        .exceptions
        .saturating_sub(within)
}

/// By predicate, of those that count: exceptions that left it, and came from none of the others that it calls.
fn raised(
    evidence: &Evidence,
    counts: impl Fn(PredicateIndex) -> bool,
) -> BTreeMap<PredicateIndex, u64> {
    let mut passed = BTreeMap::<PredicateIndex, u64>::new();
    for (&(caller, callee), edge) in &evidence.analysis.profile.edges {
        if let (Caller::Predicate(caller), true) = (caller, counts(callee)) {
            let sum = passed.entry(caller).or_default();
            *sum = sum.saturating_add(edge.exceptions);
        }
    }
    let left = evidence.predicates().filter(|&(index, _, _)| counts(index));
    left.map(|(index, _, figures)| {
        let passed = passed.get(&index).copied().unwrap_or_default();
        (index, figures.exceptions.saturating_sub(passed))
    })
    .filter(|&(_, raised)| raised > 0)
    .collect()
}
