//! The state of a stream: what is active and what can be re-entered.
//!
//! `(a, K)` of the model: boxes live in an arena with parent links (a cactus stack), `a` is one of them
//! or nobody, `K` is a stack of boxes that exited. Invariant: a box is on the active chain or on
//! `K`, never both; a box that is on neither is free to be used again. So an earlier state is
//! reached by moving one pointer, and nothing recurses.

use super::chain::Chain;
use crate::contexts::NodeId;
use crate::figures::PredicateIndex;

/// A box in the arena.
pub(in crate::replay) type BoxId = u32;

/// No box.
pub(in crate::replay) const NOBODY: BoxId = BoxId::MAX;

/// The innermost visible logical box at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::replay) struct Context {
    pub(in crate::replay) predicate: PredicateIndex,
    /// Its row of the call tree.
    pub(in crate::replay) row: NodeId,
    /// The physical box that it is of.
    pub(in crate::replay) owner: BoxId,
}

/// What the engine keeps one frame for.
#[derive(Debug)]
pub(in crate::replay) struct PhysicalBox {
    /// Of an active box: who called it. Of one on the choice stack: who had.
    pub(in crate::replay) parent: BoxId,
    /// Its own last logical box, or if it has none that is visible, the context of its parent.
    pub(in crate::replay) context: Context,
    /// Height of the choice stack when it was called: what is above was left inside it.
    pub(in crate::replay) base: u32,
    pub(in crate::replay) chain: Chain,
}

/// An entry of the choice stack.
#[derive(Debug, Clone, Copy)]
pub(in crate::replay) struct Choice {
    pub(in crate::replay) id: BoxId,
    /// The stream's clock when the box exited.
    pub(in crate::replay) since: u64,
    /// Work of the stream when the box exited, in ticks.
    pub(in crate::replay) work: u64,
    /// Work undone so far when the box exited, in ticks.
    pub(in crate::replay) undone: u64,
}

#[derive(Debug)]
pub(in crate::replay) struct State {
    boxes: Vec<PhysicalBox>,
    /// The first box to be used again; the others follow by parent links.
    free: BoxId,
    active: BoxId,
    depth: u64,
    choices: Vec<Choice>,
}

impl State {
    pub(in crate::replay) fn new() -> Self {
        Self {
            boxes: Vec::new(),
            free: NOBODY,
            active: NOBODY,
            depth: 0,
            choices: Vec::new(),
        }
    }

    /// The active box.
    #[inline]
    pub(in crate::replay) fn active(&self) -> Option<BoxId> {
        (self.active != NOBODY).then_some(self.active)
    }

    #[inline]
    pub(in crate::replay) fn get(&self, id: BoxId) -> &PhysicalBox {
        &self.boxes[id as usize]
    }

    #[inline]
    pub(in crate::replay) fn get_mut(&mut self, id: BoxId) -> &mut PhysicalBox {
        &mut self.boxes[id as usize]
    }

    /// How many boxes are on the active chain.
    pub(in crate::replay) fn depth(&self) -> u64 {
        self.depth
    }

    /// How many boxes can be re-entered.
    pub(in crate::replay) fn choices(&self) -> u64 {
        self.choices.len() as u64
    }

    /// Whether a box can be opened: ids are 32 bits.
    #[inline]
    pub(in crate::replay) fn has_room(&self) -> bool {
        self.free != NOBODY || self.boxes.len() < NOBODY as usize
    }

    /// The id of the next box to be opened.
    #[inline]
    pub(in crate::replay) fn next(&self) -> BoxId {
        if self.free == NOBODY {
            self.boxes.len() as BoxId
        } else {
            self.free
        }
    }

    /// A new box, called by the active one, is active. There must be room.
    #[inline]
    pub(in crate::replay) fn open(&mut self, context: Context, chain: Chain) {
        let parent = self.active;
        let base = self.base();
        let opened = PhysicalBox {
            parent,
            context,
            base,
            chain,
        };
        self.active = self.next();
        if self.free == NOBODY {
            self.boxes.push(opened);
        } else {
            let place = &mut self.boxes[self.free as usize];
            self.free = place.parent;
            *place = opened;
        }
        self.depth += 1;
    }

    /// The active box is left for good and its parent is active.
    #[inline]
    pub(in crate::replay) fn close(&mut self) {
        let id = self.active;
        self.active = self.get(id).parent;
        self.depth -= 1;
        self.release(id);
    }

    /// The active box exits and can be re-entered; its parent is active.
    #[inline]
    pub(in crate::replay) fn push_choice(&mut self, since: u64, work: u64, undone: u64) {
        let id = self.active;
        self.active = self.get(id).parent;
        self.depth -= 1;
        self.choices.push(Choice {
            id,
            since,
            work,
            undone,
        });
    }

    /// The newest entry of the choice stack.
    #[inline]
    pub(in crate::replay) fn top_choice(&self) -> Option<Choice> {
        self.choices.last().copied()
    }

    /// Enters the newest box of the choice stack again: it is active, called by whoever was.
    #[inline]
    pub(in crate::replay) fn reenter(&mut self) {
        if let Some(choice) = self.choices.pop() {
            self.boxes[choice.id as usize].parent = self.active;
            self.active = choice.id;
            self.depth += 1;
        }
    }

    /// Takes the newest box off the choice stack for good and hands out its logical boxes.
    #[inline]
    pub(in crate::replay) fn discard_choice(&mut self) -> Option<(Choice, Chain)> {
        let choice = self.choices.pop()?;
        let chain = std::mem::replace(&mut self.get_mut(choice.id).chain, Chain::NONE);
        self.release(choice.id);
        Some((choice, chain))
    }

    /// Boxes on the choice stack that were left inside the active one.
    #[inline]
    pub(in crate::replay) fn choices_inside(&self) -> u64 {
        let base = self.get(self.active).base;
        u64::from(self.base().saturating_sub(base))
    }

    fn base(&self) -> u32 {
        u32::try_from(self.choices.len()).unwrap_or(u32::MAX)
    }

    #[inline]
    fn release(&mut self, id: BoxId) {
        let freed = &mut self.boxes[id as usize];
        freed.chain = Chain::NONE;
        freed.parent = self.free;
        self.free = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(state: &mut State) {
        let context = Context {
            predicate: 0,
            row: NodeId::ROOT,
            owner: NOBODY,
        };
        state.open(context, Chain::NONE);
    }

    #[test]
    fn freed_boxes_are_used_again() {
        let mut state = State::new();
        for _ in 0..1000 {
            hidden(&mut state);
            hidden(&mut state);
            state.push_choice(0, 0, 0);
            assert_eq!((state.depth(), state.choices()), (1, 1));
            state.reenter();
            state.close();
            hidden(&mut state);
            state.push_choice(0, 0, 0);
            state.discard_choice();
            state.close();
            assert_eq!(state.active(), None);
        }
        assert_eq!(state.boxes.len(), 2);
    }

    #[test]
    fn a_box_takes_56_bytes() {
        assert_eq!(size_of::<PhysicalBox>(), 56);
    }
}
