//! The figures of waiting: which thread waited where, for what, and for whom.

use std::collections::BTreeMap;
use std::ops::Range;

use bincode::{Decode, Encode};

use crate::trace::{PredicateIndex, SiteIndex};

/// So many waits are listed one by one.
pub const MOST_LISTED: usize = 1 << 14;

/// Times in which threads waited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Waits {
    /// By what they have in common. Those of a stream sum to the time in its boxes of
    /// `system:waiting/0`.
    pub sums: BTreeMap<WaitKind, WaitFigures>,
    /// The longest ones, at most [`MOST_LISTED`], by stream and time.
    pub longest: Vec<LongWait>,
}

/// One wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct LongWait {
    /// What and who; awaited is whom it waited for most of the time.
    pub kind: WaitKind,
    /// When it began and ended, in ticks, as far as that is looked at.
    pub from: u64,
    /// See `from`.
    pub to: u64,
    /// Number of the event in the stream with which it begins.
    pub event: u64,
}

impl Waits {
    /// The longest listed wait of a stream that overlaps with some ticks.
    #[must_use]
    pub fn listed_in(&self, stream: u32, ticks: Range<u64>) -> Option<&LongWait> {
        // Waits of a stream do not overlap.
        let first = self
            .longest
            .partition_point(|wait| (wait.kind.stream, wait.to) <= (stream, ticks.start));
        let of = self.longest[first..]
            .iter()
            .take_while(|wait| wait.kind.stream == stream && wait.from < ticks.end);
        of.max_by_key(|wait| wait.to - wait.from)
    }
}

/// What times of waiting have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct WaitKind {
    /// Id of the stream that waited.
    pub stream: u32,
    /// In a box of which predicate; `None` if in none.
    pub predicate: Option<PredicateIndex>,
    /// By which goal that was called, if that is known.
    pub site: Option<SiteIndex>,
    /// For what, if the recorder says it.
    pub object: Option<SharedObject>,
    /// Id of the stream that it waited for, if that is known: the one that held the mutex
    /// meanwhile, that put the message into the queue or took one out, or that ended.
    pub awaited: Option<u32>,
}

/// Something that threads share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct SharedObject {
    /// What it is.
    pub kind: SharedKind,
    /// Its id: the first one of those with the same name.
    pub id: u32,
}

/// What threads share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum SharedKind {
    /// A mutex: one thread holds it.
    Mutex,
    /// A message queue that is empty, from which a message is taken.
    Queue,
    /// A message queue that is full, into which a message is put.
    FullQueue,
    /// A thread that is to end.
    Thread,
}

impl SharedKind {
    /// What tables call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::Queue | Self::FullQueue => "queue",
            Self::Thread => "thread",
        }
    }
}

/// How long threads waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct WaitFigures {
    /// Waits of which some time is in this row.
    pub waits: u64,
    /// That time, in ticks.
    pub ticks: u64,
    /// The most of one wait.
    pub longest_ticks: u64,
    /// Number of the event in the stream with which that one begins; the first of equal ones.
    pub longest_event: u64,
}

impl WaitFigures {
    /// One more wait, which begins with this event.
    pub(crate) fn add(&mut self, ticks: u64, event: u64) {
        self.waits += 1;
        self.ticks += ticks;
        if ticks > self.longest_ticks {
            (self.longest_ticks, self.longest_event) = (ticks, event);
        }
    }
}
