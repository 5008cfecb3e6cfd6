//! Slices of streams at several sizes, each eight times the one below, so that a picture of any
//! length is a sum of few of them.
//!
//! A slice is what a stream did from one multiple of a power of eight ticks to the next
//! ([`Slice`]). The smallest have some thousand events. A slice in which nothing happens is not
//! kept, but for the first of eight: what is in it follows from the one before. Sums are exact,
//! but for one thing: of the predicates at a depth, each slice tells at most eight apart
//! ([`DepthCell::untold`](super::DepthCell::untold)).
//!
//! Where a picture's columns begin at multiples of a slice's length, the sum of slices is what a
//! reading of all events finds; [`TimeRange::grain`](super::TimeRange::grain) is that multiple.
//! What is beside such multiples, as the ends of a picture, is read from events.

mod build;
mod row;
mod so_far;

use std::ops::Range;
use std::sync::Arc;

use bincode::{Decode, Encode};

use super::edges::STEP;
use super::slice::Slice;
use crate::trace::Trace;
pub(crate) use build::SliceSizes;
pub(super) use build::{event_before, read};
pub(crate) use so_far::SlicesSoFar;

/// A column has at least so many slices of the size that its begin is rounded to.
const PER_COLUMN: u64 = 8;

/// The bit of a slice's first byte that says that there are none below it.
const IS_LEAF: u8 = 1;

/// Slices of one size, as an index has them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(crate) struct LevelBytes {
    /// The length of a slice is this power of two, in ticks.
    shift: u8,
    /// The number of the first one, which is its first tick over its length, and from each to the
    /// next.
    steps: Vec<u64>,
    /// Bytes of each.
    lengths: Vec<u32>,
    bytes: Vec<u8>,
}

/// Slices of a stream, as an index has them, the smallest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(crate) struct PyramidBytes {
    /// The stream, by its place in the trace.
    stream: u64,
    levels: Vec<LevelBytes>,
}

/// Slices of the streams of a trace.
#[derive(Debug, Default)]
pub struct Pyramids {
    bytes: Arc<[PyramidBytes]>,
    /// By stream.
    streams: Vec<Option<Pyramid>>,
}

/// Where the slices of a stream are, the smallest first.
#[derive(Debug)]
pub(super) struct Pyramid {
    /// The place of the stream's bytes.
    at: usize,
    levels: Vec<Level>,
}

/// Where the slices of one size are.
#[derive(Debug)]
struct Level {
    shift: u32,
    numbers: Vec<u64>,
    /// Where the bytes of each end.
    ends: Vec<usize>,
}

/// What a stretch consists of.
#[derive(Debug)]
pub(super) enum SlicePiece {
    /// What is known of it.
    Known(Slice),
    /// Ticks whose events must be read, and what is known without them: boxes that are there all
    /// the time.
    Unknown(Range<u64>, Slice),
}

impl Pyramids {
    /// Those of the index of a trace. `None` if they cannot be.
    pub(crate) fn of_index(bytes: Arc<[PyramidBytes]>, trace: &Trace) -> Option<Self> {
        let mut all = Vec::new();
        all.resize_with(trace.streams().len(), || None);
        for (at, one) in bytes.iter().enumerate() {
            let place = all.get_mut(usize::try_from(one.stream).ok()?)?;
            *place = Some(Pyramid::of(at, one)?);
        }
        Some(Self {
            bytes,
            streams: all,
        })
    }

    /// The most ticks of which the columns of a picture can begin at multiples to be a sum of
    /// slices; 1 if that cannot be. The columns have `column` ticks.
    #[must_use]
    pub fn grain(&self, stream: usize, column: u64) -> u64 {
        let levels = self
            .of_stream(stream)
            .map_or(&[][..], |found| &found.levels);
        let lengths = levels.iter().map(|level| 1 << level.shift);
        let fit = lengths.take_while(|length: &u64| length.saturating_mul(PER_COLUMN) <= column);
        fit.last().unwrap_or(1)
    }

    fn of_stream(&self, stream: usize) -> Option<&Pyramid> {
        self.streams.get(stream)?.as_ref()
    }

    /// What the ticks of a stream consist of, in order. `None` if there are no slices of the
    /// stream, or they contradict each other.
    pub(super) fn pieces(&self, stream: usize, ticks: &Range<u64>) -> Option<Vec<SlicePiece>> {
        let pyramid = self.of_stream(stream)?;
        let top = pyramid.levels.len().checked_sub(1)?;
        let search = SliceSearch {
            levels: &pyramid.levels,
            bytes: &self.bytes.get(pyramid.at)?.levels,
            ticks,
        };
        let mut pieces = Vec::new();
        search.among(top, 0..u64::MAX, &mut pieces)?;
        Some(pieces)
    }
}

impl Pyramid {
    fn of(at: usize, bytes: &PyramidBytes) -> Option<Self> {
        let mut levels: Vec<Level> = Vec::with_capacity(bytes.levels.len());
        for one in &bytes.levels {
            let shift = u32::from(one.shift);
            let is_above = levels
                .last()
                .is_none_or(|below| shift == below.shift + STEP);
            if !is_above || shift >= u64::BITS || one.steps.len() != one.lengths.len() {
                return None;
            }
            let mut level = Level {
                shift,
                numbers: Vec::with_capacity(one.steps.len()),
                ends: Vec::with_capacity(one.steps.len()),
            };
            let (mut number, mut end) = (0_u64, 0_usize);
            for (step, length) in one.steps.iter().zip(&one.lengths) {
                number = number.checked_add(*step)?;
                if level.numbers.last() == Some(&number) || number > u64::MAX >> shift {
                    return None;
                }
                end = end.checked_add(*length as usize)?;
                level.numbers.push(number);
                level.ends.push(end);
            }
            if end != one.bytes.len() {
                return None;
            }
            levels.push(level);
        }
        Some(Self { at, levels })
    }
}

/// Looks for the slices in some ticks.
struct SliceSearch<'p> {
    levels: &'p [Level],
    bytes: &'p [LevelBytes],
    ticks: &'p Range<u64>,
}

impl SliceSearch<'_> {
    /// Those of one size with these numbers, or what they consist of. `None` if one is missing that
    /// must be there.
    fn among(&self, level: usize, numbers: Range<u64>, pieces: &mut Vec<SlicePiece>) -> Option<()> {
        let of = self.levels.get(level)?;
        let Some(last) = self.ticks.end.checked_sub(1) else {
            return Some(());
        };
        let mut number = numbers.start.max(self.ticks.start >> of.shift);
        let end = numbers.end.min((last >> of.shift) + 1);
        while number < end {
            let at = of.numbers.partition_point(|one| *one < number);
            let next = of.numbers.get(at).copied().filter(|next| *next < end);
            if next == Some(number) {
                self.at(level, at, pieces)?;
                number += 1;
                continue;
            }
            // Nothing happens up to the next one.
            let from = (number << of.shift).max(self.ticks.start);
            let until = next.unwrap_or(end);
            let to = ticks_of(until - 1, of.shift).end.min(self.ticks.end);
            let before = at.checked_sub(1);
            let before = before.filter(|before| of.numbers[*before] >= numbers.start);
            pieces.push(SlicePiece::Known(match before {
                Some(before) => self.slice(level, before)?.after(&(from..to)),
                // Before all events.
                None if level + 1 == self.levels.len() => Slice::default().after(&(from..to)),
                None => return None,
            }));
            number = until;
        }
        Some(())
    }

    fn at(&self, level: usize, at: usize, pieces: &mut Vec<SlicePiece>) -> Option<()> {
        let of = &self.levels[level];
        let number = of.numbers[at];
        let ticks = ticks_of(number, of.shift);
        if self.ticks.start <= ticks.start && ticks.end <= self.ticks.end {
            pieces.push(SlicePiece::Known(self.slice(level, at)?));
            return Some(());
        }
        let is_leaf = self.bytes_of(level, at)?.first()? & IS_LEAF != 0;
        if let Some(below) = level.checked_sub(1).filter(|_| !is_leaf) {
            return self.among(below, number << STEP..(number + 1) << STEP, pieces);
        }
        let inside = ticks.start.max(self.ticks.start)..ticks.end.min(self.ticks.end);
        let slice = self.slice(level, at)?;
        let stays = slice.throughout(&ticks, &inside);
        pieces.push(match slice.column.counts.events {
            0 => SlicePiece::Known(stays),
            _ => SlicePiece::Unknown(inside, stays),
        });
        Some(())
    }

    fn slice(&self, level: usize, at: usize) -> Option<Slice> {
        let of = &self.levels[level];
        let number = of.numbers[at];
        let ticks = ticks_of(number, of.shift);
        Slice::decode(self.bytes_of(level, at)?, &ticks)
    }

    fn bytes_of(&self, level: usize, at: usize) -> Option<&[u8]> {
        let ends = &self.levels[level].ends;
        let begin = at.checked_sub(1).map_or(0, |before| ends[before]);
        self.bytes.get(level)?.bytes.get(begin..ends[at])
    }
}

/// The ticks of a slice; the last one of all ticks ends a tick early.
fn ticks_of(number: u64, shift: u32) -> Range<u64> {
    let end = u64::try_from(u128::from(number + 1) << shift).unwrap_or(u64::MAX);
    number << shift..end
}

/// Changes a byte or a number.
#[cfg(test)]
pub(super) fn spoil(all: &mut [PyramidBytes], seed: usize) {
    let levels = &mut all[0].levels;
    let at = seed % levels.len();
    let level = &mut levels[at];
    match seed % 5 {
        0 => level.steps[seed % 3] ^= 1 << (seed % 64),
        1 => level.lengths[0] ^= 1 << (seed % 32),
        _ => {
            let byte = seed * 7919 % level.bytes.len();
            level.bytes[byte] ^= 1 << (seed % 8);
        }
    }
}
