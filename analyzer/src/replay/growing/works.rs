//! What a replay that goes on has to do: blocks that follow on those that were joined, whether they
//! may still change, and where events were lost between them.

use std::ops::Range;

use portmortem_tracer::format::Closing;

use crate::replay::plan::{ChunkSizes, ReplayWork, parts};
use crate::replay::work::begin_of;
use crate::trace::Trace;

/// What is to be done for the figures of a trace as it is now. Streams by their place.
#[derive(Debug, Default)]
pub(super) struct Works {
    /// What is joined for good.
    pub(super) closed: Vec<ReplayWork>,
    /// Streams that have ended since all their blocks were joined.
    pub(super) ended: Vec<usize>,
    /// Streams that have not ended, and no more blocks.
    pub(super) open: Vec<usize>,
    /// Blocks that may change.
    pub(super) rest: Vec<ReplayWork>,
    /// Streams that lost events after those.
    pub(super) cut_short: Vec<usize>,
}

/// What was folded at a time. Streams by their place.
#[derive(Debug, Default)]
pub(crate) struct NewParts {
    /// Blocks of streams.
    pub(crate) parts: Vec<(usize, Range<usize>)>,
    /// Streams of which nothing more comes.
    pub(crate) ended: Vec<usize>,
    /// Bytes of the blocks.
    pub(crate) bytes: u64,
}

impl NewParts {
    pub(super) fn of(trace: &Trace, works: &Works) -> Self {
        let mut new = Self {
            parts: Vec::new(),
            ended: works.ended.clone(),
            bytes: works.closed.iter().map(|work| bytes_of(trace, work)).sum(),
        };
        for work in &works.closed {
            match work {
                ReplayWork::Streams(streams) => {
                    for at in streams.clone() {
                        new.parts.push((at, trace.streams()[at].blocks.clone()));
                        new.ended.push(at);
                    }
                }
                ReplayWork::Part {
                    stream,
                    blocks,
                    is_last,
                }
                | ReplayWork::AfterLoss {
                    stream,
                    blocks,
                    is_last,
                    ..
                } => {
                    match new.parts.last_mut() {
                        Some((last, before)) if last == stream && before.end == blocks.start => {
                            before.end = blocks.end;
                        }
                        _ => new.parts.push((*stream, blocks.clone())),
                    }
                    if *is_last {
                        new.ended.push(*stream);
                    }
                }
            }
        }
        new
    }
}

/// Blocks of a stream that follow on each other, and may have lost events.
pub(super) struct BlockStretch<'t> {
    pub(super) trace: &'t Trace,
    /// The place of the stream.
    pub(super) at: usize,
    /// The number that comes next, and the tick of the last event before that, if there was one.
    pub(super) behind: Option<(u64, u64)>,
    pub(super) survives_loss: bool,
    pub(super) has_lost: bool,
}

impl BlockStretch<'_> {
    /// Works for the next blocks; whether the stream ends with the last of them. It does not if
    /// more events were lost than blocks tell, even if `is_over`.
    pub(super) fn works(
        &mut self,
        blocks: Range<usize>,
        is_over: bool,
        size: u64,
        works: &mut Vec<ReplayWork>,
    ) -> bool {
        let in_order = match self.survives_loss {
            true => self.in_order(blocks.clone()),
            false => blocks.end,
        };
        let is_short = in_order == blocks.end && self.survives_loss && self.is_short(blocks.end);
        let is_last = is_over && !is_short;
        if blocks.start < in_order {
            let parts = parts(self.trace, blocks.start..in_order, ChunkSizes::alike(size));
            works.extend(parts.into_iter().map(|part| ReplayWork::Part {
                stream: self.at,
                is_last: is_last && part.end == blocks.end,
                blocks: part,
            }));
            self.behind = self.behind_block(in_order - 1);
        }
        if in_order < blocks.end {
            works.push(ReplayWork::AfterLoss {
                stream: self.at,
                blocks: in_order..blocks.end,
                behind: self.behind.unwrap_or_else(|| self.begin(in_order)),
                is_last,
            });
            self.has_lost = true;
            self.behind = self.behind_block(blocks.end - 1);
        }
        is_last
    }

    /// The first of these blocks before which events were lost, or their end.
    fn in_order(&self, mut blocks: Range<usize>) -> usize {
        if self.has_lost {
            return blocks.start;
        }
        let end = blocks.end;
        let mut next = self.behind.map_or(0, |(number, _)| number);
        let lost = blocks.find(|&block| {
            let first = self.trace.block_header(block);
            let is_next = first.is_some_and(|header| header.first_event == next);
            next = self.trace.number_after(block).unwrap_or(next);
            !is_next
        });
        lost.unwrap_or(end)
    }

    /// Whether events were lost behind the last block of the stream, if `end` is that block's end.
    fn is_short(&self, end: usize) -> bool {
        let stream = &self.trace.streams()[self.at];
        let known = self.trace.number_after(end - 1);
        let is_last = end == stream.blocks.end;
        is_last && known.is_some_and(|known| self.trace.end_of(stream).1 > known)
    }

    /// The number that comes after a block, and the tick of its last event.
    fn behind_block(&self, block: usize) -> Option<(u64, u64)> {
        match self.trace.block_header(block)?.closing {
            Closing::Closed(close) => Some((self.trace.number_after(block)?, close.last_tick)),
            Closing::Open | Closing::Damaged => None,
        }
    }

    /// Where a stream begins that lost its first events before a block.
    fn begin(&self, block: usize) -> (u64, u64) {
        let stream = &self.trace.streams()[self.at];
        let first = self.trace.block_header(block);
        (0, begin_of(stream, first.map(|header| header.base_tick)))
    }
}

/// Up to which block the recorder had closed all before names were read, and none is missing from
/// this sequence on.
pub(super) fn closed_until(trace: &Trace, blocks: Range<usize>, sequence: u64) -> usize {
    let is_next = |&block: &usize| {
        let before = (block - blocks.start) as u64;
        let header = trace.block_header(block);
        header.is_some_and(|header| {
            header.sequence.checked_sub(sequence) == Some(before)
                && trace.block(block).is_settled
                && matches!(header.closing, Closing::Closed(_))
        })
    };
    let stop = blocks.clone().find(|block| !is_next(block));
    stop.unwrap_or(blocks.end)
}

pub(super) fn bytes_of(trace: &Trace, work: &ReplayWork) -> u64 {
    match work {
        ReplayWork::Streams(streams) => {
            let streams = trace.streams()[streams.clone()].iter();
            streams
                .map(|stream| trace.bytes_of(stream.blocks.clone()))
                .sum()
        }
        ReplayWork::Part { blocks, .. } | ReplayWork::AfterLoss { blocks, .. } => {
            trace.bytes_of(blocks.clone())
        }
    }
}
