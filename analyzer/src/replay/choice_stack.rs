//! The choice stack of a chunk. What is on it from before the chunk is not known: what happens to
//! that is remembered.

use super::boxes::RootId;
use super::choices::{Choice, Live, RedoCause, Taken, Who};

/// The entries that the chunk made, and what it did to those of before.
#[derive(Debug, Default)]
pub(super) struct ChoiceStack {
    made: Vec<Choice>,
    /// Newest first.
    taken: Vec<Taken>,
    /// How many entries of before left it.
    popped: i64,
    /// Relative to the beginning of the chunk.
    max_height: i64,
}

impl ChoiceStack {
    /// How many entries there are, relative to the beginning of the chunk.
    #[inline(always)]
    pub(super) fn height(&self) -> i64 {
        self.made.len() as i64 - self.popped
    }

    /// The greatest height, at the beginning at least.
    pub(super) fn max_height(&self) -> i64 {
        self.max_height
    }

    /// Nothing was high before now.
    pub(super) fn forget_heights(&mut self) {
        self.max_height = self.height();
    }

    /// It is so high for a moment.
    #[inline(always)]
    pub(super) fn reach(&mut self, height: i64) {
        self.max_height = self.max_height.max(height);
    }

    /// Adds an entry; the height with it.
    #[inline(always)]
    pub(super) fn push(&mut self, choice: Choice) -> i64 {
        self.made.push(choice);
        let height = self.height();
        self.reach(height);
        height
    }

    /// The newest entry, if the chunk made it.
    pub(super) fn last(&self) -> Option<&Choice> {
        self.made.last()
    }

    /// Takes the newest entry, if the chunk made it.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Choice> {
        self.made.pop()
    }

    /// The newest entry of before is entered again, at `now`, and is `root` from then on.
    pub(super) fn redo_before(&mut self, root: RootId, now: u64, live: Live, cause: RedoCause) {
        self.popped += 1;
        self.taken.push(Taken::Redo {
            root,
            now,
            live,
            cause,
        });
    }

    /// The newest `count` entries of before are discarded.
    pub(super) fn cut_before(&mut self, count: u32, now: u64, by: Who) {
        self.popped += i64::from(count);
        self.taken.push(Taken::Cut { count, now, by });
    }

    /// The entries that the chunk made and left, oldest first.
    pub(super) fn left(&self) -> &[Choice] {
        &self.made
    }

    /// Takes all entries that the chunk made, oldest first.
    pub(super) fn take_all(&mut self) -> Vec<Choice> {
        std::mem::take(&mut self.made)
    }

    /// What happened to entries of before.
    pub(super) fn taken(&self) -> &[Taken] {
        &self.taken
    }

    /// How many entries of before left it.
    pub(super) fn popped(&self) -> u64 {
        self.popped.unsigned_abs()
    }
}
