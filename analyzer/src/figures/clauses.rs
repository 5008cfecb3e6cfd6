//! The figures of clauses: what boxes did while they were in one.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

use super::totals::counters;
use crate::trace::{ClauseIndex, PredicateIndex};

/// By predicate and clause. The boxes of a predicate while no clause is known are a row without
/// one; a predicate of which the trace names no clause has no rows.
pub type Clauses = BTreeMap<(PredicateIndex, Option<ClauseIndex>), ClauseFigures>;

counters! {
    /// The figures of one clause, or of the boxes of a predicate while no clause of them is known.
    ///
    /// A box enters a clause when its head has been unified; from then on it is in that clause
    /// until it enters another one. Rows of a predicate sum to its
    /// [`PredicateFigures`](crate::figures::PredicateFigures) in `exits`, `redos`, `exceptions`,
    /// `open` and self time. `entered + redos = exits + failed + exhausted + exceptions + open`,
    /// and `left = left_redos + left_cuts + left_pending`.
    ///
    /// Ticks stand with what a window leaves as it is at its end: no time passed before it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
    pub struct ClauseFigures {
        events {
            /// How often a box entered it. Without a clause: boxes that were left, or departed,
            /// before a clause of them was known.
            entered,
            /// Exits of boxes in it.
            exits,
            /// Re-entries by backtracking into boxes that were in it.
            redos,
            /// Entries that came to nothing: the box had not exited from it when it entered its
            /// next clause, or failed.
            failed,
            /// The same after at least one exit: there were no more solutions.
            exhausted,
            /// Boxes in it that were left by an exception.
            exceptions,
            /// Nondeterminate exits with no box inside that can be re-entered, from a clause that
            /// has not departed: what they leave is the box's own choicepoint, for its next clauses
            /// or in this one, or that of a goal without a box.
            left,
            /// Those of `left` that were re-entered.
            left_redos,
            /// Those of `left` that were cut.
            left_cuts,
        }
        ends {
            /// Boxes in it that were active at the end (or where the trace lost track).
            open,
            /// Those of `left` that were still there at the end (or where the trace lost track).
            left_pending,
            /// Ticks while a box in it was the active one.
            self_ticks,
            /// Ticks while a box in it was on the active chain; recursion counted once.
            inclusive_ticks,
            /// Ticks of work from the entry to the end of those that `failed` counts, whatever ran
            /// then; recursion counted once.
            failed_ticks,
        }
    }
}

impl ClauseFigures {
    /// Those of `left` that were never used: cut, or still there at the end.
    #[must_use]
    pub fn left_unused(&self) -> u64 {
        self.left_cuts.saturating_add(self.left_pending)
    }
}
