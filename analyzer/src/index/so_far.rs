//! What is kept beside a trace whose recording did not end: the replay as far as it has come, from
//! which the next command goes on. It stands where the index will be.

use std::path::Path;

use super::bytes::{self, SO_FAR};
use super::{Index, IndexError, WORTH_BYTES, is_writable, replace};
use crate::figures::profile::Profile;
use crate::replay::growing::{Growing, Grown, KeptGrowing, Stopped};
use crate::replay::{ReplayOptions, replay};
use crate::trace::Trace;
use crate::walk::STRIDE;

/// Whether the replay of a trace can be kept: of a large one that may grow, or was cut short.
pub(super) fn has_one(trace: &Trace) -> bool {
    trace.end().is_none() && trace.damage().is_empty() && trace.size() > WORTH_BYTES
}

/// The replay of a trace, the file at `path`, as far as another command came; from its beginning if
/// that is not known.
pub(crate) fn load(trace: &Trace, path: &Path) -> Growing {
    let kept = || {
        let bytes = bytes::read(&Index::path_of(path)).ok()?;
        bytes::decode::<KeptGrowing>(SO_FAR, &bytes)
            .ok()?
            .open(trace, false)
    };
    let found = has_one(trace).then(kept).flatten();
    found.unwrap_or_else(|| Growing::new(trace, STRIDE))
}

/// Keeps it if that saves much reading: a quarter of the trace was read for it.
pub(crate) fn keep_if_worth(growing: &Growing, read: u64, trace: &Trace, path: &Path) {
    let is_worth = has_one(trace) && read > WORTH_BYTES && read >= trace.size() / 4;
    // The recording may have ended meanwhile, and have an index that must stay.
    let is_as_it_was = || {
        let now = Trace::open(path);
        trace.check_whole(path).is_ok() && now.is_ok_and(|now| has_one(&now))
    };
    if is_worth && growing.is_in_order() && is_writable(path) && is_as_it_was() {
        // The next command does without it.
        let _: Result<_, IndexError> = replace(path, &bytes::encode(SO_FAR, growing));
    }
}

/// The profile of a trace whose recording did not end, the file at `path`; nothing is left out.
pub(super) fn profile(trace: &Trace, path: &Path, options: &ReplayOptions) -> Profile {
    let mut growing = load(trace, path);
    match growing.go_on(trace, options) {
        Ok(Grown { profile, read, .. }) => {
            keep_if_worth(&growing, read, trace, path);
            profile
        }
        Err(Stopped::Cancelled) => replay(trace, options),
        Err(Stopped::InOnePiece) => {
            let whole = ReplayOptions {
                chunk_bytes: Some(u64::MAX),
                ..options.clone()
            };
            replay(trace, &whole)
        }
    }
}
