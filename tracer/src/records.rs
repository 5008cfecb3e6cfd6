//! The records of a recording: names before the events that use them.

use crate::block::Block;
use crate::clock;
use crate::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockKind, BlockStart, Record, encode_record,
};
use crate::segment::Slot;
use crate::space::{self, Space};

/// Room that is kept for the last records, for a disk may be full by then: a note of at most
/// [`MAX_LAST_NOTE`] bytes and the end, which has less than 32.
const LAST_WORDS: usize = 256;

/// The longest text of a note among the last records.
pub(crate) const MAX_LAST_NOTE: usize = 192;

/// The writer of records. Each is committed before [`Records::append`] returns.
///
/// Invariant: as soon as there is a block, there is room for the last words in it or in `reserve`.
/// So a block is filled to the end, and no block is opened before it is needed.
#[derive(Debug)]
pub(crate) struct Records {
    file_id: u64,
    max_block: u32,
    block: Option<Block>,
    /// Room for the next block, taken when the current one is nearly full.
    reserve: Option<Slot>,
    count: u32,
    sequence: u64,
    before: u64,
    /// Size of all blocks so far, in bytes.
    blocks_size: u64,
    bytes: Vec<u8>,
}

impl Records {
    pub(crate) fn new(file_id: u64, max_block: u32) -> Self {
        Self {
            file_id,
            max_block,
            block: None,
            reserve: None,
            count: 0,
            sequence: 0,
            before: 0,
            blocks_size: 0,
            bytes: Vec::new(),
        }
    }

    /// Appends a record; false if there is no room for it and never will be.
    pub(crate) fn append(&mut self, space: &mut Space, record: &Record) -> bool {
        self.append_with(space, record, LAST_WORDS)
    }

    /// Appends one of the last records, into the room that was kept for them.
    pub(crate) fn append_last(&mut self, space: &mut Space, record: &Record) -> bool {
        self.append_with(space, record, 0)
    }

    fn append_with(&mut self, space: &mut Space, record: &Record, kept: usize) -> bool {
        self.bytes.clear();
        if encode_record(record, &mut self.bytes).is_err() {
            return false;
        }
        let needed = self.bytes.len() + kept;
        while !self.fits(kept) {
            if let Some(slot) = self.reserve.take() {
                self.open(slot);
            } else if !self.extend(space, needed) && !self.take_reserve(space, needed) {
                return false;
            }
        }
        let written = self
            .block
            .as_ref()
            .is_some_and(|block| block.append(&self.bytes));
        self.count += u32::from(written);
        written
    }

    /// Whether the current block has room for the record, and somewhere is room for the last words.
    fn fits(&self, kept: usize) -> bool {
        let kept = if self.reserve.is_some() { 0 } else { kept };
        self.block
            .as_ref()
            .is_some_and(|block| block.left() >= self.bytes.len() + kept)
    }

    /// Makes room for `needed` bytes in the current block, if there is some behind it.
    fn extend(&mut self, space: &mut Space, needed: usize) -> bool {
        let Some(block) = &mut self.block else {
            return false;
        };
        let least = needed.saturating_sub(block.left());
        let least = least.next_multiple_of(BLOCK_ALIGN) as u32;
        let by = space::portion(self.blocks_size, self.max_block).max(least);
        let (_, size) = block.place();
        if size + by > self.max_block || !space.extend_records(block, least, by) {
            return false;
        }
        self.blocks_size += u64::from(block.place().1 - size);
        true
    }

    fn take_reserve(&mut self, space: &mut Space, needed: usize) -> bool {
        let least = (BLOCK_HEADER_BYTES + needed).next_multiple_of(BLOCK_ALIGN) as u32;
        let want = space::portion(self.blocks_size, self.max_block).max(least);
        self.reserve = space.for_records(least, want);
        self.reserve.is_some()
    }

    fn open(&mut self, slot: Slot) {
        self.close();
        let pair = clock::pair();
        let start = BlockStart {
            kind: BlockKind::Records,
            stream: 0,
            sequence: self.sequence,
            first_event: self.before,
            base_tick: pair.tick,
            base_ns: pair.ns,
        };
        self.blocks_size += u64::from(slot.size);
        self.block = Some(Block::open(slot, &start, self.file_id));
        self.sequence += 1;
    }

    fn close(&mut self) -> Option<Block> {
        let block = self.block.take()?;
        block.close(clock::ticks(), self.count, 0);
        self.before += u64::from(self.count);
        self.count = 0;
        Some(block)
    }

    /// Closes the last block, and gives back what was not needed.
    pub(crate) fn finish(&mut self, space: &mut Space) {
        if let Some(slot) = self.reserve.take() {
            space.take_back(&slot);
        }
        if let Some(mut block) = self.close() {
            space.trim(&mut block);
        }
    }
}
