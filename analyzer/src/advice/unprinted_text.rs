//! Text that is made for a message, or data that is computed for it, though nothing is printed.

use super::evidence::{Evidence, share};
use super::{Cause, Certainty, Finding, effects, source};
use crate::tables::SiteData;
use crate::text::count;

/// Fewer texts are no loop.
const LEAST: u64 = 500;

/// Built-in predicates that make a text: the argument, counted from 0, that it becomes. That of
/// `format/3` is in a term: `string(Text)`.
pub(super) const MAKERS: [(&str, usize); 11] = [
    ("system:format/3", 0),
    ("system:sformat/3", 0),
    ("system:with_output_to/2", 0),
    ("system:term_to_atom/2", 1),
    ("system:term_string/2", 0),
    ("strings:term_string/2", 0),
    ("system:string_concat/3", 2),
    ("system:atom_concat/3", 2),
    ("system:atomic_list_concat/2", 1),
    ("system:atomic_list_concat/3", 2),
    ("strings:interpolate_string/4", 1),
];

/// What prints a message, and in how many ns one call of it prints nothing: it looks at a topic or
/// at the kind of the message, and does no more.
const MESSAGES: [(&str, u64); 2] = [("debug/3", 5_000), ("print_message/2", 20_000)];

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
    let made = MAKERS.iter().find(|(maker, _)| *maker == name);
    if made.is_none() && !(of_program && only_computes(evidence, maker)) {
        return None;
    }
    let message = behind.iter().find(|goal| {
        printing(evidence, goal).is_some_and(|most_ns| {
            let figures = &goal.figures;
            let ns = evidence.analysis.ns(figures.served_work_ticks);
            figures.calls > 0 && ns / figures.calls <= most_ns
        })
    })?;
    let of = evidence
        .analysis
        .trace
        .predicates()
        .get(message.callee as usize)?;
    let (analysis, printer) = (evidence.analysis, &of.declared.name);
    let is_for_nothing = match made {
        Some(&(_, argument)) => source::is_only_for(analysis, maker, argument, printer),
        None => (0..arity(evidence, maker))
            .any(|argument| source::is_all_for(analysis, maker, argument, printer)),
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
        remedy: match of.declared.name.as_str() {
            "debug" => {
                "make the text only if it is wanted: give the format and its arguments to debug/3 itself, which formats nothing if the \
                 topic is off; or ask debugging(Topic) first. The same goes for what is computed for the text alone."
            }
            _ => {
                "make the text only if it is wanted: give print_message/2 the format and its arguments, as format(Format, Arguments); or \
                 ask first whether such messages are shown. The same goes for what is computed for the text alone."
            }
        }
        .to_owned(),
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

/// In how many ns a call of a goal has printed nothing, if it is one that prints messages.
fn printing(evidence: &Evidence, goal: &SiteData) -> Option<u64> {
    let name = evidence.name(goal.callee);
    let (module, name) = name.split_once(':')?;
    let is_known = matches!(module, "prolog_debug" | "debug" | "'$messages'" | "system");
    let found = MESSAGES.iter().find(|(message, _)| *message == name);
    found.filter(|_| is_known).map(|&(_, most_ns)| most_ns)
}
