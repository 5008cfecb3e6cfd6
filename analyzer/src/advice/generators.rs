//! A goal that generates, and a later one, or a test, that rejects most of it.

use std::collections::BTreeSet;

use super::evidence::{Evidence, generates, part_of, share};
use super::libraries::BuiltIn;
use super::{Cause, Certainty, Finding, come_through, effects, source};
use crate::figures::BacktrackFigures;
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::{PredicateIndex, SiteIndex};

/// Fewer rejected solutions are not worth another program.
const LEAST: u64 = 1000;

/// For each goal of a clause that rejects: the last goal before it that generates what it rejects. For each other goal that is redone: tests in
/// the clause.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (&(predicate, _), goals) in &evidence.clauses {
        // It goes back for each answer that a table gets, also where nothing was rejected.
        if evidence.is_tabled(predicate) {
            continue;
        }
        let mut explained = BTreeSet::new();
        let mut of_clause = Vec::new();
        for at in 0..goals.len() {
            let mut generators = (0..at)
                .rev()
                .filter(|&before| goals[before].figures.redos >= LEAST);
            let found = generators.find_map(|before| {
                let finding = by_goal(evidence, predicate, goals, (before, at))?;
                Some((before, finding))
            });
            if let Some((before, finding)) = found {
                explained.insert(before);
                of_clause.push(finding);
            }
        }
        let others = (0..goals.len()).filter(|at| !explained.contains(at));
        of_clause.extend(others.filter_map(|at| by_test(evidence, predicate, goals, at)));
        if let Some(whole) = come_through::find(evidence, predicate, goals) {
            // What one goal rejects is a part of what does not come through, or nearly all of it.
            let is_said = of_clause
                .iter()
                .any(|one| one.cost_ticks >= whole.cost_ticks / 2);
            if !is_said {
                of_clause.retain(|one| one.predicates.last() != whole.predicates.last());
                of_clause.push(whole);
            }
        }
        findings.extend(of_clause);
    }
    findings
}

/// Whether a clause of `predicate` searches: a goal of it after the one at `at` calls the predicate again, and mostly fails. Then each level of the
/// recursion has to generate, and what is generated in vain is how a search works.
fn is_search(
    evidence: &Evidence,
    predicate: PredicateIndex,
    goals: &[SiteData],
    at: usize,
) -> bool {
    goals.iter().skip(at + 1).any(|goal| {
        goal.figures.fails >= goal.figures.calls / 2
            && evidence.called(goal.callee).contains(&predicate)
    })
}

/// How often the goal `test` failed at once, and then `generator` was redone.
pub(super) fn rejections(evidence: &Evidence, test: &SiteData, generator: &SiteData) -> u64 {
    let (Some(test), Some(generator)) = (test.site, generator.site) else {
        return 0;
    };
    let all = &evidence.analysis.calls().behaviour.rejections;
    all.get(&(test, generator)).copied().unwrap_or(0)
}

/// How often a test that is no call made a goal be redone, by the goal that had exited last.
fn tests(
    evidence: &Evidence,
    generator: &SiteData,
) -> impl Iterator<Item = (Option<SiteIndex>, u64)> {
    let behaviour = &evidence.analysis.calls().behaviour;
    let tests = generator.site.map(|site| behaviour.tests_of(site));
    tests.into_iter().flatten()
}

/// The same after any goal.
pub(super) fn all_tests(evidence: &Evidence, generator: &SiteData) -> u64 {
    tests(evidence, generator).map(|(_, count)| count).sum()
}

/// Those of them at which no loop by failure, as `forall/2`, asked for the next solution, and that
/// are not of what a goal behind the generator computed with more work than it takes to generate.
fn rejected_by_tests(evidence: &Evidence, generator: &SiteData, goals: &[SiteData]) -> u64 {
    let failed = tests(evidence, generator).filter(|&(last, _)| {
        let last = goals
            .iter()
            .find(|goal| last.is_some() && goal.site == last);
        let work = |goal: &SiteData| goal.figures.served_work_ticks;
        let is_of_computed = last.is_some_and(|last| work(last) > work(generator));
        !is_of_computed && !source::is_driven(evidence.analysis, generator, last, goals)
    });
    failed.map(|(_, count)| count).sum()
}

/// The goal at `test` rejects what the one at `generator` gave: it fails at once more often than not, and then the generator is redone.
fn by_goal(
    evidence: &Evidence,
    predicate: PredicateIndex,
    goals: &[SiteData],
    (generator_at, test_at): (usize, usize),
) -> Option<Finding> {
    let (generator, test) = (&goals[generator_at], &goals[test_at]);
    let rejected = rejections(evidence, test, generator);
    if rejected < LEAST || rejected < test.figures.calls / 2 {
        return None;
    }
    // A loop asks for the next solution, whether or not its last goal fails.
    if !generates(generator) || test.info().is_some_and(|test| test.then_fails) {
        return None;
    }
    // What a recursion fails at is in the clause that it enters.
    if evidence.called(test.callee).contains(&predicate) {
        return None;
    }
    let (from, by) = (evidence.name(generator.callee), evidence.name(test.callee));
    let written = source::between(evidence.analysis, generator, test);
    if is_search(evidence, predicate, goals, test_at)
        || written.is_some_and(|written| !written.fails_with)
    {
        return None;
    }
    let is_next = test_at == generator_at + 1;
    let backtracks = evidence.backtracks(test.callee, generator.callee);
    let remedy = match is_next {
        _ if source::is_grammar(evidence.analysis, predicate) => {
            come_through::in_grammar(evidence, from)
        }
        _ if evidence.is_labelling(generator.callee) => format!(
            "post what {by} demands as constraints before {from}, so that propagation prunes the search; or test each part as soon \
             as the variables that it needs have values."
        ),
        true => less_by_key(evidence, generator, test),
        false => format!(
            "generate less: leave out before {from} what {by} cannot accept, or test a part of it as soon as that is \
             known.{}",
            evidence.libraries.remedies.searched_numbers
        ),
    };
    Some(Finding {
        cause: Cause::Generator,
        place: evidence.place_of(test),
        cost_ticks: cost(evidence, generator, &backtracks, rejected),
        certainty: match is_next {
            true => Certainty::Likely,
            false => Certainty::ToCheck,
        },
        title: format!(
            "{by} rejects {} of what {from} generates",
            share(rejected, test.figures.calls)
        ),
        evidence: format!(
            "{from} {} gave {} solutions; {by} {} failed at {} of {} calls, and each time backtracking went into \
             {from} and threw away the work since.",
            evidence.at(generator),
            count(generator.figures.exits()),
            evidence.at(test),
            count(rejected),
            count(test.figures.calls),
        ),
        remedy,
        predicates: vec![test.callee, generator.callee],
        needs: Vec::new(),
    })
}

/// How the generator of a test directly behind it gives less.
fn less_by_key(evidence: &Evidence, generator: &SiteData, test: &SiteData) -> String {
    let (from, by) = (evidence.name(generator.callee), evidence.name(test.callee));
    let are_facts = evidence.is_leaf(generator.callee);
    let computes = evidence.callees_of(test.callee).next().is_some()
        || evidence
            .built_in(test.callee)
            .is_some_and(BuiltIn::makes_data);
    match (are_facts, computes) {
        (true, true) => format!(
            "{by} computes for each solution of {from} what it compares: compute that once, where the facts are made, keep it in \
             {from} as an argument, and call {from} with it bound, so that an index leads to what fits."
        ),
        (true, false) => format!(
            "where {by} asks an argument of {from} to be equal to what is known before, write that in the call of {from}, so that an \
             index leads to what fits; otherwise give the facts a coarser key that is known, and call {from} with that bound."
        ),
        (false, _) => format!(
            "generate less: let {from} give only what {by} accepts: compute it, or look it up by a key that is bound \
             before the call."
        ),
    }
}

/// Ticks that rejected solutions took: to generate them, and what was done with them.
fn cost(
    evidence: &Evidence,
    generator: &SiteData,
    backtracks: &BacktrackFigures,
    rejected: u64,
) -> u64 {
    let undone = part_of(backtracks.undone_ticks, rejected, backtracks.count);
    let exits = generator.figures.exits();
    let generated = part_of(generator.figures.served_work_ticks, rejected, exits);
    // A generator that goes on in itself undoes some of what it generated: the larger of the two is in both.
    undone.max(generated).min(evidence.total_ticks)
}

/// Something in the clauses of `predicate` that is no box rejects what `generator` gave.
fn by_test(
    evidence: &Evidence,
    predicate: PredicateIndex,
    goals: &[SiteData],
    at: usize,
) -> Option<Finding> {
    let generator = &goals[at];
    let backtracks = evidence.backtracks(predicate, generator.callee);
    let is_enough = |rejected: u64| rejected >= LEAST.max(generator.figures.exits() / 2);
    if !is_enough(all_tests(evidence, generator)) || !generates(generator) {
        return None;
    }
    let rejected = rejected_by_tests(evidence, generator, goals);
    if !is_enough(rejected) {
        return None;
    }
    if is_search(evidence, predicate, goals, at) {
        return None;
    }
    let (from, by) = (evidence.name(generator.callee), evidence.name(predicate));
    let library = evidence.libraries.constraints;
    let labels = library.filter(|_| evidence.is_labelling(generator.callee));
    Some(Finding {
        cause: Cause::Generator,
        place: evidence.place_of(generator),
        cost_ticks: cost(evidence, generator, &backtracks, rejected),
        certainty: Certainty::ToCheck,
        title: format!(
            "tests in {by} reject {} of what {from} generates",
            share(rejected, generator.figures.exits())
        ),
        evidence: format!(
            "{from} {} gave {} solutions; a comparison, unification or other test after it in {by} failed {} times, \
             and each time backtracking went into {from}.",
            evidence.at(generator),
            count(generator.figures.exits()),
            count(rejected),
        ),
        remedy: if let Some(library) = labels {
            format!(
                "post the tests as constraints ({}) before {from}, so that propagation prunes the search; or test as soon as \
                 the variables that a test needs have values.",
                library.tests
            )
        } else {
            let remedy = match evidence.is_leaf(generator.callee) {
                true => format!(
                    "if a test compares an argument of {from} with something that is known before (==, =; =:= of numbers of one kind), write that in the call \
                     of {from}, so that an index leads to what fits; call what else is tested directly after what it needs."
                ),
                false => format!(
                    "let {from} generate only what passes: narrower bounds, a key that is bound before the call, or the test \
                     directly after what it needs."
                ),
            };
            let computes = evidence.callees_of(generator.callee).next().is_some()
                && !effects::depends_on_more(evidence, generator.callee);
            match computes {
                true => format!(
                    "{remedy} What {from} computes each time anew can be computed once ({}).",
                    evidence.libraries.remedies.tabling()
                ),
                false => remedy,
            }
        },
        predicates: vec![predicate, generator.callee],
        needs: Vec::new(),
    })
}
