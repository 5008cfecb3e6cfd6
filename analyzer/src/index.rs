//! An index beside a trace: its figures, and checkpoints from which any moment is near.
//!
//! The index of `run.pmt` is `run.pmt.index`. It is never required and never believed without a check: it
//! says of which trace it is (the id in the header, size and time of change of the file), and has a
//! checksum. Only a trace whose recording ended in order and that is not damaged has one; so what it
//! says is what the replay of the trace says, and nothing is hidden by it.
//!
//! Bytes: magic, version, checksum and length of the rest, all little-endian, then [`Contents`] by bincode.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bincode::{Decode, Encode};

use crate::compensation::{Compensation, Rates};
use crate::contexts::ContextFigures;
use crate::figures::{
    BacktrackFigures, Caller, EdgeFigures, PredicateFigures, PredicateIndex, StreamFigures,
};
use crate::moment::{Change, OpenBox};
use crate::profile::Profile;
use crate::replay::{self, ReplayOptions};
use crate::trace::Trace;
use crate::walk::{STRIDE, Scan, Trail};

const MAGIC: &[u8; 8] = b"PMTINDEX";

/// Version of the contents; an index of any other is made again.
const VERSION: u32 = 10;

const HEAD_BYTES: usize = 24;

/// The largest index that is read, in bytes.
const MOST_BYTES: u64 = 1 << 32;

/// What an index knows.
#[derive(Debug)]
pub struct Index {
    contents: Contents,
    trail: Trail,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
struct Contents {
    of: Fingerprint,
    predicates: Vec<PredicateFigures>,
    edges: BTreeMap<(Caller, PredicateIndex), EdgeFigures>,
    contexts: Vec<ContextFigures>,
    backtracks: BTreeMap<(Caller, PredicateIndex), BacktrackFigures>,
    cuts: BTreeMap<(Caller, PredicateIndex), u64>,
    streams: Vec<StreamFigures>,
    rates: Option<Rates>,
    checkpoints: Arc<[Checkpoint]>,
}

/// Tells one trace from another, and from what it was before.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
struct Fingerprint {
    id: u64,
    size: u64,
    changed_ns: i128,
}

/// How the stacks of a stream changed since the checkpoint before, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Checkpoint {
    /// The stream, by its place in the trace.
    pub(crate) stream: u64,
    /// The block that begins here.
    pub(crate) block: u64,
    /// Number of the event that comes next.
    pub(crate) event: u64,
    pub(crate) change: Change,
}

/// Why there is no index to be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// None was made.
    #[error("there is no index")]
    Missing,
    /// It is of another trace, of this one before it changed, or of another version.
    #[error("the index is stale")]
    Stale,
    /// It is not what was written.
    #[error("the index is damaged")]
    Damaged,
    /// The recording did not end, or the trace is damaged.
    #[error("a trace that is damaged, or whose recording did not end, has no index")]
    NotWhole,
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
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

    /// With a checkpoint every so many bytes of events.
    pub(crate) fn build_every(
        bytes: u64,
        trace: &Trace,
        path: &Path,
        progress: Option<&AtomicU64>,
    ) -> Result<Self, IndexError> {
        if trace.end().is_none() {
            return Err(IndexError::NotWhole);
        }
        let of = fingerprint(trace, path)?;
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
            contexts,
            backtracks,
            cuts,
            streams,
            ..
        } = profile;
        Ok(Self {
            contents: Contents {
                of,
                predicates,
                edges,
                contexts,
                backtracks,
                cuts,
                streams,
                rates: Rates::of(trace),
                checkpoints: checkpoints.into(),
            },
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
        let file = File::open(Self::path_of(path)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => IndexError::Missing,
            _ => IndexError::Io(error),
        })?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        let contents = decode(&bytes)?;
        if contents.of != fingerprint(trace, path)? {
            return Err(IndexError::Stale);
        }
        if contents.is_sound(trace) {
            let trail = Trail::new(trace, &contents.checkpoints);
            Ok(Self { contents, trail })
        } else {
            Err(IndexError::Damaged)
        }
    }

    /// Writes it beside the trace, which is the file at `path`; complete or not at all.
    ///
    /// # Errors
    /// [`IndexError::Io`].
    pub fn save(&self, path: &Path) -> Result<PathBuf, IndexError> {
        let to = Self::path_of(path);
        let mut name = to.clone().into_os_string();
        name.push(format!(".{}.new", std::process::id()));
        let new = PathBuf::from(name);
        let written = write(&new, &encode(&self.contents)).and_then(|()| fs::rename(&new, &to));
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
        let contents = self.contents.clone();
        let mut profile = Profile {
            predicates: contents.predicates,
            edges: contents.edges,
            contexts: contents.contexts,
            backtracks: contents.backtracks,
            cuts: contents.cuts,
            streams: contents.streams,
            ..Profile::default()
        };
        let rates = contents.rates.as_ref();
        profile.compensation = rates.map(|rates| Compensation::new(&profile, rates));
        profile
    }
}

impl Contents {
    /// Every row that another speaks of is there.
    fn is_sound(&self, trace: &Trace) -> bool {
        let predicates = trace.predicates().len() + 1;
        let known = |predicate: PredicateIndex| (predicate as usize) < predicates;
        let pair = |(caller, callee): &(Caller, PredicateIndex)| {
            known(*callee) && !matches!(caller, Caller::Predicate(caller) if !known(*caller))
        };
        let above = |(id, row): (u32, &ContextFigures)| {
            known(row.predicate) && row.parent.is_none_or(|parent| parent < id)
        };
        let open = |open: &OpenBox| known(open.predicate) && known(open.called_as);
        self.predicates.len() == predicates
            && self.streams.len() == trace.streams().len()
            && self.edges.keys().all(pair)
            && self.backtracks.keys().all(pair)
            && self.cuts.keys().all(pair)
            && (0..).zip(&self.contexts).all(above)
            && self.checkpoints.iter().all(|Checkpoint { change, .. }| {
                change.active.pushed.all(open) && change.choices.pushed.all(open)
            })
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
                    let _ = index.save(path);
                    index.profile()
                }
                Err(_) => replay::replay(trace, options),
            }
        }
        Err(_) => replay::replay(trace, options),
    }
}

fn fingerprint(trace: &Trace, path: &Path) -> Result<Fingerprint, IndexError> {
    let file = fs::metadata(path)?;
    Ok(Fingerprint {
        id: trace.file_id(),
        size: trace.size(),
        changed_ns: i128::from(file.mtime()) * 1_000_000_000 + i128::from(file.mtime_nsec()),
    })
}

fn encode(contents: &Contents) -> Vec<u8> {
    // Encoding to memory fails for no value of these types.
    let body = bincode::encode_to_vec(contents, bincode::config::standard()).unwrap_or_default();
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

fn decode(bytes: &[u8]) -> Result<Contents, IndexError> {
    let (head, body) = bytes
        .split_first_chunk::<HEAD_BYTES>()
        .ok_or(IndexError::Damaged)?;
    if !head.starts_with(MAGIC) {
        return Err(IndexError::Damaged);
    }
    if head[8..12] != VERSION.to_le_bytes() {
        return Err(IndexError::Stale);
    }
    if head[12..16] != crc32fast::hash(body).to_le_bytes()
        || head[16..] != (body.len() as u64).to_le_bytes()
    {
        return Err(IndexError::Damaged);
    }
    let config = bincode::config::standard().with_limit::<{ MOST_BYTES as usize }>();
    match bincode::decode_from_slice(body, config) {
        Ok((contents, read)) if read == body.len() => Ok(contents),
        _ => Err(IndexError::Damaged),
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(bytes)?;
    file.into_inner().map_err(io::Error::from)?.sync_all()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::replay::replay;
    use crate::replay::tests::{long_script, long_trace};
    use crate::walk::Walk;

    /// A trace file and its index, a checkpoint every few blocks.
    fn indexed(directory: &Path) -> (PathBuf, Trace, Index) {
        let mut runner = TestRunner::deterministic();
        let script = long_script().new_tree(&mut runner).unwrap().current();
        let path = directory.join("run.pmt");
        fs::write(&path, long_trace(&script)).unwrap();
        let trace = Trace::open(&path).unwrap();
        let index = Index::build_every(1000, &trace, &path, None).unwrap();
        assert!(index.contents.checkpoints.len() > 3);
        (path, trace, index)
    }

    #[test]
    fn the_profile_is_that_of_the_replay() {
        let directory = tempfile::tempdir().unwrap();
        let (path, trace, index) = indexed(directory.path());
        index.save(&path).unwrap();
        let index = Index::load(&trace, &path).unwrap();
        assert_eq!(index.profile(), replay(&trace, &ReplayOptions::default()));
    }

    #[test]
    fn every_moment_is_that_of_the_way_from_the_beginning() {
        let directory = tempfile::tempdir().unwrap();
        let (_, trace, index) = indexed(directory.path());
        for stream in trace.streams() {
            let mut plain = Walk::from(&trace, None, stream, 0);
            let mut number = 0;
            loop {
                if number % 97 == 0 {
                    let mut jumped = Walk::from(&trace, Some(&index), stream, number);
                    assert_eq!(jumped.moment(), plain.moment());
                    let next = Walk::from(&trace, None, stream, number).next();
                    assert_eq!(jumped.next(), next);
                }
                number += 1;
                if plain.next().is_none() {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_stale_or_damaged_index_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let (path, trace, index) = indexed(directory.path());
        assert!(matches!(
            Index::load(&trace, &path),
            Err(IndexError::Missing)
        ));
        let to = index.save(&path).unwrap();
        let bytes = fs::read(&to).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len() / 50) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            fs::write(&to, flipped).unwrap();
            assert!(Index::load(&trace, &path).is_err(), "byte {at}");
        }
        for length in [0, 7, HEAD_BYTES, bytes.len() - 1] {
            fs::write(&to, &bytes[..length]).unwrap();
            assert!(matches!(
                Index::load(&trace, &path),
                Err(IndexError::Damaged)
            ));
        }
        fs::write(&to, &bytes).unwrap();
        assert!(Index::load(&trace, &path).is_ok());
        let changed = fs::read(&path).unwrap();
        fs::write(&path, changed).unwrap();
        assert!(matches!(Index::load(&trace, &path), Err(IndexError::Stale)));
    }

    #[test]
    fn contents_that_lie_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (path, trace, mut index) = indexed(directory.path());
        index.contents.contexts[0].parent = Some(7);
        index.save(&path).unwrap();
        assert!(matches!(
            Index::load(&trace, &path),
            Err(IndexError::Damaged)
        ));
    }
}
