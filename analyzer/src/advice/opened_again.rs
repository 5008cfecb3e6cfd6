//! Files that are opened again and again to write into them.

use super::again::Again;
use super::evidence::{Evidence, part_of};
use super::{Cause, Finding, source};
use crate::tables::SiteData;
use crate::text::count;

/// Fewer calls are different files, most likely.
const LEAST: u64 = 20;

/// Modes in which something is written.
const TO_WRITE: [&str; 3] = ["append", "update", "write"];

/// A finding for each goal that opens files so.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let clauses = evidence.clauses.values();
    clauses
        .flat_map(|goals| goals.iter().map(move |goal| (goal, goals)))
        .filter(|(goal, _)| goal.figures.calls >= LEAST)
        .filter_map(|(goal, goals)| finding(evidence, goal, goals))
        .collect()
}

/// `goals` are those of the predicate that opens.
fn finding(evidence: &Evidence, opening: &SiteData, goals: &[SiteData]) -> Option<Finding> {
    let is_opening = evidence.foreign_name(opening.callee)? == "open"
        && source::opened_to(evidence.analysis, opening, &TO_WRITE);
    if !is_opening {
        return None;
    }
    let closes = goals
        .iter()
        .filter(|goal| evidence.foreign_name(goal.callee) == Some("close"));
    let served = closes.fold(opening.figures.served_work_ticks, |sum, goal| {
        sum.saturating_add(goal.figures.served_work_ticks)
    });
    let (name, calls) = (evidence.name(opening.callee), opening.figures.calls);
    let again = Again::of(evidence, opening, "opened", "file")?;
    Some(Finding {
        cause: Cause::OpenedAgain,
        place: evidence.place_of(opening),
        cost_ticks: part_of(served, again.calls, calls),
        certainty: again.certainty,
        title: format!(
            "{name} opens a file {} times {} to write into it",
            count(calls),
            evidence.at(opening)
        ),
        evidence: format!(
            "{name} {} was called {} times; to open and to close took {}, {} each time. {}",
            evidence.at(opening),
            count(calls),
            evidence.time(served),
            evidence.time(served / calls.max(1)),
            again.text,
        ),
        remedy: "if it is the same file, open it once, keep the stream, and close it at the end; flush_output/1 where others must see \
                 each line at once."
            .to_owned(),
        predicates: vec![opening.callee],
        needs: again.needs,
    })
}
