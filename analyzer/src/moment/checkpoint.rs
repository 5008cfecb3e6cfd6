//! How the boxes of a stream are kept at places in it, so that any moment is near.

use bincode::{Decode, Encode};

use super::stack::{Frozen, StackChange};

/// Bytes of boxes in checkpoints, of all streams together; no more are taken of a stream that would
/// have more.
pub(crate) const MOST_BYTES: usize = 128 << 20;

/// How the stacks of a stream changed since the checkpoint before, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Checkpoint {
    /// The stream, by its place in the trace.
    pub(crate) stream: u64,
    /// The block that begins here.
    pub(crate) block: u64,
    /// Number of the event that comes next.
    pub(crate) event: u64,
    pub(crate) change: StacksChange,
}

/// The boxes of a moment, kept for later.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub(super) active: Frozen,
    pub(super) choices: Frozen,
    pub(super) lost: bool,
    pub(super) paused: bool,
}

impl Kept {
    /// How many boxes are active.
    pub(crate) fn height(&self) -> u64 {
        self.active.len()
    }

    /// The stacks change as they did from one checkpoint to the next.
    pub(crate) fn change(&mut self, change: &StacksChange) {
        self.active.change(&change.active);
        self.choices.change(&change.choices);
        (self.lost, self.paused) = (change.lost, change.paused);
    }
}

/// How both stacks differ from those at the checkpoint before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(crate) struct StacksChange {
    pub(crate) active: StackChange,
    pub(crate) choices: StackChange,
    /// There was a gap before.
    pub(crate) lost: bool,
    /// It is in a pause.
    pub(crate) paused: bool,
}

impl StacksChange {
    /// This change, and then another one.
    pub(crate) fn and(&self, next: &Self) -> Self {
        Self {
            active: self.active.and(&next.active),
            choices: self.choices.and(&next.choices),
            lost: next.lost,
            paused: next.paused,
        }
    }

    /// Bytes that the boxes in it take.
    pub(crate) fn size(&self) -> usize {
        self.active.pushed.size() + self.choices.pushed.size()
    }
}
