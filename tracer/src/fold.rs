//! Folded blocks: what is in them is in figures that another process keeps, so the recorder may
//! write over them ([`Keep::Figures`](crate::options::Keep::Figures)), unless they are to stay.
//!
//! The mark is a word in the header of a closed block, which a new block in its place has not. The
//! process that folds stores it, and the recorder asks for it: each with a system call, so neither
//! depends on the other's mapping of the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::format::block_offset::FOLDED;

/// What becomes of a closed block whose events are in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Fate {
    /// The recorder may use its room.
    Free = 1,
    /// It stays, until it is marked otherwise.
    Stays = 2,
}

impl Fate {
    const fn mark(self) -> [u8; 4] {
        (self as u32).to_le_bytes()
    }
}

/// Marks the closed block at `offset` of a trace: its events are in the figures.
///
/// # Errors
/// If the file cannot be written.
pub fn mark_folded(trace: &File, offset: u64, fate: Fate) -> io::Result<()> {
    trace.write_all_at(&fate.mark(), offset + FOLDED as u64)
}

/// What becomes of the block at `offset`; `None` if its events are not in the figures.
pub(crate) fn fate(trace: &File, offset: u64) -> Option<Fate> {
    let mut word = [0; Fate::Free.mark().len()];
    let read = trace.read_exact_at(&mut word, offset + FOLDED as u64);
    let fates = [Fate::Free, Fate::Stays].into_iter();
    fates
        .filter(|_| read.is_ok())
        .find(|fate| fate.mark() == word)
}
