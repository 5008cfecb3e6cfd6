//! Tabled predicates with an argument that carries a sum and decides nothing: each sum has tables
//! of its own.

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding, clause_text, source};
use crate::text::count;

/// Fewer tables are no matter.
const LEAST: u64 = 100;

/// A finding for each such predicate.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let calls = evidence.analysis.calls();
    let predicates = evidence.predicates();
    let found = predicates.filter_map(|(predicate, info, figures)| {
        let tables = calls.tables(predicate)?.tables;
        if !evidence.is_of_program(predicate) || tables < LEAST {
            return None;
        }
        let text = source::of_predicate(evidence.analysis, predicate)?;
        let clauses = clause_text::clauses(&text);
        let arity = usize::try_from(info.declared.arity).ok()?;
        let sums = clause_text::sums(&clauses, &info.declared.name, arity);
        let first = sums.first()?;
        let numbers: Vec<String> = sums.iter().map(|at| (at + 1).to_string()).collect();
        let name = evidence.name(predicate);
        Some(Finding {
            cause: Cause::SumsInTables,
            place: evidence.place(predicate),
            cost_ticks: figures.inclusive_work_ticks,
            certainty: Certainty::ToCheck,
            title: format!("argument {} of {name} only carries a sum, and has tables of its own", first + 1),
            evidence: format!(
                "Argument {} of {name} is computed with and handed on, and decides nothing. {name} is tabled: {} calls filled {} tables, one for each \
                 value that it had. It took {} with all that it calls.",
                numbers.join(" and "),
                count(figures.calls),
                count(tables),
                evidence.time(figures.inclusive_work_ticks),
            ),
            remedy: "leave it out of the arguments: give back what is still to come, and add to that behind the recursive call. Then calls \
                     that differ in the sum alone share a table."
                .to_owned(),
            predicates: vec![predicate],
            needs: Vec::new(),
        })
    });
    found.collect()
}
