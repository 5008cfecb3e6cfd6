//! The replay of one work: some streams, or a part of one.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Instant;

use portmortem_tracer::format::Dialect;

use super::ReplayOptions;
use super::chunk::{Before, Chunk};
use super::plan::ReplayWork;
use super::reader::{StreamFaults, StreamReader, offsets};
use crate::figures::StreamFigures;
use crate::scope::Scope;
use crate::trace::events::Events;
use crate::trace::{StreamInfo, Trace};

/// Replays works of a trace.
#[derive(Clone, Copy)]
pub(super) struct ReplayWorker<'t> {
    pub(super) trace: &'t Trace,
    pub(super) options: &'t ReplayOptions<'t>,
    pub(super) scope: &'t Scope,
    /// A stream may be replayed in one piece instead, if that is faster.
    pub(super) may_give_up: bool,
}

/// A chunk, replayed.
pub(super) struct Done<'t> {
    pub(super) chunk: Chunk<'t>,
    /// Of whole streams.
    pub(super) figures: Vec<StreamFigures>,
    pub(super) found: StreamFaults,
    pub(super) part: Option<StreamPart>,
}

/// The place of a part in its stream and in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamPart {
    pub(super) stream: usize,
    pub(super) first_tick: u64,
    /// Before the first event, if nothing before the part was later; and at its end.
    pub(super) begin_tick: u64,
    pub(super) end_tick: u64,
    /// Numbers of the first event, and of the one after the last.
    pub(super) first: u64,
    pub(super) next: u64,
    pub(super) events: u64,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    /// The block after it.
    pub(super) end_block: usize,
}

impl<'t> ReplayWorker<'t> {
    pub(super) fn new(trace: &'t Trace, options: &'t ReplayOptions<'t>, scope: &'t Scope) -> Self {
        Self {
            trace,
            options,
            scope,
            may_give_up: true,
        }
    }

    pub(super) fn replay(&self, work: &ReplayWork, before: &Before) -> Done<'t> {
        let begin = Instant::now();
        let mut chunk = Chunk::new(self.scope);
        let mut figures = Vec::new();
        let mut found = StreamFaults::default();
        let mut part = None;
        match work {
            ReplayWork::Streams(streams) => {
                for stream in &self.trace.streams()[streams.clone()] {
                    let (of_stream, wrong) = self.whole_stream(&mut chunk, stream);
                    figures.push(of_stream);
                    found.merge(wrong);
                }
            }
            ReplayWork::Part {
                stream,
                blocks,
                is_last,
            } => {
                let read = self.part(&mut chunk, *stream, blocks.clone(), *is_last, before);
                part = Some(read);
                chunk.ledger.finish();
            }
            ReplayWork::AfterLoss {
                stream,
                blocks,
                behind,
                is_last,
            } => {
                let blocks = blocks.clone();
                let (of_part, wrong, read) =
                    self.after_loss(&mut chunk, *stream, blocks, *behind, *is_last);
                figures.push(of_part);
                found.merge(wrong);
                part = Some(read);
            }
        }
        if let Some(effort) = self.options.effort {
            effort.replayed(begin.elapsed());
        }
        Done {
            chunk,
            figures,
            found,
            part,
        }
    }

    fn whole_stream(
        &self,
        chunk: &mut Chunk<'t>,
        stream: &StreamInfo,
    ) -> (StreamFigures, StreamFaults) {
        let mut events = self.trace.events(stream);
        let first = events.next();
        let begin = begin_of(stream, first.map(|event| event.tick));
        chunk.begin_stream(begin);
        if !self.scope.has_stream(stream.id) {
            let figures = StreamFigures {
                stream: stream.id,
                ..chunk.finish_stream(begin, begin)
            };
            return (figures, StreamFaults::default());
        }
        let mut reader = StreamReader::new(stream, events);
        let (mut read, mut last) = (0, begin);
        if let Some(event) = first {
            last = event.tick;
            read = reader.events.events_before();
            if !self.scope.is_over(event.tick) {
                reader.step(chunk, stream.dialect(), event);
                (read, last) = self.steps(chunk, stream.dialect(), &mut reader, last);
            }
        }
        let end = stream.end.map_or(last, |end| end.tick.max(last));
        let figures = StreamFigures {
            stream: stream.id,
            events: read,
            ..chunk.finish_stream(begin, end)
        };
        (figures, reader.finish())
    }

    fn part(
        &self,
        chunk: &mut Chunk<'t>,
        stream: usize,
        blocks: Range<usize>,
        is_last: bool,
        before: &Before,
    ) -> StreamPart {
        let info = &self.trace.streams()[stream];
        let is_first = blocks.start == info.blocks.start;
        let end_block = blocks.end;
        let events = Events::part_ending(self.trace, info, blocks, is_last);
        let mut reader = StreamReader::new(info, events);
        let first = reader.events.next_number();
        let begin_tick = reader.events.tick();
        let event = reader.events.next();
        let first_tick = event.map_or(0, |event| event.tick);
        chunk.begin_part(first_tick, before);
        if let Some(event) = event {
            reader.step(chunk, Dialect::EveryRedo, event);
            self.steps(chunk, Dialect::EveryRedo, &mut reader, first_tick);
        } else {
            chunk.unusual = true;
        }
        chunk.end_part();
        let (next, events_read) = (reader.events.next_number(), reader.events.events_read());
        let end_tick = reader.events.tick();
        chunk.unusual |= !reader.finish().damage.is_empty();
        StreamPart {
            stream,
            first_tick,
            begin_tick,
            end_tick,
            first,
            next,
            events: events_read,
            is_first,
            is_last,
            end_block,
        }
    }

    /// A part of a stream that is replayed as if the stream was no longer: what is open where it
    /// begins or ends is not known.
    fn after_loss(
        &self,
        chunk: &mut Chunk<'t>,
        stream: usize,
        blocks: Range<usize>,
        behind: (u64, u64),
        is_last: bool,
    ) -> (StreamFigures, StreamFaults, StreamPart) {
        let info = &self.trace.streams()[stream];
        let (number, tick) = behind;
        let is_first = blocks.start == info.blocks.start;
        let end_block = blocks.end;
        let events = Events::behind(self.trace, info, blocks, behind, is_last);
        let mut reader = StreamReader::new(info, events);
        chunk.begin_stream(tick);
        chunk.gap(0, 0);
        let (events, last) = self.steps(chunk, Dialect::EveryRedo, &mut reader, tick);
        let end = info.end.filter(|_| is_last);
        let end_tick = end.map_or(last, |end| end.tick.max(last));
        let figures = StreamFigures {
            stream: info.id,
            events,
            ..chunk.finish_stream(tick, end_tick)
        };
        let part = StreamPart {
            stream,
            first_tick: tick,
            begin_tick: tick,
            end_tick,
            first: number,
            next: reader.events.next_number(),
            events,
            is_first,
            is_last,
            end_block,
        };
        (figures, reader.finish(), part)
    }

    /// Replays the rest of the events: how many were read of all, and the time of the last, or of the first after
    /// the window.
    fn steps(
        &self,
        chunk: &mut Chunk,
        dialect: Dialect,
        reader: &mut StreamReader,
        mut last: u64,
    ) -> (u64, u64) {
        let mut reported = 0;
        let mut over = None;
        while !chunk.unusual && !self.options.is_cancelled() {
            let Some(payload) = reader.events.payload() else {
                break;
            };
            if let Some(gap) = payload.gap {
                last = gap.tick;
                if self.scope.is_over(gap.tick) {
                    break;
                }
                reader.step(chunk, dialect, gap);
            }
            let (number, first) = (reader.events.next_number(), chunk.events);
            let bytes = payload.bytes();
            let read = chunk.replay(self.trace, dialect, bytes, reader.events.tick());
            let mut offset = offsets(bytes, payload.offset);
            reader.note(chunk, |event| {
                let at = event - first;
                (number + at, offset(at))
            });
            let block = reader.events.block();
            reader.events.passed(read.bytes, read.events, read.tick);
            last = last.max(read.tick);
            if read.over || chunk.unusual {
                break;
            }
            if read.bytes < bytes.len() {
                // The reader of single events decides about the next one.
                let Some(event) = reader.events.next() else {
                    break;
                };
                last = event.tick;
                if self.scope.is_over(event.tick) {
                    over = Some(reader.events.events_before());
                    break;
                }
                reader.step(chunk, dialect, event);
                continue;
            }
            self.trace.let_go(block);
            reported = self.report(reported, reader.events.bytes_read());
        }
        let all = || reader.events.events_read();
        (over.unwrap_or_else(all), last)
    }

    /// Reports what was read since the last report; returns what is reported now.
    fn report(&self, reported: u64, read: u64) -> u64 {
        if let Some(progress) = self.options.progress {
            progress.fetch_add(read - reported, Ordering::Relaxed);
        }
        read
    }
}

/// When a stream begins.
pub(super) fn begin_of(stream: &StreamInfo, first: Option<u64>) -> u64 {
    let begin = stream.begin_tick();
    first.into_iter().chain(begin).min().unwrap_or(0)
}
