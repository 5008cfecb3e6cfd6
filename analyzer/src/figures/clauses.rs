//! The figures of clauses: what boxes did while they were in one.

use bincode::{Decode, Encode};

/// The figures of one clause, or of the boxes of a predicate while no clause of them is known.
///
/// A box enters a clause when its head has been unified; from then on it is in that clause until it enters another one. Rows of a predicate sum to its
/// [`PredicateFigures`](crate::figures::PredicateFigures) in `exits`, `redos`, `exceptions`, `open` and self time.
/// `entered + redos = exits + failed + exhausted + exceptions + open`, and `left = left_redos + left_cuts + left_pending`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct ClauseFigures {
    /// How often a box entered it. Without a clause: boxes that were left, or departed, before a clause of them was known.
    pub entered: u64,
    /// Exits of boxes in it.
    pub exits: u64,
    /// Re-entries by backtracking into boxes that were in it.
    pub redos: u64,
    /// Entries that came to nothing: the box had not exited from it when it entered its next clause, or failed.
    pub failed: u64,
    /// The same after at least one exit: there were no more solutions.
    pub exhausted: u64,
    /// Boxes in it that were left by an exception.
    pub exceptions: u64,
    /// Boxes in it that were active at the end (or where the trace lost track).
    pub open: u64,
    /// Nondeterminate exits with no box inside that can be re-entered, from a clause that has not departed: what they leave is the box's own
    /// choicepoint, for its next clauses or in this one, or that of a goal without a box.
    pub left: u64,
    /// Those of `left` that were re-entered.
    pub left_redos: u64,
    /// Those of `left` that were cut.
    pub left_cuts: u64,
    /// Those of `left` that were still there at the end (or where the trace lost track).
    pub left_pending: u64,
    /// Ticks while a box in it was the active one.
    pub self_ticks: u64,
    /// Ticks while a box in it was on the active chain; recursion counted once.
    pub inclusive_ticks: u64,
    /// Ticks from the entry to the end of those that `failed` counts, whatever ran then; recursion counted once.
    pub failed_ticks: u64,
}

impl ClauseFigures {
    /// Those of `left` that were never used: cut, or still there at the end.
    #[must_use]
    pub fn left_unused(&self) -> u64 {
        self.left_cuts.saturating_add(self.left_pending)
    }

    /// Adds the figures of another part of the run.
    pub(crate) fn add(&mut self, other: &Self) {
        let add = |sum: &mut u64, part: u64| *sum = sum.saturating_add(part);
        add(&mut self.entered, other.entered);
        add(&mut self.exits, other.exits);
        add(&mut self.redos, other.redos);
        add(&mut self.failed, other.failed);
        add(&mut self.exhausted, other.exhausted);
        add(&mut self.exceptions, other.exceptions);
        add(&mut self.open, other.open);
        add(&mut self.left, other.left);
        add(&mut self.left_redos, other.left_redos);
        add(&mut self.left_cuts, other.left_cuts);
        add(&mut self.left_pending, other.left_pending);
        add(&mut self.self_ticks, other.self_ticks);
        add(&mut self.inclusive_ticks, other.inclusive_ticks);
        add(&mut self.failed_ticks, other.failed_ticks);
    }

    /// Takes away the events of the time before a window, of which there are no ticks. How boxes stood at the end stays.
    pub(crate) fn take(&mut self, before: &Self) {
        let take = |sum: &mut u64, part: u64| *sum = sum.saturating_sub(part);
        take(&mut self.entered, before.entered);
        take(&mut self.exits, before.exits);
        take(&mut self.redos, before.redos);
        take(&mut self.failed, before.failed);
        take(&mut self.exhausted, before.exhausted);
        take(&mut self.exceptions, before.exceptions);
        take(&mut self.left, before.left);
        take(&mut self.left_redos, before.left_redos);
        take(&mut self.left_cuts, before.left_cuts);
    }
}
