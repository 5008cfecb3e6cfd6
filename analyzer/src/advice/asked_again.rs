//! Goals that are called with the same arguments as before, and give the same, as values of
//! arguments show: collectors and others whose arguments have variables in them, and calls whose
//! results are too large to be compared.

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, effects, labelled_first};
use crate::figures::values::ValueFigures;
use crate::tables::SiteData;
use crate::text::count;

/// Fewer repetitions are no loop.
const LEAST: u64 = 20;

/// What is computed in less time than this, in ns, is not worth keeping.
const LEAST_NS: u64 = 20_000;

/// At least so many of a hundred calls must be repetitions.
const LEAST_SHARE: u64 = 60;

/// If fewer results in a hundred are known, it must be known that no state changed.
const KNOWN_SHARE: u64 = 50;

/// A finding for each goal of which most calls asked what an earlier one had asked.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let goals = evidence.analysis.values().goals.iter();
    let found = goals.filter_map(|(&(predicate, site), values)| {
        let mut sites = evidence.sites();
        let goal = sites.find(|goal| goal.callee == predicate && goal.site == site)?;
        is_asked_again(evidence, goal, values).then(|| finding(evidence, goal, values))
    });
    found.collect()
}

fn is_asked_again(evidence: &Evidence, goal: &SiteData, values: &ValueFigures) -> bool {
    let callee = goal.callee;
    let figures = &goal.figures;
    values.variants >= LEAST
        && values.variants >= values.calls * LEAST_SHARE / 100
        && values.variants_same == values.variants_known
        // Where the arguments and results can be compared as they are, that is said elsewhere.
        && values.again < values.variants / 2
        && gives_result(values)
        && evidence.figures(callee).redos == 0
        && evidence.analysis.ns(figures.served_work_ticks / figures.calls.max(1)) >= LEAST_NS
        && !evidence.is_tabled(callee)
        && !labelled_first::posts(evidence, callee)
        && !match is_known(values) {
            true => effects::does_more(evidence, callee),
            false => effects::depends_on_more(evidence, callee),
        }
        && !evidence.boxes_called(callee).any(|one| effects::does_more(evidence, one))
}

/// Whether enough results are known to be the same.
fn is_known(values: &ValueFigures) -> bool {
    values.variants_known >= values.variants * KNOWN_SHARE / 100
}

/// Whether an argument that is unbound in most calls is bound at most exits.
fn gives_result(values: &ValueFigures) -> bool {
    values.arguments.iter().any(|argument| {
        let is_given = argument.bound_in + argument.unknown_in > values.calls / 2;
        !is_given && argument.bound_out + argument.unknown_out > values.exits / 2
    })
}

fn finding(evidence: &Evidence, goal: &SiteData, values: &ValueFigures) -> Finding {
    let (name, at) = (evidence.name(goal.callee), evidence.at(goal));
    let results = match is_known(values) {
        true => "all results that are known were the same as before",
        false => "its results are too large to be compared, and nothing that it reads changed",
    };
    Finding {
        cause: Cause::RepeatedCalls,
        place: evidence.place_of(goal),
        cost_ticks: part_of(
            goal.figures.served_work_ticks,
            values.variants,
            values.calls,
        ),
        certainty: match is_known(values) {
            true => Certainty::Likely,
            false => Certainty::ToCheck,
        },
        title: format!("{name} {at} computes again what it has computed before"),
        evidence: format!(
            "{} of {} calls that were looked at ({}) had the same arguments as an earlier one, but for names of variables; {results}. \
             All {} calls took {}.",
            count(values.variants),
            count(values.calls),
            share(values.variants, values.calls),
            count(goal.figures.calls),
            evidence.time(goal.figures.served_work_ticks),
        ),
        remedy: format!(
            "compute it once, before the loop, and hand the result on. Where each round takes another part of it, go over it once, \
             for all rounds: {}",
            evidence.libraries.remedies.for_all_rounds
        ),
        predicates: vec![goal.callee],
        needs: Vec::new(),
    }
}
