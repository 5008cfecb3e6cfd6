//! What calls name, and what is asked of it at each call, in one table.

use std::sync::Arc;

use crate::trace::{BoxKind, PredicateIndex};

/// What a call names: a predicate, or a site of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Called {
    /// The predicate that is called.
    pub(crate) predicate: PredicateIndex,
    /// It is a site after which the clause fails.
    pub(crate) then_fails: bool,
    /// Time while such a box is active is work of the program ([`BoxKind::is_work`]).
    pub(crate) is_work: bool,
}

/// By [`Callable`](crate::trace::Callable): predicates of these kinds, the unknown one, and sites,
/// of which the predicate that they call is given and whether the clause fails after them.
///
/// What happens between two ports is no goal of a clause.
pub(crate) fn all(
    kinds: &[BoxKind],
    sites: impl Iterator<Item = (PredicateIndex, bool)>,
) -> Arc<[Called]> {
    let unknown = kinds.len() as PredicateIndex;
    let predicates = (0..=unknown).map(|predicate| (predicate, false));
    let called = |(predicate, then_fails)| {
        let kind = BoxKind::of(kinds, predicate);
        Called {
            predicate,
            then_fails: then_fails && !kind.is_between_ports(),
            is_work: kind.is_work(),
        }
    };
    predicates.chain(sites).map(called).collect()
}
