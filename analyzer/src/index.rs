//! An index beside a trace: its figures, and checkpoints from which any moment is near.
//!
//! The index of `run.pmt` is `run.pmt.index`. It is never required and never believed without a check: it
//! says of which trace it is (the id in the header, size and time of change of the file), and has a
//! checksum. Only a trace whose recording ended in order and that is not damaged has one; so what it
//! says is what the replay of the trace says, and nothing is hidden by it.
//!
//! A checksum is no signature. So what an index claims is compared with what the trace says cheaply: streams, their
//! events and times, where checkpoints lie; and its figures must keep every conservation law ([`laws`]). Figures that
//! somebody made up, and that keep all that, are believed.
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

use bincode::error::DecodeError;
use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::clauses::Clauses;
use crate::figures::centers::CenterFigures;
use crate::figures::contexts::ContextFigures;
use crate::figures::laws;
use crate::figures::net_times::NetTimes;
use crate::figures::profile::Profile;
use crate::figures::{
    BacktrackFigures, Caller, EdgeFigures, PortTotals, PredicateFigures, SiteFigures, StreamFigures,
};
use crate::moment::OpenBox;
use crate::moment::checkpoint::Checkpoint;
use crate::net::Rates;
use crate::replay::{self, ReplayOptions};
use crate::trace::{Center, ClauseIndex, PredicateIndex, SiteIndex};
use crate::trace::{StreamInfo, Trace};
use crate::walk::{STRIDE, Scan, Trail};

const MAGIC: &[u8; 8] = b"PMTINDEX";

/// Version of the contents, and how many counters they have; an index of any other is made again.
const VERSION: u32 = (17 << 8) + PortTotals::COUNTERS as u32;

const HEAD_BYTES: usize = 24;

/// The largest index that is read, in bytes.
const MOST_BYTES: u64 = 1 << 32;

/// No value takes more bytes in memory than this for each byte of an index: a number of 128 bits may take one.
const MOST_EXPANSION: usize = 16;

/// What an index knows.
#[derive(Debug)]
pub struct Index {
    contents: Contents,
    /// What the trace says recording cost.
    rates: Option<Rates>,
    trail: Trail,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
struct Contents {
    of: Fingerprint,
    predicates: Vec<PredicateFigures>,
    edges: BTreeMap<(Caller, PredicateIndex), EdgeFigures>,
    sites: BTreeMap<(Caller, PredicateIndex, Option<SiteIndex>), SiteFigures>,
    contexts: Vec<ContextFigures>,
    backtracks: BTreeMap<(Caller, PredicateIndex), BacktrackFigures>,
    cuts: BTreeMap<(Caller, PredicateIndex), u64>,
    centers: BTreeMap<(Center, PredicateIndex), CenterFigures>,
    clauses: Clauses,
    streams: Vec<StreamFigures>,
    checkpoints: Arc<[Checkpoint]>,
}

/// Tells one trace from another, and from what it was before.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
struct Fingerprint {
    id: u64,
    size: u64,
    changed_ns: i128,
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
    /// Where it should be is something else: a directory, a pipe, or to be written a symbolic link.
    #[error("where the index should be is something that is not a regular file; remove it")]
    NotAFile,
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
            sites,
            contexts,
            backtracks,
            cuts,
            centers,
            clauses,
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
        let contents = decode(&read(&Self::path_of(path))?)?;
        if contents.of != fingerprint(trace, path)? {
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
            streams: contents.streams,
            ..Profile::default()
        }
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
        // A site calls one predicate.
        let at_site = |(_, callee, site): &(Caller, PredicateIndex, Option<SiteIndex>)| {
            site.is_none_or(|site| {
                let site = trace.sites().get(site as usize);
                site.is_some_and(|site| site.callee == *callee)
            })
        };
        let in_clause = |&(predicate, clause): &(PredicateIndex, Option<ClauseIndex>)| {
            let clause = clause.map(|clause| trace.clauses().get(clause as usize));
            known(predicate)
                && clause.is_none_or(|info| info.is_some_and(|info| info.predicate == predicate))
        };
        let above = |(id, row): (u32, &ContextFigures)| {
            let parent = row.parent.map(|parent| self.contexts.get(parent as usize));
            let depth = match parent {
                None => Some(0),
                Some(above) => above.and_then(|above| above.depth.checked_add(1)),
            };
            known(row.predicate)
                && row.parent.is_none_or(|parent| parent < id)
                && depth == Some(row.depth)
        };
        let open = |open: &OpenBox| known(open.predicate) && known(open.called_as);
        self.predicates.len() == predicates
            && self.streams.len() == trace.streams().len()
            && self.streams.iter().zip(trace.streams()).all(is_stream)
            && self.edges.keys().all(pair)
            && self
                .sites
                .keys()
                .all(|key| pair(&(key.0, key.1)) && at_site(key))
            && self.backtracks.keys().all(pair)
            && self.cuts.keys().all(pair)
            && self
                .centers
                .keys()
                .all(|(center, predicate)| center.is_none_or(known) && known(*predicate))
            && self.clauses.keys().all(in_clause)
            && (0..).zip(&self.contexts).all(above)
            && self.checkpoints.iter().all(|checkpoint| {
                let change = &checkpoint.change;
                is_place(trace, checkpoint)
                    && change.active.pushed.all(open)
                    && change.choices.pushed.all(open)
            })
            && ascend(&self.checkpoints)
    }
}

/// Whether the checkpoints of each stream are in the order of its events.
fn ascend(checkpoints: &[Checkpoint]) -> bool {
    let mut last = FxHashMap::default();
    checkpoints.iter().all(|one| {
        let before = last.insert(one.stream, one.event);
        before.is_none_or(|before| before < one.event)
    })
}

/// Whether figures are of this stream, and have its events and its time.
fn is_stream((figures, stream): (&StreamFigures, &StreamInfo)) -> bool {
    let in_time = figures.first_tick <= figures.last_tick
        && stream
            .begin_tick()
            .is_none_or(|begin| figures.first_tick <= begin)
        && stream.end.is_none_or(|end| {
            figures.last_tick >= end.tick
                && end.events == figures.events.saturating_add(figures.lost_events)
        });
    figures.stream == stream.id && in_time
}

/// Whether a checkpoint is where a block of its stream begins.
fn is_place(trace: &Trace, checkpoint: &Checkpoint) -> bool {
    let place = || {
        let stream = trace
            .streams()
            .get(usize::try_from(checkpoint.stream).ok()?)?;
        let block = usize::try_from(checkpoint.block).ok()?;
        let inside = stream.blocks.contains(&block);
        let begin = trace.block_header(block)?.first_event;
        Some(inside && begin == checkpoint.event)
    };
    place() == Some(true)
}

/// The bytes of an index.
fn read(path: &Path) -> Result<Vec<u8>, IndexError> {
    // Opening a pipe would wait for its other end.
    let options = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, options, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Err(IndexError::Missing),
        Err(error) => return Err(IndexError::Io(error.into())),
    };
    if !file.metadata()?.is_file() {
        return Err(IndexError::NotAFile);
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
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
    sealed(&body)
}

fn sealed(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(body);
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
    match decode_body(body) {
        Ok((contents, read)) if read == body.len() => Ok(contents),
        _ => Err(IndexError::Damaged),
    }
}

/// The contents, and how many bytes they take.
fn decode_body(body: &[u8]) -> Result<(Contents, usize), DecodeError> {
    // Lists are given room for as many items as they claim to have. What a limit is has to be known to the compiler.
    const MOST: usize = MOST_EXPANSION * MOST_BYTES as usize;
    match body.len().max(1).saturating_mul(MOST_EXPANSION).ilog2() {
        0..20 => decode_within::<0x10_0000>(body),
        20..24 => decode_within::<0x100_0000>(body),
        24..28 => decode_within::<0x1000_0000>(body),
        28..32 => decode_within::<0x1_0000_0000>(body),
        _ => decode_within::<MOST>(body),
    }
}

/// Decodes with at most so many bytes of memory.
fn decode_within<const BYTES: usize>(body: &[u8]) -> Result<(Contents, usize), DecodeError> {
    let config = bincode::config::standard().with_limit::<BYTES>();
    bincode::decode_from_slice(body, config)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(bytes)?;
    file.into_inner().map_err(io::Error::from)?.sync_all()
}

#[cfg(test)]
mod tests {
    use portmortem_tracer::format::{Dialect, Header, Outcome, StreamKind};
    use portmortem_tracer::{Options, Recorder};
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    use rustix::fs::FileType;

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
                    let mut jumped = Walk::from(&trace, Some(index.trail()), stream, number);
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

    /// The replay takes no checkpoints in a stream that it cannot cut, so those of the second come first.
    #[test]
    fn streams_of_both_dialects() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.pmt");
        let header = Header::of_this_process("test engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        let predicate = recorder.predicate("user", "p", 0, None, 0);
        for dialect in [Dialect::InnermostRedo, Dialect::EveryRedo] {
            let stream = recorder.stream(StreamKind::Thread, "a thread", dialect);
            for _ in 0..20_000 {
                stream.call(predicate);
                stream.exit_det();
            }
        }
        recorder.close(Outcome::Exited(0)).unwrap();
        let trace = Trace::open(&path).unwrap();
        let index = Index::build_every(1000, &trace, &path, None).unwrap();
        let streams: Vec<u64> = index
            .contents
            .checkpoints
            .iter()
            .map(|c| c.stream)
            .collect();
        assert!(streams.contains(&0) && streams.contains(&1) && !streams.is_sorted());
        index.save(&path).unwrap();
        assert!(Index::load(&trace, &path).is_ok());
    }

    #[test]
    fn contents_that_lie_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (path, trace, index) = indexed(directory.path());
        index.save(&path).unwrap();
        assert!(Index::load(&trace, &path).is_ok());
        let lies: [fn(&mut Contents); 13] = [
            |contents| contents.contexts[0].parent = Some(7),
            |contents| contents.contexts[1].depth += 1,
            |contents| contents.predicates[0].calls += 1,
            |contents| contents.predicates[0].self_ticks += 1,
            |contents| contents.predicates[0].undone_ticks += 1,
            |contents| contents.edges.values_mut().next().unwrap().exits_det += 1,
            |contents| contents.sites.values_mut().next().unwrap().redos += 1,
            |contents| *contents.cuts.values_mut().next().unwrap() += 1,
            |contents| contents.streams[0].stream += 1,
            |contents| contents.streams[0].events += 1,
            |contents| contents.streams[0].first_tick += 1,
            |contents| at_checkpoint(contents, |checkpoint| checkpoint.event += 1),
            |contents| at_checkpoint(contents, |checkpoint| checkpoint.block = u64::MAX),
        ];
        for (number, lie) in lies.into_iter().enumerate() {
            let (_, _, mut index) = indexed(directory.path());
            lie(&mut index.contents);
            index.contents.of = fingerprint(&trace, &path).unwrap();
            index.save(&path).unwrap();
            let loaded = Index::load(&trace, &path);
            assert!(matches!(loaded, Err(IndexError::Damaged)), "lie {number}");
        }
    }

    fn at_checkpoint(contents: &mut Contents, lie: fn(&mut Checkpoint)) {
        let mut checkpoints = contents.checkpoints.to_vec();
        lie(&mut checkpoints[1]);
        contents.checkpoints = checkpoints.into();
    }

    /// A list of four million predicates, in a kilobyte: no room is made for them.
    #[test]
    fn a_short_index_takes_little_memory() {
        for length in [1_u64 << 13, 1 << 22, 1 << 32, u64::MAX >> 9] {
            let claims = (7_u64, 7_u64, 7_i128, length);
            let config = bincode::config::standard();
            let mut body = bincode::encode_to_vec(claims, config).unwrap();
            body.resize(1000, 1);
            let error = decode_body(&body).unwrap_err();
            assert!(
                matches!(error, DecodeError::LimitExceeded),
                "{length}: {error}"
            );
            let decoded = decode(&sealed(&body));
            assert!(matches!(decoded, Err(IndexError::Damaged)));
        }
    }

    /// Opening a pipe to read it waits for somebody who writes.
    #[test]
    fn an_index_that_is_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let (path, trace, index) = indexed(directory.path());
        let place = Index::path_of(&path);
        let elsewhere = directory.path().join("elsewhere");
        let make_pipe = || {
            let owner = Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, &place, FileType::Fifo, owner, 0).unwrap();
        };
        let make_link = || std::os::unix::fs::symlink(&elsewhere, &place).unwrap();
        let make_directory = || fs::create_dir(&place).unwrap();
        make_pipe();
        assert!(matches!(
            Index::load(&trace, &path),
            Err(IndexError::NotAFile)
        ));
        assert!(matches!(index.save(&path), Err(IndexError::NotAFile)));
        let everything = ReplayOptions::default();
        assert_eq!(profile(&trace, &path, &everything), index.profile());
        fs::remove_file(&place).unwrap();
        make_directory();
        assert!(matches!(
            Index::load(&trace, &path),
            Err(IndexError::NotAFile)
        ));
        assert!(matches!(index.save(&path), Err(IndexError::NotAFile)));
        fs::remove_dir(&place).unwrap();
        make_link();
        assert!(matches!(
            Index::load(&trace, &path),
            Err(IndexError::Missing)
        ));
        assert!(matches!(index.save(&path), Err(IndexError::NotAFile)));
        assert!(fs::symlink_metadata(&place).unwrap().is_symlink());
        assert!(!elsewhere.exists());
    }
}
