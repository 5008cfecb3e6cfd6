//! Cutting: a range of time of a trace as a trace of its own.
//!
//! It has all records, and of each stream the events of the range with their numbers and times,
//! behind those of before that rebuild the boxes where it begins (`prefix.rs`). What was left out
//! in between is a `SKIP`, which takes its numbers. A record says which part it is, and readers
//! look at nothing else: so all figures are those of the range in the whole trace.
//!
//! A stream in which something happens that cannot happen has all of its events up to the end of
//! the range.

mod prefix;

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use portmortem_tracer::format::{
    BlockClose, BlockIndex, BlockKind, BlockStart, FILE_HEADER_BYTES, IndexEntry, MAX_EVENT_BYTES,
    Part, Record, WireError, crc32, cut_file_header, encode_record, encode_skip, read_record,
};
use portmortem_tracer::index_and_footer;

use crate::machine::{Class, OpenBox, Passage};
use crate::moment::Moment;
use crate::trace::clock::{Clock, Pair};
use crate::trace::events::{Events, TimedEvent};
use crate::trace::{BoxKind, StreamInfo, Trace, kept};
use prefix::{PartBeginning, Prefix, PrefixEvent};

/// Why no part was cut out of a trace.
#[derive(Debug, thiserror::Error)]
pub enum CutError {
    /// Events are missing, and there is no number for them.
    #[error("stream {stream} is damaged, and how many events it lost is not known; {HOW_ELSE}")]
    Damaged {
        /// Which stream.
        stream: u32,
    },
    /// Events of the range were folded into figures.
    #[error("events of the range were folded into figures and are gone; {HOW_ELSE}")]
    Folded,
    /// A record does not fit into a trace.
    #[error(transparent)]
    Record(#[from] WireError),
    /// What was made could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What a user can do about a range that cannot be cut out.
const HOW_ELSE: &str = "cut a range that begins later or ends earlier";

/// A block has no more payload than this, and an event.
const MOST_PAYLOAD: usize = 256 << 10;

/// A `SKIP` stands for no more events.
const MOST_SKIPPED: u64 = 1 << 31;

/// Writes a part of a trace; the trace may be a part itself, and the part lies in it. `is_folded`:
/// events that it has lost are in figures. `done` counts up to [`Trace::size`] at most.
///
/// # Errors
/// [`CutError`].
pub fn cut(
    trace: &Trace,
    part: &Part,
    is_folded: bool,
    out: &mut dyn Write,
    done: &AtomicU64,
) -> Result<(), CutError> {
    let mut file = CutFile::begin(trace, out)?;
    let mut records = Vec::new();
    copy_records(trace, &mut records, &mut file)?;
    if !trace.damage().is_empty() {
        let text = "cut out of a trace that is damaged: `portmortem verify` of that says where";
        let text = text.to_owned();
        encode_record(&Record::Note { text }, &mut records)?;
    }
    let first = file.first;
    file.put_records(&mut records, first)?;
    let kinds = BoxKind::by_predicate(trace);
    for stream in trace.streams() {
        if !part.streams.is_empty() && !part.streams.contains(&stream.id) {
            continue;
        }
        let cutter = Cutter {
            trace,
            stream,
            part,
            is_folded,
            kinds: &kinds,
        };
        if let Some((tick, events)) = cutter.cut(&mut file, done)? {
            let stream = stream.id;
            let end = Record::StreamEnd {
                stream,
                tick,
                events,
            };
            encode_record(&end, &mut records)?;
        }
    }
    encode_record(&Record::Part(part.clone()), &mut records)?;
    // The clock of the part has both ends of that of the trace.
    let last = file.last;
    file.put_records(&mut records, last)?;
    file.finish()
}

/// All records that hold for the part, too.
fn copy_records(trace: &Trace, records: &mut Vec<u8>, file: &mut CutFile) -> Result<(), CutError> {
    trace.each_records(|payload| {
        let mut at = 0;
        while at < payload.len() {
            let from = at;
            match read_record(payload, &mut at) {
                Ok(Record::StreamEnd { .. } | Record::Part(_)) => {}
                Ok(_) => records.extend_from_slice(&payload[from..at]),
                Err(_) if at == from => break,
                Err(_) => {}
            }
            if records.len() >= MOST_PAYLOAD {
                file.put_records(records, file.first)?;
            }
        }
        Ok(())
    })
}

/// Cuts one stream.
struct Cutter<'c> {
    trace: &'c Trace,
    stream: &'c StreamInfo,
    part: &'c Part,
    is_folded: bool,
    kinds: &'c [BoxKind],
}

impl<'c> Cutter<'c> {
    /// When the stream ends in the part, and how many events it has then; `None` if it has not
    /// begun.
    fn cut(&self, file: &mut CutFile, done: &AtomicU64) -> Result<Option<(u64, u64)>, CutError> {
        if self.is_folded && self.has_hole() {
            return Err(CutError::Folded);
        }
        let mut reading = CutReading::new(self.trace.events(self.stream), done);
        let mut prefix = Prefix::new(self.trace, self.kinds, self.stream.dialect());
        let mut flight = CutFlight::new(self);
        let mut next = reading.next();
        while let Some((timed, kept)) = next.filter(|(timed, _)| timed.tick < self.part.from) {
            prefix.step(&timed, kept);
            flight.step(&timed, kept.number);
            next = reading.next();
        }
        let is_in_part =
            |next: Option<ReadEvent>| next.filter(|(timed, _)| timed.tick < self.part.until);
        let mut writer = StreamWriter::new(file, self.stream.id);
        match prefix.finish() {
            // Nothing is to be seen of it in the part.
            Some(PartBeginning { is_idle: true, .. }) if is_in_part(next).is_none() => {
                return Ok(self.end(&reading, next).map(|tick| (tick, 0)));
            }
            Some(beginning) => {
                for kept in beginning.events {
                    writer.put(kept, false)?;
                }
            }
            None => {
                reading = CutReading::new(self.trace.events(self.stream), done);
                flight = CutFlight::new(self);
                next = reading.next();
            }
        }
        while let Some((timed, kept)) = is_in_part(next) {
            writer.put(kept, timed.tick >= self.part.from)?;
            flight.step(&timed, kept.number);
            next = reading.next();
        }
        // Where an exception is caught that is on its way when the range ends is seen later.
        while let Some((timed, kept)) = next.filter(|_| flight.is_on) {
            flight.step(&timed, kept.number);
            if flight.is_on {
                writer.put(kept, true)?;
                next = reading.next();
            }
        }
        let events = match next {
            Some(_) => writer.number,
            None => reading.events.next_number(),
        };
        writer.skip_to(events)?;
        let end = self.end(&reading, next);
        // What is lost at the end of a stream its end tells.
        writer.is_needed &= next.is_some() || end > reading.last;
        writer.finish()?;
        Ok(end.map(|tick| (tick, events)))
    }

    /// Whether events of the part were not kept.
    fn has_hole(&self) -> bool {
        let Part { from, until, .. } = *self.part;
        let mut gone = kept::gone(self.trace, self.stream).into_iter();
        gone.any(|gone| gone.start < until && from < gone.end)
    }

    /// When it ends in the part; `next` is the first event after that.
    fn end(&self, reading: &CutReading, next: Option<ReadEvent>) -> Option<u64> {
        if next.is_some() {
            return Some(self.part.until);
        }
        let end = self.stream.end.map(|end| end.tick);
        let last = reading.last.max(end)?;
        Some(last.min(self.part.until))
    }
}

/// Whether an exception of the range is on its way.
struct CutFlight<'k> {
    kinds: &'k [BoxKind],
    /// Where the range begins, in ticks.
    from: u64,
    is_on: bool,
    boxes: Moment,
}

impl<'k> CutFlight<'k> {
    /// Before the first event of a stream.
    fn new(cutter: &Cutter<'k>) -> Self {
        let dialect = cutter.stream.dialect();
        Self {
            kinds: cutter.kinds,
            from: cutter.part.from,
            is_on: false,
            boxes: Moment::beginning(dialect, cutter.trace.unknown_predicate()),
        }
    }

    fn step(&mut self, timed: &TimedEvent, number: u64) {
        let of = self.boxes.step(timed.event, number);
        let is_work_of_engine =
            |(of, _): (OpenBox, u64)| BoxKind::of(self.kinds, of.predicate).is_between_ports();
        if of.is_some_and(is_work_of_engine) {
            return;
        }
        match Passage::of(Class::of(timed.event)) {
            Passage::Flies => self.is_on = timed.tick >= self.from,
            Passage::Lands => self.is_on = false,
            Passage::Stays => {}
        }
    }
}

/// An event, and how it was recorded.
type ReadEvent = (TimedEvent, PrefixEvent);

/// The events of a stream.
struct CutReading<'r> {
    events: Events<'r>,
    done: &'r AtomicU64,
    reported: u64,
    /// The tick of the last event.
    last: Option<u64>,
}

impl<'r> CutReading<'r> {
    fn new(events: Events<'r>, done: &'r AtomicU64) -> Self {
        Self {
            events,
            done,
            reported: 0,
            last: None,
        }
    }

    fn next(&mut self) -> Option<ReadEvent> {
        let block = self.events.block();
        let timed = self.events.next();
        let read = self.events.bytes_read();
        if read > self.reported {
            self.done.fetch_add(read - self.reported, Ordering::Relaxed);
            self.reported = read;
            self.events.trace().let_go(block);
        }
        let timed = timed?;
        self.last = Some(timed.tick);
        let recorded = self.events.recorded();
        let number = match recorded {
            Some(_) => self.events.number(),
            None => self.events.next_number(),
        };
        let kept = PrefixEvent {
            event: recorded.unwrap_or(timed.event),
            number,
            tick: timed.tick,
            is_between_blocks: recorded.is_none(),
        };
        Some((timed, kept))
    }
}

/// Writes the blocks of a stream.
struct StreamWriter<'w, 'o> {
    file: &'w mut CutFile<'o>,
    stream: u32,
    sequence: u64,
    payload: Vec<u8>,
    /// Numbers that the block takes.
    events: u64,
    /// The number of the next event.
    number: u64,
    tick: u64,
    /// Of the block: the number of its first event, and its base.
    first_event: u64,
    base: u64,
    /// A block is needed, also if there is no event in it.
    is_needed: bool,
}

impl<'w, 'o> StreamWriter<'w, 'o> {
    fn new(file: &'w mut CutFile<'o>, stream: u32) -> Self {
        let base = file.nearest(0);
        Self {
            file,
            stream,
            sequence: 0,
            payload: Vec::new(),
            events: 0,
            number: 0,
            tick: base,
            first_event: 0,
            base,
            is_needed: false,
        }
    }

    /// Writes an event, behind those that were left out before it.
    fn put(&mut self, kept: PrefixEvent, is_inside: bool) -> Result<(), CutError> {
        if kept.is_between_blocks {
            return self.lose(kept, is_inside);
        }
        self.skip_to(kept.number)?;
        if self.payload.len() >= MOST_PAYLOAD || self.events >= u64::from(u32::MAX) {
            self.flush()?;
        }
        let delta = kept.tick.saturating_sub(self.tick);
        self.payload.reserve(MAX_EVENT_BYTES);
        kept.event.encode(delta, &mut self.payload);
        self.tick += delta;
        self.number += 1;
        self.events += 1;
        Ok(())
    }

    /// Events were lost: the next block says how many.
    fn lose(&mut self, kept: PrefixEvent, is_inside: bool) -> Result<(), CutError> {
        let Class::Lose(lost) = Class::of(kept.event) else {
            return Ok(());
        };
        // Before the part it does not matter how many they were.
        let lost = if is_inside { lost } else { lost.max(1) };
        let before = kept
            .number
            .checked_sub(lost)
            .filter(|before| *before >= self.number);
        let Some(before) = before.filter(|_| lost > 0) else {
            let stream = self.stream;
            return Err(CutError::Damaged { stream });
        };
        self.skip_to(before)?;
        self.flush()?;
        self.number = kept.number;
        self.tick = self.tick.max(kept.tick);
        self.open();
        self.is_needed = true;
        Ok(())
    }

    /// So many events were left out that this is the number of the next one.
    fn skip_to(&mut self, number: u64) -> Result<(), CutError> {
        while self.number < number {
            let events = (number - self.number).min(MOST_SKIPPED);
            if self.events + events > u64::from(u32::MAX) {
                self.flush()?;
            }
            encode_skip(events, &mut self.payload);
            self.number += events;
            self.events += events;
        }
        Ok(())
    }

    fn open(&mut self) {
        self.first_event = self.number;
        self.base = self.file.nearest(self.tick);
    }

    fn flush(&mut self) -> Result<(), CutError> {
        if !self.payload.is_empty() || self.is_needed {
            let start = BlockStart {
                kind: BlockKind::Events,
                stream: self.stream,
                sequence: self.sequence,
                first_event: self.first_event,
                base_tick: self.base,
                base_ns: self.file.ns_at(self.base),
            };
            let events = std::mem::take(&mut self.events) as u32;
            self.file
                .put_block(&start, &self.payload, events, self.tick)?;
            self.payload.clear();
            self.sequence += 1;
            self.is_needed = false;
        }
        self.open();
        Ok(())
    }

    fn finish(mut self) -> Result<(), CutError> {
        self.flush()
    }
}

/// The file that is written.
struct CutFile<'o> {
    out: &'o mut dyn Write,
    at: u64,
    entries: Vec<IndexEntry>,
    file_id: u64,
    clock: Clock,
    /// Both ends of the trace's clock.
    first: Pair,
    last: Pair,
    /// Blocks of records, and records in them.
    record_blocks: u64,
    records: u64,
}

impl<'o> CutFile<'o> {
    fn begin(trace: &Trace, out: &'o mut dyn Write) -> io::Result<Self> {
        let mut header = trace.file_header();
        cut_file_header(&mut header);
        out.write_all(&header)?;
        let none = Pair { tick: 0, ns: 0 };
        let (first, last) = trace.clock_ends().unwrap_or((none, none));
        Ok(Self {
            out,
            at: FILE_HEADER_BYTES as u64,
            entries: Vec::new(),
            file_id: trace.file_id(),
            clock: *trace.clock(),
            first,
            last,
            record_blocks: 0,
            records: 0,
        })
    }

    /// The tick nearest to this one that a block may begin at: pairs of blocks change nothing about
    /// the clock.
    fn nearest(&self, tick: u64) -> u64 {
        tick.clamp(self.first.tick, self.last.tick)
    }

    fn ns_at(&self, tick: u64) -> u64 {
        if tick == self.last.tick {
            return self.last.ns;
        }
        let since = self.clock.duration_ns(tick.saturating_sub(self.first.tick));
        self.first.ns.saturating_add(since)
    }

    /// A block of these records; there are none then.
    fn put_records(&mut self, records: &mut Vec<u8>, pair: Pair) -> io::Result<()> {
        let mut count = 0;
        let mut at = 0;
        while at < records.len() && (read_record(records, &mut at).is_ok()) {
            count += 1;
        }
        let start = BlockStart {
            kind: BlockKind::Records,
            stream: 0,
            sequence: self.record_blocks,
            first_event: self.records,
            base_tick: pair.tick,
            base_ns: pair.ns,
        };
        self.put_block(&start, records, count, pair.tick)?;
        self.record_blocks += 1;
        self.records += u64::from(count);
        records.clear();
        Ok(())
    }

    fn put_block(
        &mut self,
        start: &BlockStart,
        payload: &[u8],
        events: u32,
        last_tick: u64,
    ) -> io::Result<()> {
        let close = BlockClose {
            last_tick,
            events,
            regressions: 0,
            payload_crc: crc32(payload),
        };
        let block = start.encode_whole(&close, payload, self.file_id);
        self.entries.push(IndexEntry {
            offset: self.at,
            stream: start.stream,
            sequence: start.sequence,
        });
        self.out.write_all(&block)?;
        self.at += block.len() as u64;
        Ok(())
    }

    fn finish(mut self) -> Result<(), CutError> {
        let blocks = std::mem::take(&mut self.entries);
        let pair = portmortem_tracer::clock::BothClocks {
            tick: self.first.tick,
            ns: self.first.ns,
        };
        let end = index_and_footer(&BlockIndex { blocks }, self.at, pair, self.file_id);
        self.out.write_all(&end)?;
        self.out.flush()?;
        Ok(())
    }
}
