//! Finding the blocks of a trace, by its index or by walking the file.
//!
//! Every block header is parsed and checked here whichever way it was found; the index only says
//! where to look, and which stream a damaged header belonged to.

use std::ops::Range;

use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Closing, FILE_HEADER_BYTES,
    FOOTER_BYTES, Footer, IndexEntry, decode_header, decode_index,
};

use super::EventsBlock;
use super::packed::{PayloadBytes, unpacked};
use crate::trace::clock::{Pair, Pairs};
use crate::trace::damage::{Damage, DamageKind};
use crate::trace::mapping::Mapping;

/// What was found: blocks in the order of the file.
#[derive(Debug, Default)]
pub(super) struct FoundBlocks {
    pub(super) events: Vec<EventsBlock>,
    pub(super) records: Vec<EventsBlock>,
    pub(super) pairs: Pairs,
    pub(super) damage: Vec<Damage>,
}

impl FoundBlocks {
    pub(super) fn find(file: &Mapping, file_id: u64) -> Self {
        let bytes: &[u8] = file;
        let mut found = Self::default();
        match &footer(bytes, file_id) {
            Some(footer) => match index(bytes, footer) {
                Some(entries) => {
                    for entry in &entries {
                        file.prepare(entry.offset, BLOCK_HEADER_BYTES as u64);
                    }
                    found.by_index(bytes, file_id, &entries);
                }
                None => {
                    found.report(footer.index_offset, DamageKind::Index, None);
                    found.by_walk(bytes, bytes.len() - FOOTER_BYTES, file_id);
                }
            },
            None => found.by_walk(bytes, bytes.len(), file_id),
        }
        found
    }

    fn by_index(&mut self, bytes: &[u8], file_id: u64, entries: &[IndexEntry]) {
        for entry in entries {
            let at = entry.offset as usize;
            match BlockHeader::parse(&bytes[at..], file_id) {
                Ok(block) if (block.stream, block.sequence) == (entry.stream, entry.sequence) => {
                    self.add(bytes, at, &block);
                }
                _ => {
                    let stream = (entry.stream != 0).then_some(entry.stream);
                    self.report(entry.offset, DamageKind::LostBlock, stream);
                }
            }
        }
    }

    fn by_walk(&mut self, bytes: &[u8], end: usize, file_id: u64) {
        walk(bytes, end, file_id, |found| match found {
            BlockFound::Block(at, block) => self.add(bytes, at, &block),
            BlockFound::Waste(waste) => {
                let bytes = waste.len() as u64;
                self.report(waste.start as u64, DamageKind::NoBlock { bytes }, None);
            }
        });
    }

    fn add(&mut self, bytes: &[u8], at: usize, block: &BlockHeader) {
        let place = EventsBlock {
            offset: at as u64,
            stream: block.stream,
            sequence: block.sequence,
            size: block.size,
            recorded_at: block.recorded_at.unwrap_or(at as u64),
            is_settled: is_closed(block),
        };
        let missing = (at + block.stored as usize).saturating_sub(end_of_blocks(bytes)) as u64;
        if missing > 0 {
            let stream = (block.stream != 0).then_some(block.stream);
            self.report(place.offset, DamageKind::CutOff { missing }, stream);
        }
        self.pairs.add(Pair {
            tick: block.base_tick,
            ns: block.base_ns,
        });
        match block.kind {
            BlockKind::Events => self.events.push(place),
            BlockKind::Records => self.records.push(place),
            BlockKind::Index => {}
        }
    }

    fn report(&mut self, offset: u64, what: DamageKind, stream: Option<u32>) {
        self.damage.push(Damage {
            offset,
            what,
            stream,
            events_lost: None,
        });
    }
}

/// The footer of a file, which is there once its recording has ended. One of another file is none.
fn footer(bytes: &[u8], file_id: u64) -> Option<Footer> {
    Footer::decode(bytes).filter(|footer| footer.file_id == file_id)
}

/// Whether the recorder will not write to a block any more.
fn is_closed(block: &BlockHeader) -> bool {
    !matches!(block.closing, Closing::Open)
}

/// Blocks of events that are not being written any more.
#[derive(Debug)]
pub(super) enum SettledBlocks {
    /// The recording has ended.
    All,
    /// Those that the recorder had closed: where they are, and their sequence. In order.
    Closed(Vec<(u64, u64)>),
}

impl SettledBlocks {
    /// Those of a file as it is now.
    pub(super) fn of(file: &Mapping) -> Self {
        let Ok((_, file_id)) = decode_header(file) else {
            return Self::Closed(Vec::new());
        };
        if footer(file, file_id).is_some() {
            return Self::All;
        }
        let mut closed = Vec::new();
        walk(file, file.len(), file_id, |found| {
            if let BlockFound::Block(at, block) = found
                && block.kind == BlockKind::Events
                && is_closed(&block)
            {
                closed.push((at as u64, block.sequence));
            }
        });
        Self::Closed(closed)
    }

    /// Of the blocks that were found since, no others are settled.
    pub(super) fn mark(&self, blocks: &mut [EventsBlock]) {
        let Self::Closed(closed) = self else {
            return;
        };
        for block in blocks {
            let place = (block.offset, block.sequence);
            block.is_settled &= closed.binary_search(&place).is_ok();
        }
    }
}

/// What a walk through a file meets.
pub(super) enum BlockFound {
    /// A block begins here.
    Block(usize, BlockHeader),
    /// Bytes that are no block, from the first that is not zero on.
    Waste(Range<usize>),
}

/// From block to block by size; where there is none, at every possible place before `end`.
pub(super) fn walk(bytes: &[u8], end: usize, file_id: u64, mut meet: impl FnMut(BlockFound)) {
    let mut at = FILE_HEADER_BYTES;
    let mut waste: Option<Range<usize>> = None;
    while at < end {
        if let Ok(block) = BlockHeader::parse(&bytes[at..], file_id) {
            if let Some(waste) = waste.take() {
                meet(BlockFound::Waste(waste));
            }
            let size = block.stored as usize;
            meet(BlockFound::Block(at, block));
            at = at.saturating_add(size);
        } else {
            let end = end.min(at + BLOCK_ALIGN);
            if bytes[at..end].iter().any(|&byte| byte != 0) {
                waste = Some(waste.map_or(at, |waste| waste.start)..end);
            }
            at = end;
        }
    }
    if let Some(waste) = waste {
        meet(BlockFound::Waste(waste));
    }
}

/// The entries of the index, if it is undamaged and its offsets are possible.
pub(super) fn index(bytes: &[u8], footer: &Footer) -> Option<Vec<IndexEntry>> {
    let at = usize::try_from(footer.index_offset).ok()?;
    let block = BlockHeader::parse(bytes.get(at..)?, footer.file_id).ok()?;
    let (payload, whole) = payload(bytes, at, &block);
    if !whole || block.kind != BlockKind::Index || block.check(&payload) != Some(true) {
        return None;
    }
    let entries = decode_index(&payload).ok()?.blocks;
    let mut from = FILE_HEADER_BYTES as u64;
    for entry in &entries {
        if entry.offset < from || entry.offset >= footer.index_offset {
            return None;
        }
        from = entry.offset + BLOCK_ALIGN as u64;
    }
    Some(entries)
}

/// The committed payload of a block as far as it is in the file, and whether all of it is. What
/// stands behind all blocks, the footer, belongs to none. A packed payload that is damaged or not
/// all there is empty.
pub(crate) fn payload<'b>(
    bytes: &'b [u8],
    at: usize,
    block: &BlockHeader,
) -> (PayloadBytes<'b>, bool) {
    let end = end_of_blocks(bytes);
    let start = end.min(at.saturating_add(BLOCK_HEADER_BYTES));
    let wanted = start.saturating_add(block.packed.unwrap_or(block.committed) as usize);
    let (found, whole) = (&bytes[start..end.min(wanted)], wanted <= end);
    let payload = match block.packed {
        None => PayloadBytes::Mapped(found),
        Some(_) if !whole => PayloadBytes::default(),
        Some(_) => unpacked(found, block.committed).unwrap_or_default(),
    };
    (payload, whole)
}

/// Where no block can be any more.
pub(super) fn end_of_blocks(bytes: &[u8]) -> usize {
    match Footer::decode(bytes) {
        Some(_) => bytes.len() - FOOTER_BYTES,
        None => bytes.len(),
    }
}

/// Sorts blocks by stream and sequence; of two with the same number the first in the file stays.
pub(super) fn in_order(blocks: &mut Vec<EventsBlock>, damage: &mut Vec<Damage>) {
    blocks.sort_by_key(|block| (block.stream, block.sequence, block.offset));
    blocks.dedup_by(|second, first| {
        let same = (second.stream, second.sequence) == (first.stream, first.sequence);
        if same {
            damage.push(Damage {
                offset: second.offset,
                what: DamageKind::Duplicate {
                    sequence: second.sequence,
                },
                stream: Some(second.stream),
                events_lost: None,
            });
        }
        same
    });
}
