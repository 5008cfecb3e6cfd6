//! Which goals are on the active chain between two chunks.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::ledger::Renaming;
use crate::trace::Callable;

/// The outermost box of each goal, by its depth on the active chain.
#[derive(Debug, Clone, Default)]
pub(super) struct GoalBoxes {
    depths: FxHashMap<Callable, i64>,
    /// The same, in the order of depths. There are no more than there are goals.
    stack: Vec<(i64, Callable)>,
}

impl Encode for GoalBoxes {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.stack.encode(encoder)
    }
}

impl<Context> Decode<Context> for GoalBoxes {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let mut goals = Self::default();
        for (depth, goal) in Vec::<(i64, Callable)>::decode(decoder)? {
            goals.enter(depth, goal);
        }
        Ok(goals)
    }
}

bincode::impl_borrow_decode!(GoalBoxes);

impl GoalBoxes {
    /// Whether a box of a goal is on the chain, at a depth of at most so much.
    pub(super) fn has(&self, goal: Callable, depth: i64) -> bool {
        self.depths.get(&goal).is_some_and(|&at| at <= depth)
    }

    /// A box is entered that is the outermost of its goal.
    pub(super) fn enter(&mut self, depth: i64, goal: Callable) {
        self.depths.insert(goal, depth);
        self.stack.push((depth, goal));
    }

    /// All boxes from a depth on are left.
    pub(super) fn leave(&mut self, depth: i64) {
        while let Some((_, goal)) = self.stack.pop_if(|&mut (at, _)| at >= depth) {
            self.depths.remove(&goal);
        }
    }

    /// They have other numbers.
    pub(super) fn renumber(&mut self, numbers: Renaming) {
        for (_, goal) in &mut self.stack {
            *goal = numbers.callable(*goal);
        }
        let depths = self.depths.drain();
        self.depths = depths
            .map(|(goal, depth)| (numbers.callable(goal), depth))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_on_the_chain_until_their_box_is_left() {
        let mut goals = GoalBoxes::default();
        goals.enter(1, 7);
        goals.enter(3, 8);
        goals.enter(3, 9);
        assert!(goals.has(7, 1) && goals.has(8, 3) && goals.has(9, 4));
        assert!(!goals.has(7, 0) && !goals.has(8, 2) && !goals.has(6, 9));
        goals.leave(2);
        assert!(goals.has(7, 9) && !goals.has(8, 9) && !goals.has(9, 9));
        goals.enter(2, 9);
        assert!(goals.has(9, 2));
    }
}
