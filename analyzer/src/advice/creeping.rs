//! Constraints that narrow domains step by step: the same propagators run again and again, until
//! nothing is left or a bound is reached.

use std::collections::BTreeMap;

use super::evidence::{Evidence, share};
use super::libraries::ConstraintLibrary;
use super::{Cause, Certainty, Finding};
use crate::figures::contexts::way_up;
use crate::tables::SiteData;
use crate::text::{count, counted};
use crate::trace::PredicateIndex;

/// Fewer runs take no time.
const LEAST: u64 = 1000;

/// So often each propagator of the program runs in each call, at least: what one change wakes, and
/// what that wakes, is less.
const LEAST_EACH: u64 = 20;

/// A clause's predicate, and the predicate of a library that it called.
pub(super) type ClauseAndCallee = (PredicateIndex, PredicateIndex);

/// How often propagators ran in calls that the program made of libraries, as far as a recording
/// with `--libraries` shows it.
pub(super) fn runs(evidence: &Evidence) -> BTreeMap<ClauseAndCallee, u64> {
    let rows = &evidence.analysis.profile.contexts;
    let mut runs = BTreeMap::new();
    let Some(library) = evidence.libraries.constraints else {
        return runs;
    };
    for (at, row) in (0_u32..).zip(rows) {
        if evidence.name(row.predicate) != library.runs_propagator {
            continue;
        }
        let way = way_up(Some(at), |at| rows.get(at as usize)?.parent);
        let mut below = row.predicate;
        for above in way.filter_map(|at| rows.get(at as usize)) {
            if evidence.is_of_program(above.predicate) {
                *runs.entry((above.predicate, below)).or_default() += row.ports.calls;
                break;
            }
            below = above.predicate;
        }
    }
    runs
}

/// A finding for each goal that posts a constraint and runs far more propagators than there are.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let Some(library) = evidence.libraries.constraints else {
        return Vec::new();
    };
    let made = evidence
        .predicates()
        .find(|(index, ..)| evidence.name(*index) == library.makes_propagator);
    let Some((.., made)) = made.filter(|(.., figures)| figures.calls > 0) else {
        return Vec::new();
    };
    let runs = runs(evidence).into_iter();
    let findings =
        runs.filter_map(|(entry, runs)| finding(evidence, library, entry, runs, made.calls));
    findings.collect()
}

fn finding(
    evidence: &Evidence,
    library: &ConstraintLibrary,
    (caller, callee): ClauseAndCallee,
    runs: u64,
    made: u64,
) -> Option<Finding> {
    let goals = || {
        evidence
            .goals_of(caller)
            .filter(|goal| goal.callee == callee)
    };
    let calls: u64 = goals().map(|goal| goal.figures.calls).sum();
    let each = runs / calls.max(1);
    if runs < LEAST || each / LEAST_EACH < made {
        return None;
    }
    // To give values is to run propagators.
    if evidence.is_labelling(callee) {
        return None;
    }
    let name = evidence.name(callee);
    let served = |goal: &&SiteData| goal.figures.served_work_ticks;
    let costliest = goals().max_by_key(served)?;
    let took = goals()
        .map(|goal| served(&goal))
        .fold(0, u64::saturating_add);
    Some(Finding {
        cause: Cause::CreepingPropagation,
        place: evidence.place_of(costliest),
        cost_ticks: took,
        certainty: Certainty::Likely,
        title: format!(
            "{name} {} runs the same propagators again and again",
            evidence.at(costliest)
        ),
        evidence: format!(
            "In {} of {name}, which took {} ({} of the work), propagators ran {} times, {} a call. The \
             program has made {}: each one ran again as others had changed a domain.",
            counted(calls, "call", "calls"),
            evidence.time(took),
            share(took, evidence.total_ticks),
            count(runs),
            count(each),
            counted(made, "propagator", "propagators"),
        ),
        remedy: library.of_creeping.to_owned(),
        predicates: vec![callee],
        needs: Vec::new(),
    })
}
