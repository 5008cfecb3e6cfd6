//! How far work in another thread is, and whether it is still wanted.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared by a thread that works and one that waits for it.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

impl Progress {
    /// Of so many units of work.
    #[must_use]
    pub fn of(total: u64) -> Self {
        Self {
            total: AtomicU64::new(total),
            ..Self::default()
        }
    }

    /// There is more to do than was known.
    pub fn expect(&self, more: u64) {
        self.total.fetch_add(more, Ordering::Relaxed);
    }

    /// So many units more are done.
    pub fn advance(&self, more: u64) {
        self.done.fetch_add(more, Ordering::Relaxed);
    }

    /// Units that are done.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// How much is done, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        let total = self.total.load(Ordering::Relaxed).max(1);
        (self.done() as f64 / total as f64).min(1.0)
    }

    /// The work is no longer wanted.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the work is no longer wanted.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// What counts up the units that are done.
    #[must_use]
    pub fn counter(&self) -> &AtomicU64 {
        &self.done
    }

    /// What is true once the work is no longer wanted.
    #[must_use]
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.stopped
    }
}
