//! Of which predicates values of arguments may say why the program is slow.

use std::cmp::Reverse;

use super::evidence::Evidence;
use super::{Need, generators};
use crate::Analysis;
use crate::figures::PredicateFigures;
use crate::trace::PredicateIndex;

/// So many predicates of the program, and so many others.
const MOST: usize = 3;

/// So many of those that do most with what they call.
const MOST_AROUND: usize = 2;

/// What is called less often repeats nothing in a loop.
const LEAST_CALLS: u64 = 20;

/// Of the work, in percent: the least that such a predicate does itself.
const LEAST_SHARE: u64 = 5;

/// What to record of the predicates that do most of the work themselves: of the program, and of the
/// built-in and library ones that it calls. Of those around which most of the work is done, if they
/// do not call themselves. And of the program's generator of which most is rejected.
#[must_use]
pub fn suspects(analysis: &Analysis) -> Vec<Need> {
    let evidence = Evidence::of(analysis);
    let enough = evidence.total_ticks / 100 * LEAST_SHARE;
    let most = |of_program: bool, ticks: fn(&PredicateFigures) -> u64, number: usize| {
        let mut found: Vec<_> = evidence
            .predicates()
            .filter(|&(index, info, figures)| {
                evidence.is_of_program(index) == of_program
                    && info.is_called_by_program()
                    && info.declared.arity > 0
                    && ticks(figures) >= enough.max(1)
            })
            .map(|(index, _, figures)| (index, ticks(figures)))
            .collect();
        found.sort_by_key(|&(index, ticks)| (Reverse(ticks), index));
        found.truncate(number);
        found.into_iter().map(|(index, _)| index)
    };
    let itself = |of_program| most(of_program, |figures| figures.self_ticks, MOST);
    let is_loop = |&index: &PredicateIndex| {
        let calls_itself = evidence.callees_of(index).any(|callee| callee == index);
        evidence.figures(index).calls >= LEAST_CALLS && !calls_itself
    };
    let around = |of_program| {
        let all = most(
            of_program,
            |figures| figures.inclusive_work_ticks,
            usize::MAX,
        );
        all.filter(is_loop).take(MOST_AROUND)
    };
    let mut found: Vec<PredicateIndex> = itself(true).chain(itself(false)).collect();
    for one in around(true).chain(around(false)) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    let rejected = generators::find(&evidence);
    let rejected = rejected.iter().max_by_key(|one| one.cost_ticks);
    let generator = rejected.and_then(|one| one.predicates.last().copied());
    let generator = generator.filter(|&one| evidence.is_of_program(one) && !evidence.is_leaf(one));
    let found = found.into_iter().chain(generator);
    let mut needs: Vec<_> = found
        .map(|index| Need::Values(evidence.name(index).to_owned()))
        .collect();
    needs.dedup();
    needs
}
