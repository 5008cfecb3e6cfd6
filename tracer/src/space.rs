//! The growing file: where the next block goes.
//!
//! Blocks are carved one after another from the newest segment. As long as nothing lies behind the
//! last of them it can be made larger instead of adding one, and gives back what it has left in the
//! end: a small trace is hardly larger than its events. At the limit, or on a full disk,
//! there is no more space ([`Keep::First`]) or that of the oldest closed block of events
//! ([`Keep::Last`]; with [`Keep::Figures`] if its events were folded). With [`Keep::FiguresBeyond`]
//! folded blocks are used again before the file grows beyond its size. Records have the last eighth
//! of a limited file to themselves, so that what was recorded stays readable; where blocks are used
//! again they take those of events when that is used up.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Weak};

use crate::block::Block;
use crate::fold::{self, Fate};
use crate::format::{BLOCK_ALIGN, FILE_HEADER_BYTES};
use crate::options::Keep;
use crate::segment::{self, FileSegment, Slot};
use crate::truncation;

/// The smallest block: the first of a stream.
pub(crate) const MIN_BLOCK: u32 = 512;
/// The largest block.
pub(crate) const MAX_BLOCK: u32 = 256 << 10;

/// Up to this many bytes a stream takes as much room again as it has.
const SMALL_PORTION: u64 = 2 << 10;

/// Of so many closed blocks it is asked whether they were folded. Streams are folded together, so
/// the oldest block nearly always was if any was.
const MOST_ASKED: usize = 16;

const FIRST_SEGMENT: u64 = 1 << 20;
const MAX_SEGMENT: u64 = 16 << 20;
/// On a disk that is nearly full, smaller and smaller segments use what is left.
const MIN_SEGMENT: u64 = 16 << 10;

/// Why there is no more space.
#[derive(Debug)]
pub(crate) enum Exhausted {
    /// The limit that the user set.
    Limit,
    /// The disk, a quota, a limit of the system.
    System(io::Error),
}

#[derive(Debug)]
struct MappedSpace {
    offset: u64,
    length: u64,
    segment: Weak<FileSegment>,
}

#[derive(Debug)]
pub(crate) struct Space {
    file: File,
    keep: Keep,
    /// The file is never longer than this.
    max_size: u64,
    /// Blocks of events are not carved beyond this.
    events_end: u64,
    segments: Vec<MappedSpace>,
    newest: Arc<FileSegment>,
    /// Where the next block is carved, in the newest segment.
    next: u64,
    /// Where the newest segment ends.
    end: u64,
    next_length: u64,
    /// Closed blocks of events, oldest first; none with [`Keep::First`].
    closed: VecDeque<(u64, u32)>,
    /// The header of a file in which blocks were written over older ones, until it says so.
    once_reused: Option<Box<[u8; FILE_HEADER_BYTES]>>,
    /// Whether any block was.
    has_reused: bool,
    exhausted: Option<Exhausted>,
}

impl Space {
    /// Takes over a new file that holds nothing but its header. `once_reused` is that of one in
    /// which blocks were written over older ones.
    pub(crate) fn new(
        file: File,
        max_size: Option<u64>,
        keep: Keep,
        once_reused: [u8; FILE_HEADER_BYTES],
    ) -> io::Result<Self> {
        let max_size = page_floor(max_size.unwrap_or(u64::MAX).min(i64::MAX as u64));
        let (newest, length) = add_segment(&file, 0, FIRST_SEGMENT.min(max_size))?;
        let newest = Arc::new(newest);
        Ok(Self {
            file,
            keep,
            max_size,
            events_end: max_size - max_size / 8,
            segments: vec![MappedSpace {
                offset: 0,
                length,
                segment: Arc::downgrade(&newest),
            }],
            newest,
            next: FILE_HEADER_BYTES as u64,
            end: length,
            next_length: FIRST_SEGMENT * 2,
            closed: VecDeque::new(),
            once_reused: (!keep.expects_to_reuse()).then(|| Box::new(once_reused)),
            has_reused: false,
            exhausted: None,
        })
    }

    /// Room for a block of events of about `want` bytes, if there is any.
    pub(crate) fn for_events(&mut self, want: u32) -> Option<Slot> {
        if self.is_large()
            && let Some(slot) = self.recycle(MIN_BLOCK)
        {
            return Some(slot);
        }
        self.carve(MIN_BLOCK, want, self.events_end)
            .or_else(|| self.recycle(MIN_BLOCK))
    }

    /// Room for a block of records of at least `least` bytes, if there is any.
    pub(crate) fn for_records(&mut self, least: u32, want: u32) -> Option<Slot> {
        self.carve(least, want, self.max_size)
            .or_else(|| self.recycle(least))
    }

    /// Makes an open block of events up to `by` bytes larger; false if there is no room behind it.
    pub(crate) fn extend_events(&mut self, block: &mut Block, by: u32) -> bool {
        !self.is_large() && self.extend(block, MIN_BLOCK, by, self.events_end)
    }

    /// Whether the file has the size beyond which folded blocks are used first.
    fn is_large(&self) -> bool {
        matches!(self.keep, Keep::FiguresBeyond(size) if self.next >= size)
    }

    /// Makes an open block of records at least `least` bytes larger, and up to `by`.
    pub(crate) fn extend_records(&mut self, block: &mut Block, least: u32, by: u32) -> bool {
        self.extend(block, least, by, self.max_size)
    }

    fn extend(&mut self, block: &mut Block, least: u32, by: u32, end: u64) -> bool {
        let room = self.end.min(end).saturating_sub(self.next);
        let by = room.min(u64::from(by)) as u32 & !(BLOCK_ALIGN as u32 - 1);
        let possible = by >= least && self.is_newest(block.place());
        if possible {
            // SAFETY: the block ends where the next would be carved, in the same segment.
            unsafe { block.extend(by) };
            self.next += u64::from(by);
        }
        possible
    }

    /// Whether no other program has shortened the file, as far as is known. It asks the system.
    pub(crate) fn is_whole(&self) -> bool {
        // An engine that ends takes the handler back, and more will be stored.
        let kept = truncation::keep_handler().is_ok();
        let length = self.file.metadata().map_or(u64::MAX, |now| now.len());
        kept && length >= self.end && self.newest.is_whole()
    }

    /// Takes back what a closed block has left, if there is no block behind it.
    pub(crate) fn trim(&mut self, block: &mut Block) {
        if self.is_newest(block.place()) && self.leaves_zeros() {
            block.shorten();
            let (offset, size) = block.place();
            self.next = offset + u64::from(size);
        }
    }

    /// Takes back room that was not used, if there is no block behind it.
    pub(crate) fn take_back(&mut self, slot: &Slot) {
        if self.is_newest((slot.offset, slot.size)) && self.leaves_zeros() {
            self.next = slot.offset;
        }
    }

    /// Whether what a block has left is zeros: it is not once blocks are written over old ones.
    fn leaves_zeros(&self) -> bool {
        self.exhausted.is_none() && !self.has_reused
    }

    /// Whether the next block would be carved right behind this place.
    fn is_newest(&self, (offset, size): (u64, u32)) -> bool {
        let newest = self.segments.last().map_or(0, |segment| segment.offset);
        offset >= newest && offset + u64::from(size) == self.next
    }

    /// A block of events was closed; its room can be used again, if anything is.
    pub(crate) fn closed(&mut self, offset: u64, size: u32) {
        if self.keep.reuses() {
            self.closed.push_back((offset, size));
        }
    }

    /// Whether a block was written over an older one.
    pub(crate) fn has_reused(&self) -> bool {
        self.has_reused
    }

    /// Whether there will be no room again, if there is none now.
    pub(crate) fn is_full_for_good(&self) -> bool {
        match self.keep {
            Keep::First => true,
            Keep::Last | Keep::Figures => false,
            Keep::FiguresBeyond(_) => !self.has_reused,
        }
    }

    /// Why blocks of events cannot be carved any more, if they cannot.
    pub(crate) fn exhausted(&self) -> Option<&Exhausted> {
        self.exhausted.as_ref()
    }

    pub(crate) fn keep(&self) -> Keep {
        self.keep
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn max_size(&self) -> u64 {
        self.max_size
    }

    /// Where the last block ends.
    pub(crate) fn used(&self) -> u64 {
        self.next
    }

    fn carve(&mut self, least: u32, want: u32, end: u64) -> Option<Slot> {
        debug_assert!(least <= want && want.is_multiple_of(BLOCK_ALIGN as u32));
        loop {
            let room = self.end.min(end).saturating_sub(self.next);
            if room >= u64::from(least) {
                let offset = self.next;
                let size = room.min(u64::from(want)) as u32 & !(BLOCK_ALIGN as u32 - 1);
                self.next += u64::from(size);
                return Some(Slot {
                    segment: Arc::clone(&self.newest),
                    offset,
                    size,
                });
            }
            if self.end + u64::from(least) > end {
                self.exhausted.get_or_insert(Exhausted::Limit);
                return None;
            }
            self.grow()?;
        }
    }

    /// Adds a segment. What the old one has left is too small to use and stays zero.
    fn grow(&mut self) -> Option<()> {
        if matches!(self.exhausted, Some(Exhausted::System(_))) {
            return None;
        }
        let length = self.next_length.min(self.max_size - self.end);
        match add_segment(&self.file, self.end, length) {
            Ok((segment, length)) => {
                self.newest = Arc::new(segment);
                let segment = Arc::downgrade(&self.newest);
                self.segments.push(MappedSpace {
                    offset: self.end,
                    length,
                    segment,
                });
                self.next = self.end;
                self.end += length;
                self.next_length = (self.next_length * 2).min(MAX_SEGMENT);
                Some(())
            }
            Err(error) => {
                self.exhausted = Some(Exhausted::System(error));
                None
            }
        }
    }

    fn recycle(&mut self, least: u32) -> Option<Slot> {
        let at = match self.keep {
            Keep::First | Keep::Last => self.closed.iter().position(|(_, size)| *size >= least),
            Keep::Figures | Keep::FiguresBeyond(_) => self.folded(least),
        }?;
        let (offset, _) = *self.closed.get(at)?;
        let segment = self.segment_of(offset).ok()?;
        // A reader must not take what is left for all.
        if let Some(header) = &self.once_reused {
            self.file.write_all_at(&header[..], 0).ok()?;
            self.once_reused = None;
        }
        let (offset, size) = self.closed.remove(at)?;
        self.has_reused = true;
        Some(Slot {
            segment,
            offset,
            size,
        })
    }

    /// The oldest block of at least so many bytes whose room is free since its events were folded.
    /// Blocks that stay become the newest ones, so that they are not asked for again soon.
    fn folded(&mut self, least: u32) -> Option<usize> {
        let (mut at, mut asked) = (0, 0);
        for _ in 0..self.closed.len() {
            let (offset, size) = *self.closed.get(at)?;
            if size < least {
                at += 1;
                continue;
            }
            match fold::fate(&self.file, offset) {
                Some(Fate::Free) => return Some(at),
                Some(Fate::Stays) => {
                    self.closed.remove(at);
                    self.closed.push_back((offset, size));
                }
                None => (at, asked) = (at + 1, asked + 1),
            }
            if asked == MOST_ASKED {
                break;
            }
        }
        None
    }

    /// The segment at `offset`, mapped again if it was not in use.
    fn segment_of(&mut self, offset: u64) -> io::Result<Arc<FileSegment>> {
        let at = self
            .segments
            .partition_point(|mapped| mapped.offset <= offset)
            - 1;
        let mapped = &mut self.segments[at];
        if let Some(segment) = mapped.segment.upgrade() {
            return Ok(segment);
        }
        let segment = Arc::new(FileSegment::map(&self.file, mapped.offset, mapped.length)?);
        mapped.segment = Arc::downgrade(&segment);
        Ok(segment)
    }
}

/// How much room a stream that has `so_far` bytes of blocks should take next, in a new block or for
/// the one it has. Half of the last portion is wasted on average, so it is an eighth of what there
/// is, and more only where block headers would weigh more.
pub(crate) fn portion(so_far: u64, max_block: u32) -> u32 {
    let size = so_far.min(SMALL_PORTION).max(so_far / 8);
    let size = size.clamp(MIN_BLOCK.into(), max_block.into()) as u32;
    size & !(BLOCK_ALIGN as u32 - 1)
}

/// Reserves and maps up to `length` bytes from `offset` on, and says how many.
fn add_segment(file: &File, offset: u64, mut length: u64) -> io::Result<(FileSegment, u64)> {
    loop {
        match segment::reserve(file, offset, length) {
            Ok(()) => return Ok((FileSegment::map(file, offset, length)?, length)),
            Err(_) if length > MIN_SEGMENT => length = page_floor(length / 2).max(MIN_SEGMENT),
            Err(error) => return Err(error),
        }
    }
}

fn page_floor(length: u64) -> u64 {
    length & !4095
}
