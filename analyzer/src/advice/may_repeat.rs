//! Calls that may repeat one another: the trace does not say whether they do, but how it could.

use std::cmp::Reverse;

use super::evidence::{Evidence, reached};
use super::{Cause, Certainty, Finding, Need, effects, labelled_first, source};
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer calls are not worth a table.
const LEAST: u64 = 1000;

/// What is computed in less time than this, in ns, is not worth keeping: to look up a tabled answer takes as long.
const LEAST_NS: u64 = 5000;

/// Of the time, in percent: the least that calls of a predicate took.
const LEAST_SHARE: u64 = 10;

/// How many predicates are named.
const NAMED: usize = 4;

/// One finding at most: the predicates that return one result, change nothing, and whose calls take long.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let enough = evidence.total_ticks / 100 * LEAST_SHARE;
    let mut may: Vec<_> = evidence
        .predicates()
        .filter(|&(index, info, figures)| {
            evidence.is_of_program(index)
                && info.declared.arity > 0
                && !evidence.analysis.arguments().contains_key(&index)
                && !evidence.is_tabled(index)
                && figures.redos == 0
                && figures.calls >= LEAST
                && figures.inclusive_work_ticks >= enough
                && evidence
                    .analysis
                    .ns(figures.inclusive_work_ticks / figures.calls)
                    >= LEAST_NS
                && computes(evidence, index)
                && !labelled_first::posts(evidence, index)
                && !source::is_grammar(evidence.analysis, index)
        })
        .collect();
    may.sort_by_key(|(_, _, figures)| Reverse(figures.inclusive_work_ticks));
    may.truncate(NAMED);
    let Some(&(first, _, figures)) = may.first() else {
        return Vec::new();
    };
    let named: Vec<String> = may
        .iter()
        .map(|&(index, _, figures)| {
            let (name, calls) = (evidence.name(index), count(figures.calls));
            let time = evidence.time(figures.inclusive_work_ticks);
            format!("{name} ({calls} calls, {time})")
        })
        .collect();
    let needs = may
        .iter()
        .map(|&(index, ..)| Need::Arguments(evidence.name(index).to_owned()));
    let needs: Vec<Need> = needs.collect();
    let remedies = evidence.libraries.remedies;
    vec![Finding {
        cause: Cause::MayRepeat,
        place: evidence.place(first),
        cost_ticks: figures.inclusive_work_ticks,
        certainty: Certainty::ToCheck,
        title: "calls may repeat one another; the trace does not say".to_owned(),
        evidence: format!(
            "These return one result, call nothing recorded that changes or reads a state, and took much of the time: {}. If they are called again with the same \
             arguments, their results can be kept.",
            named.join(", ")
        ),
        remedy: format!(
            "record again with {} to see whether the same arguments come again. If they do, compute the result once and pass it on, or \
             {} ({}).",
            remedies.recorded_with(&needs),
            remedies.to_table("the predicate"),
            remedies.tabling()
        ),
        predicates: may.iter().map(|&(index, ..)| index).collect(),
        needs,
    }]
}

/// The costliest predicate that calls itself in a tree, returns one result and changes nothing: the
/// same calls may come again. A tree of data looks the same, so this is no finding.
pub(super) fn recursive(evidence: &Evidence) -> Option<PredicateIndex> {
    let enough = evidence.total_ticks / 100 * LEAST_SHARE;
    let calling_itself = evidence.predicates().filter(|&(index, info, figures)| {
        let recursion = evidence.analysis.calls().behaviour.recursion_of(index);
        evidence.is_of_program(index)
            && info.declared.arity > 0
            && !evidence.analysis.arguments().contains_key(&index)
            && !evidence.is_tabled(index)
            && figures.redos == 0
            && recursion.calls >= LEAST
            && recursion.is_a_tree()
            && figures.inclusive_work_ticks >= enough
            && !effects::depends_on_more(evidence, index)
            && !source::is_grammar(evidence.analysis, index)
    });
    let costliest = calling_itself
        .max_by_key(|&(index, _, figures)| (figures.inclusive_work_ticks, Reverse(index)));
    costliest.map(|(index, ..)| index)
}

/// Whether it calls more than facts, and neither itself, directly or through others, nor what has effects. A predicate that only looks something up is
/// not worth a table, and one that calls itself is called with other arguments each time, most likely.
fn computes(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let is_fact =
        |index| evidence.is_of_program(index) && evidence.callees_of(index).next().is_none();
    if evidence.callees_of(predicate).all(is_fact) {
        return false;
    }
    let below = reached(evidence.callees_of(predicate), |index| {
        evidence.callees_of(index)
    });
    !below.contains(&predicate) && !effects::depends_on_more(evidence, predicate)
}
