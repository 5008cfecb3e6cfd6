//! The slices of a stream that are all of one size, as far as they were made: so many that they
//! fit, whatever the length of the stream.

use std::ops::Range;

use super::build::{LevelSlices, in_a_row, parents};
use super::{IS_LEAF, LevelBytes, ticks_of};
use crate::timeline::edges::STEP;
use crate::timeline::slice::{Slice, Sum};

/// Slices of one size. One that is missing is what follows from the last one before it.
#[derive(Debug)]
pub(super) struct SliceRow {
    /// The length of a slice is this power of two, in ticks.
    shift: u32,
    done: LevelSlices,
    /// Bytes of those.
    bytes: usize,
    /// The slice that is being put together.
    open: Option<PartialSlice>,
    /// What was added last.
    last: Slice,
}

/// A slice of which a part is known.
#[derive(Debug)]
struct PartialSlice {
    number: u64,
    /// Where that part ends.
    until: u64,
    sum: Sum,
}

impl SliceRow {
    pub(super) fn new(shift: u32) -> Self {
        Self {
            shift,
            done: LevelSlices::new(),
            bytes: 0,
            open: None,
            last: Slice::default(),
        }
    }

    pub(super) fn shift(&self) -> u32 {
        self.shift
    }

    /// Bytes that its slices take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds ticks that come after those before, and lie in one slice.
    pub(super) fn add(&mut self, ticks: &Range<u64>, slice: Slice) {
        let number = ticks.start >> self.shift;
        if self.open.as_ref().is_some_and(|open| open.number != number) {
            self.end_slice();
        }
        let last = &self.last;
        let open = self.open.get_or_insert_with(|| PartialSlice {
            number,
            until: number << self.shift,
            sum: Sum::default(),
        });
        if open.until < ticks.start {
            open.sum.add(&last.after(&(open.until..ticks.start)));
        }
        open.sum.add(&slice);
        open.until = ticks.end;
        self.last = slice;
    }

    fn end_slice(&mut self) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        let ticks = ticks_of(open.number, self.shift);
        if open.until < ticks.end {
            open.sum.add(&self.last.after(&(open.until..ticks.end)));
        }
        let slice = open.sum.slice();
        if !slice.is_like_before(&ticks) {
            self.put(open.number, &slice, ticks.start);
        }
    }

    fn put(&mut self, number: u64, slice: &Slice, begin: u64) {
        let mut bytes = slice.encode(begin);
        bytes[0] |= IS_LEAF;
        self.bytes += bytes.len();
        self.done.insert(number, bytes);
    }

    /// The same with slices of the next size. `None` if its bytes cannot be.
    pub(super) fn coarser(mut self) -> Option<Self> {
        let mut coarser = Self::new(self.shift + STEP);
        for (number, bytes) in std::mem::take(&mut self.done) {
            let ticks = ticks_of(number, self.shift);
            let slice = Slice::decode(&bytes, &ticks)?;
            coarser.add(&ticks, slice);
        }
        if let Some(open) = self.open {
            let begin = open.number << self.shift;
            coarser.add(&(begin..open.until), open.sum.slice());
        }
        coarser.last = self.last;
        Some(coarser)
    }

    /// Slices of all sizes, the smallest first, when nothing more comes. `None` if there are none.
    pub(super) fn levels(mut self) -> Option<Vec<LevelBytes>> {
        self.end_slice();
        let (mut first, mut last) = (*self.done.keys().next()?, *self.done.keys().next_back()?);
        let mut levels = Vec::new();
        let (mut level, mut shift) = (self.done, self.shift);
        while last - first >= 1 << STEP {
            add_firsts(&mut level, shift)?;
            let above = parents(&level, shift)?;
            levels.push(in_a_row(
                shift,
                std::mem::replace(&mut level, above.into_iter().collect()),
            ));
            shift += STEP;
            (first, last) = (first >> STEP, last >> STEP);
        }
        levels.push(in_a_row(shift, level));
        Some(levels)
    }
}

/// Adds the first one of each eight slices of which there is any.
fn add_firsts(level: &mut LevelSlices, shift: u32) -> Option<()> {
    let mut missing = Vec::new();
    let mut before: Option<(u64, &Vec<u8>)> = None;
    for (number, bytes) in level.iter() {
        let first = number >> STEP << STEP;
        if before.is_none_or(|(before, _)| before < first) && *number > first {
            let slice = before.map_or_else(
                || Some(Slice::default()),
                |(number, bytes)| Slice::decode(bytes, &ticks_of(number, shift)),
            );
            let ticks = ticks_of(first, shift);
            let mut made = slice?.after(&ticks).encode(ticks.start);
            made[0] |= IS_LEAF;
            missing.push((first, made));
        }
        before = Some((*number, bytes));
    }
    level.extend(missing);
    Some(())
}
