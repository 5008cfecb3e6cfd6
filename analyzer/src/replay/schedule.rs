//! Chunks of a trace, replayed in parallel and joined in order.
//!
//! A long stream is cut into parts; short ones are put together. Chunks are taken in order, so few wait to be
//! joined at a time, and memory does not grow with the trace. Joining is the serial part.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::ReplayOptions;
use super::chunk::Chunk;
use super::join::{GiveUp, Join};
use crate::figures::StreamFigures;
use crate::figures::profile::{MAX_VIOLATIONS, Profile, Violation};
use crate::moment::checkpoint::Change;
use crate::moment::checkpoint::Checkpoint;
use crate::moment::checkpoint::MOST_BYTES;
use crate::scope::Scope;
use crate::trace::damage::Damage;
use crate::trace::events::{Events, TimedEvent};
use crate::trace::{StreamInfo, Trace};
use portmortem_tracer::format::{Dialect, Event};

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
    found: Found,
    part: Option<Part>,
}

/// What is wrong with streams.
#[derive(Debug, Default)]
struct Found {
    /// The first ones of each stream.
    violations: Vec<Violation>,
    violation_count: u64,
    damage: Vec<Damage>,
}

impl Found {
    fn merge(&mut self, other: Self) {
        self.violations.extend(other.violations);
        self.violation_count += other.violation_count;
        self.damage.extend(other.damage);
        if self.violations.len() > 2 * MAX_VIOLATIONS {
            self.violations
                .sort_by_key(|found| (found.stream, found.event));
            self.violations.truncate(MAX_VIOLATIONS);
        }
    }
}

/// Reads a stream, or a part of it, and notes what is wrong with it.
struct Reader<'t> {
    stream: u32,
    events: Events<'t>,
    /// How many violations of the stream are listed.
    listed: usize,
    found: Found,
}

impl<'t> Reader<'t> {
    fn new(stream: &StreamInfo, events: Events<'t>) -> Self {
        Self {
            stream: stream.id,
            events,
            listed: 0,
            found: Found::default(),
        }
    }

    /// Replays an event that was read by itself.
    fn step(&mut self, chunk: &mut Chunk, dialect: Dialect, event: TimedEvent) {
        let trace = self.events.trace();
        let named = match event.event {
            Event::Call { predicate } => Event::Call {
                predicate: trace.callable_at(predicate, event.site),
            },
            Event::Tail { predicate } => Event::Tail {
                predicate: trace.callable_at(predicate, event.site),
            },
            other => other,
        };
        chunk.step(dialect, named, event.tick);
        let (number, offset) = (self.events.number(), self.events.offset());
        self.note(chunk, |_| (number, offset));
    }

    /// Notes violations of the last events; `place` tells the number in the stream and the place in the file of the
    /// event that was the so-and-so-many-th of the chunk.
    #[inline]
    fn note(&mut self, chunk: &mut Chunk, place: impl FnMut(u64) -> (u64, u64)) {
        if chunk.violations.count > 0 {
            self.note_all(chunk, place);
        }
    }

    #[cold]
    fn note_all(&mut self, chunk: &mut Chunk, mut place: impl FnMut(u64) -> (u64, u64)) {
        let violations = std::mem::take(&mut chunk.violations);
        self.found.violation_count += violations.count;
        for (at, what) in violations.listed {
            if self.listed == MAX_VIOLATIONS {
                break;
            }
            self.listed += 1;
            let (event, offset) = place(at);
            self.found.violations.push(Violation {
                stream: self.stream,
                event,
                offset,
                what,
            });
        }
    }

    /// What was found, damage included.
    fn finish(self) -> Found {
        let mut found = self.found;
        found.damage.extend(self.events.into_damage());
        found
    }
}

/// Where in a payload an event begins, for ascending numbers of events.
fn offsets<'b>(mut bytes: &'b [u8], mut offset: u64) -> impl FnMut(u64) -> u64 + 'b {
    let mut passed = 0;
    move |event| {
        while passed < event
            && let Ok((_, _, length)) = Event::decode(bytes)
        {
            bytes = &bytes[length..];
            offset += length as u64;
            passed += 1;
        }
        offset
    }
}

/// What else must be known of a part.
#[derive(Debug, Clone, Copy)]
struct Part {
    stream: usize,
    first_tick: u64,
    /// Before the first event, if nothing before the part was later; and at its end.
    begin_tick: u64,
    end_tick: u64,
    /// Numbers of the first event, and of the one after the last.
    first: u64,
    next: u64,
    events: u64,
    is_first: bool,
    is_last: bool,
    /// The block after it.
    end_block: usize,
}

/// The replay of all streams.
///
/// # Errors
/// [`GiveUp::Unusual`] if checkpoints are wanted, and the trace has gaps, damage, or events that cannot happen where
/// they stand.
pub(super) fn replay(
    trace: &Trace,
    options: &ReplayOptions,
    scope: &Scope,
    checkpoints: Option<&mut Vec<Checkpoint>>,
) -> Result<Profile, GiveUp> {
    let works = plan(trace, options, scope);
    let taken = checkpoints.is_some().then(Checkpoints::default);
    let mut joined = Run::new(trace, options, scope, works, taken).all();
    let (Some(failed), false) = (joined.failed, options.is_cancelled()) else {
        if let (Some(all), Some(taken)) = (checkpoints, joined.checkpoints.take()) {
            if !joined.is_in_order() {
                return Err(GiveUp::Unusual);
            }
            *all = taken.all;
        }
        return Ok(joined.into_profile());
    };
    match failed {
        GiveUp::Unusual if checkpoints.is_some() => Err(failed),
        GiveUp::Long => Ok(one_by_one(trace, options, scope)),
        // What was done until then is little, or the trace is not in order.
        GiveUp::Unusual | GiveUp::Deep => {
            let options = ReplayOptions {
                chunk_bytes: Some(u64::MAX),
                ..options.clone()
            };
            replay(trace, &options, scope, checkpoints)
        }
    }
}

/// The replay of streams whose ticks together have more than 64 bits: sums stay where those end.
fn one_by_one(trace: &Trace, options: &ReplayOptions, scope: &Scope) -> Profile {
    let mut all = Profile::default();
    for stream in 0..trace.streams().len() {
        let works = vec![Work::Streams(stream..stream + 1)];
        all.merge(
            Run::new(trace, options, scope, works, None)
                .all()
                .into_profile(),
        );
    }
    all
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
        let splits =
            !whole && stream.dialect() == Dialect::EveryRedo && scope.has_stream(stream.id);
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
    found: Found,
    /// Events of the stream so far, and the number of the next.
    events: u64,
    number: u64,
    /// Time of its last event so far.
    tick: u64,
    /// Ticks that all streams lasted so far.
    lasted: u64,
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
    fn new(
        trace: &'t Trace,
        options: &'t ReplayOptions<'t>,
        scope: &'t Scope,
        works: Vec<Work>,
        checkpoints: Option<Checkpoints>,
    ) -> Self {
        Self {
            trace,
            options,
            scope,
            works,
            next: AtomicUsize::new(0),
            joined: Mutex::new(Joined {
                join: Join::new(scope),
                next: 0,
                ready: BTreeMap::new(),
                streams: Vec::new(),
                found: Found::default(),
                events: 0,
                number: 0,
                tick: 0,
                lasted: 0,
                checkpoints,
                moved: 0,
                failed: None,
            }),
            fewer: Condvar::new(),
            most_ready: 0,
        }
    }

    /// Does all works on rayon's current threads.
    fn all(mut self) -> Joined<'t> {
        let threads = rayon::current_num_threads().min(self.works.len()).max(1);
        self.most_ready = 2 * threads;
        let run = &self;
        rayon::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|_| run.work());
            }
        });
        let joined = self.joined.into_inner();
        joined.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Joined<'t>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        // Others may wait for the chunk that this thread is at.
        let _stop = StopIfPanicking(self);
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
                joined.failed = joined.add(self, next, done).err();
            }
            next += 1;
        }
        joined.next = next;
        if joined.failed.is_some() {
            self.stop();
        }
        self.fewer.notify_all();
        if let Some(effort) = self.options.effort {
            effort.joined(begin.elapsed());
        }
    }

    /// No thread need take further works.
    fn stop(&self) {
        self.next.store(self.works.len(), Ordering::Relaxed);
    }

    fn replay(&self, work: &Work, paused: bool) -> Done<'t> {
        let begin = Instant::now();
        let mut chunk = Chunk::new(self.scope);
        let mut figures = Vec::new();
        let mut found = Found::default();
        let mut part = None;
        match work {
            Work::Streams(streams) => {
                for stream in &self.trace.streams()[streams.clone()] {
                    let (of_stream, wrong) = self.whole_stream(&mut chunk, stream);
                    figures.push(of_stream);
                    found.merge(wrong);
                }
            }
            Work::Part { stream, blocks } => {
                part = Some(self.part(&mut chunk, *stream, blocks.clone(), paused));
            }
        }
        chunk.books.finish();
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

    fn whole_stream(&self, chunk: &mut Chunk<'t>, stream: &StreamInfo) -> (StreamFigures, Found) {
        let mut events = self.trace.events(stream);
        let first = events.next();
        let begin = begin_of(stream, first.map(|event| event.tick));
        chunk.begin_stream(begin);
        if !self.scope.has_stream(stream.id) {
            let figures = StreamFigures {
                stream: stream.id,
                ..chunk.finish_stream(begin, begin)
            };
            return (figures, Found::default());
        }
        let mut reader = Reader::new(stream, events);
        let (mut read, mut last) = (0, begin);
        if let Some(event) = first {
            last = event.tick;
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
        paused: bool,
    ) -> Part {
        let info = &self.trace.streams()[stream];
        let is_first = blocks.start == info.blocks.start;
        let is_last = blocks.end == info.blocks.end;
        let end_block = blocks.end;
        let mut reader = Reader::new(info, Events::part(self.trace, info, blocks));
        let first = reader.events.next_number();
        let begin_tick = reader.events.tick();
        let event = reader.events.next();
        let first_tick = event.map_or(0, |event| event.tick);
        chunk.begin_part(first_tick, paused);
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
        Part {
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

    /// Replays the rest of the events: how many were read of all, and the time of the last, or of the first after
    /// the window.
    fn steps(
        &self,
        chunk: &mut Chunk,
        dialect: Dialect,
        reader: &mut Reader,
        mut last: u64,
    ) -> (u64, u64) {
        let mut reported = 0;
        let mut gone = 0;
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
            let read = chunk.replay(self.trace, dialect, payload.bytes, reader.events.tick());
            let mut offset = offsets(payload.bytes, payload.offset);
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
            if read.bytes < payload.bytes.len() {
                // What the events themselves have to say to that.
                let before = reader.events.events_read();
                let Some(event) = reader.events.next() else {
                    break;
                };
                last = event.tick;
                if self.scope.is_over(event.tick) {
                    gone = reader.events.events_read() - before;
                    break;
                }
                reader.step(chunk, dialect, event);
                continue;
            }
            self.trace.let_go(block);
            reported = self.report(reported, reader.events.bytes_read());
        }
        (reader.events.events_read() - gone, last)
    }

    /// Reports what was read since the last report; returns what is reported now.
    fn report(&self, reported: u64, read: u64) -> u64 {
        if let Some(progress) = self.options.progress {
            progress.fetch_add(read - reported, Ordering::Relaxed);
        }
        read
    }
}

/// Lets the other threads end when one panics: what it was at never comes, and they would wait for it for ever.
/// The panic goes on when they have.
struct StopIfPanicking<'r, 't>(&'r Run<'t>);

impl Drop for StopIfPanicking<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed = Some(GiveUp::Unusual);
            self.0.stop();
            self.0.fewer.notify_all();
        }
    }
}

impl<'t> Joined<'t> {
    /// Nothing was lost, and every event can happen where it stands.
    fn is_in_order(&self) -> bool {
        let lost = |stream: &StreamFigures| stream.lost_events > 0 || stream.gap_ticks > 0;
        self.found.violation_count == 0
            && self.found.damage.is_empty()
            && !self.streams.iter().any(lost)
    }

    fn into_profile(self) -> Profile {
        Profile {
            violations: self.found.violations,
            violation_count: self.found.violation_count,
            damage: self.found.damage,
            ..self.join.into_profile(self.streams)
        }
    }

    fn add(&mut self, run: &Run<'t>, at: usize, done: Done<'t>) -> Result<(), GiveUp> {
        let Some(part) = done.part else {
            for figures in &done.figures {
                self.add_stream(*figures)?;
            }
            self.found.merge(done.found);
            self.join.add_streams(&done.chunk);
            return Ok(());
        };
        let stream = &run.trace.streams()[part.stream];
        if part.is_first {
            self.join
                .begin_stream(begin_of(stream, Some(part.first_tick)));
            (self.events, self.number, self.tick, self.moved) = (0, 0, 0, 0);
        }
        // A block that says that it begins before the last event does not set the time back, and the
        // part did not know of that event.
        if part.first != self.number || part.begin_tick < self.tick {
            return Err(GiveUp::Unusual);
        }
        (self.number, self.tick) = (part.next, part.end_tick);
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
            self.add_stream(StreamFigures {
                stream: stream.id,
                events: self.events,
                ..figures
            })?;
        }
        Ok(())
    }

    /// Books add ticks modulo 2⁶⁴, so they are of use only as long as all streams together last no longer. More
    /// than that has a trace with impossible ticks.
    fn add_stream(&mut self, figures: StreamFigures) -> Result<(), GiveUp> {
        let lasted = figures.last_tick.saturating_sub(figures.first_tick);
        self.lasted = self.lasted.checked_add(lasted).ok_or(GiveUp::Long)?;
        self.streams.push(figures);
        Ok(())
    }
}

/// When a stream begins.
fn begin_of(stream: &StreamInfo, first: Option<u64>) -> u64 {
    let begin = stream.begin_tick();
    first.into_iter().chain(begin).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::replay::tests::{long_script, long_trace};
    use crate::trace::mapping::Mapping;

    /// The thread that panics never delivers its chunk. The others used to wait for that, for ever.
    #[test]
    fn a_panic_in_a_chunk_ends_the_replay() {
        let mut runner = TestRunner::deterministic();
        let script = long_script().new_tree(&mut runner).unwrap().current();
        let mapping = Mapping::from(long_trace(&script));
        let trace = Trace::read(mapping, "a.pmt".as_ref()).unwrap();
        let options = ReplayOptions::default();
        let scope = options.scope(&trace);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let replay = || {
            let nowhere = Work::Streams(usize::MAX - 1..usize::MAX);
            let mut works = vec![Work::Streams(0..1); 100];
            works[0] = nowhere;
            Run::new(&trace, &options, &scope, works, None).all()
        };
        let panicked = catch_unwind(AssertUnwindSafe(|| pool.unwrap().install(replay)));
        assert!(panicked.is_err());
    }
}
