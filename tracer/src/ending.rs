//! The end of a trace that is closed in order: index and footer.

use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

use memmap2::MmapOptions;

use crate::clock::{self, BothClocks};
use crate::format::{
    BLOCK_ALIGN, BlockClose, BlockHeader, BlockIndex, BlockKind, BlockStart, FILE_HEADER_BYTES,
    Footer, IndexEntry, crc32, decode_header, encode_index,
};
use crate::segment::check_size_limit;
use crate::space::Space;
use crate::truncation::{Access, Watch};

/// Whether the file still begins with the header of this recording.
pub(crate) fn has_header(space: &Space, file_id: u64) -> bool {
    let mut header = [0; FILE_HEADER_BYTES];
    let read = space.file().read_exact_at(&mut header, 0);
    read.is_ok() && decode_header(&header).is_ok_and(|(_, id)| id == file_id)
}

/// Writes index and footer behind the last block, if they have room, and cuts off what was reserved
/// and not used. No block lies beyond, so streams that still write are not disturbed.
pub(crate) fn write_index(space: &Space, file_id: u64) -> io::Result<()> {
    let file = space.file();
    let index_offset = space.used();
    let blocks = list_blocks(space, file_id)?;
    if !space.is_whole() {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let tail = index_and_footer(&BlockIndex { blocks }, index_offset, clock::pair(), file_id);
    let end = index_offset + tail.len() as u64;
    let fits = end <= space.max_size() && check_size_limit(end).is_ok();
    if fits && file.write_all_at(&tail, index_offset).is_ok() {
        return file.set_len(end);
    }
    // The index is a convenience.
    file.set_len(index_offset)
}

/// Walks the blocks of the file, as a reader does that has no index.
fn list_blocks(space: &Space, file_id: u64) -> io::Result<Vec<IndexEntry>> {
    let length = space.used() as usize;
    // SAFETY: other threads may still store into blocks of their streams through another mapping, but not the
    // fields used here: a block is opened, resized and given back under the recorder's lock by those who find it
    // recording, which it no longer is. What else a header has may be read torn, and is thrown away. Where another
    // program shortens the file meanwhile, zeros are read.
    let map = unsafe { MmapOptions::new().len(length).map(space.file())? };
    let _watch = Watch::new(map.as_ptr(), map.len(), Access::Read)?;
    let mut blocks = Vec::new();
    let mut at = FILE_HEADER_BYTES;
    while let Some(bytes) = map.get(at..) {
        match BlockHeader::parse(bytes, file_id) {
            Ok(BlockHeader {
                size,
                stream,
                sequence,
                ..
            }) => {
                blocks.push(IndexEntry {
                    offset: at as u64,
                    stream,
                    sequence,
                });
                at += size as usize;
            }
            Err(_) => at += BLOCK_ALIGN,
        }
    }
    Ok(blocks)
}

/// The end of a trace whose last block ends at `index_offset`: index and footer. `pair`: when it
/// ended.
#[must_use]
pub fn index_and_footer(
    index: &BlockIndex,
    index_offset: u64,
    pair: BothClocks,
    file_id: u64,
) -> Vec<u8> {
    let payload = encode_index(index);
    let start = BlockStart {
        kind: BlockKind::Index,
        stream: 0,
        sequence: 0,
        first_event: 0,
        base_tick: pair.tick,
        base_ns: pair.ns,
    };
    let close = BlockClose {
        last_tick: pair.tick,
        events: index.blocks.len() as u32,
        regressions: 0,
        payload_crc: crc32(&payload),
    };
    let footer = Footer {
        index_offset,
        file_id,
    };
    let mut bytes = start.encode_whole(&close, &payload, file_id);
    bytes.extend(footer.encode());
    bytes
}
