//! Facts that are all removed and stored again, as values of arguments show.

use super::evidence::{Evidence, share};
use super::{Cause, Certainty, Finding};
use crate::text::count;

/// Fewer clauses that are stored are no loop.
const LEAST: u64 = 1000;

/// Each clause is stored at least so many times, in the mean.
const LEAST_TIMES: u64 = 4;

/// So many clauses are stored for each call that removes some: it removes many at once. A fact that
/// is a state is removed and stored one by one.
const LEAST_AT_ONCE: u64 = 8;

/// A finding for each goal that stores mostly clauses that it has stored before, in a program that
/// removes many at once.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let is_named = |callee, names: &[&str]| {
        let name = evidence.foreign_name(callee);
        name.is_some_and(|name| names.contains(&name))
    };
    let removing = || {
        evidence
            .sites()
            .filter(|goal| is_named(goal.callee, &["retract", "retractall"]))
    };
    let removals = removing().fold(0, |sum: u64, goal| sum.saturating_add(goal.figures.calls));
    if removals == 0 {
        return Vec::new();
    }
    let removed = removing().fold(0, |sum: u64, goal| {
        sum.saturating_add(goal.figures.served_work_ticks)
    });
    let storing = evidence
        .sites()
        .filter(|goal| is_named(goal.callee, &["assert", "asserta", "assertz"]));
    let found = storing.filter_map(|goal| {
        let values = &evidence.analysis.values().goals;
        let clause = values.get(&(goal.callee, goal.site))?.arguments.first()?;
        let is_again = clause.ground_in >= LEAST
            && clause.ground_in / LEAST_TIMES >= clause.distinct_in
            && goal.figures.calls / LEAST_AT_ONCE >= removals;
        if !is_again {
            return None;
        }
        let (name, at) = (evidence.name(goal.callee), evidence.at(goal));
        let work = goal.figures.served_work_ticks;
        Some(Finding {
            cause: Cause::AssertedAgain,
            place: evidence.place_of(goal),
            cost_ticks: work.saturating_add(removed),
            certainty: Certainty::Likely,
            title: format!("{name} {at} stores facts again that were there before"),
            evidence: format!(
                "{} clauses were stored there, in {}. Of {} that were looked at {} are different ({}): the others had been stored before. \
                 Facts were removed {} times, in {}.",
                count(goal.figures.calls),
                evidence.time(work),
                count(clause.ground_in),
                count(clause.distinct_in),
                share(clause.distinct_in, clause.ground_in),
                count(removals),
                evidence.time(removed),
            ),
            remedy: format!(
                "leave the facts that stay: store what is new (assertz/1) and remove what has gone (retract/1), one by one; or hand the \
                 data on as an argument ({}) and store it at the end, if at all.",
                evidence.libraries.remedies.in_place_of_facts
            ),
            predicates: vec![goal.callee],
            needs: Vec::new(),
        })
    });
    found.collect()
}
