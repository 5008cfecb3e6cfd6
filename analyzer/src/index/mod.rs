//! An index beside a trace: its figures, and checkpoints from which any moment is near. Once they
//! were asked for, slices that pictures of any length are sums of, and the times of single calls.
//!
//! The index of `run.pmt` is `run.pmt.index`. No command requires it, and each that reads all of a
//! large trace writes it ([`WORTH_BYTES`]), if files can be made there. None believes it without a
//! check: it names its trace (the id in the header, size and time of change of the file), and has a
//! checksum. Only an undamaged trace whose recording ended in order has one, so it hides nothing
//! that the replay would say.
//!
//! A checksum is no signature. So its claims are compared with those parts of the trace that are
//! cheap to read: streams, their events and times, and the places of checkpoints. Its figures must
//! keep every conservation law ([`laws`]). Made-up figures that keep all that are believed.

mod asked_scenes;
mod bytes;
mod contents;
mod error;
mod folded;
mod scenes;
pub(crate) mod so_far;
#[cfg(test)]
mod tests;
mod waiting;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use portmortem_tracer::IndexLock;
use rustix::fs::Access;

use crate::calls::{Calls, CallsOnRequest};
use crate::figures::laws;
use crate::figures::net_times::NetTimes;
use crate::figures::profile::Profile;
use crate::moment::checkpoint::Checkpoint;
use crate::net::Rates;
use crate::progress::Progress;
use crate::replay::{self, ReplayOptions};
use crate::scope::{Filters, Scope};
use crate::timeline::Pyramids;
use crate::timeline::pyramid::{PyramidBytes, SliceSizes};
use crate::trace::Trace;
use crate::walk::{STRIDE, Scan, Trail};
use contents::{Fingerprint, IndexContents};
pub use error::IndexError;
pub use folded::{Beside, Fold, FoldError, Folded, folded};

/// The index of one trace.
#[derive(Debug)]
pub struct Index {
    contents: IndexContents,
    /// The cost of recording, if the trace tells it.
    rates: Option<Rates>,
    trail: Trail,
    /// Slices, once they were made.
    pyramids: OnceLock<Arc<Pyramids>>,
}

/// What stands in its file: slices, if they were made, behind all else.
type IndexFile<'c> = (&'c IndexContents, Option<Arc<[PyramidBytes]>>);

/// The same as it is read.
type KeptIndex = (IndexContents, Option<Arc<[PyramidBytes]>>);

impl Index {
    /// Where the index of a trace is.
    #[must_use]
    pub fn path_of(trace: &Path) -> PathBuf {
        beside(trace, ".index")
    }

    /// The index of a trace, which is the file at `path`. Of the options, `progress` and `cancel`
    /// count.
    ///
    /// # Errors
    /// [`IndexError::NotWhole`] if the trace cannot have one, [`IndexError::Interrupted`] if it was
    /// cancelled.
    pub fn build(trace: &Trace, path: &Path, options: &ReplayOptions) -> Result<Self, IndexError> {
        Self::build_every(STRIDE, trace, path, options)
    }

    /// The same with a checkpoint every so many bytes of events.
    ///
    /// # Errors
    /// As [`Index::build`].
    pub fn build_every(
        bytes: u64,
        trace: &Trace,
        path: &Path,
        options: &ReplayOptions,
    ) -> Result<Self, IndexError> {
        let of = Fingerprint::of(trace, path)?;
        if !may_have_index(trace) {
            return Err(IndexError::NotWhole);
        }
        let (profile, checkpoints) =
            replay::replay_for_index(trace, bytes, options).ok_or(IndexError::Interrupted)?;
        if !profile.is_in_order() {
            return Err(IndexError::NotWhole);
        }
        let index = Self::new(trace, of, bytes, profile, checkpoints, options);
        match options.is_cancelled() {
            true => Err(IndexError::Interrupted),
            false => Ok(index),
        }
    }

    /// The index of a trace in order, whose replay found this.
    fn new(
        trace: &Trace,
        of: Fingerprint,
        bytes: u64,
        profile: Profile,
        mut checkpoints: Vec<Checkpoint>,
        options: &ReplayOptions,
    ) -> Self {
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
            cancel: options.cancel,
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
            values,
            waits,
            streams,
            ..
        } = profile;
        Self {
            contents: IndexContents {
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
                values,
                waits,
                streams,
                checkpoints: checkpoints.into(),
                calls: None,
            },
            rates: Rates::of(trace),
            trail,
            pyramids: OnceLock::new(),
        }
    }

    /// Reads the index of a trace, which is the file at `path`.
    ///
    /// # Errors
    /// [`IndexError`] if there is none that belongs to the trace as it is.
    pub fn load(trace: &Trace, path: &Path) -> Result<Self, IndexError> {
        if !may_have_index(trace) {
            return Err(IndexError::NotWhole);
        }
        let (contents, slices): KeptIndex =
            bytes::decode(bytes::INDEX, &bytes::read(&Self::path_of(path))?)?;
        if contents.of != Fingerprint::of(trace, path)? {
            return Err(IndexError::Stale);
        }
        if !contents.is_sound(trace) {
            return Err(IndexError::Damaged);
        }
        let trail = Trail::new(trace, &contents.checkpoints);
        let pyramids = slices.map(|slices| Pyramids::of_index(slices, trace).map(Arc::new));
        let pyramids = pyramids.map(|found| found.ok_or(IndexError::Damaged));
        let index = Self {
            contents,
            rates: Rates::of(trace),
            trail,
            pyramids: pyramids
                .transpose()?
                .map_or_else(OnceLock::new, OnceLock::from),
        };
        if !laws::check(&index.figures()).is_empty() {
            return Err(IndexError::Damaged);
        }
        Ok(index)
    }

    /// The same, after a process that makes it now has ended. The index is to be made as long as
    /// the lock is held.
    pub fn load_when_made(
        trace: &Trace,
        path: &Path,
        options: &ReplayOptions,
    ) -> (Result<Self, IndexError>, Option<IndexLock>) {
        match Self::load(trace, path) {
            Err(_) if may_have_index(trace) => waiting::load(trace, path, options),
            found => (found, None),
        }
    }

    /// The times of single calls, if it has them.
    #[must_use]
    pub fn calls(&self) -> Option<&Arc<Calls>> {
        self.contents.calls.as_ref()
    }

    /// Writes it beside the trace, which is the file at `path`; complete or not at all.
    ///
    /// # Errors
    /// [`IndexError::Io`].
    pub fn save(&self, path: &Path) -> Result<PathBuf, IndexError> {
        let slices = self.pyramids().map(Pyramids::bytes);
        let file: IndexFile = (&self.contents, slices);
        replace(path, &bytes::encode(bytes::INDEX, &file))
    }

    /// Writes it beside its trace if that is possible, and the trace is still whole. It is of use
    /// without that, too.
    fn keep(&self, trace: &Trace, path: &Path) {
        if trace.check_whole(path).is_ok() {
            let _ = self.save(path);
        }
    }

    /// The same with what another process has added meanwhile to the index beside its trace, which
    /// is the file at `path`: ask for it right before [`Self::save`].
    #[must_use]
    pub fn with_added(mut self, trace: &Trace, path: &Path) -> Self {
        if let Ok(there) = Self::load(trace, path) {
            self.contents.calls = self.contents.calls.or(there.contents.calls);
            if let Some(slices) = there.pyramids.into_inner() {
                // Those that it has are the same.
                let _ = self.pyramids.set(slices);
            }
        }
        self
    }

    /// Keeps its slices in the index beside its trace, the file at `path`, if that is a good one
    /// without them, and files can be made there.
    pub(crate) fn keep_slices(&self, trace: &Trace, path: &Path) {
        if let Some(slices) = self.pyramids.get() {
            add_to_index(trace, path, |kept| {
                kept.pyramids.set(Arc::clone(slices)).is_ok()
            });
        }
    }

    /// Writes it beside its trace if that is large, after [`Self::load`] said that there is none.
    pub(crate) fn keep_if_worth(&self, trace: &Trace, path: &Path) {
        if is_worth_writing(trace.size(), path, &IndexError::Missing) {
            self.keep(trace, path);
        }
    }

    /// Where walks can begin.
    #[must_use]
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// Slices of its long streams, if they were made.
    #[must_use]
    pub fn pyramids(&self) -> Option<&Pyramids> {
        self.pyramids.get().map(Arc::as_ref)
    }

    /// Makes slices of the long streams of its trace, unless it has them. Whether it has them then:
    /// not if it was stopped. Works on rayon's current threads; `progress` counts events.
    pub fn find_slices(&self, trace: &Trace, progress: &Progress) -> bool {
        self.find_slices_of(SliceSizes::default(), trace, progress)
    }

    /// The same with slices of some size.
    pub(crate) fn find_slices_of(
        &self,
        sizes: SliceSizes,
        trace: &Trace,
        progress: &Progress,
    ) -> bool {
        if self.pyramids.get().is_none()
            && let Some(made) = Pyramids::of(trace, &self.trail, sizes, progress)
        {
            // Another thread may have made the same meanwhile.
            let _ = self.pyramids.set(Arc::new(made));
        }
        self.pyramids.get().is_some()
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
            values: contents.values,
            waits: contents.waits,
            streams: contents.streams,
            ..Profile::default()
        }
    }
}

/// Writes an index beside a trace, which is the file at `path`; complete or not at all.
fn replace(path: &Path, bytes: &[u8]) -> Result<PathBuf, IndexError> {
    let to = Index::path_of(path);
    // Only an older index gives way to the new one.
    if fs::symlink_metadata(&to).is_ok_and(|there| !there.is_file()) {
        return Err(IndexError::NotAFile);
    }
    put(&to, |new| bytes::write(new, bytes))?;
    Ok(to)
}

/// Puts a file that `write` makes into the place of another; complete or not at all.
fn put(to: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let new = beside(to, &format!(".{}.new", std::process::id()));
    let written = write(&new).and_then(|()| fs::rename(&new, to));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// The file beside another whose name goes on like this.
fn beside(file: &Path, rest: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(rest);
    PathBuf::from(name)
}

/// Traces of more bytes get an index when all of them is read: reading takes longer than writing
/// that.
pub const WORTH_BYTES: u64 = 10_000_000;

/// Whether a trace can have an index, as far as that is known before its events are read.
///
/// The index may have been made before threads ran on that the recording did not wait for.
fn may_have_index(trace: &Trace) -> bool {
    let mut streams = trace.streams().iter();
    trace.end().is_some()
        && trace.part().is_none()
        && trace.damage().is_empty()
        && streams.all(|stream| trace.events_after_end(stream) == 0)
}

/// Whether an index is written beside a trace of so many bytes, the file at `path`, when all of it
/// is read and its index could not be used for this reason.
fn is_worth_writing(bytes: u64, path: &Path, reason: &IndexError) -> bool {
    let is_wanted = match reason {
        IndexError::Stale | IndexError::Damaged => true,
        IndexError::Missing => bytes > WORTH_BYTES,
        _ => false,
    };
    is_wanted && is_writable(path)
}

/// Whether files can be made beside this one.
fn is_writable(path: &Path) -> bool {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let directory = directory.unwrap_or(Path::new("."));
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// What is known of a whole trace.
#[derive(Debug, Default)]
pub struct Known {
    /// Its figures.
    pub profile: Profile,
    /// The times of single calls, if its index has them.
    pub calls: Option<Arc<Calls>>,
}

impl From<Profile> for Known {
    fn from(profile: Profile) -> Self {
        Self {
            profile,
            calls: None,
        }
    }
}

/// The times of single calls of all of a trace, which is the file at `path`: the events are read
/// for them, on rayon's current threads. Its index keeps them, if it has a good one.
pub fn find_calls(trace: &Trace, path: &Path) -> Arc<Calls> {
    let everything = Scope::of(trace, &Filters::default());
    let calls = Arc::new(Calls::of(trace, &everything));
    keep_calls(trace, path, &calls);
    calls
}

/// Keeps the times of single calls in the index of the trace at `path`, if it has a good one
/// without them, and files can be made there.
pub(crate) fn keep_calls(trace: &Trace, path: &Path, calls: &Arc<Calls>) {
    add_to_index(trace, path, |index| {
        let is_new = index.contents.calls.is_none();
        index
            .contents
            .calls
            .get_or_insert_with(|| Arc::clone(calls));
        is_new
    });
}

/// Makes slices of a trace, which is the file at `path`, on rayon's current threads, if its index
/// is a good one without them, and files can be made there.
pub fn find_slices(trace: &Trace, path: &Path) {
    if let Ok(index) = Index::load(trace, path)
        && is_writable(path)
        && index.pyramids().is_none()
        && index.find_slices(trace, &Progress::default())
    {
        index.keep_slices(trace, path);
    }
}

/// Adds to the index of a trace, the file at `path`, if it has a good one and files can be made
/// there; `add` says whether anything is new. What takes long is to be found before: meanwhile
/// another process may add something else.
fn add_to_index(trace: &Trace, path: &Path, add: impl FnOnce(&mut Index) -> bool) {
    if let Ok(mut index) = Index::load(trace, path)
        && is_writable(path)
        && add(&mut index)
    {
        index.keep(trace, path);
    }
}

/// The figures of a trace, which is the file at `path`: from its index if it has a good one, else
/// by replay. If all of the trace is replayed, and it is large or its index is stale or damaged, it
/// gets an index. If another process makes that, it is waited for. If the recording did not end,
/// the replay goes on from where another command came.
#[must_use]
pub fn known(trace: &Trace, path: &Path, options: &ReplayOptions) -> Known {
    if !options.is_everything() || trace.part().is_some() {
        return replay::replay(trace, options).into();
    }
    if so_far::has_one(trace) {
        return so_far::profile(trace, path, options).into();
    }
    let is_worth_it =
        |reason: &IndexError| is_worth_writing(trace.size(), path, reason) && may_have_index(trace);
    let (found, _lock) = match Index::load(trace, path) {
        Err(reason) if is_worth_it(&reason) => waiting::load(trace, path, options),
        found => (found, None),
    };
    match found {
        Ok(index) => {
            let known = index.calls().cloned();
            let find = || options.calls.map(|_| find_calls(trace, path));
            let calls = known.or_else(find);
            Known {
                profile: index.profile(),
                calls,
            }
        }
        Err(reason) if is_worth_it(&reason) => profile_and_index(trace, path, options).into(),
        Err(_) => replay::replay(trace, options).into(),
    }
}

/// The profile of a trace, by replay. Its index is written if the trace is in order.
fn profile_and_index(trace: &Trace, path: &Path, options: &ReplayOptions) -> Profile {
    let options = ReplayOptions {
        cancel: None,
        ..options.clone()
    };
    let of = Fingerprint::of(trace, path);
    let replayed = replay::replay_for_index(trace, STRIDE, &options);
    let (profile, checkpoints) = replayed.unwrap_or_default();
    let (Ok(of), true) = (of, profile.is_in_order()) else {
        return profile;
    };
    let mut index = Index::new(trace, of, STRIDE, profile, checkpoints, &options);
    index.contents.calls = options.calls.and_then(CallsOnRequest::known).cloned();
    index.keep(trace, path);
    index.profile()
}
