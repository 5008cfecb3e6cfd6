//! Tables that a tabled predicate fills for its own calls: other predicates ask for a few of them
//! at most.

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding};
use crate::text::{count, counted};

/// Fewer tables are no matter.
const LEAST: u64 = 100;

/// So many times as many tables were filled as there were calls from elsewhere.
const LEAST_FOR_A_CALL: u64 = 10;

/// So many answers a table has at least: where each has one, the answers are what is wanted.
const LEAST_ANSWERS: u64 = 10;

/// A finding for each such predicate.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let calls = evidence.analysis.calls();
    let predicates = evidence.predicates();
    let found = predicates.filter_map(|(predicate, _, figures)| {
        let tables = calls.tables(predicate)?;
        let within = calls.behaviour.recursion_of(predicate).calls;
        let from_elsewhere = figures.calls.saturating_sub(within);
        let is_many = tables.tables >= LEAST
            && tables.tables / LEAST_FOR_A_CALL >= from_elsewhere
            && tables.answers / LEAST_ANSWERS >= tables.tables;
        if !is_many || !evidence.is_of_program(predicate) {
            return None;
        }
        let name = evidence.name(predicate);
        Some(Finding {
            cause: Cause::ManyTables,
            place: evidence.place(predicate),
            cost_ticks: figures.inclusive_work_ticks,
            certainty: Certainty::ToCheck,
            title: format!("{name} fills a table for each of its own calls"),
            evidence: format!(
                "{} of {name} from elsewhere led to {} tables with {} answers: it calls itself with other arguments each time, \
                 and each of these has a table. It took {} with all that it calls.",
                counted(from_elsewhere, "call", "calls"),
                count(tables.tables),
                count(tables.answers),
                evidence.time(figures.inclusive_work_ticks),
            ),
            remedy: format!(
                "if only the first question is of interest, put the recursive goal first, so that it asks the same question and \
                 shares its table (left recursion: path(X, Z) :- path(X, Y), edge(Y, Z)); or search with a list or set of \
                 what was seen{}.",
                evidence.libraries.remedies.reachable
            ),
            predicates: vec![predicate],
            needs: Vec::new(),
        })
    });
    found.collect()
}
