//! Where the goals of a clause stand that was made from another term.
//!
//! Expansion may lose the places of goals, and may leave to a new term the places of an old one
//! that has another shape. So the goals of the clause are compared with those that are written:
//!
//! 1. a goal that is said to stand where a goal of the same name is written is that one;
//! 2. of those between two such goals, as many as possible are the same in the same order;
//! 3. any other goal was made by expansion, and has the place of the smallest written goal that
//!    it is said to stand in: or of the only one between its neighbours that nothing else was made
//!    from, or else of the whole term.

use std::ops::Range;

use super::sites::NotedGoal;

/// Longer stretches are not compared in all ways.
const LARGEST_COMPARISON: usize = 1 << 20;

/// Gives the goals of a clause, which begins in a line, their places. `written` are the goals that
/// the source has, the whole term first; it is empty if they are the clause's.
pub(crate) fn place(goals: &mut [NotedGoal], written: &[NotedGoal], line: u32) {
    if let Some((whole, written)) = written.split_first() {
        let found = matches(goals, written);
        let starts: Vec<i64> = (0..goals.len())
            .map(|index| start(goals, index, whole, written, &found))
            .collect();
        for (goal, start) in goals.iter_mut().zip(starts) {
            goal.start = start;
        }
    }
    for goal in goals.iter_mut().filter(|goal| goal.start < 0) {
        goal.start = -i64::from(line);
    }
}

fn start(
    goals: &[NotedGoal],
    index: usize,
    whole: &NotedGoal,
    written: &[NotedGoal],
    found: &[Option<usize>],
) -> i64 {
    let goal = &goals[index];
    if let Some(same) = found[index] {
        return written[same].start;
    }
    let around = (0..written.len())
        .filter(|&at| contains(&written[at], goal))
        .min_by_key(|&at| written[at].end - written[at].start);
    let made_from = around.map_or(whole, |at| &written[at]);
    if around.is_some_and(|at| !found.contains(&Some(at))) {
        return made_from.start;
    }
    // A goal that is there was hardly made to something else, too: one beside it was.
    let before = found[..index].iter().flatten().max();
    let after = found[index..].iter().flatten().min();
    let between = before.map_or(0, |at| at + 1)..after.map_or(written.len(), |&at| at);
    let mut unused = between.filter(|&at| {
        let other = &written[at];
        !other.is_unknown() && (around.is_none() || contains(made_from, other))
    });
    match (unused.next(), unused.next()) {
        (Some(only), None) => written[only].start,
        _ => made_from.start,
    }
}

fn contains(outer: &NotedGoal, inner: &NotedGoal) -> bool {
    inner.start >= 0 && outer.start <= inner.start && inner.end <= outer.end
}

/// For each goal, which of the written ones it is.
fn matches(goals: &[NotedGoal], written: &[NotedGoal]) -> Vec<Option<usize>> {
    let mut found = vec![None; goals.len()];
    let (mut next, mut next_written) = (0, 0);
    for (index, goal) in goals.iter().enumerate() {
        let is_there = |other: &NotedGoal| goal.start == other.start && goal.is_same(other);
        let at = written[next_written..].iter().position(is_there);
        if let Some(at) = at.filter(|_| goal.start >= 0).map(|at| next_written + at) {
            found[index] = Some(at);
            common(goals, next..index, written, next_written..at, &mut found);
            (next, next_written) = (index + 1, at + 1);
        }
    }
    let rest = next_written..written.len();
    common(goals, next..goals.len(), written, rest, &mut found);
    found
}

/// The longest sequence that both stretches have in common.
fn common(
    goals: &[NotedGoal],
    ours: Range<usize>,
    written: &[NotedGoal],
    theirs: Range<usize>,
    found: &mut [Option<usize>],
) {
    let width = theirs.len() + 1;
    if ours.is_empty() || theirs.is_empty() || ours.len() * width > LARGEST_COMPARISON {
        return;
    }
    let is_same =
        |at: usize, other: usize| goals[ours.start + at].is_same(&written[theirs.start + other]);
    // How long it is from a goal of each on.
    let mut lengths = vec![0_u32; (ours.len() + 1) * width];
    for at in (0..ours.len()).rev() {
        for other in (0..theirs.len()).rev() {
            lengths[at * width + other] = if is_same(at, other) {
                lengths[(at + 1) * width + other + 1] + 1
            } else {
                lengths[(at + 1) * width + other].max(lengths[at * width + other + 1])
            };
        }
    }
    let (mut at, mut other) = (0, 0);
    while at < ours.len() && other < theirs.len() {
        if is_same(at, other) {
            found[ours.start + at] = Some(theirs.start + other);
            (at, other) = (at + 1, other + 1);
        } else if lengths[(at + 1) * width + other] >= lengths[at * width + other + 1] {
            at += 1;
        } else {
            other += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::Atom;

    fn goal(name: Atom, start: i64, end: i64) -> NotedGoal {
        NotedGoal {
            name,
            arity: 1,
            start,
            end,
            number: 1,
            parent: 0,
            argument: 0,
        }
    }

    /// Where goals are placed, each as name, start and end.
    fn placed(goals: &[(Atom, i64, i64)], written: &[(Atom, i64, i64)]) -> Vec<i64> {
        let all = |goals: &[(Atom, i64, i64)]| -> Vec<NotedGoal> {
            goals.iter().map(|&(n, s, e)| goal(n, s, e)).collect()
        };
        let mut goals = all(goals);
        place(&mut goals, &all(written), 7);
        goals.iter().map(|goal| goal.start).collect()
    }

    const WHOLE: (Atom, i64, i64) = (0, 10, 99);

    #[test]
    fn without_another_term_places_are_those_of_the_clause() {
        assert_eq!(placed(&[(1, 20, 22), (2, -1, -1)], &[]), [20, -7]);
    }

    #[test]
    fn the_same_goals_are_found_without_places() {
        let written = [WHOLE, (1, 20, 22), (2, 30, 32), (1, 40, 42)];
        assert_eq!(placed(&[(1, -1, -1), (1, -1, -1)], &written), [20, 40]);
        // The places of other terms are not believed.
        assert_eq!(placed(&[(1, 22, 22), (2, 22, 22)], &written), [20, 30]);
    }

    #[test]
    fn what_expansion_made_has_the_place_of_what_it_was_made_from() {
        let written = [WHOLE, (1, 20, 22), (2, 30, 39), (3, 50, 52)];
        // In arguments of 2.
        let goals = [(1, 20, 22), (8, 33, 34), (9, 36, 39), (3, 50, 52)];
        assert_eq!(placed(&goals, &written), [20, 30, 30, 50]);
        // Nothing else can have been made to it.
        let goals = [(1, -1, -1), (8, -1, -1), (9, -1, -1), (3, -1, -1)];
        assert_eq!(placed(&goals, &written), [20, 30, 30, 50]);
        // Two of them can.
        assert_eq!(placed(&[(8, -1, -1), (3, -1, -1)], &written), [10, 50]);
    }
}
