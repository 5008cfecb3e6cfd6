//! Events to figures.
//!
//! `oracle` is the plain sequential replay.

mod assemble;
mod books;
mod boxes;
mod chunk;
mod join;
mod oracle;
mod schedule;
mod state;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::hide::Hide;
use crate::index::Checkpoint;
use crate::profile::Profile;
use crate::trace::Trace;

/// What to replay, and how.
#[derive(Debug, Default)]
pub struct ReplayOptions<'o> {
    /// Predicates to treat as if they were part of their callers.
    pub hide: Hide,
    /// Counts up the bytes of event blocks read, for a display of progress against
    /// [`Trace::size`].
    pub progress: Option<&'o AtomicU64>,
    /// Sums up what the replay took.
    pub effort: Option<&'o Effort>,
    /// Bytes of events that are replayed at a time; the default suits the trace and the threads.
    pub chunk_bytes: Option<u64>,
}

/// What a replay took, for benchmarks.
#[derive(Debug, Default)]
pub struct Effort {
    parallel: AtomicU64,
    serial: AtomicU64,
}

impl Effort {
    /// Time of all threads in the part that runs in parallel.
    #[must_use]
    pub fn parallel(&self) -> Duration {
        Duration::from_nanos(self.parallel.load(Ordering::Relaxed))
    }

    /// Time in the part that one thread does at a time: joining chunks.
    #[must_use]
    pub fn serial(&self) -> Duration {
        Duration::from_nanos(self.serial.load(Ordering::Relaxed))
    }

    fn replayed(&self, took: Duration) {
        self.parallel
            .fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }

    fn joined(&self, took: Duration) {
        self.serial
            .fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// Replays all streams of a trace, in parallel on rayon's current threads.
///
/// The profile also has all damage of the trace: what was known when it was opened, and what its
/// events had.
#[must_use]
pub fn replay(trace: &Trace, options: &ReplayOptions) -> Profile {
    let hidden = options.hide.mask(trace);
    let mut profile = schedule::replay(trace, options, &hidden, None)
        .unwrap_or_else(|_| oracle::replay(trace, options, &hidden));
    profile.predicates.resize(hidden.len(), Default::default());
    profile.damage.extend_from_slice(trace.damage());
    profile.settle();
    profile
}

/// The profile of a trace, and checkpoints every so many bytes of events in its long streams. `None` if the trace is
/// damaged, or has what only the plain replay deals with.
pub(crate) fn replay_for_index(
    trace: &Trace,
    bytes: u64,
    progress: Option<&AtomicU64>,
) -> Option<(Profile, Vec<Checkpoint>)> {
    if !trace.damage().is_empty() {
        return None;
    }
    let hidden = Hide::default().mask(trace);
    let options = ReplayOptions {
        progress,
        chunk_bytes: Some(bytes),
        ..ReplayOptions::default()
    };
    let mut checkpoints = Vec::new();
    let mut profile = schedule::replay(trace, &options, &hidden, Some(&mut checkpoints)).ok()?;
    profile.settle();
    Some((profile, checkpoints))
}
