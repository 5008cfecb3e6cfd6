//! Variables that are given values in one predicate before other predicates post constraints on
//! them: backtracking goes from those back into the values.

use std::collections::BTreeMap;

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, labelled_first};
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer rejections are no search.
const LEAST: u64 = 100;

/// One finding at most: the goal that gives constraint variables values and was asked most often
/// for other ones, if predicates that post constraints asked it.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let labelling = evidence.sites().filter(|site| {
        evidence.is_labelling(site.callee)
            && site
                .info()
                .is_some_and(|goal| evidence.is_of_program(goal.caller))
    });
    let most = labelling.max_by_key(|site| site.figures.redos);
    let found = most.and_then(|site| finding(evidence, site));
    found.into_iter().collect()
}

fn finding(evidence: &Evidence, labelling: &SiteData) -> Option<Finding> {
    let (given, again) = (labelling.figures.exits(), labelling.figures.redos);
    let clause = labelling.info()?.caller;
    if again < LEAST || again < given / 2 {
        return None;
    }
    let rejecting = rejecting(evidence, labelling.callee, clause);
    let rejected = rejecting
        .values()
        .fold(0_u64, |sum, one| sum.saturating_add(*one));
    if rejected < again / 2 {
        return None;
    }
    let (&most, _) = rejecting
        .iter()
        .max_by_key(|(predicate, rejected)| (**rejected, **predicate))?;
    let name = evidence.name(labelling.callee);
    let by = evidence.name(written(evidence, most));
    let at = match evidence.costliest_goal_to(most) {
        Some(goal) => format!(" {}", evidence.at(goal)),
        None => String::new(),
    };
    Some(Finding {
        cause: Cause::LabelledFirst,
        place: evidence.place_of(labelling),
        cost_ticks: part_of(labelling.figures.served_work_ticks, again, given),
        certainty: Certainty::Likely,
        title: format!(
            "{name} {} gives values before constraints are posted, which ask for others at {}",
            evidence.at(labelling),
            share(again, given)
        ),
        evidence: format!(
            "{name} {} gave {} solutions, and was asked for another one {} times. Most often {by}{at} had failed, which posts \
             constraints, after {} had returned.",
            evidence.at(labelling),
            count(given),
            count(again),
            evidence.name(clause),
        ),
        remedy: format!(
            "take {name} out of {}: post all constraints first, {by} included, and give all variables values in one goal behind \
             that. Then the constraints take values out of the domains, and none of them is posted again for each try.",
            evidence.name(clause)
        ),
        predicates: vec![labelling.callee],
        needs: Vec::new(),
    })
}

/// What the program calls a predicate that the expansion of its clauses made, as of `maplist/2`.
fn written(evidence: &Evidence, predicate: PredicateIndex) -> PredicateIndex {
    let is_made = |of| evidence.name(of).contains("'__aux_");
    let mut called = evidence.callees_of(predicate);
    let posts = |of: &PredicateIndex| {
        !is_made(*of) && evidence.is_of_program(*of) && labelled_first::posts(evidence, *of)
    };
    let found = is_made(predicate).then(|| called.find(posts));
    found.flatten().unwrap_or(predicate)
}

/// The predicates of the program that post constraints and do not label, and how often
/// backtracking went from them into what labels: the predicate of the clause or its callers, of
/// which it is the last call, or the library of constraints.
fn rejecting(
    evidence: &Evidence,
    labelling: PredicateIndex,
    clause: PredicateIndex,
) -> BTreeMap<PredicateIndex, u64> {
    let labels = |predicate| {
        let called = evidence.called(predicate);
        called.contains(&labelling) || called.contains(&clause)
    };
    let library = evidence.libraries.constraints;
    let mut found = BTreeMap::new();
    for (&(failed, resumed), figures) in &evidence.analysis.profile.backtracks {
        let Some(failed) = failed.predicate() else {
            continue;
        };
        let is_into = library.is_some_and(|library| library.is_module(evidence.module(resumed)))
            || labels(resumed);
        if evidence.is_of_program(failed)
            && is_into
            && !labels(failed)
            && labelled_first::posts(evidence, failed)
        {
            *found.entry(failed).or_default() += figures.count;
        }
    }
    found
}
