//! Slices of a recording, as far as its blocks were folded.
//!
//! They are all that is left of its events for a picture. All slices of a stream have one size,
//! which becomes larger when they take too much room, so the memory of an hour is that of a minute.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use super::PyramidBytes;
use super::row::SliceRow;
use crate::machine::Stacks;
use crate::observed_walk::ObservedWalk;
use crate::scope::Scope;
use crate::timeline::edges::{Edges, STEP};
use crate::timeline::painter::{DepthRange, PaintedBoxes, Painter};
use crate::timeline::slice::ROWS;
use crate::trace::events::Events;
use crate::trace::{StreamInfo, Trace};

/// The first size of slices as a power of two, in ticks: some hundred events.
const SHIFT: u32 = 18;

/// The greatest: some minutes.
const MOST_SHIFT: u32 = 39;

/// With more boxes a stream is given up: they take some hundred bytes each.
const MOST_BOXES: usize = 1 << 22;

/// Nothing is hidden in slices.
static ALL: LazyLock<Scope> = LazyLock::new(Scope::default);

/// Slices of streams that have not ended, and of those that have.
#[derive(Debug)]
pub(crate) struct SlicesSoFar {
    /// They take no more bytes, but for those of the next folding.
    most: usize,
    /// The first size of slices, as a power of two.
    shift: u32,
    streams: FxHashMap<u32, StreamSlices>,
}

/// A stream between two foldings.
#[derive(Debug)]
enum StreamSlices {
    Open(Box<OpenSlices>),
    Ended(Box<SliceRow>),
    /// It was given up, or events are missing in it: boxes that are not known would have the number
    /// of a predicate that was declared meanwhile.
    Unclear,
}

#[derive(Debug)]
struct OpenSlices {
    row: SliceRow,
    stacks: Stacks<PaintedBoxes>,
    painter: Painter<'static>,
    /// Tick of the last event.
    tick: u64,
}

impl SlicesSoFar {
    /// Slices that take no more than `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self::of_size(SHIFT, most)
    }

    /// The same, of another size.
    pub(in crate::timeline) fn of_size(shift: u32, most: usize) -> Self {
        Self {
            most,
            shift,
            streams: FxHashMap::default(),
        }
    }

    /// The next blocks of streams happen, and then some of these have ended. Streams by their
    /// place.
    pub(crate) fn go_on(
        &mut self,
        trace: &Trace,
        parts: &[(usize, Range<usize>)],
        ended: &[usize],
    ) {
        for (at, blocks) in parts {
            let stream = &trace.streams()[*at];
            let before = self.streams.remove(&stream.id);
            let next = match before {
                Some(StreamSlices::Open(open)) => open.go_on(trace, stream, blocks.clone()),
                None => OpenSlices::begin(self.shift, trace, stream, blocks.clone()),
                Some(other) => other,
            };
            self.streams.insert(stream.id, next);
        }
        self.fit();
        for at in ended {
            let stream = &trace.streams()[*at];
            if let Some(StreamSlices::Open(open)) = self.streams.remove(&stream.id) {
                let (end, _) = trace.end_of(stream);
                self.streams
                    .insert(stream.id, StreamSlices::Ended(Box::new(open.end(end))));
            }
        }
    }

    /// Makes the smallest slices larger until all take no more room than they may.
    fn fit(&mut self) {
        let bytes = |streams: &FxHashMap<u32, StreamSlices>| {
            let rows = streams.values().filter_map(StreamSlices::row);
            rows.map(SliceRow::bytes).sum::<usize>()
        };
        while bytes(&self.streams) > self.most {
            let shifts = self
                .streams
                .values()
                .filter_map(StreamSlices::row)
                .map(SliceRow::shift);
            let Some(least) = shifts.min().filter(|least| least + STEP <= MOST_SHIFT) else {
                return;
            };
            for stream in self.streams.values_mut() {
                if stream.row().is_some_and(|row| row.shift() == least) {
                    *stream = std::mem::replace(stream, StreamSlices::Unclear).coarser();
                }
            }
        }
    }

    /// Slices of all streams of a trace, if all have ended.
    pub(crate) fn all(self, trace: &Trace) -> Option<Arc<[PyramidBytes]>> {
        let mut all = Vec::new();
        for (id, stream) in self.streams {
            let levels = match stream {
                StreamSlices::Open(_) => return None,
                StreamSlices::Ended(row) => row.levels(),
                StreamSlices::Unclear => None,
            };
            if let (Some(levels), Some(at)) = (levels, trace.stream_place(id)) {
                all.push(PyramidBytes {
                    stream: at as u64,
                    levels,
                });
            }
        }
        Some(Arc::from(all))
    }
}

impl StreamSlices {
    fn row(&self) -> Option<&SliceRow> {
        match self {
            Self::Open(open) => Some(&open.row),
            Self::Ended(row) => Some(row),
            Self::Unclear => None,
        }
    }

    /// With slices of the next size.
    fn coarser(self) -> Self {
        let coarser = match self {
            Self::Open(open) => {
                let OpenSlices {
                    row,
                    stacks,
                    mut painter,
                    tick,
                } = *open;
                painter.coarsen();
                row.coarser().map(|row| {
                    Self::Open(Box::new(OpenSlices {
                        row,
                        stacks,
                        painter,
                        tick,
                    }))
                })
            }
            Self::Ended(row) => row.coarser().map(|row| Self::Ended(Box::new(row))),
            Self::Unclear => None,
        };
        coarser.unwrap_or(Self::Unclear)
    }
}

impl OpenSlices {
    fn begin(shift: u32, trace: &Trace, stream: &StreamInfo, blocks: Range<usize>) -> StreamSlices {
        let first = trace.block_header(blocks.start);
        let tick = first.map_or(0, |header| header.base_tick);
        let rows = DepthRange {
            first: 0,
            many: ROWS,
        };
        let painter = Painter::new(Edges::multiples(shift, tick), rows, &ALL).for_slices();
        let open = Box::new(Self {
            row: SliceRow::new(shift),
            stacks: Stacks::new(stream.dialect(), trace.unknown_predicate()),
            painter,
            tick,
        });
        open.go_on(trace, stream, blocks)
    }

    /// The next blocks of the stream happen.
    fn go_on(
        mut self: Box<Self>,
        trace: &Trace,
        stream: &StreamInfo,
        blocks: Range<usize>,
    ) -> StreamSlices {
        let mut walk = ObservedWalk::going_on(Events::part(trace, stream, blocks), self.stacks);
        self.painter.go_on(&mut walk);
        if self.painter.is_unclear() || walk.boxes() > MOST_BOXES {
            return StreamSlices::Unclear;
        }
        self.tick = walk.tick().unwrap_or(self.tick);
        self.stacks = walk.into_stacks();
        for painted in self.painter.take(false) {
            self.row.add(&painted.ticks.clone(), painted.into_slice());
        }
        StreamSlices::Open(self)
    }

    /// Nothing comes after `tick`.
    fn end(mut self, tick: u64) -> SliceRow {
        self.painter
            .finish(&self.stacks.active, tick.max(self.tick));
        for painted in self.painter.take(true) {
            self.row.add(&painted.ticks.clone(), painted.into_slice());
        }
        self.row
    }
}
