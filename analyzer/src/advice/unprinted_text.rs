//! Text that is made for a message, or data that is computed for it, though nothing is printed.

use super::evidence::{Evidence, share};
use super::{Cause, Certainty, Finding, effects, source};
use crate::tables::SiteData;
use crate::text::count;

/// Fewer texts are no loop.
const LEAST: u64 = 500;

/// A finding for each goal that makes a text, or computes something, which its clause only hands to
/// messages that are not printed.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for goals in evidence.clauses.values() {
        for (at, goal) in goals.iter().enumerate() {
            if goal.figures.calls >= LEAST {
                findings.extend(finding(evidence, goal, &goals[at + 1..]));
            }
        }
    }
    findings
}

fn finding(evidence: &Evidence, maker: &SiteData, behind: &[SiteData]) -> Option<Finding> {
    let name = evidence.name(maker.callee);
    let of_program = evidence.is_of_program(maker.callee);
    let made = evidence.libraries.text_made_by(name);
    if made.is_none() && !(of_program && only_computes(evidence, maker)) {
        return None;
    }
    let (message, printer) = behind.iter().find_map(|goal| {
        let printer = evidence
            .libraries
            .message_printer(evidence.name(goal.callee))?;
        let figures = &goal.figures;
        let ns = evidence.analysis.ns(figures.served_work_ticks);
        let is_silent = figures.calls > 0 && ns / figures.calls <= printer.silent_ns;
        is_silent.then_some((goal, printer))
    })?;
    let of = evidence
        .analysis
        .trace
        .predicates()
        .get(message.callee as usize)?;
    let (analysis, prints) = (evidence.analysis, &of.declared.name);
    let is_for_nothing = match made {
        Some(argument) => source::is_only_for(analysis, maker, argument, prints),
        None => (0..arity(evidence, maker))
            .any(|argument| source::is_all_for(analysis, maker, argument, prints)),
    };
    if !is_for_nothing {
        return None;
    }
    let makes = match made {
        Some(_) => "makes text",
        None => "computes something",
    };
    let served = maker.figures.served_work_ticks;
    let by = evidence.name(message.callee);
    Some(Finding {
        cause: Cause::UnprintedText,
        place: evidence.place_of(maker),
        cost_ticks: served,
        certainty: Certainty::Likely,
        title: format!(
            "{name} {makes} {} that {by} does not print",
            evidence.at(maker)
        ),
        evidence: format!(
            "{name} {} was called {} times and took {}: {} of the work. The clause hands its result to {by} alone, which took {} a \
             call: too little to have printed something.",
            evidence.at(maker),
            count(maker.figures.calls),
            evidence.time(served),
            share(served, evidence.total_ticks),
            evidence.time(message.figures.served_work_ticks / message.figures.calls.max(1)),
        ),
        remedy: printer.instead.to_owned(),
        predicates: vec![maker.callee],
        needs: Vec::new(),
    })
}

/// Whether a goal always succeeds, and does nothing else.
pub(super) fn only_computes(evidence: &Evidence, goal: &SiteData) -> bool {
    let figures = &goal.figures;
    figures.exits_det + figures.exits_nondet >= figures.calls
        && !effects::does_more(evidence, goal.callee)
}

fn arity(evidence: &Evidence, goal: &SiteData) -> usize {
    let predicates = evidence.analysis.trace.predicates();
    let info = predicates.get(goal.callee as usize);
    info.map_or(0, |info| info.declared.arity as usize)
}
