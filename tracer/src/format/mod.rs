//! The trace file: what every byte means, shared by the recorder and every reader.
//!
//! `FORMAT.md` is the specification; this module is its only implementation in Rust. Nothing here
//! touches a file: functions go from values to bytes and back. No byte string whatever makes a
//! decoder panic, and no length is believed before it is compared with the bytes that are there.

mod block;
mod event;
mod header;
mod index;
mod packed;
mod record;
mod roles;
mod swi_prolog;
mod varint;
mod wire;

pub use block::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BLOCK_MAGIC, BlockClose, BlockError, BlockHeader, BlockKind,
    BlockStart, Closing, crc32,
};
pub(crate) use block::{encode_close, offset as block_offset, with_crc};
pub use event::{
    ArgumentValue, Arguments, CompleteTable, Event, EventError, MAX_EVENT_BYTES, SHORT_END,
    SyncCall, SyncRole, Take, ValueKind, decode_skip, encode_skip,
};
pub(crate) use event::{
    CODE_CLAUSE, CODE_EXCEPTION, CODE_GAP, CODE_PAUSE, CODE_RESUME, TAG_BITS, TAG_CALL, TAG_CUT,
    TAG_EXIT_DET, TAG_EXIT_NONDET, TAG_EXTENDED, TAG_FAIL, TAG_REDO, TAG_TAIL,
};
pub(crate) use header::header_version;
pub use header::shorten;
pub use header::{
    FILE_HEADER_BYTES, FILE_MAGIC, FORMAT_VERSION, HeaderError, NEWEST_VERSION, cut_file_header,
    decode_header, encode_header, is_part,
};
pub use index::{FOOTER_BYTES, FOOTER_MAGIC, Footer, decode_index, encode_index};
pub use packed::{
    MAX_UNPACKED_BYTES, pack_block_header, pack_file_header, packed_from, unpack_block_header,
    unpack_file_header,
};
pub use record::{
    Baseline, BlockIndex, COST_UNIT, Clause, ClockSource, Cost, Dialect, Fit, Header, IndexEntry,
    MAX_COSTS, Mode, Outcome, Part, PortCosts, Predicate, Record, Site, StreamBegin, StreamKind,
    Technique, Trial, Trials,
};
pub use roles::{Role, Roles};
pub use swi_prolog::{
    AUTOLOAD, ENGINE_WORK, FILL_TABLE, INSTRUMENT, PREEMPTED, WAITING, engine_work_module,
    swi_prolog_roles,
};
pub use varint::{VarintError, read as read_varint, write as write_varint};
pub use wire::{MAX_RECORD_BYTES, WireError, decode_record, encode_record, read_record};

/// What the path of a source file begins with that is the engine's own: the rest is relative to the directory where the engine is installed.
pub const ENGINE_HOME: &str = "engine:";
