//! A goal that fails after costly ones: if it does not need them, it should come first (Debray 1988, section 4).

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, effects, source};
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::{PredicateIndex, PredicateInfo};

/// Fewer failures are no pattern.
const LEAST: u64 = 100;

pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (&(predicate, _), goals) in &evidence.clauses {
        for (at, test) in goals.iter().enumerate() {
            findings.extend(finding(evidence, predicate, &goals[..at], test));
        }
    }
    findings
}

/// `before` are the goals of the clause before `test`.
///
/// That a goal fails says nothing of its clause if it is a condition or negated. So the predicate
/// must have failed as often; as others of its goals fail, too, the text must not say that the
/// clause goes on.
fn finding(
    evidence: &Evidence,
    predicate: PredicateIndex,
    before: &[SiteData],
    test: &SiteData,
) -> Option<Finding> {
    let failed = test.figures.fails_dry;
    let ends_clause = evidence.figures(predicate).fails_dry >= failed - failed / 10;
    if failed < LEAST || failed < test.figures.calls / 4 || !ends_clause {
        return None;
    }
    if evidence.is_in_argument(test) {
        return None;
    }
    // What was called as often as the test, and never redone for it.
    let costly = before.iter().filter(|goal| {
        goal.figures.redos == 0
            && !evidence.is_in_argument(goal)
            && goal.figures.calls >= test.figures.calls
            && goal.callee != test.callee
            && !evidence
                .called(goal.callee)
                .iter()
                .any(|&callee| effects::has_effects(evidence, callee))
    });
    let costly = costly.max_by_key(|goal| goal.figures.served_work_ticks)?;
    // A recursion works on what the goals before it left.
    if evidence.called(test.callee).contains(&predicate) {
        return None;
    }
    // Debray's comparison: called first, the test sees all calls, and what it fails at does not come to the other goal.
    let (costly_work, test_work) = (
        costly.figures.served_work_ticks,
        test.figures.served_work_ticks,
    );
    let spared = part_of(costly_work, failed, test.figures.calls);
    let more = costly.figures.calls - test.figures.calls;
    let tested = (test_work / test.figures.calls.max(1)).saturating_mul(more);
    let cost_ticks = spared.saturating_sub(tested);
    // To come first, the test must be cheaper.
    if test_work >= costly_work {
        return None;
    }
    // A test of what the costly goal binds cannot come first.
    let written = source::between(evidence.analysis, costly, test);
    if written.is_some_and(|written| written.needs || !written.fails_with)
        || source::is_grammar(evidence.analysis, predicate)
    {
        return None;
    }
    // What counts the solutions needs them.
    let costly_info = evidence
        .analysis
        .trace
        .predicates()
        .get(costly.callee as usize);
    if costly_info.is_some_and(PredicateInfo::is_collector) {
        return None;
    }
    let (first, then) = (evidence.name(costly.callee), evidence.name(test.callee));
    Some(Finding {
        cause: Cause::FailingLate,
        place: evidence.place_of(test),
        cost_ticks,
        certainty: Certainty::ToCheck,
        title: format!("{then} fails after {first} has worked"),
        evidence: format!(
            "{first} {} took {}; then {then} {} failed at {} of {} calls ({}), and what {first} did was for nothing.",
            evidence.at(costly),
            evidence.time(costly_work),
            evidence.at(test),
            count(failed),
            count(test.figures.calls),
            share(failed, test.figures.calls),
        ),
        remedy: format!("call {then} before {first}, if it needs nothing that {first} binds."),
        predicates: vec![test.callee, costly.callee],
        needs: Vec::new(),
    })
}
