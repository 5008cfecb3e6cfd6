//! What block headers and the checkpoints of an index tell of a stream without reading its events.

use std::ops::Range;

use portmortem_tracer::format::BlockHeader;

use super::TimeRange;
use super::column::{DepthCell, TimeColumn};
use crate::moment::OpenBox;
use crate::moment::stack::StackChange;
use crate::trace::events::Events;
use crate::trace::{StreamInfo, Trace, kept};
use crate::walk::{Trail, WalkStart};

/// Where a stream can be read from, on the time axis: a checkpoint, or the beginning of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    /// Number of the event that comes next.
    pub(super) event: u64,
    /// Its tick. Events before it have none that is greater.
    pub(super) tick: u64,
}

/// Where the blocks of a trace begin, and which of its events are not there.
#[derive(Debug)]
pub struct Blocks {
    pub(super) begins: Vec<Anchor>,
    /// By stream: ranges of ticks in which events happened that were not kept.
    pub(super) gone: Vec<Vec<Range<u64>>>,
}

impl Blocks {
    /// Reads the headers of all blocks of events: once for all pictures of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let mut last = Anchor { event: 0, tick: 0 };
        let anchor = |offset: u64| {
            let bytes = trace.bytes().get(usize::try_from(offset).ok()?..)?;
            let header = BlockHeader::parse(bytes, trace.file_id()).ok()?;
            Some(Anchor {
                event: header.first_event,
                tick: header.base_tick,
            })
        };
        // They were valid when the trace was opened; one that is not has changed underneath.
        let begins = trace.block_offsets().map(|offset| {
            last = anchor(offset).unwrap_or(last);
            last
        });
        let streams = trace.streams().iter();
        Self {
            begins: begins.collect(),
            gone: streams.map(|stream| kept::gone(trace, stream)).collect(),
        }
    }

    pub(super) fn of_stream(&self, stream: &StreamInfo) -> &[Anchor] {
        self.begins.get(stream.blocks.clone()).unwrap_or_default()
    }

    /// Whether all events that a stream, given by its place, had between two ticks are in the
    /// trace, and so is one where a walk to them can begin.
    pub(super) fn has_all(&self, stream: usize, ticks: &Range<u64>) -> bool {
        let gone = self.gone.get(stream).map_or(&[][..], Vec::as_slice);
        // Events at the tick where a range ends may lie in it.
        let next = gone.partition_point(|gone| gone.end < ticks.start);
        gone.get(next).is_none_or(|gone| gone.start >= ticks.end)
    }

    /// The anchors of a stream where a walk can begin, in order.
    pub(super) fn anchors(&self, trail: &Trail, stream: usize) -> Vec<Anchor> {
        let anchor = |start: &WalkStart| {
            let block = self.begins.get(start.block)?;
            Some(Anchor {
                event: start.event,
                tick: block.tick,
            })
        };
        trail.starts(stream).iter().map_while(anchor).collect()
    }

    /// The number of the first event of a stream that is not before a tick; `None` if there is
    /// none. Reads no more than the block in which it is and the one before.
    #[must_use]
    pub fn first_event_since(&self, trace: &Trace, stream: usize, tick: u64) -> Option<u64> {
        let info = trace.streams().get(stream)?;
        // Events at the tick of a block may lie before it.
        let begins = self.of_stream(info);
        let behind = begins.partition_point(|block| block.tick < tick);
        let first = info.blocks.start + behind.saturating_sub(1);
        let mut events = Events::part(trace, info, first..info.blocks.end);
        let found = events.by_ref().any(|event| event.tick >= tick);
        found.then(|| events.number())
    }

    /// How many events there are from one number to a tick, or up to a block more.
    pub(super) fn events(&self, stream: &StreamInfo, from: u64, to: u64) -> u64 {
        let blocks = self.of_stream(stream);
        let behind = blocks.iter().find(|block| block.tick >= to);
        let end = match (behind, stream.end) {
            (Some(block), _) => block.event,
            (None, Some(end)) => end.events,
            (None, None) => blocks.last().map_or(0, |block| block.event),
        };
        end.saturating_sub(from)
    }
}

/// The outermost boxes of a stack that may be millions high.
struct Lowest {
    lowest: Vec<OpenBox>,
    most: usize,
    height: usize,
}

impl Lowest {
    fn new(most: usize) -> Self {
        Self {
            lowest: Vec::new(),
            most,
            height: 0,
        }
    }

    fn change(&mut self, change: &StackChange) {
        let popped = usize::try_from(change.popped).unwrap_or(usize::MAX);
        self.height = self.height.saturating_sub(popped);
        self.lowest.truncate(self.height);
        let room = self.most.saturating_sub(self.height);
        self.lowest.extend(change.pushed.oldest(room));
        let pushed = usize::try_from(change.pushed.len()).unwrap_or(usize::MAX);
        self.height = self.height.saturating_add(pushed);
    }
}

/// Fills in the boxes that are open from one checkpoint to another and touched by no event in
/// between.
///
/// A checkpoint says how many boxes of the one before were active or left since: those around them
/// stayed.
pub(super) fn outline(
    blocks: &Blocks,
    stream: &StreamInfo,
    trail: &Trail,
    window: &TimeRange,
    columns: &mut [TimeColumn],
) {
    let starts = trail.starts(window.stream).iter();
    let all: Vec<(&WalkStart, Anchor)> = starts
        .zip(blocks.anchors(trail, window.stream))
        .filter(|(start, _)| stream.blocks.contains(&start.block))
        .collect();
    let lowest = window.first_row as usize + window.rows as usize;
    let mut boxes = Lowest::new(lowest);
    // By column: how many boxes stay during all of what was looked at.
    let mut stay: Vec<Option<usize>> = vec![None; columns.len()];
    let column = |at: usize| window.start_of(at as u32)..window.start_of(at as u32 + 1);
    let mut first = 0;
    for (at, (start, anchor)) in all.iter().enumerate() {
        boxes.change(&start.active);
        let Some((next, until)) = all.get(at + 1) else {
            break;
        };
        let popped = usize::try_from(next.active.popped).unwrap_or(usize::MAX);
        let kept = boxes.height.saturating_sub(popped);
        while first < columns.len() && column(first).end <= anchor.tick {
            first += 1;
        }
        for (at, stay) in stay.iter_mut().enumerate().skip(first) {
            let ticks = column(at);
            // Events at the tick of a checkpoint may lie on either side of it.
            if ticks.start > until.tick {
                break;
            }
            let begins = ticks.start > anchor.tick;
            *stay = match *stay {
                None if begins => Some(kept),
                None => Some(0),
                Some(before) => Some(before.min(kept)),
            };
            if ticks.end <= until.tick {
                let from = (window.first_row as usize).min(boxes.height);
                let to = stay
                    .unwrap_or(0)
                    .min(from.saturating_add(window.rows as usize));
                let shown = boxes.lowest.get(from..to).unwrap_or_default();
                let whole = |open: &OpenBox| DepthCell::of_one(open.called, open.predicate, &ticks);
                columns[at].cells = shown.iter().map(whole).collect();
            }
        }
    }
}
