//! Files that are opened again and again to write into them.

use super::evidence::{Evidence, is_often, part_of};
use super::{Cause, Certainty, Finding, Need, source};
use crate::tables::Site;
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
fn finding(evidence: &Evidence, opening: &Site, goals: &[Site]) -> Option<Finding> {
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
    let (again, which, certainty, needs) = match evidence.calls_again(opening) {
        Some((known, again)) if !is_often(known, again) => return None,
        Some((known, again)) => (
            part_of(calls, again, known),
            format!(
                "Of {} calls that were looked at, {} at most opened a file that was opened before.",
                count(known),
                count(again)
            ),
            Certainty::Likely,
            Vec::new(),
        ),
        None => (
            calls - 1,
            "Which file it was, the trace does not say.".to_owned(),
            Certainty::ToCheck,
            vec![Need::Values(name.to_owned())],
        ),
    };
    Some(Finding {
        cause: Cause::OpenedAgain,
        place: evidence.place_of(opening),
        cost_ticks: part_of(served, again, calls),
        certainty,
        title: format!(
            "{name} opens a file {} times {} to write into it",
            count(calls),
            evidence.at(opening)
        ),
        evidence: format!(
            "{name} {} was called {} times; to open and to close took {}, {} each time. {which}",
            evidence.at(opening),
            count(calls),
            evidence.time(served),
            evidence.time(served / calls.max(1)),
        ),
        remedy: "if it is the same file, open it once, keep the stream, and close it at the end; flush_output/1 where others must see \
                 each line at once."
            .to_owned(),
        predicates: vec![opening.callee],
        needs,
    })
}
