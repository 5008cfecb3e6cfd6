//! Goals whose calls take longer and longer: the work of all calls grows with the square of their number, or faster.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding, source};
use crate::calls::Goal;
use crate::calls::figures::CallFigures;
use crate::calls::growth::Verdict;
use crate::figures::Caller;
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::PredicateIndex;

/// What grows with the number of calls from the beginning grows sevenfold from the first eighth of them to the last, after the warming up that a
/// trend leaves out. What grows by less than this does so for another reason, such as another phase of the program.
const LEAST_FACTOR: u64 = 4;

/// Of the time of all calls, in percent: where growth is less of it, something else takes the time,
/// such as one long call.
const LEAST_GROWN: u64 = 25;

const OF_LEAF: &str = "what it compares or computes grows from call to call: hand it only what is new, or keep what was found before. If \
                       the problem is made larger from call to call, it is as it should be.";

const OF_OTHERS: &str = "what it works on grows from call to call: pass on what was computed before instead of computing it again from \
                         all of it. If the problem is made larger from call to call, it is as it should be.";

/// A goal whose calls take longer and longer.
struct GrowingGoal<'e, 'a> {
    site: &'e SiteData<'a>,
    figures: &'e CallFigures,
    /// Ticks that they took more than if all had been as short as the first ones.
    cost_ticks: u64,
}

/// A finding for each goal that grows, if not because of goals in the clauses of what it calls.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let calls = evidence.analysis.calls();
    let mut growing = BTreeMap::<PredicateIndex, Vec<GrowingGoal>>::new();
    for site in evidence.clauses.values().flatten() {
        let goal = Goal {
            callee: site.callee,
            caller: site.caller,
            site: site.site,
        };
        let Some(figures) = calls.goal(&goal) else {
            continue;
        };
        let trend = figures.trend();
        if let (true, Some((first, last))) = (trend.verdict.grows(), trend.ends)
            && last >= first.saturating_mul(LEAST_FACTOR)
            && trend.grown_ticks >= site.figures.served_work_ticks / 100 * LEAST_GROWN
        {
            let Caller::Predicate(caller) = site.caller else {
                continue;
            };
            growing.entry(caller).or_default().push(GrowingGoal {
                site,
                figures,
                // Calls inside one another are counted with both.
                cost_ticks: trend.grown_ticks.min(site.figures.served_work_ticks),
            });
        }
    }
    let all = growing.values().flatten();
    all.filter(|goal| !is_explained(evidence, &growing, goal))
        .map(|goal| finding(evidence, goal))
        .collect()
}

/// Whether half of it is because of another growing goal: in what it calls, or in what that calls, or in its arguments. Of two goals that call each
/// other the costlier one is the reason.
fn is_explained(
    evidence: &Evidence,
    growing: &BTreeMap<PredicateIndex, Vec<GrowingGoal>>,
    goal: &GrowingGoal,
) -> bool {
    let called = evidence.called(goal.site.callee);
    let sites = &evidence.analysis.profile.sites;
    let is_inside = |inner: &GrowingGoal| {
        let site = inner.site;
        let as_argument = (Caller::Predicate(goal.site.callee), site.callee, site.site);
        site.caller
            .predicate()
            .is_some_and(|caller| called.contains(&caller))
            || sites.contains_key(&as_argument)
    };
    let is_around = |inner: &GrowingGoal| {
        let caller = goal.site.caller.predicate();
        caller.is_some_and(|caller| evidence.called(inner.site.callee).contains(&caller))
    };
    growing.values().flatten().any(|inner| {
        inner.site.site != goal.site.site
            && inner.cost_ticks >= goal.cost_ticks / 2
            && is_inside(inner)
            && (inner.cost_ticks > goal.cost_ticks || !is_around(inner))
    })
}

fn finding(evidence: &Evidence, goal: &GrowingGoal) -> Finding {
    let site = goal.site;
    let last = last_called(evidence, site.callee);
    let name = evidence.name(site.callee);
    let trend = goal.figures.trend();
    let (first, then) = trend.ends.unwrap_or_default();
    let how = match trend.verdict {
        Verdict::Sublinear => "slower than the number of calls",
        Verdict::Superlinear => "faster than the number of calls",
        _ => "about as the number of calls",
    };
    let by = if last == site.callee {
        String::new()
    } else {
        format!(" Its last call is of {}.", evidence.name(last))
    };
    let (remedy, certainty) = remedy(evidence, last);
    Finding {
        cause: Cause::GrowingCalls,
        place: evidence.place_of(site),
        cost_ticks: goal.cost_ticks,
        certainty,
        title: format!(
            "calls of {name} {} take longer and longer",
            evidence.at(site)
        ),
        evidence: format!(
            "The time of a call grew from {} to {} over {} calls, {how}. All of them took {}.{by}",
            evidence.time(first),
            evidence.time(then),
            count(trend.calls),
            evidence.time(site.figures.served_work_ticks),
        ),
        remedy,
        predicates: vec![site.callee, last],
        needs: Vec::new(),
    }
}

/// What a predicate that only hands on to another one by its last call hands on to, and so on.
fn last_called(evidence: &Evidence, predicate: PredicateIndex) -> PredicateIndex {
    let mut at = predicate;
    // No program hands on further; and it may do so in a circle.
    for _ in 0..8 {
        let clauses = evidence.clauses.range((at, 0)..=(at, u32::MAX));
        let goals = clauses.flat_map(|(_, goals)| goals);
        let Some(goal) =
            goals.max_by_key(|goal| (goal.figures.served_work_ticks, Reverse(goal.callee)))
        else {
            break;
        };
        let calls = evidence.figures(at).calls;
        if goal.figures.tail_calls < calls - calls / 10 || goal.callee == at {
            break;
        }
        at = goal.callee;
    }
    at
}

/// What to do about a predicate that takes longer and longer, and how sure it is that it can be done.
fn remedy(evidence: &Evidence, predicate: PredicateIndex) -> (String, Certainty) {
    let is_of_program = evidence.is_of_program(predicate);
    let calls_nothing = evidence.goals_of(predicate).next().is_none();
    let is_table = calls_nothing
        && (evidence.is_declared_dynamic(predicate)
            || source::may_have_many_clauses(evidence.analysis, predicate));
    let text = match evidence.built_in(predicate) {
        Some(known) => format!(
            "{} {}, and there is more of it at each call: {}",
            evidence.name(predicate),
            known.does,
            known.instead
        ),
        None => match (is_of_program, is_table, calls_nothing) {
            (false, ..) => "its input grows from call to call: hand it only what is new.",
            (true, true, _) => evidence.libraries.remedies.more_clauses,
            (true, false, true) => OF_LEAF,
            (true, false, false) => OF_OTHERS,
        }
        .to_owned(),
    };
    let certainty = match is_of_program && !is_table {
        true => Certainty::ToCheck,
        false => Certainty::Likely,
    };
    (text, certainty)
}
