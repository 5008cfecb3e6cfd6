//! A box on one of the stacks.

use bincode::{Decode, Encode};

use crate::scope::Scope;
use crate::scope::focus::FocusSteps;
use crate::trace::PredicateIndex;

/// A box at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct OpenBox {
    /// Number of the event in the stream by which it was called: the name of the box.
    pub called: u64,
    /// The box around it, by the same name; `None` if no recorded one is.
    pub caller: Option<u64>,
    /// What it runs.
    pub predicate: PredicateIndex,
    /// What it was called as; last calls made something else of it.
    pub called_as: PredicateIndex,
    /// Last calls that it made.
    pub last_calls: u64,
    /// Where it is on the way into the focus that is followed; 0 if none is.
    pub way: FocusSteps,
}

impl OpenBox {
    /// Whether it is looked at, on a walk that follows a scope.
    #[must_use]
    pub fn is_shown(&self, scope: &Scope) -> bool {
        scope.shows(self.way, self.predicate)
    }
}
