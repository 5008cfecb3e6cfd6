//! How slices are made: the smallest from events, in parallel from the checkpoints, each larger one
//! from eight.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{IS_LEAF, LevelBytes, PyramidBytes, Pyramids, ticks_of};
use crate::scope::Scope;
use crate::timeline::checkpoints::{Anchor, Blocks};
use crate::timeline::edges::{Edges, STEP};
use crate::timeline::painter::{DepthRange, Painter};
use crate::timeline::slice::{ROWS, Slice, Sum};
use crate::trace::{StreamInfo, Trace};
use crate::walk::{Trail, Walk};

/// A slice of more events is cut, as far as block headers tell.
const MOST_EVENTS: u64 = 4096;

/// A stream of fewer events is read as fast.
const LEAST_EVENTS: u64 = 100_000;

/// The slices of a stream take no more than this part of its events.
const SHARE: u64 = 8;

/// So many checkpoints in what is read on its own.
const ANCHORS_PER_PART: usize = 4;

/// How slices are made; other values are for tests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SliceSizes {
    pub(crate) most_events: u64,
    pub(crate) least_events: u64,
    /// The slices of a stream take no more than this part of its events; 0 is no limit.
    pub(crate) share: u64,
}

impl Default for SliceSizes {
    fn default() -> Self {
        Self {
            most_events: MOST_EVENTS,
            least_events: LEAST_EVENTS,
            share: SHARE,
        }
    }
}

/// A slice that is made from events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Leaf {
    shift: u32,
    number: u64,
}

impl Leaf {
    fn ticks(self) -> Range<u64> {
        ticks_of(self.number, self.shift)
    }
}

/// A slice, and its bytes.
type MadeSlice = (Leaf, Vec<u8>);

/// Bytes of slices of one size, by number.
pub(super) type LevelSlices = BTreeMap<u64, Vec<u8>>;

/// The same by size.
type Levels = BTreeMap<u32, LevelSlices>;

impl Pyramids {
    /// Those of the long streams of a trace in which no event was lost. `None` if
    /// `is_cancelled` became true.
    pub(crate) fn of(
        trace: &Trace,
        trail: &Trail,
        sizes: SliceSizes,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Self> {
        let blocks = Blocks::of(trace);
        let mut all = Vec::new();
        for (at, stream) in trace.streams().iter().enumerate() {
            let events = stream.end.map_or(0, |end| end.events);
            if events < sizes.least_events {
                continue;
            }
            let builder = Builder {
                trace,
                trail,
                stream,
                anchors: blocks.anchors(trail, at),
                blocks: blocks.of_stream(stream),
                sizes,
            };
            let levels = builder.levels(is_cancelled);
            if is_cancelled() {
                return None;
            }
            if let Some(levels) = levels {
                all.push(PyramidBytes {
                    stream: at as u64,
                    levels,
                });
            }
        }
        Self::of_index(Arc::from(all), trace)
    }

    /// As an index has them.
    pub(crate) fn bytes(&self) -> Arc<[PyramidBytes]> {
        Arc::clone(&self.bytes)
    }
}

struct Builder<'t> {
    trace: &'t Trace,
    trail: &'t Trail,
    stream: &'t StreamInfo,
    /// Where a walk can begin.
    anchors: Vec<Anchor>,
    blocks: &'t [Anchor],
    sizes: SliceSizes,
}

impl Builder<'_> {
    fn levels(&self, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Option<Vec<LevelBytes>> {
        let (leaves, top) = self.leaves()?;
        let parts: Vec<&[Leaf]> = self.parts(&leaves);
        let done = parts.into_par_iter().map(|part| {
            if is_cancelled() {
                return None;
            }
            self.read(part)
        });
        let done: Option<Vec<Vec<MadeSlice>>> = done.collect();
        let mut levels = Levels::new();
        for (leaf, mut bytes) in done?.into_iter().flatten() {
            bytes[0] |= IS_LEAF;
            let level = levels.entry(leaf.shift).or_default();
            level.insert(leaf.number, bytes);
        }
        let least = *levels.keys().next()?;
        for shift in (least..top).step_by(STEP as usize) {
            let parents = parents(levels.get(&shift)?, shift)?;
            levels.entry(shift + STEP).or_default().extend(parents);
        }
        self.keep_to_share(&mut levels);
        let levels = levels
            .into_iter()
            .map(|(shift, level)| in_a_row(shift, level));
        Some(levels.collect())
    }

    /// How many events there are before a tick, about.
    fn events_before(&self, tick: u64) -> u64 {
        let behind = self.blocks.partition_point(|block| block.tick <= tick);
        let Some(before) = behind.checked_sub(1).map(|at| self.blocks[at]) else {
            return 0;
        };
        let end = self.stream.end.map(|end| Anchor {
            event: end.events,
            tick: end.tick.saturating_add(1),
        });
        let Some(next) = self.blocks.get(behind).copied().or(end) else {
            return before.event;
        };
        let ticks = u128::from(next.tick.saturating_sub(before.tick)).max(1);
        let passed = u128::from(tick - before.tick).min(ticks);
        let events = next.event.saturating_sub(before.event);
        before.event + (u128::from(events) * passed / ticks) as u64
    }

    /// The slices that are to be made from events, which have all ticks of the stream, and the size
    /// of the largest.
    fn leaves(&self) -> Option<(Vec<Leaf>, u32)> {
        let (first, end) = (self.blocks.first()?.tick, self.stream.end?);
        let span = end.tick.checked_sub(first)?;
        let many = (end.events / self.sizes.most_events).max(1);
        let mut top = 0;
        while (end.tick >> top) - (first >> top) >= 1 << STEP {
            top += STEP;
        }
        let mut base = 0;
        while base + STEP <= top && span >> (base + STEP) >= many {
            base += STEP;
        }
        let mut leaves = Vec::new();
        for number in first >> top..=end.tick >> top {
            self.cut(Leaf { shift: top, number }, base, &mut leaves);
        }
        Some((leaves, top))
    }

    fn cut(&self, leaf: Leaf, base: u32, leaves: &mut Vec<Leaf>) {
        let ticks = leaf.ticks();
        let events = self.events_before(ticks.end) - self.events_before(ticks.start);
        let is_large = events > self.sizes.most_events || (events > 0 && leaf.shift > base);
        match leaf.shift.checked_sub(STEP).filter(|_| is_large) {
            None => leaves.push(leaf),
            Some(shift) => {
                for number in leaf.number << STEP..(leaf.number + 1) << STEP {
                    self.cut(Leaf { shift, number }, base, leaves);
                }
            }
        }
    }

    /// Parts that have some checkpoints each.
    fn parts<'l>(&self, leaves: &'l [Leaf]) -> Vec<&'l [Leaf]> {
        let mut parts = Vec::new();
        let mut rest = leaves;
        for anchor in self.anchors.iter().step_by(ANCHORS_PER_PART) {
            let before = rest.partition_point(|leaf| leaf.ticks().start <= anchor.tick);
            let (part, behind) = rest.split_at(before);
            if !part.is_empty() {
                parts.push(part);
            }
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(rest);
        }
        parts
    }

    /// The slices of a part in which anything happens. `None` if events were lost.
    fn read(&self, part: &[Leaf]) -> Option<Vec<MadeSlice>> {
        let (first, last) = (part.first()?.ticks().start, part.last()?.ticks().end);
        let mut edges: Vec<u64> = part.iter().map(|leaf| leaf.ticks().start).collect();
        edges.push(last);
        let slices = read(
            self.trace,
            Some(self.trail),
            self.stream,
            event_before(&self.anchors, first),
            edges,
        );
        let end = self.stream.end?.tick;
        let mut kept = Vec::new();
        for (leaf, slice) in part.iter().zip(slices) {
            if slice.column.counts.gaps > 0 || slice.column.gap_ticks > 0 {
                return None;
            }
            let ticks = leaf.ticks();
            let is_first = leaf.number.is_multiple_of(1 << STEP);
            if is_first || ticks.contains(&end) || !slice.is_like_before(&ticks) {
                kept.push((*leaf, slice.encode(ticks.start)));
            }
        }
        Some(kept)
    }

    /// Takes the smallest slices away until the others take no more than their share.
    fn keep_to_share(&self, levels: &mut Levels) {
        let bytes = self.trace.bytes_of(self.stream.blocks.clone());
        let sizes = |level: &LevelSlices| {
            level
                .values()
                .map(|slice| slice.len() as u64 + 4)
                .sum::<u64>()
        };
        let most = bytes.checked_div(self.sizes.share).unwrap_or(u64::MAX);
        while levels.len() > 1 && levels.values().map(sizes).sum::<u64>() > most {
            let Some((_, gone)) = levels.pop_first() else {
                return;
            };
            let Some(mut above) = levels.first_entry() else {
                return;
            };
            for number in gone.into_keys() {
                if let Some(slice) = above.get_mut().get_mut(&(number >> STEP)) {
                    slice[0] |= IS_LEAF;
                }
            }
        }
    }
}

/// The number of an event before which no event is at a tick, or after it; where a walk can begin.
pub(in crate::timeline) fn event_before(anchors: &[Anchor], tick: u64) -> u64 {
    // Events at the tick of a checkpoint may lie before it.
    let before = anchors.partition_point(|anchor| anchor.tick < tick);
    before.checked_sub(1).map_or(0, |at| anchors[at].event)
}

/// Slices from edge to edge, of the events from one on.
pub(in crate::timeline) fn read(
    trace: &Trace,
    trail: Option<&Trail>,
    stream: &StreamInfo,
    event: u64,
    edges: Vec<u64>,
) -> Vec<Slice> {
    let walk = Walk::from(trace, trail, stream, event);
    let rows = DepthRange {
        first: 0,
        many: ROWS,
    };
    let scope = Scope::default();
    let painter = Painter::new(Edges::At(edges), rows, &scope).for_slices();
    let painted = painter.paint(walk, stream, &mut || true);
    painted.map_or_else(Vec::new, Painter::slices)
}

/// The slices that consist of these.
pub(super) fn parents(level: &LevelSlices, shift: u32) -> Option<Vec<(u64, Vec<u8>)>> {
    let mut parents: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut rest = level.iter().peekable();
    while let Some((first, _)) = rest.peek() {
        let parent = *first >> STEP;
        let mut sum = Sum::default();
        let mut before = Slice::default();
        let mut until = parent << STEP;
        let end = (parent + 1) << STEP;
        while let Some((number, bytes)) = rest.next_if(|(number, _)| **number < end) {
            if until < *number {
                sum.add(&before.after(&(until << shift..*number << shift)));
            }
            let ticks = ticks_of(*number, shift);
            before = Slice::decode(bytes, &ticks)?;
            sum.add(&before);
            until = number + 1;
        }
        if until < end {
            sum.add(&before.after(&(until << shift..ticks_of(end - 1, shift).end)));
        }
        let slice = sum.slice().encode(parent << (shift + STEP));
        parents.push((parent, slice));
    }
    Some(parents)
}

pub(super) fn in_a_row(shift: u32, level: LevelSlices) -> LevelBytes {
    let mut row = LevelBytes {
        shift: shift as u8,
        ..LevelBytes::default()
    };
    let mut last = 0;
    for (number, bytes) in level {
        row.steps.push(number - last);
        row.lengths.push(bytes.len() as u32);
        row.bytes.extend_from_slice(&bytes);
        last = number;
    }
    row
}
