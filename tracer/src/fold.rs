//! Folded blocks: what is in them is in figures that another process keeps, so the recorder may
//! write over them ([`Keep::Figures`](crate::options::Keep::Figures)).
//!
//! The mark is a word in the header of a closed block, which a new block in its place has not. The
//! process that folds stores it, and the recorder asks for it: each with a system call, so neither
//! depends on the other's mapping of the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::format::block_offset::FOLDED;

const MARK: [u8; 4] = 1u32.to_le_bytes();

/// Marks the closed block at `offset` of a trace: its events are in the figures, and the recorder
/// may use its room.
///
/// # Errors
/// If the file cannot be written.
pub fn mark_folded(trace: &File, offset: u64) -> io::Result<()> {
    trace.write_all_at(&MARK, offset + FOLDED as u64)
}

/// Whether the block at `offset` has the mark.
pub(crate) fn is_folded(trace: &File, offset: u64) -> bool {
    let mut word = [0; MARK.len()];
    let read = trace.read_exact_at(&mut word, offset + FOLDED as u64);
    read.is_ok() && word == MARK
}
