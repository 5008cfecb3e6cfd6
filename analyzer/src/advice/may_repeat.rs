//! Calls that may repeat one another: the trace does not say whether they do, but how it could.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{Evidence, reached};
use super::{Cause, Certainty, Finding, Need, effects, source};
use crate::text::{count, shell_quoted};
use crate::trace::{PredicateIndex, PredicateInfo};

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
    let callees = callees(evidence);
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
                && computes(evidence, &callees, index)
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
    let options: Vec<String> = may
        .iter()
        .map(|&(index, ..)| format!("--arguments {}", shell_quoted(evidence.name(index))))
        .collect();
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
             table the predicate (:- table).",
            options.join(" ")
        ),
        predicates: may.iter().map(|&(index, ..)| index).collect(),
        needs: may
            .iter()
            .map(|&(index, ..)| Need::Arguments(evidence.name(index).to_owned()))
            .collect(),
    }]
}

/// The dearest predicate that calls itself in a tree, returns one result and changes nothing: the
/// same calls may come again. A tree of data looks the same, so this is no finding.
pub(super) fn recursive(evidence: &Evidence) -> Option<PredicateIndex> {
    let callees = callees(evidence);
    let called = |index| callees.get(&index).into_iter().flatten().copied();
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
            && {
                let mut below = reached(called(index), called);
                below.insert(index);
                !effects::do_more(evidence, &below)
                    && !effects::change_under(evidence, index, &below)
            }
            && !source::is_grammar(evidence.analysis, index)
    });
    let dearest = calling_itself
        .max_by_key(|&(index, _, figures)| (figures.inclusive_work_ticks, Reverse(index)));
    dearest.map(|(index, ..)| index)
}

/// Whether a predicate does more than compute, as far as the trace and the source say.
pub(super) fn does_more(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let callees = callees(evidence);
    let called = |index| callees.get(&index).into_iter().flatten().copied();
    effects::do_more(evidence, &reached([predicate], called))
}

/// Whether the result of a predicate depends on more than its arguments, as far as the trace and
/// the source say: it does more than compute, or clauses that it calls change.
pub(super) fn depends_on_more(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let callees = callees(evidence);
    let called = |index| callees.get(&index).into_iter().flatten().copied();
    let below = reached([predicate], called);
    effects::do_more(evidence, &below) || effects::change_under(evidence, predicate, &below)
}

/// By predicate of the program: what its clauses call, in arguments of other goals, too.
fn callees(evidence: &Evidence) -> BTreeMap<PredicateIndex, BTreeSet<PredicateIndex>> {
    let predicates = evidence.analysis.trace.predicates();
    let is_work = |index| {
        let info: Option<&PredicateInfo> = predicates.get(index as usize);
        info.is_some_and(|info| info.is_engine_work() || info.is_filling())
    };
    let edges = evidence.analysis.profile.edges.keys();
    let by_boxes = edges.filter_map(|&(caller, callee)| Some((caller.predicate()?, callee)));
    let goals = evidence.clauses.iter();
    let by_clauses = goals.flat_map(|(&(predicate, _), goals)| {
        goals.iter().map(move |goal| (predicate, goal.callee))
    });
    let mut callees = BTreeMap::<_, BTreeSet<_>>::new();
    for (caller, callee) in by_boxes.chain(by_clauses) {
        if evidence.is_of_program(caller) && !is_work(callee) {
            callees.entry(caller).or_default().insert(callee);
        }
    }
    callees
}

/// Whether it calls more than facts, and neither itself, directly or through others, nor what has effects. A predicate that only looks something up is
/// not worth a table, and one that calls itself is called with other arguments each time, most likely.
fn computes(
    evidence: &Evidence,
    callees: &BTreeMap<PredicateIndex, BTreeSet<PredicateIndex>>,
    predicate: PredicateIndex,
) -> bool {
    let called = |index| callees.get(&index).into_iter().flatten().copied();
    let is_fact = |index| evidence.is_of_program(index) && !callees.contains_key(&index);
    if called(predicate).all(is_fact) {
        return false;
    }
    let mut below = reached(called(predicate), called);
    below.insert(predicate)
        && !effects::do_more(evidence, &below)
        && !effects::change_under(evidence, predicate, &below)
}
