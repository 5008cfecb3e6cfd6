//! What a chunk knows of its active chain: which boxes are the outermost of their predicate, and
//! which of their goal.

use super::ledger::{ArcId, Entry, NONE};
use crate::scope::Scope;
use crate::trace::{Callable, PredicateIndex};

/// The boxes of the chunk that are on the active chain, by what is asked of them.
#[derive(Debug)]
pub(super) struct OnChain {
    /// By predicate: the arc by which its innermost box was left; [`NONE`] if none is known.
    left_by: Vec<ArcId>,
    /// By goal, that is by what was called: whether there is such a box.
    goals: Vec<bool>,
}

impl OnChain {
    /// No boxes.
    pub(super) fn new(scope: &Scope) -> Self {
        Self {
            left_by: vec![NONE; scope.hidden.len() + 1],
            goals: vec![false; scope.called.len()],
        }
    }

    /// The innermost box of a predicate is left by an arc.
    #[inline(always)]
    pub(super) fn leave_by(&mut self, predicate: PredicateIndex, arc: ArcId) {
        self.left_by[predicate as usize] = arc;
    }

    /// How a box of a predicate and goal would be entered by an arc.
    #[inline(always)]
    pub(super) fn entry(&self, arc: ArcId, predicate: PredicateIndex, goal: Callable) -> Entry {
        Entry {
            arc,
            waits: self.left_by[predicate as usize],
            outermost: !self.goals[goal as usize],
        }
    }

    /// A box of a goal is entered. The goal of a root is not known.
    #[inline(always)]
    pub(super) fn enter(&mut self, goal: Callable, entry: Entry) {
        if entry.outermost {
            self.set(goal, true);
        }
    }

    /// A box is left: all is as it was before that was entered.
    #[inline(always)]
    pub(super) fn leave(&mut self, predicate: PredicateIndex, goal: Callable, entry: Entry) {
        self.left_by[predicate as usize] = entry.waits;
        if entry.outermost {
            self.set(goal, false);
        }
    }

    #[inline(always)]
    fn set(&mut self, goal: Callable, is_on_chain: bool) {
        if let Some(known) = self.goals.get_mut(goal as usize) {
            *known = is_on_chain;
        }
    }
}
