//! What code must know that writes events without calling this crate: machine code that is made
//! while the traced program runs.
//!
//! It does what [`crate::Stream::put_if_soon`] does, on the same fields, in the same order: the
//! bytes of the event, the cursor, the tick, the number of events, and last the committed length.

use std::mem::offset_of;

use crate::format::{TAG_BITS, TAG_CUT, TAG_EXIT_DET, TAG_EXIT_NONDET, TAG_FAIL, TAG_REDO};
use crate::hot::{COMMITTED_BEFORE_PAYLOAD, Hot, MOST_JOINED_CUTS};
use crate::stream::{Ready, SHORT_DELTA};

/// Offsets of a stream's fields, in bytes, from the address that [`crate::Stream::fields`] tells.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// Where the next event goes.
    pub cursor: i32,
    /// There is room for any event if the cursor is below this.
    pub limit: i32,
    /// Where the payload of the block begins.
    pub payload: i32,
    /// Tick of the last event.
    pub last_tick: i32,
    /// Events in the block.
    pub events: i32,
    /// Where the last cut ended: see [`MOST_JOINED`].
    pub cut_end: i32,
}

/// Those of every stream.
pub const FIELDS: Fields = Fields {
    cursor: offset_of!(Hot, cursor) as i32,
    limit: offset_of!(Hot, limit) as i32,
    payload: offset_of!(Hot, payload) as i32,
    last_tick: offset_of!(Hot, last_tick) as i32,
    events: offset_of!(Hot, events) as i32,
    cut_end: offset_of!(Hot, cut_end) as i32,
};

/// How far before the payload the committed length lies: a word of 32 bits.
pub const COMMITTED: i32 = COMMITTED_BEFORE_PAYLOAD as i32;

/// An event may be written so if fewer ticks have passed since the last one.
pub const TICKS: i32 = SHORT_DELTA as i32;

/// If the cursor is where the last cut ended, the byte before it says how many boxes were cut.
/// While those are fewer than this, another one is added to them.
pub const MOST_JOINED: i8 = MOST_JOINED_CUTS as i8;

/// By so many bits the ticks since the last event are shifted, and added to the word of the event.
pub const TICKS_SHIFT: i8 = TAG_BITS as i8;

/// An exit without choicepoints, but for its time.
#[must_use]
pub fn exit_det() -> Ready {
    Ready::of(TAG_EXIT_DET, 0, 0)
}

/// A failure, but for its time.
#[must_use]
pub fn fail() -> Ready {
    Ready::of(TAG_FAIL, 0, 0)
}

/// An exit that leaves choicepoints, but for its time.
#[must_use]
pub fn exit_nondet() -> Ready {
    Ready::of(TAG_EXIT_NONDET, 0, 0)
}

/// A redo, but for its time.
#[must_use]
pub fn redo() -> Ready {
    Ready::of(TAG_REDO, 0, 0)
}

/// A box that is cut, but for its time.
#[must_use]
pub fn cut() -> Ready {
    Ready::of(TAG_CUT, 1, 1)
}
