//! Finding the blocks of a trace, by its index or by walking the file.
//!
//! Every block header is parsed and checked here whichever way it was found; the index only says
//! where to look, and which stream a damaged header belonged to.

use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockHeader, BlockKind, FILE_HEADER_BYTES, FOOTER_BYTES,
    Footer, IndexEntry, decode_index,
};

use super::Block;
use crate::trace::clock::{Pair, Pairs};
use crate::trace::damage::{Damage, DamageKind};
use crate::trace::mapping::Mapping;

/// What was found: blocks in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) events: Vec<Block>,
    pub(super) records: Vec<Block>,
    pub(super) pairs: Pairs,
    pub(super) damage: Vec<Damage>,
}

impl Blocks {
    pub(super) fn find(file: &Mapping, file_id: u64) -> Self {
        let bytes: &[u8] = file;
        let mut found = Self::default();
        let footer = Footer::decode(bytes).filter(|footer| footer.file_id == file_id);
        match &footer {
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

    /// From block to block by size; where there is none, at every possible place before `end`.
    fn by_walk(&mut self, bytes: &[u8], end: usize, file_id: u64) {
        let mut at = FILE_HEADER_BYTES;
        let mut waste = None;
        while at < end {
            if let Ok(block) = BlockHeader::parse(&bytes[at..], file_id) {
                self.report_waste(waste.take());
                self.add(bytes, at, &block);
                at = at.saturating_add(block.size as usize);
            } else {
                let end = end.min(at + BLOCK_ALIGN);
                if bytes[at..end].iter().any(|&byte| byte != 0) {
                    let (start, _) = waste.unwrap_or((at, end));
                    waste = Some((start, end));
                }
                at = end;
            }
        }
        self.report_waste(waste);
    }

    fn add(&mut self, bytes: &[u8], at: usize, block: &BlockHeader) {
        let place = Block {
            offset: at as u64,
            stream: block.stream,
            sequence: block.sequence,
            size: block.size,
        };
        let missing = (at + block.size as usize).saturating_sub(end_of_blocks(bytes)) as u64;
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

    fn report_waste(&mut self, waste: Option<(usize, usize)>) {
        if let Some((start, end)) = waste {
            let bytes = (end - start) as u64;
            self.report(start as u64, DamageKind::NoBlock { bytes }, None);
        }
    }
}

/// The entries of the index, if it is undamaged and its offsets are possible.
fn index(bytes: &[u8], footer: &Footer) -> Option<Vec<IndexEntry>> {
    let at = usize::try_from(footer.index_offset).ok()?;
    let block = BlockHeader::parse(bytes.get(at..)?, footer.file_id).ok()?;
    let (payload, whole) = payload(bytes, at, &block);
    if !whole || block.kind != BlockKind::Index || block.check(payload) != Some(true) {
        return None;
    }
    let entries = decode_index(payload).ok()?.blocks;
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
/// stands behind all blocks, the footer, belongs to none.
pub(crate) fn payload<'b>(bytes: &'b [u8], at: usize, block: &BlockHeader) -> (&'b [u8], bool) {
    let end = end_of_blocks(bytes);
    let start = end.min(at.saturating_add(BLOCK_HEADER_BYTES));
    let wanted = start.saturating_add(block.committed as usize);
    (&bytes[start..end.min(wanted)], wanted <= end)
}

/// Where no block can be any more.
fn end_of_blocks(bytes: &[u8]) -> usize {
    match Footer::decode(bytes) {
        Some(_) => bytes.len() - FOOTER_BYTES,
        None => bytes.len(),
    }
}
