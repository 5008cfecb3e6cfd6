//! An index beside a trace: its figures, and checkpoints from which any moment is near.
//!
//! The index of `run.pmt` is `run.pmt.index`. No command requires it, and none believes it without a check: it
//! names its trace (the id in the header, size and time of change of the file), and has a checksum. Only an
//! undamaged trace whose recording ended in order has one, so it hides nothing that the replay would say.
//!
//! A checksum is no signature. So its claims are compared with those parts of the trace that are cheap to read:
//! streams, their events and times, and the places of checkpoints. Its figures must keep every conservation law
//! ([`laws`]). Made-up figures that keep all that are believed.

mod bytes;
mod contents;
mod error;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::figures::laws;
use crate::figures::net_times::NetTimes;
use crate::figures::profile::Profile;
use crate::net::Rates;
use crate::replay::{self, ReplayOptions};
use crate::trace::Trace;
use crate::walk::{STRIDE, Scan, Trail};
use contents::{Contents, Fingerprint};
pub use error::IndexError;

/// The index of one trace.
#[derive(Debug)]
pub struct Index {
    contents: Contents,
    /// The cost of recording, if the trace tells it.
    rates: Option<Rates>,
    trail: Trail,
}

impl Index {
    /// Where the index of a trace is.
    #[must_use]
    pub fn path_of(trace: &Path) -> PathBuf {
        let mut name = OsString::from(trace);
        name.push(".index");
        PathBuf::from(name)
    }

    /// The index of a trace, which is the file at `path`. `progress` counts up bytes of the trace.
    ///
    /// # Errors
    /// [`IndexError::NotWhole`] if the trace cannot have one.
    pub fn build(
        trace: &Trace,
        path: &Path,
        progress: Option<&AtomicU64>,
    ) -> Result<Self, IndexError> {
        Self::build_every(STRIDE, trace, path, progress)
    }

    /// The same with a checkpoint every so many bytes of events.
    ///
    /// # Errors
    /// As [`Index::build`].
    pub fn build_every(
        bytes: u64,
        trace: &Trace,
        path: &Path,
        progress: Option<&AtomicU64>,
    ) -> Result<Self, IndexError> {
        if trace.end().is_none() {
            return Err(IndexError::NotWhole);
        }
        let of = Fingerprint::of(trace, path)?;
        let (profile, mut checkpoints) =
            replay::replay_for_index(trace, bytes, progress).ok_or(IndexError::NotWhole)?;
        // The replay takes none in streams that it cannot cut.
        let taken: HashSet<u64> = checkpoints
            .iter()
            .map(|checkpoint| checkpoint.stream)
            .collect();
        let scan = Scan {
            every: bytes,
            trace,
            follow: Arc::default(),
            progress: None,
            cancel: None,
        };
        for (at, stream) in trace.streams().iter().enumerate() {
            if trace.bytes_of(stream.blocks.clone()) > bytes && !taken.contains(&(at as u64)) {
                scan.stream(at, &mut checkpoints);
            }
        }
        let trail = Trail::new(trace, &checkpoints);
        let Profile {
            predicates,
            edges,
            sites,
            contexts,
            backtracks,
            cuts,
            centers,
            clauses,
            arguments,
            streams,
            ..
        } = profile;
        Ok(Self {
            contents: Contents {
                of,
                predicates,
                edges,
                sites,
                contexts,
                backtracks,
                cuts,
                centers,
                clauses,
                arguments,
                streams,
                checkpoints: checkpoints.into(),
            },
            rates: Rates::of(trace),
            trail,
        })
    }

    /// Reads the index of a trace, which is the file at `path`.
    ///
    /// # Errors
    /// [`IndexError`] if there is none that belongs to the trace as it is.
    pub fn load(trace: &Trace, path: &Path) -> Result<Self, IndexError> {
        if trace.end().is_none() || !trace.damage().is_empty() {
            return Err(IndexError::NotWhole);
        }
        let contents = bytes::decode(&bytes::read(&Self::path_of(path))?)?;
        if contents.of != Fingerprint::of(trace, path)? {
            return Err(IndexError::Stale);
        }
        if !contents.is_sound(trace) {
            return Err(IndexError::Damaged);
        }
        let trail = Trail::new(trace, &contents.checkpoints);
        let index = Self {
            contents,
            rates: Rates::of(trace),
            trail,
        };
        if !laws::check(&index.figures()).is_empty() {
            return Err(IndexError::Damaged);
        }
        Ok(index)
    }

    /// Writes it beside the trace, which is the file at `path`; complete or not at all.
    ///
    /// # Errors
    /// [`IndexError::Io`].
    pub fn save(&self, path: &Path) -> Result<PathBuf, IndexError> {
        let to = Self::path_of(path);
        // Only an older index gives way to the new one.
        if fs::symlink_metadata(&to).is_ok_and(|there| !there.is_file()) {
            return Err(IndexError::NotAFile);
        }
        let mut name = to.clone().into_os_string();
        name.push(format!(".{}.new", std::process::id()));
        let new = PathBuf::from(name);
        let written =
            bytes::write(&new, &bytes::encode(&self.contents)).and_then(|()| fs::rename(&new, &to));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written?;
        Ok(to)
    }

    /// Where walks can begin.
    #[must_use]
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// What the replay of the trace found.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let mut profile = self.figures();
        let rates = self.rates.as_ref();
        profile.net = rates.map(|rates| NetTimes::of(&profile, rates));
        profile
    }

    /// The profile without times that follow from others.
    fn figures(&self) -> Profile {
        let contents = self.contents.clone();
        Profile {
            predicates: contents.predicates,
            edges: contents.edges,
            sites: contents.sites,
            contexts: contents.contexts,
            backtracks: contents.backtracks,
            cuts: contents.cuts,
            centers: contents.centers,
            clauses: contents.clauses,
            arguments: contents.arguments,
            streams: contents.streams,
            ..Profile::default()
        }
    }
}

/// The profile of a trace, which is the file at `path`: from its index if it has a good one, else by
/// replay. An index that is stale or damaged is made again, if it can be.
#[must_use]
pub fn profile(trace: &Trace, path: &Path, options: &ReplayOptions) -> Profile {
    if !options.is_everything() {
        return replay::replay(trace, options);
    }
    match Index::load(trace, path) {
        Ok(index) => index.profile(),
        Err(IndexError::Stale | IndexError::Damaged) => {
            match Index::build(trace, path, options.progress) {
                Ok(index) => {
                    // The figures are right without it, too.
                    if trace.check_whole(path).is_ok() {
                        let _ = index.save(path);
                    }
                    index.profile()
                }
                Err(_) => replay::replay(trace, options),
            }
        }
        Err(_) => replay::replay(trace, options),
    }
}
