//! Events to figures.
//!
//! `oracle` is the plain sequential replay.

mod oracle;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicU64;

use crate::hide::Hide;
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
}

/// Replays all streams of a trace, in parallel on rayon's current threads.
///
/// The profile also has all damage of the trace: what was known when it was opened, and what its
/// events had.
#[must_use]
pub fn replay(trace: &Trace, options: &ReplayOptions) -> Profile {
    let hidden = options.hide.mask(trace);
    let mut profile = oracle::replay(trace, options, &hidden);
    profile.predicates.resize(hidden.len(), Default::default());
    profile.damage.extend_from_slice(trace.damage());
    profile.settle();
    profile
}
