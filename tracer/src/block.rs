//! A block of the file while it is being written.
//!
//! Invariant: at every moment the block in the file is valid. Its header is complete before its
//! magic is stored, a payload byte before the committed length that covers it, the summary of a
//! closed block before the state that makes it count; a new size is one store together with its
//! checksum. So the process may end between any two instructions.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BLOCK_MAGIC, BlockClose, BlockStart, block_offset, crc32,
    encode_close, with_crc,
};
use crate::segment::Slot;

/// An open block, and the right to write it.
#[derive(Debug)]
pub(crate) struct Block {
    slot: Slot,
    start: *mut u8,
}

// SAFETY: the pointer goes into the shared mapping that `slot` keeps alive, and the range belongs
// to this block alone, whatever thread has it.
unsafe impl Send for Block {}

impl Block {
    /// Writes the header of an empty block. Whatever was there is gone first.
    pub(crate) fn open(slot: Slot, start: &BlockStart, file_id: u64) -> Self {
        let header = start.encode(slot.size, file_id);
        let at = slot.segment.at(slot.offset, slot.size as usize);
        let block = Self { slot, start: at };
        block.word(0).store(0, Ordering::Release);
        std::sync::atomic::fence(Ordering::SeqCst);
        // SAFETY: source and destination have 124 bytes and do not overlap; no other thread writes here.
        unsafe {
            header[4..]
                .as_ptr()
                .copy_to_nonoverlapping(at.add(4), BLOCK_HEADER_BYTES - 4);
        }
        block
            .word(0)
            .store(u32::from_ne_bytes(BLOCK_MAGIC), Ordering::Release);
        block
    }

    /// The first byte of the payload. The committed length lies at a fixed distance before it.
    pub(crate) fn payload(&self) -> *mut u8 {
        // SAFETY: a block is larger than its header.
        unsafe { self.start.add(BLOCK_HEADER_BYTES) }
    }

    /// How many bytes of payload there is room for.
    pub(crate) fn room(&self) -> usize {
        self.slot.size as usize - BLOCK_HEADER_BYTES
    }

    /// How many bytes of payload there still is room for.
    pub(crate) fn left(&self) -> usize {
        self.room() - self.committed() as usize
    }

    /// Where the block lies in the file.
    pub(crate) fn place(&self) -> (u64, u32) {
        (self.slot.offset, self.slot.size)
    }

    /// Whether what was stored in its segment is in the file, as far as is known.
    pub(crate) fn is_whole(&self) -> bool {
        self.slot.segment.is_whole()
    }

    pub(crate) fn committed(&self) -> u32 {
        u32::from_le(self.word(block_offset::COMMITTED).load(Ordering::Relaxed))
    }

    /// Appends `bytes` and commits them together; false if there is no room.
    pub(crate) fn append(&self, bytes: &[u8]) -> bool {
        let committed = self.committed() as usize;
        if self.left() < bytes.len() {
            return false;
        }
        // SAFETY: the destination is in the payload behind what is committed, by the test above.
        unsafe {
            let end = self.payload().add(committed);
            bytes.as_ptr().copy_to_nonoverlapping(end, bytes.len());
        }
        let committed = (committed + bytes.len()) as u32;
        self.word(block_offset::COMMITTED)
            .store(committed.to_le(), Ordering::Release);
        true
    }

    /// Says how many events were lost after the last one of this block.
    pub(crate) fn set_dropped(&self, dropped: u64) {
        self.long_word(block_offset::DROPPED)
            .store(dropped.to_le(), Ordering::Release);
    }

    /// Says how many of the lost events came after the end of the recording.
    pub(crate) fn set_after_end(&self, events: u64) {
        self.long_word(block_offset::AFTER_END)
            .store(events.to_le(), Ordering::Release);
    }

    /// Completes the block: `events` of them, the last at `last_tick`.
    pub(crate) fn close(&self, last_tick: u64, events: u32, regressions: u32) {
        let committed = self.committed();
        // SAFETY: the committed part of the payload, which only we could write and do not.
        let payload = unsafe { std::slice::from_raw_parts(self.payload(), committed as usize) };
        let close = BlockClose {
            last_tick,
            events,
            regressions,
            payload_crc: crc32(payload),
        };
        let fields = encode_close(committed, &close);
        const FROM: usize = block_offset::COMMITTED;
        // SAFETY: everything behind the state, up to `dropped`; source and destination are apart.
        unsafe {
            fields[block_offset::LAST_TICK - FROM..]
                .as_ptr()
                .copy_to_nonoverlapping(
                    self.start.add(block_offset::LAST_TICK),
                    block_offset::DROPPED - block_offset::LAST_TICK,
                );
        }
        self.word(block_offset::STATE)
            .store(1u32.to_le(), Ordering::Release);
    }

    /// Ends a closed block right behind its payload. What lies beyond is no part of it any more.
    pub(crate) fn shorten(&mut self) {
        let used = BLOCK_HEADER_BYTES + self.committed() as usize;
        self.resize(used.next_multiple_of(BLOCK_ALIGN) as u32);
    }

    /// Makes an open block larger.
    ///
    /// # Safety
    /// The room behind it is in the same segment, and belongs to no other block.
    pub(crate) unsafe fn extend(&mut self, by: u32) {
        self.resize(self.slot.size + by);
    }

    fn resize(&mut self, size: u32) {
        // SAFETY: fields in the header that only we could write, and do not.
        let header = unsafe { std::slice::from_raw_parts(self.start, block_offset::SIZE) };
        let size_and_crc = with_crc(header, size);
        self.long_word(block_offset::SIZE)
            .store(size_and_crc.to_le(), Ordering::Release);
        self.slot.size = size;
    }

    fn long_word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: in the header, at a multiple of 8 of a block that begins at a multiple of 512.
        unsafe { AtomicU64::from_ptr(self.start.add(offset).cast()) }
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: in the header, at a multiple of 4 of a block that begins at a multiple of 512.
        unsafe { AtomicU32::from_ptr(self.start.add(offset).cast()) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use memmap2::Mmap;

    use super::*;
    use crate::format::{BlockHeader, BlockKind};
    use crate::segment::FileSegment;

    const FILE_ID: u64 = 9;

    fn block(file: &std::fs::File) -> Block {
        file.set_len(4096).unwrap();
        let start = BlockStart {
            kind: BlockKind::Events,
            stream: 1,
            sequence: 2,
            first_event: 3,
            base_tick: 4,
            base_ns: 5,
        };
        let slot = Slot {
            segment: Arc::new(FileSegment::map(file, 0, 4096).unwrap()),
            offset: 0,
            size: 512,
        };
        Block::open(slot, &start, FILE_ID)
    }

    /// A reader may look at any moment, and the process may be killed then.
    #[test]
    fn a_header_is_valid_while_the_size_changes() {
        let file = tempfile::tempfile().unwrap();
        let mut block = block(&file);
        // SAFETY: a reader's view; what changes there is one aligned word.
        let map = unsafe { Mmap::map(&file) }.unwrap();
        let done = AtomicBool::new(false);
        let mut sizes = BTreeSet::from([512]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..200_000 {
                    // SAFETY: the segment has 4096 bytes, all for this block.
                    unsafe { block.extend(1024) };
                    block.shorten();
                }
                // SAFETY: as above.
                unsafe { block.extend(2048) };
                done.store(true, Ordering::Release);
            });
            loop {
                let last = done.load(Ordering::Acquire);
                sizes.insert(BlockHeader::parse(&map, FILE_ID).unwrap().size);
                if last {
                    break;
                }
            }
        });
        assert!(sizes.contains(&2560));
        assert!(
            sizes.is_subset(&BTreeSet::from([512, 1536, 2560])),
            "{sizes:?}"
        );
    }
}
