//! Output that is handed to the system in small pieces.

use std::cmp::Reverse;

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding};
use crate::text::count;

/// Fewer flushes are those of a dialogue.
const LEAST: u64 = 1000;

/// How the names of predicates begin that write.
const WRITERS: [&str; 6] = ["format", "nl", "print", "put_", "tab", "write"];

/// One finding at most: the goal that flushes most often.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let is_flush = |name: &str| matches!(name, "flush_output" | "ttyflush");
    let named = |callee| evidence.foreign_name(callee);
    let flushes = evidence
        .sites()
        .filter(|site| named(site.callee).is_some_and(is_flush) && site.figures.calls >= LEAST);
    let Some(flush) =
        flushes.max_by_key(|site| (site.figures.served_work_ticks, Reverse(site.site)))
    else {
        return Vec::new();
    };
    let writes = evidence.sites().filter(|site| {
        let name = named(site.callee);
        name.is_some_and(|name| WRITERS.iter().any(|writer| name.starts_with(writer)))
    });
    let writes = writes.fold(0_u64, |sum, site| sum.saturating_add(site.figures.calls));
    let (calls, name) = (flush.figures.calls, evidence.name(flush.callee));
    vec![Finding {
        cause: Cause::Flushes,
        place: evidence.place_of(flush),
        cost_ticks: flush.figures.served_work_ticks,
        certainty: Certainty::Likely,
        title: format!("output is flushed {} times {}", count(calls), evidence.at(flush)),
        evidence: format!(
            "{name} {} was called {} times and took {}, {} a call; goals of the program wrote {} times. Each flush that has something to \
             write is a call of the system.",
            evidence.at(flush),
            count(calls),
            evidence.time(flush.figures.served_work_ticks),
            evidence.time(flush.figures.served_work_ticks / calls.max(1)),
            count(writes),
        ),
        remedy: "leave the flush out, or flush once after a line or a page: the engine flushes a full buffer, at the end, and before \
                 it reads from a terminal."
            .to_owned(),
        predicates: vec![flush.callee],
        needs: Vec::new(),
    }]
}
