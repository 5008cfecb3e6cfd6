//! Predicates that give the same solution several times to one call, as values of arguments show.

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, effects, source};
use crate::figures::values::ValueFigures;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer repetitions are no loop.
const LEAST: u64 = 100;

/// At least so many of a hundred further solutions must be repetitions.
const LEAST_SHARE: u64 = 40;

/// A finding for each such predicate of the program. What writes, reads or changes something gives
/// the same solution on purpose: it drives a loop.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let found = evidence.predicates().filter_map(|(predicate, ..)| {
        let values = evidence.analysis.values().of(predicate)?;
        let is_repeated =
            values.repeated >= LEAST && values.repeated >= values.further / 100 * LEAST_SHARE;
        if !is_repeated
            || !evidence.is_of_program(predicate)
            || evidence.is_tabled(predicate)
            || effects::depends_on_more(evidence, predicate)
        {
            return None;
        }
        Some(finding(evidence, predicate, &values))
    });
    found.collect()
}

fn finding(evidence: &Evidence, predicate: PredicateIndex, values: &ValueFigures) -> Finding {
    let name = evidence.name(predicate);
    let figures = evidence.figures(predicate);
    // What other solutions cost is not known: all of them have a part in what is thrown away.
    let backtracks = evidence.analysis.profile.backtracks.iter();
    let into = backtracks.filter(|&(&(_, resumed), _)| resumed == predicate);
    let undone = into.fold(0, |sum: u64, (_, pair)| {
        sum.saturating_add(pair.undone_ticks)
    });
    let work = undone.max(figures.inclusive_work_ticks);
    // A call has one first solution, if any.
    let all = values.further.saturating_add(values.calls);
    let remedies = evidence.libraries.remedies;
    let remedy = match source::is_grammar(evidence.analysis, predicate) {
        true => format!(
            "let the text be taken in one way: of two goals that can both take the same part of it (white space at the end of one \
             and the beginning of the next), let one take it, as much as there is, and \
             commit ({}); let alternatives exclude each other.",
            remedies.commits_in_grammar
        ),
        false => format!(
            "let its clauses exclude each other, commit where a test may succeed more than once (->, once/1), and leave out of what it \
             generates what was generated already; or have each solution kept once: {}{}.",
            remedies.table_of(name),
            remedies.distinct
        ),
    };
    Finding {
        cause: Cause::SameSolutions,
        place: evidence.place(predicate),
        cost_ticks: part_of(work, values.repeated, all).min(evidence.total_ticks),
        certainty: Certainty::Likely,
        title: format!("{name} gives the same solution several times"),
        evidence: format!(
            "Of the solutions that calls of {name} gave behind their first one, {} were looked at; {} ({}) were the same as an \
             earlier one of the same call. All {} solutions and what was done with them took {}.",
            count(values.further),
            count(values.repeated),
            share(values.repeated, values.further),
            count(figures.exits()),
            evidence.time(work),
        ),
        remedy,
        predicates: vec![predicate],
        needs: Vec::new(),
    }
}
