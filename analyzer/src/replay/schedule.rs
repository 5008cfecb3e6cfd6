//! Chunks of a trace, replayed in parallel and joined in order.
//!
//! A long stream is cut into parts; short ones are put together. Chunks are taken in order, so few wait to be
//! joined at a time, and memory does not grow with the trace. Joining is the serial part.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::chunk::Chunk;
use super::join::{GiveUp, Join};
use super::scope::Scope;
use super::{ReplayOptions, assemble};
use crate::events::Events;
use crate::figures::StreamFigures;
use crate::index::Checkpoint;
use crate::moment::Change;
use crate::profile::Profile;
use crate::trace::{StreamInfo, Trace};
use crate::walk::MOST_BYTES;
use portmortem_tracer::format::Dialect;

/// Events after which it is seen whether a stream is better replayed in one piece.
const DEEP_EVENTS: u64 = 1 << 20;

/// What is replayed at a time.
#[derive(Debug, Clone)]
enum Work {
    /// Streams from beginning to end.
    Streams(Range<usize>),
    /// Blocks of a stream.
    Part { stream: usize, blocks: Range<usize> },
}

/// A chunk, replayed.
struct Done<'t> {
    chunk: Chunk<'t>,
    /// Of whole streams.
    figures: Vec<StreamFigures>,
    part: Option<Part>,
}

/// What else must be known of a part.
#[derive(Debug, Clone, Copy)]
struct Part {
    stream: usize,
    first_tick: u64,
    /// Numbers of the first event, and of the one after the last.
    first: u64,
    next: u64,
    events: u64,
    is_first: bool,
    is_last: bool,
    /// The block after it.
    end_block: usize,
}

/// The fast replay of all streams.
///
/// # Errors
/// [`GiveUp::Unusual`] if the trace has something that only the oracle deals with.
pub(super) fn replay(
    trace: &Trace,
    options: &ReplayOptions,
    scope: &Scope,
    checkpoints: Option<&mut Vec<Checkpoint>>,
) -> Result<Profile, GiveUp> {
    let works = plan(trace, options, scope);
    let threads = rayon::current_num_threads().min(works.len()).max(1);
    let run = Run {
        trace,
        options,
        scope,
        works,
        next: AtomicUsize::new(0),
        joined: Mutex::new(Joined {
            join: Join::new(scope.hidden.len()),
            next: 0,
            ready: BTreeMap::new(),
            streams: Vec::new(),
            events: 0,
            number: 0,
            checkpoints: checkpoints.is_some().then(Checkpoints::default),
            moved: 0,
            failed: None,
        }),
        fewer: Condvar::new(),
        most_ready: 2 * threads,
    };
    rayon::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|_| run.work());
        }
    });
    let joined = run
        .joined
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match joined.failed {
        None => {}
        // What was done until then is little.
        Some(GiveUp::Deep) => {
            let options = ReplayOptions {
                chunk_bytes: Some(u64::MAX),
                ..options.clone()
            };
            return replay(trace, &options, scope, checkpoints);
        }
        Some(GiveUp::Unusual) => return Err(GiveUp::Unusual),
    }
    if let (Some(all), Some(taken)) = (checkpoints, joined.checkpoints) {
        *all = taken.all;
    }
    let books = &joined.join.books;
    Ok(Profile {
        predicates: assemble::predicates(books),
        edges: assemble::edges(books),
        contexts: assemble::contexts(books),
        backtracks: joined.join.backtracks,
        cuts: joined.join.cuts,
        streams: joined.streams,
        ..Profile::default()
    })
}

/// Cuts a trace into works of about the same size.
fn plan(trace: &Trace, options: &ReplayOptions, scope: &Scope) -> Vec<Work> {
    let size = options.chunk_bytes.unwrap_or_else(|| {
        let threads = rayon::current_num_threads() as u64;
        if threads == 1 {
            u64::MAX
        } else {
            (trace.size() / (threads * 16)).clamp(1 << 20, 16 << 20)
        }
    });
    // What a transparent box does is its caller's, and who an innermost redo re-enters depends on callers: in
    // the middle of a stream neither is known. Where a window begins heights begin anew.
    let whole = scope.has_transparent() || scope.window.is_some();
    let mut works = Vec::new();
    let mut together = 0..0;
    let mut bytes = 0;
    for (at, stream) in trace.streams().iter().enumerate() {
        let splits = !whole && stream.dialect() == Dialect::EveryRedo;
        let parts = parts(trace, stream, size);
        if splits && parts.len() > 1 {
            if !together.is_empty() {
                works.push(Work::Streams(together));
            }
            together = at + 1..at + 1;
            bytes = 0;
            works.extend(
                parts
                    .into_iter()
                    .map(|blocks| Work::Part { stream: at, blocks }),
            );
            continue;
        }
        together.end = at + 1;
        bytes += trace.bytes_of(stream.blocks.clone());
        if bytes >= size.min(1 << 24) {
            works.push(Work::Streams(together));
            together = at + 1..at + 1;
            bytes = 0;
        }
    }
    if !together.is_empty() {
        works.push(Work::Streams(together));
    }
    works
}

/// Ranges of blocks of a stream that are about as large as asked for.
fn parts(trace: &Trace, stream: &StreamInfo, size: u64) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut from, mut bytes) = (stream.blocks.start, 0);
    for block in stream.blocks.clone() {
        bytes += trace.bytes_of(block..block + 1);
        if bytes >= size {
            parts.push(from..block + 1);
            (from, bytes) = (block + 1, 0);
        }
    }
    if from < stream.blocks.end || parts.is_empty() {
        parts.push(from..stream.blocks.end);
    }
    parts
}

struct Run<'t> {
    trace: &'t Trace,
    options: &'t ReplayOptions<'t>,
    scope: &'t Scope,
    works: Vec<Work>,
    next: AtomicUsize,
    joined: Mutex<Joined<'t>>,
    /// Fewer chunks wait.
    fewer: Condvar,
    most_ready: usize,
}

struct Joined<'t> {
    join: Join,
    /// The work to be joined next.
    next: usize,
    /// Chunks that are replayed and cannot be joined yet.
    ready: BTreeMap<usize, Done<'t>>,
    streams: Vec<StreamFigures>,
    /// Events of the stream so far, and the number of the next.
    events: u64,
    number: u64,
    checkpoints: Option<Checkpoints>,
    /// Boxes of the stream that were handed from chunk to chunk, or met in a later one.
    moved: u64,
    failed: Option<GiveUp>,
}

#[derive(Debug, Default)]
struct Checkpoints {
    all: Vec<Checkpoint>,
    bytes: usize,
    /// The stream got too deep.
    enough: bool,
}

impl Checkpoints {
    fn add(&mut self, part: &Part, change: Change) {
        if part.is_first {
            self.enough = false;
        }
        self.bytes += change.size();
        self.enough |= self.bytes > MOST_BYTES;
        if self.enough || part.is_last {
            return;
        }
        self.all.push(Checkpoint {
            stream: part.stream as u64,
            block: part.end_block as u64,
            event: part.next,
            change,
        });
    }
}

impl<'t> Run<'t> {
    fn lock(&self) -> MutexGuard<'_, Joined<'t>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(work) = self.works.get(at) else {
                return;
            };
            let done = self.replay(work, false);
            let mut joined = self.lock();
            joined.ready.insert(at, done);
            self.join(&mut joined);
            while joined.ready.len() >= self.most_ready && joined.failed.is_none() {
                joined = self
                    .fewer
                    .wait(joined)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            if joined.failed.is_some() {
                return;
            }
        }
    }

    /// Joins what can be joined.
    fn join(&self, joined: &mut Joined<'t>) {
        let begin = Instant::now();
        let mut next = joined.next;
        while let Some(done) = joined.ready.remove(&next) {
            if joined.failed.is_none() {
                joined.failed = joined.add(self, next, &done).err();
            }
            next += 1;
        }
        joined.next = next;
        if joined.failed.is_some() {
            // Nobody need go on.
            self.next.store(self.works.len(), Ordering::Relaxed);
        }
        self.fewer.notify_all();
        if let Some(effort) = self.options.effort {
            effort.joined(begin.elapsed());
        }
    }

    fn replay(&self, work: &Work, paused: bool) -> Done<'t> {
        let begin = Instant::now();
        let mut chunk = Chunk::new(self.scope);
        let mut figures = Vec::new();
        let mut part = None;
        match work {
            Work::Streams(streams) => {
                for stream in &self.trace.streams()[streams.clone()] {
                    figures.push(self.whole_stream(&mut chunk, stream));
                    if chunk.unusual {
                        break;
                    }
                }
            }
            Work::Part { stream, blocks } => {
                part = Some(self.part(&mut chunk, *stream, blocks.clone(), paused));
            }
        }
        if let Some(effort) = self.options.effort {
            effort.replayed(begin.elapsed());
        }
        Done {
            chunk,
            figures,
            part,
        }
    }

    fn whole_stream(&self, chunk: &mut Chunk<'t>, stream: &StreamInfo) -> StreamFigures {
        let mut events = self.trace.events(stream);
        let first = events.next();
        let begin = begin_of(stream, first.map(|event| event.tick));
        chunk.begin_stream(begin);
        let (mut read, mut last) = (0, begin);
        if let Some(event) = first {
            last = event.tick;
            if !self.scope.is_over(event.tick) {
                read = 1;
                chunk.step(stream.dialect(), event.event, event.tick);
                last = self.steps(chunk, stream.dialect(), &mut events, last);
                read = events.events_read().max(read);
            }
        }
        let end = stream.end.map_or(last, |end| end.tick.max(last));
        let figures = chunk.finish_stream(begin, end);
        chunk.unusual |= !events.into_damage().is_empty();
        StreamFigures {
            stream: stream.id,
            events: read,
            ..figures
        }
    }

    fn part(
        &self,
        chunk: &mut Chunk<'t>,
        stream: usize,
        blocks: Range<usize>,
        paused: bool,
    ) -> Part {
        let info = &self.trace.streams()[stream];
        let is_first = blocks.start == info.blocks.start;
        let is_last = blocks.end == info.blocks.end;
        let end_block = blocks.end;
        let mut events = Events::part(self.trace, info, blocks);
        let first = events.next_number();
        let event = events.next();
        let first_tick = event.map_or(0, |event| event.tick);
        chunk.begin_part(first_tick, paused);
        if let Some(event) = event {
            chunk.step(Dialect::EveryRedo, event.event, event.tick);
            self.steps(chunk, Dialect::EveryRedo, &mut events, first_tick);
        } else {
            chunk.unusual = true;
        }
        chunk.end_part();
        let (next, events_read) = (events.next_number(), events.events_read());
        chunk.unusual |= !events.into_damage().is_empty();
        Part {
            stream,
            first_tick,
            first,
            next,
            events: events_read,
            is_first,
            is_last,
            end_block,
        }
    }

    /// Replays the rest of the events; returns the time of the last, or of the first after the window.
    fn steps(
        &self,
        chunk: &mut Chunk,
        dialect: Dialect,
        events: &mut Events,
        mut last: u64,
    ) -> u64 {
        let mut reported = 0;
        while let Some(payload) = events.payload() {
            let place = events.block();
            let read = chunk.replay(self.trace, dialect, payload.bytes, events.tick());
            let (true, Some(read)) = (payload.usual && !self.options.is_cancelled(), read) else {
                chunk.unusual = true;
                break;
            };
            events.passed(read.events, read.tick);
            last = last.max(read.tick);
            if read.over {
                break;
            }
            self.trace.let_go(place);
            reported = self.report(reported, events.bytes_read());
        }
        last
    }

    /// Reports what was read since the last report; returns what is reported now.
    fn report(&self, reported: u64, read: u64) -> u64 {
        if let Some(progress) = self.options.progress {
            progress.fetch_add(read - reported, Ordering::Relaxed);
        }
        read
    }
}

impl<'t> Joined<'t> {
    fn add(&mut self, run: &Run<'t>, at: usize, done: &Done<'t>) -> Result<(), GiveUp> {
        let Some(part) = done.part else {
            self.streams.extend(&done.figures);
            return self.join.add_streams(&done.chunk);
        };
        let stream = &run.trace.streams()[part.stream];
        if part.is_first {
            self.join
                .begin_stream(begin_of(stream, Some(part.first_tick)));
            (self.events, self.number, self.moved) = (0, 0, 0);
        }
        if part.first != self.number {
            return Err(GiveUp::Unusual);
        }
        self.number = part.next;
        self.events += part.events;
        // A pause that began in another chunk was not to be foreseen.
        let again = self
            .join
            .is_paused()
            .then(|| run.replay(&run.works[at], true).chunk);
        let chunk = again.as_ref().unwrap_or(&done.chunk);
        let wanted = self.checkpoints.is_some();
        let change = self
            .join
            .add_part(chunk, part.first, part.first_tick, wanted)?;
        self.moved += chunk.moved();
        if self.events > DEEP_EVENTS && self.moved > self.events / 4 {
            return Err(GiveUp::Deep);
        }
        if let (Some(checkpoints), Some(change)) = (&mut self.checkpoints, change) {
            checkpoints.add(&part, change);
        }
        if part.is_last {
            let end = stream.end.map_or(0, |end| end.tick);
            let figures = self.join.finish_stream(end);
            self.streams.push(StreamFigures {
                stream: stream.id,
                events: self.events,
                ..figures
            });
        }
        Ok(())
    }
}

/// When a stream begins.
fn begin_of(stream: &StreamInfo, first: Option<u64>) -> u64 {
    let begin = stream.begin.as_ref().map(|begin| begin.tick);
    first.into_iter().chain(begin).min().unwrap_or(0)
}
