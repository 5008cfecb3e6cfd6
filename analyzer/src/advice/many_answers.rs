//! Tabled predicates that keep an answer for each way to a result: a list or a sum of the way is
//! one of their arguments.

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding, clause_text, source};
use crate::text::{count, counted};

/// Fewer answers are no matter.
const LEAST: u64 = 5_000;

/// So many answers a table has in the mean, at least.
const LEAST_OF_A_TABLE: u64 = 50;

/// A finding for each such predicate.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let calls = evidence.analysis.calls();
    let predicates = evidence.predicates();
    let found = predicates.filter_map(|(predicate, info, figures)| {
        let tables = calls.tables(predicate)?;
        let is_many =
            tables.answers >= LEAST && tables.answers / LEAST_OF_A_TABLE >= tables.tables;
        if !is_many || !evidence.is_of_program(predicate) {
            return None;
        }
        let declared = &info.declared;
        let (of, arity) = (&declared.name, usize::try_from(declared.arity).ok()?);
        let text = source::of_predicate(evidence.analysis, predicate)?;
        let built = clause_text::built_up(&clause_text::clauses(&text), of, arity);
        let first = built.first()?;
        if source::keeps_some_answers(evidence.analysis, predicate) {
            return None;
        }
        let name = evidence.name(predicate);
        let numbers: Vec<String> = built.iter().map(|at| (at + 1).to_string()).collect();
        Some(Finding {
            cause: Cause::ManyAnswers,
            place: evidence.place(predicate),
            cost_ticks: figures.inclusive_work_ticks,
            certainty: Certainty::ToCheck,
            title: format!("{name} keeps an answer for each way to a result, told apart by argument {}", first + 1),
            evidence: format!(
                "{} of {name} had {} answers when they were complete, {} a table. {} behind the recursive call, so \
                 each way to the same result is an answer of its own. It took {} with all that it calls.",
                counted(tables.tables, "table", "tables"),
                count(tables.answers),
                count(tables.answers / tables.tables.max(1)),
                match &numbers[..] {
                    [one] => format!("Argument {one} grows"),
                    more => format!("Arguments {} grow", more.join(" and ")),
                },
                evidence.time(figures.inclusive_work_ticks),
            ),
            remedy: evidence.libraries.remedies.many_answers.to_owned(),
            predicates: vec![predicate],
            needs: Vec::new(),
        })
    });
    found.collect()
}
