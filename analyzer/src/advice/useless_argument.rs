//! Arguments that make no difference to results, so that calls are told apart that are the same, as
//! the values of arguments show.

use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding, effects};
use crate::text::count;

/// Fewer calls say little.
const LEAST: u64 = 50;

/// At least so many of a hundred calls must differ from an earlier one in that argument alone.
const LEAST_SHARE: u64 = 20;

/// A finding for each predicate of the program that has such an argument: a constant in each call,
/// because a large term is given for the part of it that matters.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let predicates = evidence.predicates();
    let found = predicates.filter_map(|(predicate, _, figures)| {
        // What calls nothing computes nothing: facts say of each value what is so.
        let computes = evidence.is_tabled(predicate) || !evidence.is_leaf(predicate);
        if !evidence.is_of_program(predicate) || !computes {
            return None;
        }
        let values = evidence.analysis.values().of(predicate)?;
        if values.pairs.is_empty() {
            return None;
        }
        let mut arguments = (1..).zip(&values.arguments);
        let (number, argument) = arguments.find(|(_, one)| {
            one.varied >= LEAST
                && one.varied >= values.calls / 100 * LEAST_SHARE
                && one.varied_same == one.varied
                && one.greatest_in == 1
        })?;
        if effects::does_more(evidence, predicate) {
            return None;
        }
        let name = evidence.name(predicate);
        let tabled = match evidence.is_tabled(predicate) {
            true => " Each value of it has tables of its own.",
            false => "",
        };
        Some(Finding {
            cause: Cause::UselessArgument,
            place: evidence.place(predicate),
            cost_ticks: part_of(figures.inclusive_work_ticks, argument.varied, values.calls),
            certainty: Certainty::ToCheck,
            title: format!("argument {number} of {name} makes no difference"),
            evidence: format!(
                "{} of {} calls of {name} that were looked at differ from an earlier one in argument {number} alone, which had {} values, \
                 and all of these had the same result.{tabled} All {} calls took {}.",
                count(argument.varied),
                count(values.calls),
                count(argument.distinct_in),
                count(figures.calls),
                evidence.time(figures.inclusive_work_ticks),
            ),
            remedy: format!(
                "if the result never depends on it, leave that argument out, and {} or compute each result once: then calls are \
                 the same that differ in nothing else.",
                evidence.libraries.remedies.to_table("the predicate")
            ),
            predicates: vec![predicate],
            needs: Vec::new(),
        })
    });
    found.collect()
}
