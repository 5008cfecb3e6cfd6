//! What an engine remembers of the sites of goals in arguments: bodies that `call/1` makes are
//! often made again, and named each time.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::identity::Identity;
use super::sites::Given;

/// More bodies are not remembered at once.
const MOST: usize = 1 << 14;

/// The step of a goal, its number in the trace, and what it is given.
pub(crate) type NamedGoal = (usize, u32, Given);

#[derive(Debug, Default)]
pub(crate) struct GoalNames {
    /// By what the active box was given, and the predicate with its number in the trace.
    goals: FxHashMap<(Given, Identity, u32), Option<(u32, Given)>>,
    /// By what the active box was given, and the body's shape.
    bodies: FxHashMap<Box<[usize]>, Option<Arc<[NamedGoal]>>>,
}

impl GoalNames {
    /// The goal that calls a predicate among those that are given.
    pub(crate) fn goal(
        &mut self,
        given: Given,
        called: Identity,
        callee: u32,
    ) -> Option<(u32, Given)> {
        if given.has_no_goals() {
            return None;
        }
        *self
            .goals
            .entry((given, called, callee))
            .or_insert_with(|| given.site(called, callee))
    }

    /// The goals of a body of that shape. The first word of `shape` is of no account.
    pub(crate) fn body(
        &mut self,
        given: Given,
        shape: &mut [usize],
        name: impl FnOnce() -> Option<Vec<NamedGoal>>,
    ) -> Option<Arc<[NamedGoal]>> {
        let address = given.address()?;
        if let Some(first) = shape.first_mut() {
            *first = address;
        }
        if let Some(known) = self.bodies.get(shape) {
            return known.clone();
        }
        if self.bodies.len() >= MOST {
            self.bodies.clear();
        }
        let named = name().map(Arc::from);
        self.bodies.insert(shape.into(), named.clone());
        named
    }
}
