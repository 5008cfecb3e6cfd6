//! Large powers that are computed as a whole and reduced by `mod` then.

use super::evidence::{Evidence, share};
use super::{AdvisedPlace, Cause, Certainty, Finding, clause_text, source};
use crate::text::counted;
use crate::trace::PredicateIndex;

/// Of the work, in percent: the least that such a predicate does itself.
const LEAST_SHARE: u64 = 10;

/// Calls that take less time, in ns, have small powers.
const LEAST_NS: u64 = 20_000;

/// A finding for each predicate of the program that is written so, and takes long itself:
/// arithmetic is no call, so its time is that of the predicate.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let enough = evidence.total_ticks / 100 * LEAST_SHARE;
    let slow = evidence.predicates().filter(|&(index, _, figures)| {
        evidence.is_of_program(index)
            && figures.calls > 0
            && figures.self_ticks >= enough.max(1)
            && evidence.analysis.ns(figures.self_ticks / figures.calls) >= LEAST_NS
    });
    slow.filter_map(|(index, ..)| finding(evidence, index))
        .collect()
}

fn finding(evidence: &Evidence, predicate: PredicateIndex) -> Option<Finding> {
    let (file, first) = evidence.analysis.source(predicate)?;
    let text = source::of_predicate(evidence.analysis, predicate)?;
    let clauses = clause_text::clauses(&text);
    let declared = &evidence.analysis.trace.predicates()[predicate as usize].declared;
    let own = clauses
        .iter()
        .filter(|clause| clause_text::head_name(clause) == Some(declared.name.as_str()));
    let power = own.flat_map(|clause| clause_text::powers(clause)).next()?;
    let figures = evidence.figures(predicate);
    let name = evidence.name(predicate);
    let clause_text::Power {
        line,
        operator,
        reduced_by,
    } = power;
    Some(Finding {
        cause: Cause::PowerModulo,
        place: AdvisedPlace {
            line: Some(first + line - 1),
            file: Some(crate::trace::names::printable(file)),
            ..evidence.place(predicate)
        },
        cost_ticks: figures.self_ticks,
        certainty: Certainty::Likely,
        title: format!("{name} computes whole powers, and reduces them by {reduced_by} then"),
        evidence: format!(
            "Line {} of {name} has {operator} and then {reduced_by}. {name} itself worked {} in {}, {} a call: {} of the work. \
             The power of a large exponent has many thousands of digits, and all of them are made first.",
            first + line - 1,
            evidence.time(figures.self_ticks),
            counted(figures.calls, "call", "calls"),
            evidence.time(figures.self_ticks / figures.calls.max(1)),
            share(figures.self_ticks, evidence.total_ticks),
        ),
        remedy: evidence.libraries.remedies.power_modulo.to_owned(),
        predicates: vec![predicate],
        needs: Vec::new(),
    })
}
