//! What block headers and the checkpoints of an index tell of a stream without reading its events.

use portmortem_tracer::format::BlockHeader;

use super::Window;
use super::column::{Began, Cell, Column, Ended, Segment};
use crate::index::{Checkpoint, Index};
use crate::moment::OpenBox;
use crate::trace::{StreamInfo, Trace};

/// A checkpoint on the time axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Number of the event that comes next.
    pub(super) event: u64,
    /// Its tick. Events before it have none that is greater.
    pub(super) tick: u64,
}

/// The checkpoints of a stream, in order.
pub(super) fn places(trace: &Trace, index: &Index, stream: usize) -> Vec<Place> {
    let place = |checkpoint: &Checkpoint| {
        Some(Place {
            event: checkpoint.event,
            tick: base_tick(trace, usize::try_from(checkpoint.block).ok()?)?,
        })
    };
    index.checkpoints(stream).map_while(place).collect()
}

/// When a stream begins, or its first block does.
pub(super) fn begin(trace: &Trace, stream: &StreamInfo) -> u64 {
    let begin = stream.begin.as_ref().map(|begin| begin.tick);
    begin
        .into_iter()
        .chain(blocks(trace, stream).next())
        .min()
        .unwrap_or(0)
}

/// When the blocks of a stream begin.
pub(super) fn blocks<'t>(
    trace: &'t Trace,
    stream: &StreamInfo,
) -> impl Iterator<Item = u64> + use<'t> {
    stream
        .blocks
        .clone()
        .filter_map(|block| base_tick(trace, block))
}

fn base_tick(trace: &Trace, block: usize) -> Option<u64> {
    let offset = trace.block_offset(block)?;
    let bytes = trace.bytes().get(usize::try_from(offset).ok()?..)?;
    let header = BlockHeader::parse(bytes, trace.file_id()).ok()?;
    Some(header.base_tick)
}

/// Fills in the boxes that are open from one checkpoint to another and touched by no event in between.
///
/// A checkpoint says how many boxes of the one before were active or left since: those around them stayed.
pub(super) fn outline(
    trace: &Trace,
    stream: &StreamInfo,
    index: &Index,
    window: &Window,
    columns: &mut [Column],
) {
    let all: Vec<(&Checkpoint, Place)> = index
        .checkpoints(window.stream)
        .zip(places(trace, index, window.stream))
        .filter(|(checkpoint, _)| stream.blocks.contains(&(checkpoint.block as usize)))
        .collect();
    let mut boxes: Vec<OpenBox> = Vec::new();
    // By column: how many boxes stay during all of what was looked at.
    let mut stay: Vec<Option<usize>> = vec![None; columns.len()];
    let column = |at: usize| window.start_of(at as u32)..window.start_of(at as u32 + 1);
    let mut first = 0;
    for (at, (checkpoint, place)) in all.iter().enumerate() {
        checkpoint.change.active.apply(&mut boxes);
        let Some((next, until)) = all.get(at + 1) else {
            break;
        };
        let popped = usize::try_from(next.change.active.popped).unwrap_or(usize::MAX);
        let kept = boxes.len().saturating_sub(popped);
        while first < columns.len() && column(first).end <= place.tick {
            first += 1;
        }
        for (at, stay) in stay.iter_mut().enumerate().skip(first) {
            let ticks = column(at);
            // Events at the tick of a checkpoint may lie on either side of it.
            if ticks.start > until.tick {
                break;
            }
            let begins = ticks.start > place.tick;
            *stay = match *stay {
                None if begins => Some(kept),
                None => Some(0),
                Some(before) => Some(before.min(kept)),
            };
            if ticks.end <= until.tick {
                let from = (window.first_row as usize).min(boxes.len());
                let to = stay
                    .unwrap_or(0)
                    .min(from.saturating_add(window.rows as usize));
                let shown = boxes.get(from..to).unwrap_or_default();
                columns[at].cells = shown.iter().map(|open| whole(open, &ticks)).collect();
            }
        }
    }
}

/// The cell of a box that is there all the time.
fn whole(open: &OpenBox, ticks: &std::ops::Range<u64>) -> Cell {
    let segment = Segment {
        called: open.called,
        predicate: open.predicate,
        from: ticks.start,
        to: ticks.end,
        began: Began::Before,
        ended: Ended::After,
    };
    Cell {
        segments: 1,
        ticks: ticks.end - ticks.start,
        first: Some(segment),
        last: Some(segment),
        longest: (ticks.end > ticks.start).then_some((open.predicate, ticks.end - ticks.start)),
        ..Cell::default()
    }
}
