//! A recording: one trace file, the names in it, and its streams.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use crate::block::Block;
use crate::clock::{self, Pair};
use crate::ending;
use crate::format::{
    Clause, Cost, Dialect, Header, MAX_COSTS, Outcome, Predicate, Record, Site, StreamBegin,
    StreamKind, encode_header, shorten,
};
use crate::locks::{self, Locked};
use crate::options::{Keep, MIN_MAX_SIZE, Options};
use crate::records::{MAX_LAST_NOTE, Records};
use crate::registry;
use crate::segment::{Slot, check_size_limit};
use crate::sources::Sources;
use crate::space::{Exhausted, MAX_BLOCK, MIN_BLOCK, Space};
use crate::stream::{Core, Stream};

/// The id of a name that could not be recorded, because the recording has ended.
pub const NO_ID: u32 = u32::MAX;

/// Longer strings in records are cut: a record has at most two, and all must fit.
const MAX_STRING_BYTES: usize = 16 << 10;

/// More different texts than this are recorded each time they occur, so that memory stays bounded.
const MAX_KNOWN_TEXTS: usize = 1 << 16;

/// Why a recording cannot begin, or cannot be closed in order.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is a file already, and it was not asked to be replaced.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is something else than a file.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// What there is.
        path: PathBuf,
    },
    /// The system refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    System {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The limit leaves no room for a trace.
    #[error("a limit of {given} bytes is too small: a recording needs at least {MIN_MAX_SIZE}")]
    LimitTooSmall {
        /// The limit.
        given: u64,
    },
}

/// Where a recording is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Everything is recorded.
    Recording,
    /// Not even names have room any more: events are counted as lost.
    Full,
    /// Closed: the file is as it will stay.
    Closed,
    /// This is the child of a fork, and the file is the parent's.
    Forked,
}

impl Phase {
    /// Whether blocks may still be written, if only to say what was lost.
    pub(crate) fn may_write(self) -> bool {
        matches!(self, Self::Recording | Self::Full)
    }
}

/// What all streams of a recording share and the lock does not protect.
#[derive(Debug)]
pub(crate) struct Inner {
    phase: AtomicU8,
    file_id: u64,
    path: PathBuf,
    sources: Sources,
    keep: Keep,
    max_block: u32,
    /// Both clocks at the beginning.
    origin: Pair,
    /// `None` after the end.
    shared: Mutex<Option<Shared>>,
}

/// What the lock protects. The phase leaves [`Phase::Recording`] only while it is held, except in
/// the child of a fork.
#[derive(Debug)]
pub(crate) struct Shared {
    space: Space,
    records: Records,
    files: HashMap<String, u32>,
    texts: HashMap<String, u32>,
    next_text: u32,
    /// The next id of what events call: a predicate, a cost centre, a site.
    next_callable: u32,
    centers: HashMap<String, u32>,
    sites: HashMap<Site, u32>,
    clauses: HashMap<Clause, u32>,
    next_stream: u32,
    exhaustion_noted: bool,
}

impl Inner {
    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Recording,
            1 => Phase::Full,
            2 => Phase::Closed,
            _ => Phase::Forked,
        }
    }

    /// Only for [`registry`], which tells the streams as well.
    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    pub(crate) fn lock(&self) -> Locked<'_, Option<Shared>> {
        locks::lock(&self.shared)
    }

    pub(crate) fn file_id(&self) -> u64 {
        self.file_id
    }

    pub(crate) fn keep(&self) -> Keep {
        self.keep
    }

    pub(crate) fn max_block(&self) -> u32 {
        self.max_block
    }

    /// The monotonic clock at `tick`, a moment ago: read now, less what has passed since.
    pub(crate) fn ns_of(&self, tick: u64) -> u64 {
        let now = clock::pair();
        let since_tick = now.tick.saturating_sub(tick) as f64;
        let since_origin = now.tick.saturating_sub(self.origin.tick).max(1) as f64;
        let ns = now.ns.saturating_sub(self.origin.ns);
        now.ns - (since_tick * (ns as f64 / since_origin)).min(ns as f64) as u64
    }

    /// Runs `action` on what the lock protects, unless the recording has ended.
    fn with<T>(&self, action: impl FnOnce(&mut Shared) -> T) -> Option<T> {
        // The lock may be held for ever in the child of a fork: look before taking it.
        if !self.phase().may_write() {
            return None;
        }
        self.lock().as_mut().map(action)
    }

    /// Appends a record that events will need. Without it there must be none of them.
    fn append(&self, shared: &mut Shared, record: &Record) {
        if !shared.append(record) && self.phase() == Phase::Recording {
            shared.note_exhaustion();
            registry::stop_streams(self, Phase::Full);
        }
    }

    /// The text's id, the same for the same text.
    pub(crate) fn text(&self, text: &str) -> u32 {
        let add = |shared: &mut Shared| {
            let text = bounded(text);
            if let Some(&id) = shared.texts.get(&text) {
                return id;
            }
            let id = shared.next_text;
            shared.next_text += 1;
            if shared.texts.len() < MAX_KNOWN_TEXTS {
                shared.texts.insert(text.clone(), id);
            }
            self.append(shared, &Record::Text { id, text });
            id
        };
        self.with(add).unwrap_or(NO_ID)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        registry::remove_recorder(self);
    }
}

impl Shared {
    /// Room for a block of events.
    pub(crate) fn room_for_events(&mut self, want: u32) -> Option<Slot> {
        let slot = self.space.for_events(want);
        self.note_exhaustion();
        slot
    }

    /// Makes an open block of events up to `by` bytes larger, if there is room behind it.
    pub(crate) fn extend_events(&mut self, block: &mut Block, by: u32) -> bool {
        self.space.extend_events(block, by)
    }

    /// Nothing will be added to a closed block: what it has left may be used for others.
    pub(crate) fn trim(&mut self, block: &mut Block) {
        self.space.trim(block);
    }

    /// A block of events is closed and nobody uses it any more.
    pub(crate) fn give_back(&mut self, block: &Block) {
        let (offset, size) = block.place();
        self.space.closed(offset, size);
    }

    fn new_callable(&mut self) -> u32 {
        let id = self.next_callable;
        self.next_callable += 1;
        id
    }

    pub(crate) fn append(&mut self, record: &Record) -> bool {
        self.records.append(&mut self.space, record)
    }

    /// Says in the trace, once, why it is not whole.
    fn note_exhaustion(&mut self) {
        let mut text = match (self.space.exhausted(), self.space.keep()) {
            _ if self.exhaustion_noted => return,
            (None, _) | (Some(Exhausted::Limit), Keep::Last) => return,
            (Some(Exhausted::Limit), Keep::First) => {
                format!(
                    "recording stopped at the limit of {} bytes",
                    self.space.max_size()
                )
            }
            (Some(Exhausted::System(error)), Keep::First) => format!("recording stopped: {error}"),
            (Some(Exhausted::System(error)), Keep::Last) => {
                format!("only the most recent events were kept: {error}")
            }
        };
        shorten(&mut text, MAX_LAST_NOTE);
        self.exhaustion_noted = true;
        self.records
            .append_last(&mut self.space, &Record::Note { text });
    }
}

/// A recording. Clones are handles of the same one; any thread may use any of them.
///
/// A recording that is dropped without [`Recorder::close`] leaves a file as it would be after the
/// process was killed: readable, and without a word on how the run ended.
#[derive(Debug, Clone)]
pub struct Recorder {
    inner: Arc<Inner>,
}

impl Recorder {
    /// Begins a recording in a new file. What `header` says of the clock, and whether only the
    /// most recent part is kept, is replaced by what is true. Its directory is that of the program:
    /// the trace names it as seen from its own.
    ///
    /// # Errors
    /// [`RecordError`]; there is no file then that was not there before.
    pub fn create(
        path: impl AsRef<Path>,
        header: &Header,
        options: &Options,
    ) -> Result<Self, RecordError> {
        let path = path.as_ref();
        if let Some(given) = options.max_size.filter(|&size| size < MIN_MAX_SIZE) {
            return Err(RecordError::LimitTooSmall { given });
        }
        let file = create_file(path, options.overwrite)?;
        let file_id = random_id();
        let mut header = header.clone();
        header.clock = clock::source();
        header.ticks_per_second = clock::ticks_per_second();
        header.mode.keep_last = options.keep == Keep::Last;
        let sources = Sources::below(&header.directory);
        header.directory = sources.seen_from(path).to_string_lossy().into_owned();
        let first_bytes = encode_header(&header, file_id);
        let max_block = max_block(options.max_size);
        let begun = check_size_limit(first_bytes.len() as u64)
            .and_then(|()| file.write_all_at(&first_bytes, 0))
            .and_then(|()| Space::new(file, options.max_size, options.keep));
        let space = begun.map_err(|source| {
            // Nothing useful is in it, and a user would take it for a trace.
            // A link to it is not ours.
            let _ = fs::canonicalize(path).and_then(fs::remove_file);
            RecordError::System {
                action: "write",
                path: path.to_owned(),
                source,
            }
        })?;
        let inner = Arc::new(Inner {
            phase: AtomicU8::new(Phase::Recording as u8),
            file_id,
            path: path.to_owned(),
            sources,
            keep: options.keep,
            max_block,
            origin: clock::pair(),
            shared: Mutex::new(Some(Shared {
                space,
                records: Records::new(file_id, max_block),
                files: HashMap::new(),
                texts: HashMap::new(),
                next_text: 0,
                next_callable: 0,
                centers: HashMap::new(),
                sites: HashMap::new(),
                clauses: HashMap::new(),
                next_stream: 1,
                exhaustion_noted: false,
            })),
        });
        registry::add_recorder(&inner);
        Ok(Self { inner })
    }

    /// Where the trace is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Makes a predicate known and gives its id: 0, 1, … in the order of the calls. `file` and
    /// `line` are of its first clause, 0 if the line is unknown; a file below the program's directory
    /// is named relative to it. Long strings are cut.
    #[must_use]
    pub fn predicate(
        &self,
        module: &str,
        name: &str,
        arity: u32,
        file: Option<&str>,
        line: u32,
    ) -> u32 {
        let add = |shared: &mut Shared| {
            let file = file.map(|path| self.known_file(shared, path));
            let id = shared.new_callable();
            let (module, name) = (bounded(module), bounded(name));
            let predicate = Predicate {
                id,
                module,
                name,
                arity,
                file,
                line,
            };
            self.inner.append(shared, &Record::Predicate(predicate));
            id
        };
        self.inner.with(add).unwrap_or(NO_ID)
    }

    /// Makes a source file known and gives its id, the same for the same path.
    #[must_use]
    pub fn file(&self, path: &str) -> u32 {
        let add = |shared: &mut Shared| self.known_file(shared, path);
        self.inner.with(add).unwrap_or(NO_ID)
    }

    fn known_file(&self, shared: &mut Shared, path: &str) -> u32 {
        if let Some(&id) = shared.files.get(path) {
            return id;
        }
        let id = shared.files.len() as u32;
        shared.files.insert(path.to_owned(), id);
        self.inner.append(
            shared,
            &Record::File {
                id,
                path: bounded(self.inner.sources.name(path)),
            },
        );
        id
    }

    /// Makes a goal of a clause known and gives its id, the same for the same site, from the numbers that
    /// predicates have: [`crate::Stream::call`] of it is a call of its callee from there. The ids in it are from
    /// [`Recorder::predicate`] and [`Recorder::file`].
    #[must_use]
    pub fn site(&self, site: Site) -> u32 {
        let add = |shared: &mut Shared| {
            if let Some(&id) = shared.sites.get(&site) {
                return id;
            }
            let id = shared.new_callable();
            shared.sites.insert(site, id);
            self.inner.append(shared, &Record::Site { id, site });
            id
        };
        self.inner.with(add).unwrap_or(NO_ID)
    }

    /// Makes a clause known and gives its id, the same for the same clause: 0, 1, … for [`crate::Stream::clause`]. The ids in it
    /// are from [`Recorder::predicate`] and [`Recorder::file`].
    #[must_use]
    pub fn clause(&self, clause: Clause) -> u32 {
        let add = |shared: &mut Shared| {
            if let Some(&id) = shared.clauses.get(&clause) {
                return id;
            }
            let id = shared.clauses.len() as u32;
            shared.clauses.insert(clause, id);
            self.inner.append(shared, &Record::Clause { id, clause });
            id
        };
        self.inner.with(add).unwrap_or(NO_ID)
    }

    /// Makes a cost centre known and gives its id, the same for the same name, from the numbers that
    /// predicates have: [`crate::Stream::call`] enters it. A long name is cut.
    #[must_use]
    pub fn cost_center(&self, name: &str) -> u32 {
        let add = |shared: &mut Shared| {
            let name = bounded(name);
            if let Some(&id) = shared.centers.get(&name) {
                return id;
            }
            let id = shared.new_callable();
            shared.centers.insert(name.clone(), id);
            self.inner.append(shared, &Record::CostCenter { id, name });
            id
        };
        self.inner.with(add).unwrap_or(NO_ID)
    }

    /// Declares that every box of a predicate is in a cost centre.
    pub fn in_cost_center(&self, predicate: u32, center: u32) {
        let record = Record::InCostCenter { predicate, center };
        self.inner.with(|shared| self.inner.append(shared, &record));
    }

    /// Adds symbolic costs, at most [`MAX_COSTS`]; `last` says that with these none are missing.
    /// False if there is no room for them.
    pub fn costs(&self, costs: &[Cost], last: bool) -> bool {
        let costs = costs[..costs.len().min(MAX_COSTS)].to_vec();
        let record = Record::Costs { costs, last };
        let add = |shared: &mut Shared| shared.append(&record);
        self.inner.with(add).unwrap_or(false)
    }

    /// Makes a text known and gives its id, the same for the same text. Long texts are cut.
    #[must_use]
    pub fn text(&self, text: &str) -> u32 {
        self.inner.text(text)
    }

    /// Adds what is known of the cost of recording on this machine: [`Record::Trials`] or [`Record::PortCosts`].
    pub fn recording_costs(&self, known: &Record) {
        self.inner.with(|shared| self.inner.append(shared, known));
    }

    /// Adds something that the reader of a report should know. A long note is cut.
    pub fn note(&self, text: &str) {
        let note = Record::Note {
            text: bounded(text),
        };
        self.inner.with(|shared| shared.append(&note));
    }

    /// Begins a stream. It takes no space before its first event.
    #[must_use]
    pub fn stream(&self, kind: StreamKind, name: &str, dialect: Dialect) -> Stream {
        let begin = |shared: &mut Shared| {
            let stream = shared.next_stream;
            shared.next_stream += 1;
            let tick = clock::ticks();
            let begin = StreamBegin {
                stream,
                kind,
                name: bounded(name),
                dialect,
                tick,
            };
            self.inner.append(shared, &Record::StreamBegin(begin));
            stream
        };
        let id = self.inner.with(begin).unwrap_or(NO_ID);
        Stream::new(Box::new(Core::new(Arc::clone(&self.inner), id)))
    }

    /// Whether events can be recorded, as far as is known: not after the end, nor in the child of
    /// a fork, nor when not even names have room.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.inner.phase() == Phase::Recording
    }

    /// Whether the limit or a full disk has cost events.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let full = |shared: &mut Shared| shared.exhaustion_noted;
        self.inner.with(full).unwrap_or(false)
    }

    /// Ends the recording in order. Streams should have ended before; those that have not (other
    /// threads may be at work in them) are left as if the process had been killed, which costs
    /// nothing but the checksum of their last block. Calls after the first do nothing.
    ///
    /// A recording that ends as [`Outcome::Stopped`] and was full is marked as [`Outcome::Full`].
    ///
    /// # Errors
    /// [`RecordError`] if the end cannot be written. All that was recorded is still readable.
    pub fn close(&self, outcome: Outcome) -> Result<(), RecordError> {
        if !self.inner.phase().may_write() {
            return Ok(());
        }
        let mut guard = self.inner.lock();
        let Some(mut shared) = guard.take() else {
            return Ok(());
        };
        registry::stop_streams(&self.inner, Phase::Closed);
        drop(guard);
        let outcome = match outcome {
            Outcome::Stopped if shared.exhaustion_noted => Outcome::Full,
            other => other,
        };
        let Pair { tick, ns } = clock::pair();
        shared
            .records
            .append_last(&mut shared.space, &Record::End { tick, ns, outcome });
        shared.records.finish(&mut shared.space);
        ending::write_index(&shared.space, self.inner.file_id).map_err(|source| {
            RecordError::System {
                action: "finish",
                path: self.inner.path.clone(),
                source,
            }
        })
    }
}

fn create_file(path: &Path, overwrite: bool) -> Result<File, RecordError> {
    let system = |action, source| RecordError::System {
        action,
        path: path.to_owned(),
        source,
    };
    let create = |place: &Path| {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(place)
    };
    match create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let there = fs::metadata(path).map_err(|source| system("look at", source))?;
            if !there.is_file() {
                return Err(RecordError::NotAFile {
                    path: path.to_owned(),
                });
            }
            if !overwrite {
                return Err(RecordError::Exists {
                    path: path.to_owned(),
                });
            }
            // Not truncated: a reader that has the old file mapped would lose its pages. A symbolic link stays, and
            // what it leads to is replaced.
            let place = fs::canonicalize(path).map_err(|source| system("look at", source))?;
            fs::remove_file(&place).map_err(|source| system("replace", source))?;
            create(&place).map_err(|source| system("create", source))
        }
        done => done.map_err(|source| system("create", source)),
    }
}

/// In a small file, blocks are small: enough of them for several streams, and for keeping most of
/// the recent past when the oldest goes.
fn max_block(max_size: Option<u64>) -> u32 {
    let Some(size) = max_size else {
        return MAX_BLOCK;
    };
    let most = size / 16 + 1;
    ((most.next_power_of_two() / 2) as u32).clamp(MIN_BLOCK, MAX_BLOCK)
}

/// Random and not 0. The standard library seeds its hash maps from the system, each differently.
fn random_id() -> u64 {
    let seed = (clock::pair().tick, std::process::id());
    RandomState::new().hash_one(seed).max(1)
}

fn bounded(text: &str) -> String {
    let mut text = text.to_owned();
    shorten(&mut text, MAX_STRING_BYTES);
    text
}
