//! Numbers that grow long in a loop: exact fractions, and large integers.

use super::evidence::{Evidence, share};
use super::{Cause, Certainty, Finding, clause_text, source};
use crate::text::count;

/// Fewer calls say little.
const LEAST: u64 = 50;

/// So many cells, of 64 bits, the longest of them has at least.
const LEAST_CELLS: u32 = 16;

/// Of the work, in percent: the least that such a predicate does itself.
const LEAST_SHARE: u64 = 10;

/// A finding for each predicate of the program that computes with such an argument, as its values
/// show.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let enough = evidence.total_ticks / 100 * LEAST_SHARE;
    let predicates = evidence.predicates();
    let found = predicates.filter_map(|(predicate, info, figures)| {
        if !evidence.is_of_program(predicate) || figures.self_ticks < enough.max(1) {
            return None;
        }
        let values = evidence.analysis.values().of(predicate)?;
        let text = source::of_predicate(evidence.analysis, predicate)?;
        let clauses = clause_text::clauses(&text);
        let own = clauses.iter().filter(|clause| {
            clause_text::head_name(clause) == Some(info.declared.name.as_str())
        });
        let mut computed = own.flat_map(|clause| clause_text::computed_with(clause));
        let at = computed.find(|&at| {
            let argument = values.arguments.get(at);
            argument.is_some_and(|one| {
                one.bound_in >= LEAST
                    && one.greatest_in >= LEAST_CELLS
                    && one.greatest_in / 4 >= one.least_in
            })
        })?;
        let argument = &values.arguments[at];
        let name = evidence.name(predicate);
        Some(Finding {
            cause: Cause::LongNumbers,
            place: evidence.place(predicate),
            cost_ticks: figures.self_ticks,
            certainty: Certainty::Likely,
            title: format!("numbers in argument {} of {name} grow long", at + 1),
            evidence: format!(
                "{name} computes with argument {}, which had {} to {} cells of 64 bits in {} calls that were looked at. {name} itself worked {} in {} \
                 calls: {} of the work.",
                at + 1,
                count(argument.least_in.into()),
                count(argument.greatest_in.into()),
                count(argument.bound_in),
                evidence.time(figures.self_ticks),
                count(figures.calls),
                share(figures.self_ticks, evidence.total_ticks),
            ),
            remedy: format!(
                "is it an exact fraction{}, compute with floats, or round to a fixed unit in each step; is it a large integer, \
                 reduce it in each step (mod), or keep what is needed of it alone.",
                evidence.libraries.remedies.fractions
            ),
            predicates: vec![predicate],
            needs: Vec::new(),
        })
    });
    found.collect()
}
