//! All solutions are collected, or a list of all elements is made, and the clause looks at the
//! first one.

use super::clause_text::ListEnd;
use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding, source};
use crate::tables::SiteData;
use crate::text::count;

/// Fewer solutions are not worth another goal.
const LEAST: u64 = 100;

/// A finding for each `findall/3` of whose list the text of the clause takes the first element
/// alone, and for each list of all elements that is made for the first or last of them.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for goals in evidence.clauses.values() {
        for (at, collector) in goals.iter().enumerate() {
            findings.extend(finding(evidence, collector, &goals[at + 1..]));
            findings.extend(of_elements(evidence, collector));
        }
    }
    findings
}

/// A list of all elements is made for one of them.
fn of_elements(evidence: &Evidence, maker: &SiteData) -> Option<Finding> {
    let (calls, served) = (maker.figures.calls, maker.figures.served_work_ticks);
    evidence.foreign_name(maker.callee)?;
    if calls < LEAST {
        return None;
    }
    let infos = evidence.analysis.trace.predicates();
    let declared = &infos.get(maker.callee as usize)?.declared;
    let known = evidence
        .libraries
        .list_maker(&declared.name, declared.arity)?;
    let list = (declared.arity as usize).checked_sub(1)?;
    let elements = &evidence.libraries.elements;
    let (which, instead) = match source::end_of_list(evidence.analysis, maker, list, elements)? {
        ListEnd::First => ("first", known.of_first),
        ListEnd::Last => ("last", known.of_last),
    };
    let name = evidence.name(maker.callee);
    Some(Finding {
        cause: Cause::CollectedForFirst,
        place: evidence.place_of(maker),
        cost_ticks: served,
        certainty: Certainty::Likely,
        title: format!(
            "{name} makes a list of all elements {}, and only the {which} is used",
            evidence.at(maker)
        ),
        evidence: format!(
            "{name} {} was called {} times and took {}, {} a call. The clause takes the {which} element of the list, and does not \
             look at the others.",
            evidence.at(maker),
            count(calls),
            evidence.time(served),
            evidence.time(served / calls.max(1)),
        ),
        remedy: format!("{instead}."),
        predicates: vec![maker.callee],
        needs: Vec::new(),
    })
}

fn finding(evidence: &Evidence, collector: &SiteData, behind: &[SiteData]) -> Option<Finding> {
    if evidence.foreign_name(collector.callee) != Some("findall") {
        return None;
    }
    let calls = collector.figures.calls;
    let are_many = |goal: &SiteData| goal.figures.exits() >= LEAST.max(calls.saturating_mul(2));
    // Before the text is read.
    if !behind.iter().any(are_many) {
        return None;
    }
    let collected =
        source::collected_for_first(evidence.analysis, collector, &evidence.libraries.elements)?;
    // Goals in its arguments follow it, and each exit of the last one is a solution.
    let inner = behind.iter().take_while(|goal| {
        let info = evidence
            .analysis
            .trace
            .predicates()
            .get(goal.callee as usize);
        info.is_some_and(|info| collected.contains(&info.declared.name))
    });
    let last = inner.last().filter(|last| are_many(last))?;
    let solutions = last.figures.exits();
    let (from, of) = (evidence.name(collector.callee), evidence.name(last.callee));
    let served = collector.figures.served_work_ticks;
    Some(Finding {
        cause: Cause::CollectedForFirst,
        place: evidence.place_of(collector),
        cost_ticks: part_of(served, solutions - calls, solutions),
        certainty: Certainty::Likely,
        title: format!("{from} collects all solutions of {of}, and only the first is used"),
        evidence: format!(
            "{from} {} took {} in {} calls, and {of} gave {} solutions in them. The clause takes the \
             first element of the list, and does not look at the others.",
            evidence.at(collector),
            evidence.time(served),
            count(calls),
            count(solutions),
        ),
        remedy:
            "ask for the first solution: once(Goal), or Goal -> …, which binds what the template \
                 has. That is the first element of the list. If the best one is wanted, see that \
                 Goal gives it first."
                .to_owned(),
        predicates: vec![collector.callee, last.callee],
        needs: Vec::new(),
    })
}
