//! For what goals waited, and for whom, where the trace says it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::evidence::Evidence;
use crate::figures::waits::{SharedKind, SharedObject};
use crate::trace::names::printable;
use crate::trace::{PredicateIndex, SiteIndex};

/// So many are named.
const MOST: usize = 3;

/// For what and for whom the longest part of some waits was, as a sentence behind a space; empty
/// if that is not known. Waits are of predicates, by goals.
pub(super) fn sentence(evidence: &Evidence, by: &[(PredicateIndex, Option<SiteIndex>)]) -> String {
    let waits = evidence.analysis.profile.waits.iter();
    let mut sums = BTreeMap::<_, u64>::new();
    for (kind, figures) in waits.flat_map(|waits| &waits.sums) {
        let is_by = |&(predicate, site)| kind.predicate == Some(predicate) && kind.site == site;
        if kind.object.is_some() && kind.awaited.is_some() && by.iter().any(is_by) {
            let sum = sums.entry((kind.object, kind.awaited)).or_default();
            *sum = sum.saturating_add(figures.ticks);
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|&(_, ticks)| Reverse(ticks));
    let parts = sums
        .iter()
        .take(MOST)
        .filter_map(|&((object, awaited), ticks)| {
            Some(format!(
                "{} {}",
                evidence.time(ticks),
                whom(evidence, object?, awaited?)?
            ))
        });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" Of that {}.", parts.join("; ")),
    }
}

/// "for the mutex m while stream 2 (bee) held it"
fn whom(evidence: &Evidence, object: SharedObject, awaited: u32) -> Option<String> {
    let trace = &evidence.analysis.trace;
    let name = printable(trace.shared(object.id)?);
    let whom = trace.streams()[trace.stream_place(awaited)?].title();
    Some(match object.kind {
        SharedKind::Mutex => format!("for the mutex {name} while {whom} held it"),
        SharedKind::Queue => format!("for a message in the queue {name} from {whom}"),
        SharedKind::FullQueue => format!("until {whom} took a message from the queue {name}"),
        SharedKind::Thread => format!("for the end of {whom}"),
    })
}
