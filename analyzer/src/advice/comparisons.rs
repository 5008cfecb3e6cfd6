//! Keys that are computed at each comparison of a sort.

use portmortem_tracer::format::Role;

use super::evidence::{Evidence, share};
use super::{Cause, Certainty, Finding};
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer comparisons are of a handful of elements: keys would hardly be computed less often.
const LEAST: u64 = 20;

/// For each predicate of the program that a sort calls, such as `predsort/3`: the goal of it that
/// took longest.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let edges = evidence.analysis.profile.edges.iter();
    let by_sort = edges.filter(|((caller, callee), figures)| {
        let caller = caller.predicate();
        caller.is_some_and(|caller| evidence.is_foreign(caller, Role::SortsByGoal))
            && evidence.is_of_program(*callee)
            && figures.ports.calls >= LEAST
    });
    by_sort
        .filter_map(|(&(sort, callee), figures)| {
            finding(evidence, sort.predicate()?, callee, figures.ports.calls)
        })
        .collect()
}

fn finding(
    evidence: &Evidence,
    sort: PredicateIndex,
    comparison: PredicateIndex,
    compared: u64,
) -> Option<Finding> {
    let goals = evidence.goals_of(comparison);
    let computing = goals.filter(|goal| {
        evidence.is_of_program(goal.callee) && goal.callee != comparison && goal.figures.calls > 0
    });
    let computing: Vec<_> = computing.collect();
    let costliest = computing
        .iter()
        .max_by_key(|goal| goal.figures.served_work_ticks)?;
    let of_same = computing
        .iter()
        .filter(|goal| goal.callee == costliest.callee);
    let (calls, ticks) = of_same.fold((0_u64, 0_u64), |(calls, ticks), goal| {
        let figures = &goal.figures;
        (
            calls.saturating_add(figures.calls),
            ticks.saturating_add(figures.served_work_ticks),
        )
    });
    // Both elements of a comparison have a key; what is called less often is a special case.
    if calls < compared {
        return None;
    }
    let (name, key) = (evidence.name(comparison), evidence.name(costliest.callee));
    let sort = evidence.analysis.trace.local_name(sort);
    Some(Finding {
        cause: Cause::ComputedInComparison,
        place: evidence.place_of(costliest),
        cost_ticks: ticks,
        certainty: Certainty::Likely,
        title: format!("{key} is computed at each comparison of {sort}"),
        evidence: format!(
            "{sort} called {name} {} times, and that {key} {} times, which took {}: {} of the work. An element is compared with many \
             others, and {key} called for it each time.",
            count(compared),
            count(calls),
            evidence.time(ticks),
            share(ticks, evidence.total_ticks),
        ),
        remedy: format!(
            "call {key} once for each element, {}",
            evidence.libraries.remedies.sorted_by_key
        ),
        predicates: vec![costliest.callee, comparison],
        needs: Vec::new(),
    })
}
