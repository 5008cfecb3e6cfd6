//! Output that is handed to the system in small pieces.

use std::cmp::Reverse;

use portmortem_tracer::format::Role;

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding};
use crate::text::count;

/// Fewer flushes are those of a dialogue.
const LEAST: u64 = 1000;

/// One finding at most: the goal that flushes most often.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let flushes = evidence.sites().filter(|site| {
        site.figures.calls >= LEAST && evidence.is_foreign(site.callee, Role::Flushes)
    });
    let Some(flush) =
        flushes.max_by_key(|site| (site.figures.served_work_ticks, Reverse(site.site)))
    else {
        return Vec::new();
    };
    let sites = evidence.sites();
    let writes = sites.filter(|site| evidence.is_foreign(site.callee, Role::Writes));
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
