//! A generator of whose solutions hardly any come through to the end of its conjunction, whatever
//! goals behind it reject them.

use super::evidence::{Evidence, generates, part_of};
use super::{Cause, Certainty, Finding, source};
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer solutions are generated in no time.
const LEAST: u64 = 10_000;

/// One of so many comes through at most.
const LEAST_FOR_ONE: u64 = 20;

/// For a clause: its first generator of that kind. `None`, too, where the text does not say that
/// the goals behind it are steps of the same conjunction.
pub(super) fn find(
    evidence: &Evidence,
    predicate: PredicateIndex,
    goals: &[SiteData],
) -> Option<Finding> {
    let mut generators = (0..goals.len()).filter(|&at| {
        let exits = goals[at].figures.exits();
        exits >= LEAST && generates(&goals[at]) && !evidence.is_labelling(goals[at].callee)
    });
    generators.find_map(|at| of_generator(evidence, predicate, goals, at))
}

fn of_generator(
    evidence: &Evidence,
    predicate: PredicateIndex,
    goals: &[SiteData],
    at: usize,
) -> Option<Finding> {
    let generator = &goals[at];
    let between = |later: &SiteData| source::between(evidence.analysis, generator, later);
    let is_next = |later: &&SiteData| between(later).is_some_and(|text| text.are_in_a_row);
    let behind: Vec<&SiteData> = goals[at + 1..].iter().take_while(is_next).collect();
    let last = behind.last()?;
    let (gave, through) = (generator.figures.exits(), last.figures.exits());
    // A recursion fails where a search does, in the clauses that it enters.
    let searches = behind
        .iter()
        .any(|goal| evidence.called(goal.callee).contains(&predicate));
    if searches || through > gave / LEAST_FOR_ONE || last.figures.calls == 0 {
        return None;
    }
    // Tests that are no calls are another finding; a loop may end in a goal that fails on purpose.
    let failed: u64 = behind.iter().map(|goal| goal.figures.fails).sum();
    if failed < (gave - through) / 2 || last.info().is_some_and(|last| last.then_fails) {
        return None;
    }
    let rejecting = behind.iter().max_by_key(|goal| goal.figures.fails)?;
    let served = behind
        .iter()
        .fold(generator.figures.served_work_ticks, |sum, goal| {
            sum.saturating_add(goal.figures.served_work_ticks)
        });
    let binds = |earlier: &SiteData| {
        let text = source::between(evidence.analysis, earlier, generator);
        text.is_none_or(|text| text.needs)
    };
    let is_free = !goals[..at].iter().any(binds);
    let (from, by) = (
        evidence.name(generator.callee),
        evidence.name(rejecting.callee),
    );
    let remedy = match is_free && at > 0 {
        _ if source::is_grammar(evidence.analysis, predicate) => in_grammar(evidence, from),
        true => format!(
            "nothing before it says which solutions of {from} are wanted, so all are tried with all that was found before. Put first the goals that \
             lead from what is known to what {from} has to give, such as those that {by} is made of, and call {from} behind them \
             with its key bound."
        ),
        false => format!(
            "let {from} give only what can come through: bind a key before the call, begin with the goal that has the fewest solutions, \
             or call {by} as soon as what it needs is known."
        ),
    };
    Some(Finding {
        cause: Cause::Generator,
        place: evidence.place_of(generator),
        cost_ticks: part_of(served, gave - through, gave).min(evidence.total_ticks),
        certainty: Certainty::Likely,
        title: format!(
            "{} of {} solutions of {from} come through {}",
            count(through),
            count(gave),
            evidence.at(generator)
        ),
        evidence: format!(
            "{from} gave {} solutions in {} calls; {} goals behind it had {} solutions at last. Most were rejected by {by} {}, which failed {} \
             times. All of these goals took {}.",
            count(gave),
            count(generator.figures.calls),
            count(behind.len() as u64),
            count(through),
            evidence.at(rejecting),
            count(rejecting.figures.fails),
            evidence.time(served),
        ),
        remedy,
        predicates: vec![rejecting.callee, generator.callee],
        needs: Vec::new(),
    })
}

/// The order of the goals of a grammar rule is that of the text: what is left is to give less.
pub(super) fn in_grammar(evidence: &Evidence, from: &str) -> String {
    let commits = evidence.libraries.remedies.commits_in_grammar;
    format!(
        "let {from} take the text in one way where one is meant: leave out what can be taken by what comes before or behind it, too \
         (white space), let its alternatives exclude each other, and commit ({commits}) as soon as it is known which one it is."
    )
}
