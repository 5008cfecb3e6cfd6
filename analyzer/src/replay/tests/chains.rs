//! Chains of predicates: their contexts, and whether a focus contains them.

use std::collections::BTreeSet;

use crate::figures::Caller;
use crate::scope::focus::FocusOn;

/// A row of the call tree: the context of the caller, then the predicate. The order of these
/// lists is that of the rows.
pub(super) type Path = Vec<u32>;

/// The distinct predicates of a chain by their first box.
pub(super) fn distinct(stack: &[u32]) -> Path {
    let mut context = Path::new();
    for predicate in stack {
        if !context.contains(predicate) {
            context.push(*predicate);
        }
    }
    context
}

/// Callers, callees and sites of the outermost box of each goal of a chain. A goal is a site, or
/// all calls of a predicate that name none.
pub(super) fn outermost_goals(
    chain: impl Iterator<Item = (Caller, u32, Option<u32>)>,
) -> Vec<(Caller, u32, Option<u32>)> {
    let mut met = BTreeSet::new();
    chain
        .filter(|&(_, predicate, site)| met.insert((predicate, site)))
        .collect()
}

/// The row of a box called from this chain.
pub(super) fn path(stack: &[u32], predicate: u32) -> Path {
    let mut path = distinct(stack);
    path.push(predicate);
    path
}

/// Whether the last box of a chain is in the focus: below the first box that is in the first
/// place, and from there below the first that is in the next.
pub(super) fn in_focus(
    chain: &[u32],
    places: &[FocusOn],
    hidden: impl Fn(u32) -> bool + Copy,
) -> bool {
    let Some((place, inside)) = places.split_first() else {
        return true;
    };
    let is_there = |chain: &[u32]| match place {
        FocusOn::Predicate(predicate) => chain.last() == Some(predicate),
        FocusOn::Context(path) => {
            let counts = |predicate: &&u32| path.contains(predicate) || !hidden(**predicate);
            distinct(&chain.iter().filter(counts).copied().collect::<Vec<_>>()) == *path
        }
    };
    (1..=chain.len())
        .find(|&length| is_there(&chain[..length]))
        .is_some_and(|length| in_focus(&chain[length - 1..], inside, hidden))
}
