//! The life of a recording, which other threads and a fork may end at any moment.

use std::sync::atomic::{AtomicU8, Ordering};

/// Where a recording is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Everything is recorded.
    Recording,
    /// Not even names have room any more: events are counted as lost.
    Full,
    /// The file is not what was written: another program has shortened it.
    Shortened,
    /// Closed: the file is as it will stay.
    Closed,
    /// Closed because the process ends: other threads wait at their next event
    /// ([`crate::last_moments`]). What they do when they are let go is in no event, but the blocks
    /// say how much it was.
    Ended,
    /// This is the child of a fork, and the file is the parent's.
    Forked,
}

impl Phase {
    /// Whether blocks may still be written, if only to say what was lost.
    pub(crate) fn may_write(self) -> bool {
        matches!(self, Self::Recording | Self::Full)
    }
}

/// The present phase. Only the registry changes it, because it must tell the streams, too.
#[derive(Debug)]
pub(crate) struct Life(AtomicU8);

impl Life {
    pub(crate) const fn new() -> Self {
        Self(AtomicU8::new(Phase::Recording as u8))
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.0.load(Ordering::Acquire) {
            0 => Phase::Recording,
            1 => Phase::Full,
            2 => Phase::Shortened,
            3 => Phase::Closed,
            4 => Phase::Ended,
            _ => Phase::Forked,
        }
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Release);
    }
}
