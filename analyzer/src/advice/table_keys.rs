//! Tabled predicates that are called with large terms: the table is looked up by all of them.

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding};
use crate::figures::values::ArgumentValues;
use crate::text::count;

/// Fewer calls say little.
const LEAST: u64 = 50;

/// So many cells the arguments of a call have in the mean, at least.
const LEAST_CELLS: u64 = 64;

/// A finding for each such predicate whose arguments were looked at.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let predicates = evidence.predicates();
    let found = predicates.filter_map(|(predicate, _, figures)| {
        if !evidence.is_of_program(predicate) || !evidence.is_tabled(predicate) {
            return None;
        }
        let values = evidence.analysis.values().of(predicate)?;
        let mean: u64 = values.arguments.iter().map(ArgumentValues::mean_in).sum();
        if values.calls < LEAST || mean < LEAST_CELLS {
            return None;
        }
        let name = evidence.name(predicate);
        let greatest = values.arguments.iter().map(|one| one.greatest_in).max()?;
        let tables = evidence.analysis.calls().tables(predicate);
        let kept = tables.map_or(String::new(), |tables| {
            format!(
                " {} tables were filled, each with its arguments.",
                count(tables.tables)
            )
        });
        Some(Finding {
            cause: Cause::TableKeys,
            place: evidence.place(predicate),
            cost_ticks: figures.self_ticks,
            certainty: Certainty::Likely,
            title: format!("tables of {name} are looked up by large terms"),
            evidence: format!(
                "A call of {name} goes through all of its arguments to find its table: {} cells in the mean in {} calls that were looked at, \
                 at most {} in one argument. {name} itself worked {} in {} calls, {} a call.{kept}",
                count(mean),
                count(values.calls),
                count(greatest.into()),
                evidence.time(figures.self_ticks),
                count(figures.calls),
                evidence.time(figures.self_ticks / figures.calls.max(1)),
            ),
            remedy: "table by something small: numbers that say where in the data a call is (places of a list whose elements are facts, \
                     or a term for arg/3), or names of its parts; and keep the data itself out of the arguments."
                .to_owned(),
            predicates: vec![predicate],
            needs: Vec::new(),
        })
    });
    found.collect()
}
