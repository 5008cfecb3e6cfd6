//! A recording: one trace file, the names in it, and its streams.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::clock::{self, BothClocks};
use crate::ending;
use crate::format::{
    Clause, Cost, Dialect, Header, MAX_COSTS, Outcome, Predicate, Record, Site, StreamBegin,
    StreamKind, Technique, encode_header,
};
use crate::ids::Ids;
use crate::last_moments;
use crate::new_predicate::NewPredicate;
use crate::options::{MIN_MAX_SIZE, Options};
use crate::phase::{Life, Phase};
use crate::records::Records;
use crate::registry;
use crate::segment::check_size_limit;
use crate::shared::{Inner, NO_ID, Names, Shared, bounded};
use crate::slow::Core;
use crate::sources::Sources;
use crate::space::{MAX_BLOCK, MIN_BLOCK, Space};
use crate::stream::Stream;
use crate::writer_lock::{InUse, WriterLock};

/// Why a recording cannot begin, or cannot be closed in order.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is a file already, and it was not asked to be replaced.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another recording writes the file now.
    #[error(
        "another recording still writes {}: wait until it ends, or record into another file",
        path.display()
    )]
    InUse {
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
    /// The file is shorter than what was written.
    #[error("another program shortened {} while it was written", path.display())]
    Shortened {
        /// The file.
        path: PathBuf,
    },
    /// The limit leaves no room for a trace.
    #[error("a limit of {given} bytes is too small: a recording needs at least {MIN_MAX_SIZE}")]
    LimitTooSmall {
        /// The limit.
        given: u64,
    },
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
        Self::create_with(path, header, options, Ids::default())
    }

    /// [`Recorder::create`], where what is named gets the ids that it had in an earlier recording
    /// with the same `ids`. Only one recording at a time has them.
    ///
    /// # Errors
    /// As for [`Recorder::create`].
    pub fn create_with(
        path: impl AsRef<Path>,
        header: &Header,
        options: &Options,
        ids: Ids,
    ) -> Result<Self, RecordError> {
        let path = path.as_ref();
        if let Some(given) = options.max_size.filter(|&size| size < MIN_MAX_SIZE) {
            return Err(RecordError::LimitTooSmall { given });
        }
        let (file, writer_lock) = create_file(path, options.overwrite)?;
        let file_id = random_id();
        let mut header = header.clone();
        header.clock = clock::source();
        header.ticks_per_second = clock::ticks_per_second();
        header.mode.keep_last = options.keep.expects_to_reuse();
        let sources = Sources::below(&header.directory);
        header.directory = sources.seen_from(path).to_string_lossy().into_owned();
        let first_bytes = encode_header(&header, file_id);
        header.mode.keep_last = true;
        let once_reused = encode_header(&header, file_id);
        let max_block = max_block(options.max_size);
        let begun = check_size_limit(first_bytes.len() as u64)
            .and_then(|()| file.write_all_at(&first_bytes, 0))
            .and_then(|()| Space::new(file, options.max_size, options.keep, once_reused));
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
            life: Life::new(),
            file_id,
            path: path.to_owned(),
            sources,
            keep: options.keep,
            max_block,
            writer_lock,
            origin: clock::pair(),
            shared: Mutex::new(Some(Shared {
                space,
                records: Records::new(file_id, max_block),
                ids,
                predicates: HashSet::new(),
                files: HashMap::new(),
                texts: Names::default(),
                objects: Names::default(),
                centers: HashMap::new(),
                sites: HashMap::new(),
                clauses: HashMap::new(),
                next_stream: 1,
                exhaustion_noted: false,
                folding_noted: false,
            })),
        });
        registry::add(&inner);
        Ok(Self { inner })
    }

    /// Whether [`Recorder::create`] may replace the file at `path`, as far as other recordings go: a recording that
    /// is still written is never replaced. The file stays as it is, and there need not be one.
    ///
    /// # Errors
    /// [`RecordError::InUse`].
    pub fn check_unused(path: impl AsRef<Path>) -> Result<(), RecordError> {
        let path = path.as_ref();
        // To open a pipe would wait for a writer.
        if path.is_file() {
            WriterLock::try_on(path).map_err(|InUse| in_use(path))?;
        }
        Ok(())
    }

    /// Where the trace is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Makes a predicate known and gives its id: 0, 1, … in the order of the calls, if the
    /// recording has ids of its own. Long strings are cut.
    #[must_use]
    pub fn predicate(&self, new: NewPredicate) -> u32 {
        let add = |shared: &mut Shared| {
            let file = new.file.map(|path| self.known_file(shared, path));
            let (module, name) = (bounded(new.module), bounded(new.name));
            let id = shared.predicate(&module, &name, new.arity);
            let predicate = Predicate {
                id,
                module,
                name,
                arity: new.arity,
                file,
                line: new.line,
                roles: new.roles,
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
        let id = shared.ids.lock().file(path);
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
            let id = shared.ids.lock().site(site);
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
            let id = shared.ids.lock().clause(clause);
            shared.clauses.insert(clause, id);
            self.inner.append(shared, &Record::Clause { id, clause });
            id
        };
        self.inner.with(add).unwrap_or(NO_ID)
    }

    /// Says that calls of a predicate ([`Recorder::predicate`]) are followed by what their arguments were
    /// ([`crate::Stream::arguments`]).
    pub fn keeps_arguments(&self, predicate: u32) {
        let record = Record::Arguments { predicate };
        self.inner.with(|shared| self.inner.append(shared, &record));
    }

    /// Says that a predicate ([`Recorder::predicate`]) has boxes where goals of recorded clauses
    /// call it, and no boxes for the goals of its own clauses.
    pub fn at_boundary(&self, predicate: u32) {
        let record = Record::Boundary { predicate };
        self.inner.with(|shared| self.inner.append(shared, &record));
    }

    /// Says that there are values of arguments of a predicate ([`Recorder::predicate`]), at calls
    /// and exits ([`crate::Stream::value`]).
    pub fn keeps_values(&self, predicate: u32) {
        let record = Record::Values { predicate };
        self.inner.with(|shared| self.inner.append(shared, &record));
    }

    /// Makes a mutex, a message queue or a thread known and gives its id, the same for the same
    /// name, for [`crate::Stream::sync`]. Long names are cut.
    #[must_use]
    pub fn shared(&self, name: &str) -> u32 {
        self.inner.object(name)
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
            let id = shared.ids.lock().center(&name);
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

    /// Adds how ports are made.
    pub fn technique(&self, technique: Technique) {
        let record = Record::Technique(technique);
        self.inner.with(|shared| self.inner.append(shared, &record));
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
        self.close_as(Phase::Closed, outcome)
    }

    /// [`Recorder::close`] by a thread that is about to end the process. Other threads wait at
    /// their next event until [`last_moments::let_go`] is called or the process is gone: nothing
    /// happens that is not recorded. If they are let go, their streams count what they do then.
    ///
    /// # Errors
    /// As for [`Recorder::close`].
    pub fn close_at_exit(&self, outcome: Outcome) -> Result<(), RecordError> {
        self.close_as(Phase::Ended, outcome)
    }

    fn close_as(&self, phase: Phase, outcome: Outcome) -> Result<(), RecordError> {
        if matches!(
            self.inner.phase(),
            Phase::Closed | Phase::Ended | Phase::Forked
        ) {
            return Ok(());
        }
        let mut guard = self.inner.lock();
        let Some(mut shared) = guard.take() else {
            return Ok(());
        };
        if self.inner.phase().may_write() && !shared.space.is_whole() {
            self.inner.shortened(&mut shared);
        }
        let shortened = self.inner.phase() == Phase::Shortened;
        if phase == Phase::Ended {
            last_moments::begin();
        }
        registry::stop_streams(&self.inner.life, phase);
        drop(guard);
        if shortened {
            self.inner.writer_lock.release();
            return Err(RecordError::Shortened {
                path: self.inner.path.clone(),
            });
        }
        let outcome = match outcome {
            Outcome::Stopped if shared.exhaustion_noted => Outcome::Full,
            other => other,
        };
        let BothClocks { tick, ns } = clock::pair();
        shared
            .records
            .append_last(&mut shared.space, &Record::End { tick, ns, outcome });
        shared.records.finish(&mut shared.space);
        let written = ending::write_index(&shared.space, self.inner.file_id);
        self.inner.writer_lock.release();
        written.map_err(|source| RecordError::System {
            action: "finish",
            path: self.inner.path.clone(),
            source,
        })
    }
}

/// A new file at `path`, and its lock.
fn create_file(path: &Path, overwrite: bool) -> Result<(File, WriterLock), RecordError> {
    /// Each is another recording that began and ended between two steps of this one.
    const ATTEMPTS: usize = 16;
    let system = |action, source| RecordError::System {
        action,
        path: path.to_owned(),
        source,
    };
    let mut place = path.to_owned();
    for _ in 0..ATTEMPTS {
        let created = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&place);
        match created {
            Ok(file) => {
                let lock = WriterLock::try_on(&place).map_err(|InUse| in_use(path))?;
                let ours = file
                    .metadata()
                    .map_err(|source| system("look at", source))?;
                // Another recording may have replaced the file before it was locked.
                if lock.is_of(&ours) && fs::metadata(&place).is_ok_and(|there| lock.is_of(&there)) {
                    return Ok((file, lock));
                }
            }
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
                // Not truncated: a reader that has the old file mapped would lose its pages. A symbolic link stays,
                // and what it leads to is replaced.
                place = fs::canonicalize(path).map_err(|source| system("look at", source))?;
                let old = WriterLock::try_on(&place).map_err(|InUse| in_use(path))?;
                if fs::metadata(&place).is_ok_and(|there| old.is_of(&there)) {
                    fs::remove_file(&place).map_err(|source| system("replace", source))?;
                }
            }
            Err(error) => return Err(system("create", error)),
        }
    }
    Err(in_use(path))
}

fn in_use(path: &Path) -> RecordError {
    RecordError::InUse {
        path: path.to_owned(),
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
