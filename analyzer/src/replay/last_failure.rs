//! The failure that a redo would come from, as events go by.

use super::choices::{Failed, RedoCause};

/// The last failure, and what it was before calls that happen between two ports.
#[derive(Debug)]
pub(super) struct LastFailure {
    now: Failed,
    /// What it will be again, if it is [`Failed::Held`].
    held: Failed,
}

impl LastFailure {
    /// Nothing failed yet, in a whole stream.
    pub(super) const NONE: Self = Self {
        now: Failed::Nothing,
        held: Failed::Nothing,
    };

    /// Whatever failed before the chunk.
    pub(super) const AS_BEFORE: Self = Self {
        now: Failed::AsBefore,
        ..Self::NONE
    };

    /// What a redo would come from now.
    #[inline(always)]
    pub(super) fn now(&self) -> Failed {
        self.now
    }

    /// What [`Failed::Held`] stands for.
    #[inline(always)]
    pub(super) fn held(&self) -> Failed {
        self.held
    }

    /// A redo would come from this.
    #[inline(always)]
    pub(super) fn set(&mut self, failed: Failed) {
        self.now = failed;
    }

    /// A redo would come from a box that is known.
    #[inline(always)]
    pub(super) fn known(&mut self, cause: RedoCause) {
        self.now = Failed::Known(cause);
    }

    /// Control went on: what failed before no longer matters.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        self.now = Failed::Nothing;
    }

    /// A predicate is called. What failed before still matters if that happens between two ports.
    #[inline(always)]
    pub(super) fn call(&mut self, is_between_ports: impl FnOnce() -> bool) {
        if self.now != Failed::Nothing {
            self.call_after_failure(is_between_ports());
        }
    }

    fn call_after_failure(&mut self, is_between_ports: bool) {
        self.now = match self.now {
            _ if !is_between_ports => Failed::Nothing,
            Failed::Held(count) => Failed::Held(count + 1),
            failed => {
                self.held = failed;
                Failed::Held(1)
            }
        };
    }

    /// What it will be once a box has exited, determinately. `of_exit` is that of the exit itself,
    /// if no failure before matters.
    #[inline(always)]
    pub(super) fn after_exit_det(&self, of_exit: impl FnOnce() -> Failed) -> Failed {
        match self.now {
            Failed::Nothing | Failed::Driver | Failed::Exited(_) | Failed::Known(_) => of_exit(),
            Failed::Held(1) => self.held,
            Failed::Held(count) => Failed::Held(count - 1),
            Failed::AsBefore => Failed::Left(1),
            Failed::Left(count) => Failed::Left(count + 1),
        }
    }
}
