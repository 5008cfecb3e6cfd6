//! A stretch of a stream as a picture: columns of time, and in each the boxes of the active chain
//! by depth.
//!
//! A [`TimeRange`] says which ticks, how many columns, which depths. Of every column a [`Reader`]
//! counts what happened, and of every cell (column × depth) it says which boxes were there and from
//! when to when: one [`Segment`] exactly, or of several how many, the first, the last, and the
//! predicate that was there longest. Nothing is estimated: a column is either read, event by event,
//! or says that it is not.
//!
//! Four ways to a picture, all with the same columns where they overlap:
//! - [`Reader::read_at_most`] reads as many events as can be waited for, and else says so;
//! - [`Reader::outline`] reads none: from checkpoints of the index alone it tells the boxes that no
//!   event between two of them touched, so that of a trace of any length the outer boxes are seen
//!   at once;
//! - [`Reader::summed`] adds up slices of the index, and reads no more events than can be waited
//!   for;
//! - [`Reader::read`] reads all events of the window, in parallel from the checkpoints where there
//!   are some (without, from the beginning of the stream), and hands columns out as they are done.
//!
//! Memory is that of the columns and of the open boxes, whatever the length of the stretch.
//!
//! Depth counts boxes that are not hidden. After a gap nothing is known of what is open; all that
//! may be stands at depth 0 as one box of the unknown predicate, as in the figures. In a pause
//! boxes stay where they are; how much of a column is pause is said beside. Boxes are those of the
//! engine: a last call goes on in the box of its caller, as another segment.
//!
//! How long the recorder itself took to make a new block is not in a trace: a block begins with the
//! event that found no room in the one before, and that event's tick was read before the work. It
//! falls into the time between that event and the next. [`TimeColumn::blocks`] says where to look.

mod activation;
mod checkpoints;
mod column;
mod edges;
mod painter;
mod program;
pub(crate) mod pyramid;
mod slice;
#[cfg(test)]
mod tests;

use std::ops::Range;

use rayon::prelude::*;

use crate::moment::Moment;
use crate::progress::Progress;
use crate::scope::Scope;
use crate::trace::{StreamInfo, Trace};
use crate::walk::{Step, Trail, Walk};
use checkpoints::Anchor;
use edges::Edges;
use painter::{DepthRange, Painter, predicate_shown};
use pyramid::SlicePiece;
use slice::Sum;

pub use activation::Activation;
pub use checkpoints::Blocks;
pub use column::{Began, Counts, DepthCell, Ended, Segment, TimeColumn};
pub use program::Program;
pub use pyramid::Pyramids;

/// Events between two looks at whether anybody still wants to know.
const STRIDE: u64 = 1 << 12;

/// So many checkpoints in a part of a window that what is read before its first column does not
/// matter.
const ANCHORS_PER_PART: usize = 4;

/// The most parts of a window.
const MOST_PARTS: usize = 256;

/// What is to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The stream, by its place in [`Trace::streams`].
    pub stream: usize,
    /// From this tick.
    pub from: u64,
    /// To before this one.
    pub to: u64,
    /// How many columns the ticks are divided into.
    pub columns: u32,
    /// All columns but the first begin at multiples of so many ticks, rounded down: 1 unless a
    /// picture is to be a sum of slices ([`Pyramids::grain`]). Where a column begins is moved by
    /// less than an eighth of it, and what it shows is exact.
    pub grain: u64,
    /// The least depth; the outermost box has 0.
    pub first_row: u32,
    /// How many depths.
    pub rows: u32,
}

impl TimeRange {
    /// The tick at which a column begins; of the one after the last, where that ends.
    #[must_use]
    pub fn start_of(&self, column: u32) -> u64 {
        let span = u128::from(self.to.saturating_sub(self.from));
        let offset = span * u128::from(column) / u128::from(self.columns.max(1));
        let offset = u64::try_from(offset).unwrap_or(u64::MAX);
        let tick = self.from.saturating_add(offset);
        if column == 0 || column >= self.columns {
            return tick;
        }
        (tick - tick % self.grain.max(1)).max(self.from)
    }

    /// The column that a tick lies in; `None` outside.
    #[must_use]
    pub fn column_of(&self, tick: u64) -> Option<u32> {
        if tick < self.from || tick >= self.to || self.columns == 0 {
            return None;
        }
        let span = u128::from(self.to - self.from);
        let offset = u128::from(tick - self.from);
        // The last column that begins at or before the tick.
        let column = ((offset + 1) * u128::from(self.columns) - 1) / span;
        let mut column = u32::try_from(column).ok()?;
        // Those after it may begin earlier than they would.
        while column + 1 < self.columns && self.start_of(column + 1) <= tick {
            column += 1;
        }
        Some(column)
    }
}

/// Reads stretches of a trace.
#[derive(Debug)]
pub struct Reader<'t> {
    trace: &'t Trace,
    blocks: &'t Blocks,
    trail: Option<&'t Trail>,
    pyramids: Option<&'t Pyramids>,
    scope: &'t Scope,
    /// Each part of a window that is read on its own has at least so many checkpoints.
    anchors_per_part: usize,
}

/// Columns that are read on their own, and from where.
#[derive(Debug)]
struct ColumnsPart {
    columns: Range<u32>,
    /// Number of the event to begin with.
    event: u64,
}

impl<'t> Reader<'t> {
    /// Reads a trace, along a trail if it has one; it must follow the focus of the scope. Boxes
    /// that the scope does not show are not drawn.
    #[must_use]
    pub fn new(
        trace: &'t Trace,
        blocks: &'t Blocks,
        trail: Option<&'t Trail>,
        scope: &'t Scope,
    ) -> Self {
        Self {
            trace,
            blocks,
            trail,
            pyramids: None,
            scope,
            anchors_per_part: ANCHORS_PER_PART,
        }
    }

    /// The same, with slices of the whole trace.
    #[must_use]
    pub fn with_slices(self, pyramids: Option<&'t Pyramids>) -> Self {
        Self { pyramids, ..self }
    }

    /// The number of the last event of a stream that is not after a tick; `None` if there is none.
    #[must_use]
    pub fn last_event(&self, stream: usize, tick: u64) -> Option<u64> {
        let info = self.trace.streams().get(stream)?;
        let anchors = self.anchors(stream);
        let before = anchors.partition_point(|anchor| anchor.tick < tick);
        let from = before.checked_sub(1).map_or(0, |at| anchors[at].event);
        let walk = Walk::from(self.trace, self.trail, info, from);
        let last = walk.take_while(|step| step.tick <= tick).last();
        last.map(|step| step.number).or(from.checked_sub(1))
    }

    /// The row of the box of an event, and of an event of no box the first one; `moment` is after
    /// it.
    #[must_use]
    pub fn row_of(&self, step: &Step, moment: &Moment) -> u64 {
        let Some((of, depth)) = step.of else { return 0 };
        if !self.scope.has_transparent() {
            return depth;
        }
        let around = moment.active().newest().filter(|open| {
            let shows = predicate_shown(self.scope, open).unwrap_or(Some(open.called_as));
            open.called != of.called && shows.is_some()
        });
        around.count() as u64
    }

    /// What is known without reading an event: nothing but where blocks begin if there is no index.
    #[must_use]
    pub fn outline(&self, window: &TimeRange) -> Vec<TimeColumn> {
        let mut columns = vec![TimeColumn::default(); window.columns as usize];
        if let (Some(stream), Some(trail)) = (self.stream(window), self.trail)
            && !self.scope.has_transparent()
        {
            checkpoints::outline(self.blocks, stream, trail, window, &mut columns);
        }
        for (column, folded) in columns.iter_mut().zip(self.folded(window)) {
            if let Some(folded) = folded {
                *column = folded;
            }
        }
        self.add_blocks(window, 0, &mut columns);
        columns
    }

    /// The columns with events that were folded and are not there any more: what they have is a sum
    /// of slices, as far as there are some. `None` for the other ones.
    fn folded(&self, window: &TimeRange) -> Vec<Option<TimeColumn>> {
        let Some(stream) = self.stream(window) else {
            return Vec::new();
        };
        let began = stream.begin_tick().unwrap_or(0);
        let ended = stream.end.map_or(u64::MAX, |end| end.tick);
        let pyramids = self.pyramids.filter(|_| !self.scope.has_transparent());
        (0..window.columns)
            .map(|at| {
                let ticks = window.start_of(at)..window.start_of(at + 1);
                if self.blocks.has_all(window.stream, &ticks) {
                    return None;
                }
                // Nothing happens before and after the stream: so those slices count as a whole.
                let from = if ticks.start > began { ticks.start } else { 0 };
                let to = if ticks.end <= ended {
                    ticks.end
                } else {
                    u64::MAX
                };
                let pieces = pyramids.and_then(|all| all.pieces(window.stream, &(from..to)));
                let mut sum = Sum::default();
                let mut is_whole = pieces.is_some();
                for piece in pieces.into_iter().flatten() {
                    match piece {
                        SlicePiece::Known(slice) => sum.add(&slice),
                        SlicePiece::Unknown(_, stays) => {
                            sum.add(&stays);
                            is_whole = false;
                        }
                    }
                }
                let column = sum.column(window.first_row, window.rows);
                Some(match is_whole && column.read {
                    true => column,
                    false => column.in_part(ticks.end - ticks.start),
                })
            })
            .collect()
    }

    /// The columns, if no more than `most` events must be read for them (and those since the last
    /// checkpoint, if a predicate is hidden).
    #[must_use]
    pub fn read_at_most(&self, window: &TimeRange, most: u64) -> Option<Vec<TimeColumn>> {
        let Some(stream) = self.stream(window) else {
            return Some(self.empty(window));
        };
        let folded = self.folded(window);
        let anchors = self.anchors(window.stream);
        let mut columns = Vec::with_capacity(folded.len());
        let mut left = most;
        for run in runs(&folded) {
            if let Some(folded) = &folded[run.start] {
                columns.push(folded.clone());
                continue;
            }
            let of_run = run.start as u32..run.end as u32;
            let part = self.part(&anchors, window, stream, of_run);
            columns.extend(self.paint(window, stream, &part, most, &mut || {
                left = left.saturating_sub(1);
                left > 0
            })?);
        }
        Some(columns)
    }

    /// The columns as sums of slices, if no more than about `most` events must be read beside them.
    /// Columns with boxes deeper than slices have are not all known, and then do not count as read.
    /// `None` without slices, or if predicates are hidden.
    #[must_use]
    pub fn summed(&self, window: &TimeRange, most: u64) -> Option<Vec<TimeColumn>> {
        if window.grain <= 1 || self.scope.has_transparent() {
            return None;
        }
        let (pyramids, stream) = (self.pyramids?, self.stream(window)?);
        let ticks = |at| window.start_of(at)..window.start_of(at + 1);
        let mut pieces = Vec::with_capacity(window.columns as usize);
        // Ticks that must be read, without those that follow on them.
        let mut unknown: Vec<Vec<u64>> = Vec::new();
        let folded = self.folded(window);
        for at in (0..window.columns).filter(|at| folded[*at as usize].is_none()) {
            let of_column = pyramids.pieces(window.stream, &ticks(at))?;
            for piece in &of_column {
                let SlicePiece::Unknown(ticks, _) = piece else {
                    continue;
                };
                match unknown.last_mut() {
                    Some(edges) if edges.last() == Some(&ticks.start) => edges.push(ticks.end),
                    _ => unknown.push(vec![ticks.start, ticks.end]),
                }
            }
            pieces.push(of_column);
        }
        let anchors = self.anchors(window.stream);
        let from = |edges: &[u64]| pyramid::event_before(&anchors, edges[0]);
        let events = unknown.iter().map(|edges| {
            let end = edges.last().copied().unwrap_or(0);
            self.blocks.events(stream, from(edges), end)
        });
        if events.sum::<u64>() > most {
            return None;
        }
        let read =
            |edges: Vec<u64>| pyramid::read(self.trace, self.trail, stream, from(&edges), edges);
        let mut read = unknown.into_iter().flat_map(read);
        let mut pieces = pieces.into_iter();
        let mut columns = Vec::with_capacity(folded.len());
        for folded in folded {
            if let Some(folded) = folded {
                columns.push(folded);
                continue;
            }
            let mut sum = Sum::default();
            for piece in pieces.next()? {
                match piece {
                    SlicePiece::Known(slice) => sum.add(&slice),
                    SlicePiece::Unknown(..) => sum.add(&read.next()?),
                }
            }
            columns.push(sum.column(window.first_row, window.rows));
        }
        self.add_blocks(window, 0, &mut columns);
        Some(columns)
    }

    /// All columns, in parallel on rayon's current threads: `sink` is given the number of a column,
    /// and it with some that follow, in any order. `false` if it was cancelled.
    pub fn read(
        &self,
        window: &TimeRange,
        progress: &Progress,
        sink: impl Fn(u32, Vec<TimeColumn>) + Sync,
    ) -> bool {
        let Some(stream) = self.stream(window) else {
            sink(0, self.empty(window));
            return true;
        };
        let folded = self.folded(window);
        let mut parts = Vec::new();
        for run in runs(&folded) {
            match &folded[run.start] {
                Some(folded) => sink(run.start as u32, vec![folded.clone()]),
                None => {
                    let of_run = run.start as u32..run.end as u32;
                    parts.extend(self.parts(window, stream, of_run));
                }
            }
        }
        let events = |part: &ColumnsPart| {
            let end = window.start_of(part.columns.end);
            self.blocks.events(stream, part.event, end)
        };
        let total = parts.iter().map(events).fold(0, u64::saturating_add);
        progress.expect(total);
        parts.into_par_iter().with_max_len(1).for_each(|part| {
            if progress.is_stopped() {
                return;
            }
            let mut events = 0_u64;
            let mut progress = || {
                events += 1;
                if !events.is_multiple_of(STRIDE) {
                    return true;
                }
                progress.advance(STRIDE);
                !progress.is_stopped()
            };
            let columns = self.paint(window, stream, &part, u64::MAX, &mut progress);
            if let Some(columns) = columns {
                sink(part.columns.start, columns);
            }
        });
        !progress.is_stopped()
    }

    fn stream(&self, window: &TimeRange) -> Option<&'t StreamInfo> {
        self.trace.streams().get(window.stream)
    }

    fn empty(&self, window: &TimeRange) -> Vec<TimeColumn> {
        let column = TimeColumn {
            read: true,
            ..TimeColumn::default()
        };
        vec![column; window.columns as usize]
    }

    fn anchors(&self, stream: usize) -> Vec<Anchor> {
        self.trail
            .map_or_else(Vec::new, |trail| self.blocks.anchors(trail, stream))
    }

    /// Parts of about the same number of checkpoints, of some columns.
    fn parts(
        &self,
        window: &TimeRange,
        stream: &StreamInfo,
        columns: Range<u32>,
    ) -> Vec<ColumnsPart> {
        let anchors = self.anchors(window.stream);
        let ticks = window.start_of(columns.start)..window.start_of(columns.end);
        let inside = anchors.iter().filter(|anchor| ticks.contains(&anchor.tick));
        let inside: Vec<&Anchor> = inside.collect();
        let many = (inside.len() / self.anchors_per_part).clamp(1, MOST_PARTS);
        let mut cuts: Vec<u32> = (1..many)
            .filter_map(|at| window.column_of(inside[at * inside.len() / many].tick))
            .collect();
        cuts.push(columns.end);
        cuts.dedup();
        let mut begin = columns.start;
        let mut parts = Vec::with_capacity(cuts.len());
        for cut in cuts {
            if cut > begin {
                parts.push(self.part(&anchors, window, stream, begin..cut));
                begin = cut;
            }
        }
        parts
    }

    fn part(
        &self,
        anchors: &[Anchor],
        window: &TimeRange,
        stream: &StreamInfo,
        columns: Range<u32>,
    ) -> ColumnsPart {
        let event = pyramid::event_before(anchors, window.start_of(columns.start));
        ColumnsPart {
            columns,
            event: self.known_from(stream, event),
        }
    }

    /// Where to begin to know what every box shows at an event: there, or, if all that is known of
    /// a box at a checkpoint is hidden and there was more, where the first such box was called.
    fn known_from(&self, stream: &StreamInfo, event: u64) -> u64 {
        if event == 0 || !self.scope.has_transparent() {
            return event;
        }
        let walk = Walk::from(self.trace, self.trail, stream, event);
        let moment = walk.moment();
        let boxes = moment.active().newest().chain(moment.choices().newest());
        let unclear = boxes.filter(|open| predicate_shown(self.scope, open).is_none());
        unclear.map(|open| open.called).min().unwrap_or(event)
    }

    /// The columns of a part; `None` if `goes_on` says so, which is asked at every event, or if
    /// more boxes are open at its begin than are wanted.
    fn paint(
        &self,
        window: &TimeRange,
        stream: &StreamInfo,
        part: &ColumnsPart,
        most_boxes: u64,
        goes_on: &mut impl FnMut() -> bool,
    ) -> Option<Vec<TimeColumn>> {
        let walk = Walk::from(self.trace, self.trail, stream, part.event);
        let columns = part.columns.clone();
        if walk.moment().boxes() > most_boxes {
            return None;
        }
        let edges = (columns.start..=columns.end).map(|at| window.start_of(at));
        let rows = DepthRange {
            first: window.first_row,
            many: window.rows,
        };
        let painter = Painter::new(Edges::At(edges.collect()), rows, self.scope);
        let mut columns = painter.paint(walk, stream, goes_on)?.columns();
        self.add_blocks(window, part.columns.start, &mut columns);
        Some(columns)
    }

    /// Counts the blocks that begin in some columns, of which the first one has this number.
    fn add_blocks(&self, window: &TimeRange, first: u32, columns: &mut [TimeColumn]) {
        let Some(stream) = self.stream(window) else {
            return;
        };
        for block in self.blocks.of_stream(stream) {
            let column = window
                .column_of(block.tick)
                .and_then(|at| at.checked_sub(first));
            if let Some(column) = column.and_then(|at| columns.get_mut(at as usize)) {
                column.blocks += 1;
            }
        }
    }
}

/// Ranges of columns: each that was folded alone, and others together with those beside them.
fn runs(folded: &[Option<TimeColumn>]) -> Vec<Range<usize>> {
    let runs = folded.chunk_by(|one, next| one.is_none() && next.is_none());
    let mut begin = 0;
    runs.map(|run| {
        begin += run.len();
        begin - run.len()..begin
    })
    .collect()
}
