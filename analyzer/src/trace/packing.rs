//! Packing: a trace for keeping and sending, and the way back.
//!
//! Each payload is packed by itself, so streams are still read from any block on, in parallel.
//! Blocks stay in their order, with all that their headers say. What is no block stays as it is,
//! and so does a block that is open, damaged or cut off: a packed trace has the damage that it had
//! before.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use portmortem_tracer::clock::BothClocks;
use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockHeader, BlockIndex, BlockKind, Closing,
    FILE_HEADER_BYTES, FOOTER_BYTES, Footer, IndexEntry, MAX_UNPACKED_BYTES, pack_block_header,
    pack_file_header, unpack_block_header, unpack_file_header,
};
use portmortem_tracer::index_and_footer;
use rayon::prelude::*;

use super::Trace;
use super::blocks::{BlockFound, index, payload, walk};
use super::packed::packed;

/// Why a trace was not packed or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// There is nothing to pack.
    #[error("it is packed already")]
    Packed,
    /// There is nothing to unpack.
    #[error("it is not packed")]
    NotPacked,
    /// The index names blocks that lie in each other.
    #[error("the block at byte {offset} is cut off by another one; such a trace cannot be packed")]
    Overlap {
        /// Where the first of them begins.
        offset: u64,
    },
    /// What was made could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// So many blocks are packed or unpacked at a time, in parallel, before they are written.
const AT_A_TIME: usize = 64;

/// Zeros before a block that are written again at most. A recorder leaves less.
const MOST_ZEROS: u64 = 16 << 20;

/// Writes a packed trace. `done` counts up to [`Trace::size`].
///
/// # Errors
/// [`PackError`].
pub fn pack(trace: &Trace, out: &mut dyn Write, done: &AtomicU64) -> Result<(), PackError> {
    if trace.is_packed() {
        return Err(PackError::Packed);
    }
    let bytes: &[u8] = &trace.bytes;
    let layout = FileLayout::of(bytes, trace.file_id)?;
    let mut copy = Copy::begin(out, bytes, pack_file_header)?;
    for pieces in layout.pieces.chunks(AT_A_TIME) {
        let all: Vec<_> = pieces.par_iter().map(|piece| piece.packed(bytes)).collect();
        for (piece, payload) in pieces.iter().zip(all) {
            let payload = payload?;
            copy.pad_to_align()?;
            copy.next_is(piece);
            let whole = &bytes[piece.at..piece.end];
            match (&piece.block, whole.split_first_chunk()) {
                (Some(_), Some((header, rest))) => {
                    let mut header: [u8; BLOCK_HEADER_BYTES] = *header;
                    let length = payload.as_ref().map(|payload| payload.len() as u32);
                    pack_block_header(&mut header, piece.at as u64, length);
                    copy.put(&header)?;
                    copy.put(payload.as_deref().unwrap_or(rest))?;
                    if payload.is_some() {
                        copy.pad_to_align()?;
                    }
                }
                _ => copy.put(whole)?,
            }
            piece.is_done(trace, whole.len() as u64, done);
        }
    }
    copy.finish(&layout.tail, trace.file_id, |header, at| {
        pack_block_header(header, at, None);
    })
}

/// Writes the trace that was packed: the same bytes, but for zeros at the end of a recording that
/// was cut short, and what a flight recorder left in blocks that it wrote over. A block whose
/// packed payload is damaged stays a damaged block. `done` counts up to [`Trace::size`].
///
/// # Errors
/// [`PackError`].
pub fn unpack(trace: &Trace, out: &mut dyn Write, done: &AtomicU64) -> Result<(), PackError> {
    if !trace.is_packed() {
        return Err(PackError::NotPacked);
    }
    let bytes: &[u8] = &trace.bytes;
    let layout = FileLayout::of(bytes, trace.file_id)?;
    let mut copy = Copy::begin(out, bytes, unpack_file_header)?;
    for pieces in layout.pieces.chunks(AT_A_TIME) {
        let payloads = pieces.par_iter().map(|piece| {
            let block = piece
                .block
                .as_ref()
                .filter(|block| block.packed.is_some())?;
            Some(payload(bytes, piece.at, block).0)
        });
        let all: Vec<_> = payloads.collect();
        for (piece, payload) in pieces.iter().zip(all) {
            copy.pad_to_recorded(piece.block.as_ref())?;
            copy.next_is(piece);
            let whole = &bytes[piece.at..piece.end];
            let (Some(block), Some((header, rest))) = (&piece.block, whole.split_first_chunk())
            else {
                copy.put(whole)?;
                piece.is_done(trace, whole.len() as u64, done);
                continue;
            };
            let mut header: [u8; BLOCK_HEADER_BYTES] = *header;
            unpack_block_header(&mut header);
            copy.put(&header)?;
            match payload {
                Some(payload) => {
                    let end = copy.at - BLOCK_HEADER_BYTES as u64 + u64::from(block.size);
                    copy.put(&payload)?;
                    copy.pad_to(end)?;
                }
                None => copy.put(rest)?,
            }
            piece.is_done(trace, block.size.into(), done);
        }
    }
    copy.finish(&layout.tail, trace.file_id, |header, _| {
        unpack_block_header(header);
    })
}

/// A part of the file: a block, or what stands where a block should be.
struct FilePiece {
    at: usize,
    end: usize,
    block: Option<BlockHeader>,
    /// Stream and sequence, if the index names it.
    entry: Option<(u32, u64)>,
}

impl FilePiece {
    /// The payload, packed; `None` if it stays as it is.
    fn packed(&self, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let may_be_packed = |block: &&BlockHeader| {
            block.kind != BlockKind::Index
                && block.packed.is_none()
                && block.committed <= MAX_UNPACKED_BYTES
                && matches!(block.closing, Closing::Closed(_))
        };
        let Some(block) = self.block.as_ref().filter(may_be_packed) else {
            return Ok(None);
        };
        let (payload, whole) = payload(bytes, self.at, block);
        let is_all_there = self.end - self.at == block.stored as usize;
        if !whole || !is_all_there || block.check(&payload) != Some(true) {
            return Ok(None);
        }
        let packed = packed(&payload)?;
        let size = (BLOCK_HEADER_BYTES + packed.len()).next_multiple_of(BLOCK_ALIGN);
        Ok((size < block.stored as usize).then_some(packed))
    }

    /// So many bytes more were written, and this part of the file need not stay in memory.
    fn is_done(&self, trace: &Trace, bytes: u64, done: &AtomicU64) {
        trace.let_go((self.at as u64, (self.end - self.at) as u64));
        done.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// What stands behind all blocks.
enum Tail {
    /// An undamaged index, and the footer. Its place, and its header.
    Index(u64, BlockHeader),
    /// The footer. It leads to what is no index.
    Footer(u64),
    Nothing,
}

/// All parts of a file that a reader looks at.
struct FileLayout {
    pieces: Vec<FilePiece>,
    tail: Tail,
}

impl FileLayout {
    fn of(bytes: &[u8], file_id: u64) -> Result<Self, PackError> {
        let footer = Footer::decode(bytes).filter(|footer| footer.file_id == file_id);
        let Some(footer) = footer else {
            return Ok(Self::by_walk(bytes, bytes.len(), file_id, Tail::Nothing));
        };
        let at = footer.index_offset;
        let found = index(bytes, &footer).zip(header_at(bytes, at, file_id));
        let Some((entries, header)) = found else {
            let end = bytes.len() - FOOTER_BYTES;
            return Ok(Self::by_walk(bytes, end, file_id, Tail::Footer(at)));
        };
        let ends = entries.iter().skip(1).map(|entry| entry.offset).chain([at]);
        let pieces = entries.iter().zip(ends).map(|(entry, next)| {
            let (stream, sequence) = (entry.stream, entry.sequence);
            let block = header_at(bytes, entry.offset, file_id)
                .filter(|block| (block.stream, block.sequence) == (stream, sequence));
            let stored = block.as_ref().map(|block| u64::from(block.stored));
            let end = stored.map_or(next, |stored| entry.offset + stored);
            if end > next {
                let offset = entry.offset;
                return Err(PackError::Overlap { offset });
            }
            Ok(FilePiece {
                at: entry.offset as usize,
                end: end as usize,
                block,
                entry: Some((stream, sequence)),
            })
        });
        Ok(Self {
            pieces: pieces.collect::<Result<_, _>>()?,
            tail: Tail::Index(at, header),
        })
    }

    fn by_walk(bytes: &[u8], end: usize, file_id: u64, tail: Tail) -> Self {
        let mut pieces = Vec::new();
        walk(bytes, end, file_id, |found| {
            let (range, block) = match found {
                BlockFound::Block(at, block) => {
                    let behind = at.saturating_add(block.stored as usize);
                    (at..behind.min(end), Some(block))
                }
                BlockFound::Waste(range) => (range, None),
            };
            pieces.push(FilePiece {
                at: range.start,
                end: range.end,
                block,
                entry: None,
            });
        });
        Self { pieces, tail }
    }
}

fn header_at(bytes: &[u8], at: u64, file_id: u64) -> Option<BlockHeader> {
    let bytes = bytes.get(usize::try_from(at).ok()?..)?;
    BlockHeader::parse(bytes, file_id).ok()
}

/// A trace that is written from beginning to end.
struct Copy<'o> {
    out: &'o mut dyn Write,
    /// Bytes written.
    at: u64,
    /// Of each piece: where it was and ended, and where it is now.
    moved: Vec<(u64, u64, u64)>,
    entries: Vec<IndexEntry>,
}

impl<'o> Copy<'o> {
    /// Begins with the header of a file that was opened as a trace, changed.
    fn begin(
        out: &'o mut dyn Write,
        bytes: &[u8],
        change: impl Fn(&mut [u8; FILE_HEADER_BYTES]),
    ) -> io::Result<Self> {
        let mut copy = Self {
            out,
            at: 0,
            moved: Vec::new(),
            entries: Vec::new(),
        };
        let header = bytes.first_chunk().copied();
        let mut header = header.unwrap_or([0; FILE_HEADER_BYTES]);
        change(&mut header);
        copy.put(&header)?;
        Ok(copy)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Zeros up to an offset.
    fn pad_to(&mut self, end: u64) -> io::Result<()> {
        const ZEROS: [u8; 4096] = [0; 4096];
        while self.at < end {
            let count = (end - self.at).min(ZEROS.len() as u64);
            self.put(&ZEROS[..count as usize])?;
        }
        Ok(())
    }

    /// Zeros up to where a block may begin.
    fn pad_to_align(&mut self) -> io::Result<()> {
        self.pad_to(self.at.next_multiple_of(BLOCK_ALIGN as u64))
    }

    /// Zeros up to where a block began when it was recorded, if that is known and can be.
    fn pad_to_recorded(&mut self, block: Option<&BlockHeader>) -> io::Result<()> {
        self.pad_to_align()?;
        let end = block.and_then(|block| block.recorded_at).unwrap_or(0);
        match end.saturating_sub(self.at) {
            0..=MOST_ZEROS => self.pad_to(end),
            _ => Ok(()),
        }
    }

    /// What is written next is that piece.
    fn next_is(&mut self, piece: &FilePiece) {
        self.moved
            .push((piece.at as u64, piece.end as u64, self.at));
        self.entries
            .extend(piece.entry.map(|(stream, sequence)| IndexEntry {
                offset: self.at,
                stream,
                sequence,
            }));
    }

    /// The end of the file. `change` changes the header of the index, which was at an offset.
    fn finish(
        mut self,
        tail: &Tail,
        file_id: u64,
        change: impl Fn(&mut [u8; BLOCK_HEADER_BYTES], u64),
    ) -> Result<(), PackError> {
        match *tail {
            Tail::Nothing => {}
            Tail::Footer(index_offset) => {
                let mut pieces = self.moved.iter();
                let found = pieces.find(|(from, end, _)| (*from..*end).contains(&index_offset));
                let moved = found.map(|(from, _, to)| to + (index_offset - from));
                let footer = Footer {
                    index_offset: moved.unwrap_or(self.at),
                    file_id,
                };
                self.put(&footer.encode())?;
            }
            Tail::Index(at, ref header) => {
                self.pad_to_recorded(Some(header))?;
                let blocks = std::mem::take(&mut self.entries);
                let pair = BothClocks {
                    tick: header.base_tick,
                    ns: header.base_ns,
                };
                let mut bytes = index_and_footer(&BlockIndex { blocks }, self.at, pair, file_id);
                if let Some(header) = bytes.first_chunk_mut() {
                    change(header, at);
                }
                self.put(&bytes)?;
            }
        }
        self.out.flush()?;
        Ok(())
    }
}
