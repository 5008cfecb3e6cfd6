//! The call tree: figures by calling context.
//!
//! A *context* is the list of the distinct predicates on the active chain, in the order in which the
//! first box of each came onto it. So recursion is folded, mutual recursion too, and the tree is no
//! deeper than there are predicates; and yet it is exact: time in a context is time while its
//! predicate is on the chain, so the inclusive times of the contexts of a predicate sum to the
//! inclusive time of the predicate, to the tick.
//!
//! Boxes of a predicate that was on the chain already have a row of their own, a leaf below the
//! context that they run in: the *recursive* rows. Example: `main` calls `p`, that calls `q`, that
//! calls `p`, that calls `r`. Rows: `main`; `main p`; `main p q`; the recursive `p` below `main p q`,
//! with its calls and its own time; and `main p q r`, to whose caller the recursive row belongs.

use crate::figures::PredicateIndex;

/// A row of the call tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextFigures {
    /// The row above, an index into [`crate::Profile::contexts`]; `None` for boxes without traced
    /// ancestor.
    pub parent: Option<u32>,
    /// Whose boxes it counts.
    pub predicate: PredicateIndex,
    /// Rows above.
    pub depth: u32,
    /// A box of the predicate was on the chain already.
    pub recursive: bool,
    /// Boxes opened here, last calls included.
    pub calls: u64,
    /// Exits of both kinds.
    pub exits: u64,
    /// Re-entries.
    pub redos: u64,
    /// Final failures.
    pub fails: u64,
    /// Boxes left by an exception.
    pub exceptions: u64,
    /// Ticks while a box counted here was the active one.
    pub self_ticks: u64,
    /// `self_ticks` and those of all rows below.
    pub inclusive_ticks: u64,
    /// Ticks thrown away by redos into boxes counted here (as in
    /// [`crate::figures::PredicateFigures::undone_ticks`]).
    pub undone_ticks: u64,
}

impl ContextFigures {
    /// Port events of the boxes counted here: a cost that is the same on every run.
    #[must_use]
    pub fn events(&self) -> u64 {
        [self.exits, self.redos, self.fails, self.exceptions]
            .iter()
            .fold(self.calls, |sum, count| sum.saturating_add(*count))
    }
}
