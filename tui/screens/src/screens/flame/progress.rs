//! How far a tree is that another thread makes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Contexts that were dealt with, and whether to stop.
#[derive(Debug, Default)]
pub(super) struct Progress {
    done: AtomicU64,
    stop: AtomicBool,
}

impl Progress {
    /// One more; `None` to stop.
    pub(super) fn one(&self) -> Option<()> {
        self.done.fetch_add(1, Ordering::Relaxed);
        (!self.stop.load(Ordering::Relaxed)).then_some(())
    }

    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub(super) fn give_up(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
