//! The records of a recording: names before the events that use them.

use crate::block::Block;
use crate::clock;
use crate::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockKind, BlockStart, Record, encode_record,
};
use crate::space::Space;

/// The first block of records; each later one is twice as large.
const FIRST_BLOCK: u32 = 4 << 10;

/// Room that is kept in the current block for the last records, for a disk may be full by then.
const LAST_WORDS: usize = 512;

/// The writer of records. Each is committed before [`Records::append`] returns.
#[derive(Debug)]
pub(crate) struct Records {
    file_id: u64,
    max_block: u32,
    block: Option<Block>,
    count: u32,
    sequence: u64,
    before: u64,
    next_size: u32,
    bytes: Vec<u8>,
}

impl Records {
    pub(crate) fn new(file_id: u64, max_block: u32) -> Self {
        Self {
            file_id,
            max_block,
            block: None,
            count: 0,
            sequence: 0,
            before: 0,
            next_size: FIRST_BLOCK.min(max_block),
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
        let fits = self.block.as_ref().is_some_and(|block| {
            block.room() - block.committed() as usize >= self.bytes.len() + kept
        });
        if !fits && !self.open(space, self.bytes.len() + kept) {
            return false;
        }
        let written = self
            .block
            .as_ref()
            .is_some_and(|block| block.append(&self.bytes));
        self.count += u32::from(written);
        written
    }

    /// The old block stays open if there is no new one: the last records go there.
    fn open(&mut self, space: &mut Space, payload: usize) -> bool {
        let least = (BLOCK_HEADER_BYTES + payload).next_multiple_of(BLOCK_ALIGN) as u32;
        let Some(slot) = space.for_records(least, self.next_size.max(least)) else {
            return false;
        };
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
        self.block = Some(Block::open(slot, &start, self.file_id));
        self.sequence += 1;
        self.next_size = (self.next_size * 2).min(self.max_block);
        true
    }

    /// Closes the current block.
    pub(crate) fn close(&mut self) {
        if let Some(block) = self.block.take() {
            block.close(clock::ticks(), self.count, 0);
            self.before += u64::from(self.count);
            self.count = 0;
        }
    }
}
