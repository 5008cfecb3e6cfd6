//! Collections and stack shifts, and the choicepoints that make them needed: what a choicepoint can go back to is kept.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, Need};
use crate::calls::behaviour::OwnChoicepoints;
use crate::figures::{Caller, PredicateFigures};
use crate::tables::{ClauseData, SiteData};
use crate::text::{count, counted};
use crate::trace::{PredicateIndex, PredicateInfo};
use portmortem_tracer::format::COST_UNIT;

/// Fewer choicepoints, or fewer at once, do not keep much.
const LEAST: u64 = 1000;

/// A program that begins shifts its stacks a few times: less is not worth a word.
const LEAST_NS: u64 = 1_000_000;

/// Of work and this together, in percent: less, and not known whether for the program or the
/// recorder, is not worth a word. Waiting has no say: it is the machine's.
const LEAST_SHARE: u64 = 20;

/// How many predicates a finding names.
const NAMED: usize = 3;

/// One finding at most.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let of_memory = |(_, info, figures): (_, &PredicateInfo, &PredicateFigures)| {
        info.is_memory_work().then_some(figures.self_ticks)
    };
    let ticks = evidence.predicates().filter_map(of_memory);
    let cost_ticks = ticks.fold(0_u64, u64::saturating_add);
    if evidence.analysis.ns(cost_ticks) < LEAST_NS {
        return Vec::new();
    }
    let leaving = leaving(evidence);
    if leaving.is_empty() {
        return memory(evidence, cost_ticks).into_iter().collect();
    }
    vec![choicepoints(evidence, &leaving, cost_ticks)]
}

/// A predicate that leaves choicepoints: its own, and not those of goals in its clauses.
#[derive(Debug)]
struct Leaving<'a> {
    predicate: PredicateIndex,
    figures: &'a PredicateFigures,
    own: OwnChoicepoints,
}

/// Those that leave the most, if many choicepoints are there at once that nothing uses.
fn leaving<'a>(evidence: &Evidence<'a>) -> Vec<Leaving<'a>> {
    let are_many = |figures: &PredicateFigures| {
        let unused = figures.cuts.saturating_add(figures.pending);
        unused >= LEAST && figures.max_height >= LEAST && unused >= figures.exits_nondet / 2
    };
    let mut predicates = evidence.predicates();
    if !predicates.any(|(_, info, figures)| info.is_called_by_program() && are_many(figures)) {
        return Vec::new();
    }
    let behaviour = &evidence.analysis.calls().behaviour;
    let of = |(predicate, _, figures)| Leaving {
        predicate,
        figures,
        own: behaviour.left_by(predicate),
    };
    let all = evidence.predicates().map(of);
    let mut leaving: Vec<Leaving> = all
        .filter(|of| of.own.unused > 0 && of.own.unused >= of.own.left / 2)
        .collect();
    leaving.sort_by_key(|of| (Reverse(of.own.unused), of.predicate));
    let most = leaving.first().map_or(0, |of| of.own.unused);
    leaving.retain(|of| of.own.unused >= most / 10);
    leaving
}

/// `leaving` is not empty.
fn choicepoints(evidence: &Evidence, leaving: &[Leaving], cost_ticks: u64) -> Finding {
    let first = &leaving[0];
    let name = evidence.name(first.predicate);
    let is_of_program = evidence.is_of_program(first.predicate);
    let goal = match is_of_program {
        true => None,
        false => goal_that_leaves(evidence, first.predicate),
    };
    let at = goal.map_or_else(String::new, |goal| format!(" {}", evidence.at(goal)));
    let OwnChoicepoints { left, unused } = first.own;
    let mut text = format!(
        "{name} left a choicepoint of its own at {} of {} exits; {} of them ({}) were never used, but cut or there at the end. Up to {} \
         were there at once, and what lies below them on the stacks cannot be freed: {} in collections and stack shifts.",
        count(left),
        count(first.figures.exits()),
        count(unused),
        share(unused, left),
        count(first.figures.max_height),
        evidence.time(cost_ticks),
    );
    let others = leaving.iter().skip(1).take(NAMED - 1).map(|of| {
        let name = evidence.name(of.predicate);
        format!("{name} ({} unused)", count(of.own.unused))
    });
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        text.push_str(&format!(" So did {}.", others.join(" and ")));
    }
    let asks_for_clauses = evidence.analysis.tables().clause_list().is_empty()
        && leaving
            .iter()
            .any(|of| evidence.is_of_program(of.predicate));
    text.push_str(&match asks_for_clauses {
        true => format!(
            " Recorded with {}, the trace says which clauses.",
            evidence.libraries.remedies.recorded_with(&[Need::Clauses])
        ),
        false => clauses(evidence, leaving),
    });
    text.push_str(&lost_last_calls(evidence));
    Finding {
        cause: Cause::UnusedChoicepoints,
        place: goal.map_or_else(
            || evidence.place(first.predicate),
            |goal| evidence.place_of(goal),
        ),
        cost_ticks,
        certainty: Certainty::Likely,
        title: format!("choicepoints that {name}{at} leaves are never used"),
        evidence: text,
        remedy: if is_of_program {
            format!(
                "make the clauses of {name} exclude one another by their first argument, or commit with a cut or an if-then-else as \
                 soon as the right clause is known."
            )
        } else {
            format!(
                "where one solution of {name} is enough, say so: {}.",
                evidence.libraries.remedies.one_solution
            )
        },
        predicates: leaving.iter().take(NAMED).map(|of| of.predicate).collect(),
        needs: match asks_for_clauses {
            true => vec![Need::Clauses],
            false => Vec::new(),
        },
    }
}

/// The goal whose calls of a predicate left the most choicepoints that were never used.
fn goal_that_leaves<'e, 'a>(
    evidence: &'e Evidence<'a>,
    predicate: PredicateIndex,
) -> Option<&'e SiteData<'a>> {
    let own = &evidence.analysis.calls().behaviour.choicepoints;
    let unused = |goal: &&SiteData| own.get(&(predicate, goal.site)).map_or(0, |own| own.unused);
    let goals = evidence.sites().filter(|goal| goal.callee == predicate);
    goals.max_by_key(unused).filter(|goal| unused(goal) > 0)
}

/// Which clauses left the most, if the trace says so.
fn clauses(evidence: &Evidence, leaving: &[Leaving]) -> String {
    let is_leaving =
        |clause: &ClauseData| (leaving.iter()).any(|of| of.predicate == clause.predicate);
    let mut clauses = evidence.analysis.tables().clause_list();
    clauses.retain(|clause| is_leaving(clause) && clause.figures.left_unused() > 0);
    clauses.sort_by_key(|clause| Reverse(clause.figures.left_unused()));
    let named = clauses.iter().take(NAMED).filter_map(|clause| {
        let info = clause.info()?;
        let line = clause
            .line()
            .map_or_else(String::new, |line| format!(" (line {line})"));
        let left = count(clause.figures.left_unused());
        Some(format!(
            "clause {} of {}{line} {left}",
            info.number,
            evidence.name(clause.predicate)
        ))
    });
    let named: Vec<String> = named.collect();
    match named.is_empty() {
        true => String::new(),
        false => format!(" Of their own clauses left unused: {}.", named.join(", ")),
    }
}

/// Goals that are last in their clause, since some of their calls were last calls, and whose other calls kept the frame of the clause.
fn lost_last_calls(evidence: &Evidence) -> String {
    let lost =
        |site: &&SiteData| site.figures.calls - site.figures.tail_calls.min(site.figures.calls);
    let goals = evidence.clauses.values().flatten();
    let goals = goals.filter(|site| site.figures.tail_calls > 0 && lost(site) >= LEAST);
    let Some(goal) = goals.max_by_key(lost) else {
        return String::new();
    };
    format!(
        " So {} of {} {} were no last calls, and kept a frame.",
        count(lost(&goal)),
        counted(goal.figures.calls, "call", "calls"),
        format_args!("of {} {}", evidence.name(goal.callee), evidence.at(goal)),
    )
}

/// The recorder's boxes are on the stacks, too. How much is the program's own, a baseline says; without one only a large part is worth another
/// recording.
fn memory(evidence: &Evidence, recorded_ticks: u64) -> Option<Finding> {
    let baseline = evidence.analysis.trace.baseline();
    let own = baseline.map(|baseline| {
        let work = u64::from(baseline.engine_work);
        part_of(recorded_ticks, work, COST_UNIT)
    });
    let whole = evidence.total_ticks.saturating_add(recorded_ticks);
    if own.is_none() && recorded_ticks < whole / 100 * LEAST_SHARE {
        return None;
    }
    let cost_ticks = own.unwrap_or(recorded_ticks);
    let mut by = callers(evidence);
    by.truncate(NAMED);
    let most = by
        .iter()
        .map(|&(index, ticks)| format!("{} in {}", evidence.time(ticks), evidence.name(index)));
    let most: Vec<String> = most.collect();
    let first = by.first().map_or(
        evidence.analysis.trace.unknown_predicate(),
        |&(index, _)| index,
    );
    let mut text = format!(
        "{} went into garbage collections and stack shifts",
        evidence.time(recorded_ticks)
    );
    if !most.is_empty() {
        text.push_str(&format!(": {}", most.join("; ")));
    }
    text.push_str(&match own {
        Some(own) => format!(
            ". In the runs that were not recorded it was {}; the rest is for the recorder's own boxes.",
            evidence.time(own)
        ),
        None => ". Some of that is for the recorder's own boxes, perhaps most of it.".to_owned(),
    });
    let less = less(evidence, first);
    Some(Finding {
        cause: Cause::Memory,
        place: evidence.place(first),
        cost_ticks,
        certainty: Certainty::ToCheck,
        title: "collections and stack shifts".to_owned(),
        evidence: text,
        remedy: match own {
            Some(_) => less,
            None => format!(
                "record again with {} to see how much is the program's own. If most of it is, {less}",
                evidence.libraries.remedies.recorded_with(&[Need::Baseline])
            ),
        },
        predicates: by.iter().map(|&(index, _)| index).collect(),
        needs: match own {
            Some(_) => Vec::new(),
            None => vec![Need::Baseline],
        },
    })
}

/// By predicate: ticks of collections and stack shifts while its box was the innermost one, the
/// most first.
pub(super) fn callers(evidence: &Evidence) -> Vec<(PredicateIndex, u64)> {
    let mut by = BTreeMap::<PredicateIndex, u64>::new();
    let trace = &evidence.analysis.trace;
    for (&(caller, callee), edge) in &evidence.analysis.profile.edges {
        let info = trace.predicates().get(callee as usize);
        if let (Caller::Predicate(caller), Some(info)) = (caller, info)
            && info.is_memory_work()
        {
            let sum = by.entry(caller).or_default();
            *sum = sum.saturating_add(edge.spent_ticks);
        }
    }
    let mut by: Vec<_> = by.into_iter().collect();
    by.sort_by_key(|&(index, ticks)| (Reverse(ticks), index));
    by
}

/// How to keep less, where most was kept or made in this predicate.
fn less(evidence: &Evidence, most: PredicateIndex) -> String {
    let known = evidence.built_in(most).filter(|known| known.makes_data());
    if let Some(known) = known {
        let name = evidence.name(most);
        return format!(
            "{name} {}, and what is not needed any more is collected: {}",
            known.does, known.instead
        );
    }
    let own = evidence.goals_of(most).filter(|goal| goal.callee == most);
    let kept = own.fold(0_u64, |sum, goal| {
        let figures = &goal.figures;
        sum.saturating_add(figures.calls.saturating_sub(figures.tail_calls))
    });
    let recursion = match kept >= LEAST {
        true => format!(
            "{} calls itself where that is not its last call, so each level keeps a frame; with an accumulator it is the last one, and a \
             loop by backtracking (forall/2, between/3) keeps none. Beside that, ",
            evidence.name(most)
        ),
        false => String::new(),
    };
    format!(
        "keep less: {recursion}no long lists that are not needed again, no large terms copied by findall/3, assertz/1 or messages."
    )
}
