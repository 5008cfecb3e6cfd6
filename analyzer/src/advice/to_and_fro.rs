//! Terms that are turned into others and back again, as the values of arguments show.

use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding};
use crate::figures::values::ValueFigures;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer times are no loop.
const LEAST: u64 = 50;

/// A finding for each two predicates of which one mostly undoes what the other has done.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let pairs = evidence.analysis.values().to_and_fro.iter();
    let mut found = Vec::new();
    let mut seen: Vec<(PredicateIndex, PredicateIndex)> = Vec::new();
    for (&(one, other), &times) in pairs {
        if seen.contains(&(other, one)) {
            continue;
        }
        if let Some(finding) = finding(evidence, one, other, times) {
            seen.push((one, other));
            found.push(finding);
        }
    }
    found
}

/// How many arguments were given that are not the same in most calls.
fn varying(values: &ValueFigures) -> usize {
    let arguments = values.arguments.iter();
    let varying = arguments.filter(|one| one.distinct_in > one.bound_in / 10);
    varying.count()
}

fn finding(
    evidence: &Evidence,
    one: PredicateIndex,
    other: PredicateIndex,
    times: u64,
) -> Option<Finding> {
    let values = |predicate| evidence.analysis.values().of(predicate);
    let (made, undone) = (values(one)?, values(other)?);
    let exits = undone.exits;
    // What looks up what another one has stored gives it back, too, but is given more than that.
    if varying(&made) > 1 || varying(&undone) > 1 {
        return None;
    }
    // Neither calls the other one.
    let calls = |from, to| evidence.called(from).contains(&to) && from != to;
    if times < LEAST || times < exits / 2 || calls(one, other) || calls(other, one) {
        return None;
    }
    let work = |predicate| evidence.figures(predicate).inclusive_work_ticks;
    let all = match one == other {
        true => work(one),
        false => work(one) + work(other),
    };
    let (from, back) = (evidence.name(one), evidence.name(other));
    Some(Finding {
        cause: Cause::ToAndFro,
        place: evidence.place(other),
        cost_ticks: part_of(all, times, exits),
        certainty: Certainty::Likely,
        title: format!("{back} undoes what {from} has done"),
        evidence: format!(
            "At {} of {} exits of {back} that are known, it gave back what {from} had been given, from what that had made of it. Both \
             took {}.",
            count(times),
            count(exits),
            evidence.time(all),
        ),
        remedy: "keep the form that is computed with, and pass that on beside the other or in its place; make the other one where \
                 it is read or written."
            .to_owned(),
        predicates: vec![one, other],
        needs: Vec::new(),
    })
}
