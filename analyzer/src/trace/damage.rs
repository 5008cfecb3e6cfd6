//! What is wrong with a trace file, as data: where, what, and what it cost.
//!
//! Damage is never an error of the reader: the rest of the trace is analysed, and a report says
//! what is missing. Losses in a stream show again as gaps ([`crate::trace::events`]), where they
//! are counted.

use portmortem_tracer::format::{EventError, WireError};

/// One damaged place of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where, in bytes from the beginning of the file.
    pub offset: u64,
    /// What is wrong there.
    pub what: DamageKind,
    /// The stream it belongs to, if that is known and there is one.
    pub stream: Option<u32>,
    /// How many events cannot be read because of it; `None` if that is unknown. Gaps between
    /// blocks that *are* there count again what is lost between them, so sums over damages are not
    /// a total: that is [`crate::figures::StreamFigures::lost_events`].
    pub events_lost: Option<u64>,
}

impl Damage {
    /// Something is wrong with records at this place.
    pub(super) fn of_records(offset: u64, what: DamageKind) -> Self {
        Self {
            offset,
            what,
            stream: None,
            events_lost: None,
        }
    }
}

/// What can be wrong at a place of a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DamageKind {
    /// Bytes that are neither zero nor a block.
    #[error("{bytes} bytes are not blocks of this trace")]
    NoBlock {
        /// How many, up to the next block or the end of the file.
        bytes: u64,
    },
    /// The index lists a block here, and there is none.
    #[error("the block that the index lists here is damaged")]
    LostBlock,
    /// The index or the footer is there and cannot be used; the file was walked instead.
    #[error("the index is damaged and was not used")]
    Index,
    /// The file ends before the block does.
    #[error("the file ends inside a block; {missing} bytes are missing")]
    CutOff {
        /// How many bytes of the block are not in the file.
        missing: u64,
    },
    /// The payload does not agree with its checksum, or the summary with its own.
    #[error("the block does not agree with its checksum")]
    Checksum,
    /// Two blocks of a stream have the same number; the second was left out.
    #[error("a second block number {sequence}")]
    Duplicate {
        /// Sequence number of both.
        sequence: u64,
    },
    /// A block says that more events lie before it than the blocks before it have.
    #[error("the blocks before it have more events than it says")]
    Overlap,
    /// A closed block has another number of events than it says.
    #[error("the block has {found} events and says {announced}")]
    Count {
        /// Events read.
        found: u64,
        /// Events announced.
        announced: u64,
    },
    /// An event does not decode; the rest of its block was left out.
    #[error("{0}; the rest of the block was left out")]
    Event(EventError),
    /// An event names a predicate that no record declares.
    #[error("predicate number {predicate} has no name in the trace")]
    UnknownPredicate {
        /// Its id.
        predicate: u32,
    },
    /// A record does not decode.
    #[error("a record does not decode: {0}")]
    Record(WireError),
    /// A records block is missing: names of predicates, or of streams, may be lost.
    #[error("records before it are missing")]
    LostRecords,
    /// Two records say different things of the same predicate, file, text or stream.
    #[error("a second, different declaration of {what} {id}; the first one counts")]
    Conflict {
        /// What is declared twice.
        what: &'static str,
        /// Its id.
        id: u32,
    },
    /// A record refers to what no record declares; it was left out.
    #[error("{what} {id} is declared nowhere; the record was left out")]
    Undeclared {
        /// What is not declared.
        what: &'static str,
        /// The id that the record is about.
        id: u32,
    },
    /// Events of a stream that no record announces.
    #[error("the stream is announced nowhere")]
    UnknownStream,
}
