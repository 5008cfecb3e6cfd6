//! The parts of a recording that all its streams share: its file, the names in it, and its phase.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;

use crate::block::Block;
use crate::clock::{self, BothClocks};
use crate::ending;
use crate::format::{Clause, Record, Site, shorten};
use crate::ids::Ids;
use crate::locks::{self, Locked};
use crate::options::Keep;
use crate::phase::{Life, Phase};
use crate::records::{MAX_LAST_NOTE, Records};
use crate::registry::{self, RegisteredRecording};
use crate::segment::Slot;
use crate::sources::Sources;
use crate::space::{Exhausted, Space};
use crate::writer_lock::WriterLock;

/// The id of a name that could not be recorded, because the recording has ended.
pub const NO_ID: u32 = u32::MAX;

/// Longer strings in records are cut: a record has at most two, and all must fit.
const MAX_STRING_BYTES: usize = 16 << 10;

/// More different names than this are recorded each time they occur, so that memory stays bounded.
const MAX_KNOWN_NAMES: usize = 1 << 16;

/// The parts that all streams of a recording share; those that change are in `shared`.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) life: Life,
    pub(crate) file_id: u64,
    pub(crate) path: PathBuf,
    pub(crate) sources: Sources,
    pub(crate) keep: Keep,
    pub(crate) max_block: u32,
    pub(crate) writer_lock: WriterLock,
    /// Both clocks at the beginning.
    pub(crate) origin: BothClocks,
    /// `None` after the end.
    pub(crate) shared: Mutex<Option<Shared>>,
}

/// The parts that the lock protects. The phase leaves [`Phase::Recording`] only while it is held, except in the
/// child of a fork.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) space: Space,
    pub(crate) records: Records,
    /// The ids that names get.
    pub(crate) ids: Ids,
    /// Ids of the predicates that this recording has named.
    pub(crate) predicates: HashSet<u32>,
    pub(crate) files: HashMap<String, u32>,
    pub(crate) texts: Names,
    /// Mutexes, queues and threads.
    pub(crate) objects: Names,
    pub(crate) centers: HashMap<String, u32>,
    pub(crate) sites: HashMap<Site, u32>,
    pub(crate) clauses: HashMap<Clause, u32>,
    pub(crate) next_stream: u32,
    pub(crate) exhaustion_noted: bool,
    pub(crate) folding_noted: bool,
}

/// Ids of names, from 0.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: HashMap<String, u32>,
    next: u32,
}

impl Names {
    /// The id of a name, and whether it has to be recorded.
    fn id(&mut self, name: &str) -> (u32, bool) {
        if let Some(&id) = self.known.get(name) {
            return (id, false);
        }
        let id = self.next;
        self.next += 1;
        if self.known.len() < MAX_KNOWN_NAMES {
            self.known.insert(name.to_owned(), id);
        }
        (id, true)
    }
}

impl Inner {
    pub(crate) fn phase(&self) -> Phase {
        self.life.phase()
    }

    pub(crate) fn lock(&self) -> Locked<'_, Option<Shared>> {
        locks::lock(&self.shared)
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
    pub(crate) fn with<T>(&self, action: impl FnOnce(&mut Shared) -> T) -> Option<T> {
        // The lock may be held for ever in the child of a fork: look before taking it.
        if !self.phase().may_write() {
            return None;
        }
        self.lock().as_mut().map(action)
    }

    /// What the lock protects, if more can be recorded in a stream whose block this is. A file that another program
    /// has shortened ends the recording.
    pub(crate) fn still_recording<'s>(
        &self,
        shared: &'s mut Option<Shared>,
        block: Option<&Block>,
    ) -> Option<&'s mut Shared> {
        let shared = shared.as_mut()?;
        if self.phase() != Phase::Recording {
            return None;
        }
        if !shared.space.is_whole() || !block.is_none_or(Block::is_whole) {
            self.shortened(shared);
            return None;
        }
        Some(shared)
    }

    /// Ends the recording of a file that another program has shortened. If it is still the file of this recording, a
    /// note says so: in the room that records have for it, which may be gone.
    pub(crate) fn shortened(&self, shared: &mut Shared) {
        registry::stop_streams(&self.life, Phase::Shortened);
        if ending::has_header(&shared.space, self.file_id) {
            shared.note_last("recording stopped: another program shortened the trace");
        }
    }

    /// Appends a record that events will need. Without it there must be none of them.
    pub(crate) fn append(&self, shared: &mut Shared, record: &Record) {
        if self.phase() != Phase::Recording {
            shared.append(record);
        } else if !shared.space.is_whole() {
            self.shortened(shared);
        } else if !shared.append(record) {
            shared.note_exhaustion();
            registry::stop_streams(&self.life, Phase::Full);
        }
    }

    /// The text's id, the same for the same text.
    pub(crate) fn text(&self, text: &str) -> u32 {
        let add = |shared: &mut Shared| {
            let text = bounded(text);
            let (id, is_new) = shared.texts.id(&text);
            if is_new {
                self.append(shared, &Record::Text { id, text });
            }
            id
        };
        self.with(add).unwrap_or(NO_ID)
    }

    /// The id of a mutex, a queue or a thread, the same for the same name.
    pub(crate) fn object(&self, name: &str) -> u32 {
        let add = |shared: &mut Shared| {
            let name = bounded(name);
            let (id, is_new) = shared.objects.id(&name);
            if is_new {
                self.append(shared, &Record::Shared { id, name });
            }
            id
        };
        self.with(add).unwrap_or(NO_ID)
    }
}

impl RegisteredRecording for Inner {
    fn life(&self) -> &Life {
        &self.life
    }

    fn writer_lock(&self) -> &WriterLock {
        &self.writer_lock
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        registry::remove(self);
    }
}

impl Shared {
    /// Room for a block of events.
    pub(crate) fn room_for_events(&mut self, want: u32) -> Option<Slot> {
        let slot = self.space.for_events(want);
        self.note_exhaustion();
        self.note_folding();
        slot
    }

    /// Says in the trace, once, that it has become so large that folded events made room.
    fn note_folding(&mut self) {
        let is_large = matches!(self.space.keep(), Keep::FiguresBeyond(_));
        if is_large && self.space.has_reused() && !self.folding_noted {
            self.folding_noted = true;
            let text = "the recording became large: the newest events are here, and those around slow calls and marks; figures of \
                        all events are in the file beside it whose name ends in .figures"
                .to_owned();
            self.append(&Record::Note { text });
        }
    }

    /// Makes an open block of events up to `by` bytes larger, if there is room behind it.
    pub(crate) fn extend_events(&mut self, block: &mut Block, by: u32) -> bool {
        self.space.extend_events(block, by)
    }

    /// Nothing will be added to a closed block: what it has left may be used for others.
    pub(crate) fn trim(&mut self, block: &mut Block) {
        self.space.trim(block);
    }

    /// A block of events is closed and no stream uses it any more.
    pub(crate) fn give_back(&mut self, block: &Block) {
        let (offset, size) = block.place();
        self.space.closed(offset, size);
    }

    /// The id of a predicate; another one if this recording has named it already.
    pub(crate) fn predicate(&mut self, module: &str, name: &str, arity: u32) -> u32 {
        let mut ids = self.ids.lock();
        let id = ids.predicate(module, name, arity);
        let is_new = self.predicates.insert(id);
        if is_new { id } else { ids.another_predicate() }
    }

    pub(crate) fn append(&mut self, record: &Record) -> bool {
        self.records.append(&mut self.space, record)
    }

    /// Says in the trace, once, why it is not whole.
    fn note_exhaustion(&mut self) {
        let text = match self.space.exhausted() {
            _ if self.exhaustion_noted => return,
            Some(Exhausted::Limit) if self.space.keep() == Keep::First => format!(
                "recording stopped at the limit of {} bytes",
                self.space.max_size()
            ),
            None | Some(Exhausted::Limit) => return,
            Some(Exhausted::System(error)) if self.space.is_full_for_good() => {
                format!("recording stopped: {error}")
            }
            Some(Exhausted::System(error)) => {
                format!("only the most recent events were kept: {error}")
            }
        };
        self.exhaustion_noted = true;
        self.note_last(&text);
    }

    /// Adds a note to the last records.
    fn note_last(&mut self, text: &str) {
        let mut text = text.to_owned();
        shorten(&mut text, MAX_LAST_NOTE);
        self.records
            .append_last(&mut self.space, &Record::Note { text });
    }
}

/// A text as long as a record may have it.
pub(crate) fn bounded(text: &str) -> String {
    let mut text = text.to_owned();
    shorten(&mut text, MAX_STRING_BYTES);
    text
}
