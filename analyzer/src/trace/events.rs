//! The events of one stream, across its blocks, with everything that was lost made explicit.
//!
//! Invariant: whenever the next event may not follow directly on the previous one (a block is
//! missing, its checksum is wrong, events were dropped, an event does not decode) an
//! [`Event::Gap`] stands between them, with the number of events lost where block headers give it.
//! Ticks never go backwards.

use std::ops::Range;

use portmortem_tracer::format::{BLOCK_HEADER_BYTES, BlockHeader, Closing, Event, decode_skip};

use crate::trace::damage::{Damage, DamageKind};
use crate::trace::packed::PayloadBytes;
use crate::trace::{self, EventsBlock, PredicateIndex, SiteIndex, StreamEnd, StreamInfo, Trace};

/// An event and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedEvent {
    /// What happened. Predicates are [`crate::trace::PredicateIndex`], not the ids of the file.
    pub event: Event,
    /// The goal that made the call, if this is one and it says so.
    pub site: Option<SiteIndex>,
    /// When, in ticks.
    pub tick: u64,
}

/// Iterator over the events of a stream. Reads and checks each block when it comes to it.
#[derive(Debug, Clone)]
pub struct Events<'t> {
    trace: &'t Trace,
    stream: u32,
    blocks: std::slice::Iter<'t, EventsBlock>,
    end: Option<StreamEnd>,
    current: Current<'t>,
    tick: u64,
    /// Number of the next event in the stream, lost ones included.
    number: u64,
    /// Where the event last returned begins, in the file.
    offset: u64,
    /// The next event may not follow on the last one, however the numbers look.
    lost_track: bool,
    finished: bool,
    /// Others come after the last block.
    partial: bool,
    /// Whether what was last returned is an event of a block, and no gap between blocks.
    is_in_block: bool,
    events_read: u64,
    bytes_read: u64,
    damage: Vec<Damage>,
}

/// Events of a block, as they were recorded.
#[derive(Debug, Clone)]
pub(crate) struct Payload<'t> {
    whole: PayloadBytes<'t>,
    /// Where in that they begin.
    from: usize,
    /// What was lost before them.
    pub(crate) gap: Option<TimedEvent>,
    /// Offset of the bytes in the file, if they are not packed.
    pub(crate) offset: u64,
}

impl Payload<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.whole[self.from..]
    }
}

/// The block being read.
#[derive(Debug, Clone, Default)]
struct Current<'t> {
    block: Option<BlockHeader>,
    payload: PayloadBytes<'t>,
    /// Offset of the payload in the file.
    start: u64,
    at: usize,
    /// Number in the stream of the event after the last one of the block, if its header says so.
    next_number: Option<u64>,
    events: u64,
    /// The payload agrees with a checksum.
    checked: bool,
    /// An unknown predicate was reported; once per block is enough.
    reported_unknown: bool,
}

impl<'t> Events<'t> {
    pub(crate) fn new(trace: &'t Trace, stream: &StreamInfo) -> Self {
        Self {
            trace,
            stream: stream.id,
            blocks: trace.blocks(stream.blocks.clone()).iter(),
            end: stream.end,
            current: Current::default(),
            tick: 0,
            number: 0,
            offset: 0,
            lost_track: false,
            finished: false,
            partial: false,
            is_in_block: false,
            events_read: 0,
            bytes_read: 0,
            damage: Vec::new(),
        }
    }

    /// The events of some blocks of a stream, as if all before were fine.
    pub(crate) fn part(trace: &'t Trace, stream: &StreamInfo, blocks: Range<usize>) -> Self {
        let is_last = blocks.end == stream.blocks.end;
        Self::part_ending(trace, stream, blocks, is_last)
    }

    /// The same; `is_last` says whether the stream ends with them.
    pub(crate) fn part_ending(
        trace: &'t Trace,
        stream: &StreamInfo,
        blocks: Range<usize>,
        is_last: bool,
    ) -> Self {
        let first = blocks.clone().next();
        let header = first.and_then(|block| trace.block_header(block));
        let behind = header.map_or((0, 0), |header| (header.first_event, header.base_tick));
        Self::behind(trace, stream, blocks, behind, is_last)
    }

    /// The events of some blocks of a stream, which come behind others: the number of the first one
    /// if none was lost in between, and the tick of the last one before it. Nothing comes after
    /// them if they are the last.
    pub(crate) fn behind(
        trace: &'t Trace,
        stream: &StreamInfo,
        blocks: Range<usize>,
        (number, tick): (u64, u64),
        is_last: bool,
    ) -> Self {
        Self {
            number,
            tick,
            blocks: trace.blocks(blocks).iter(),
            end: stream.end.filter(|_| is_last),
            partial: !is_last,
            ..Self::new(trace, stream)
        }
    }

    /// The rest of the block, or the next one: for those who decode events themselves. `None` at
    /// the end of the stream. Whoever takes it says by [`Events::passed`] what was in it.
    pub(crate) fn payload(&mut self) -> Option<Payload<'t>> {
        let mut gap = None;
        while self.current.at == self.current.payload.len() {
            if self.finished || gap.is_some() {
                return gap.map(|_| Payload {
                    whole: PayloadBytes::default(),
                    from: 0,
                    gap,
                    offset: self.offset,
                });
            }
            gap = self.next_block();
        }
        let from = self.current.at;
        Some(Payload {
            whole: self.current.payload.clone(),
            from,
            gap,
            offset: self.current.start + from as u64,
        })
    }

    pub(crate) fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// Where in the file the block is that is being read, and how many bytes it takes there.
    pub(crate) fn block(&self) -> (u64, u64) {
        let size = self.current.block.as_ref().map_or(0, |block| block.stored);
        let begin = self.current.start.saturating_sub(BLOCK_HEADER_BYTES as u64);
        (begin, u64::from(size))
    }

    /// Time of the event last returned, or of what lies before the next.
    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    /// So many `bytes` of the payload were read: `events`, the last at `tick`.
    pub(crate) fn passed(&mut self, bytes: usize, events: u64, tick: u64) {
        self.current.at += bytes;
        self.current.events += events;
        self.number = self.number.saturating_add(events);
        self.tick = tick;
    }

    /// If the next event is the first one of a block, and [`Events::part`] from there finds all
    /// that follows as it is found here: how many blocks are left.
    pub(crate) fn next_block_follows(&self) -> Option<usize> {
        let current = &self.current;
        let whole = current.next_number == Some(self.number) && !self.lost_track;
        if current.at != current.payload.len() || !whole {
            return None;
        }
        let next = self.blocks.as_slice().first()?;
        let bytes = self.trace.bytes().get(next.offset as usize..)?;
        let header = BlockHeader::parse(bytes, self.trace.file_id()).ok()?;
        let follows = header.first_event == self.number && header.base_tick >= self.tick;
        follows.then_some(self.blocks.len())
    }

    /// Number in its stream of the next event, lost ones included.
    pub(crate) fn next_number(&self) -> u64 {
        self.number
    }

    /// Number in its stream of the event last returned, from 0; lost events count. For a gap found
    /// between blocks: of the last event lost.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number.saturating_sub(1)
    }

    /// The event last returned as it was recorded, with ids of the file; `None` for a gap between
    /// blocks.
    pub(crate) fn recorded(&self) -> Option<Event> {
        let current = &self.current;
        let from = usize::try_from(self.offset.checked_sub(current.start)?).ok()?;
        let bytes = current.payload.get(from..).filter(|_| self.is_in_block)?;
        Some(Event::decode(bytes).ok()?.0)
    }

    /// How many events were read before the one last returned.
    pub(crate) fn events_before(&self) -> u64 {
        self.events_read() - u64::from(self.is_in_block)
    }

    /// Where in the file the event last returned is (for a gap between blocks: the block after it).
    /// In a packed block: where it would be if that were not packed.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many events were read so far; gaps found between blocks are not events.
    #[must_use]
    pub fn events_read(&self) -> u64 {
        self.events_read + self.current.events
    }

    /// Bytes of the file read so far, for progress; of packed blocks, those that they had before.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Damage met so far.
    #[must_use]
    pub fn into_damage(self) -> Vec<Damage> {
        self.damage
    }

    /// The next event of the current block; `None` at its end or where nothing decodes any more.
    #[inline]
    fn in_block(&mut self) -> Option<TimedEvent> {
        let (event, delta, length) = loop {
            let current = &mut self.current;
            let bytes = current
                .payload
                .get(current.at..)
                .filter(|bytes| !bytes.is_empty())?;
            match Event::decode(bytes) {
                Ok(decoded) => break decoded,
                Err(_) if self.skip() => {}
                Err(error) => return self.give_up(DamageKind::Event(error)),
            }
        };
        let (event, site) = match event {
            Event::Call { predicate } => {
                let (predicate, site) = self.resolve(predicate)?;
                (Event::Call { predicate }, site)
            }
            Event::Tail { predicate } => {
                let (predicate, site) = self.resolve(predicate)?;
                (Event::Tail { predicate }, site)
            }
            other => (other, None),
        };
        let current = &mut self.current;
        self.offset = current.start + current.at as u64;
        current.at += length;
        current.events += 1;
        self.number = self.number.saturating_add(1);
        self.tick = self.tick.saturating_add(delta);
        self.is_in_block = true;
        Some(TimedEvent {
            event,
            site,
            tick: self.tick,
        })
    }

    /// In a part of a trace: passes over the numbers of events that were left out, if some were
    /// here.
    #[cold]
    fn skip(&mut self) -> bool {
        let current = &mut self.current;
        let found = decode_skip(&current.payload[current.at..]);
        let Some((events, length)) = found.filter(|_| self.trace.part().is_some()) else {
            return false;
        };
        current.at += length;
        current.events = current.events.saturating_add(events);
        self.number = self.number.saturating_add(events);
        true
    }

    /// The predicate that a call of this id is one of, and its site. An id that is declared nowhere
    /// stands for itself in a block with a correct checksum, or when records were lost: then the
    /// box is real and only its name is missing. Otherwise it is a sign that the bytes are not
    /// events.
    #[inline]
    fn resolve(&mut self, id: u32) -> Option<(PredicateIndex, Option<SiteIndex>)> {
        match self.trace.callable(id) {
            Some(callable) => Some(self.trace.callee(callable)),
            None => self.undeclared(id).map(|unknown| (unknown, None)),
        }
    }

    #[cold]
    fn undeclared(&mut self, predicate: u32) -> Option<PredicateIndex> {
        let what = DamageKind::UnknownPredicate { predicate };
        if !self.current.checked && self.trace.names_complete() {
            return self.give_up(what);
        }
        if !self.current.reported_unknown {
            self.current.reported_unknown = true;
            self.report(self.current.start + self.current.at as u64, what, None);
        }
        Some(self.trace.unknown_predicate())
    }

    /// Leaves the rest of the block out.
    #[cold]
    fn give_up<T>(&mut self, what: DamageKind) -> Option<T> {
        let current = &mut self.current;
        let offset = current.start + current.at as u64;
        current.at = current.payload.len();
        let lost = current
            .next_number
            .map(|next| next.saturating_sub(self.number));
        self.lost_track = true;
        self.report(offset, what, lost);
        None
    }

    /// Goes to the next block; a gap if one lies before its events. At the end of the stream, a gap
    /// if events are missing there.
    #[cold]
    fn next_block(&mut self) -> Option<TimedEvent> {
        self.is_in_block = false;
        self.leave_block();
        let Some(place) = self.blocks.next() else {
            self.finished = true;
            return self.missing_at_end();
        };
        let bytes = self.trace.bytes();
        let at = place.offset as usize;
        let Ok(block) = BlockHeader::parse(&bytes[at..], self.trace.file_id()) else {
            // It was valid when the trace was opened, so the file changed underneath.
            self.lost_track = true;
            self.report(place.offset, DamageKind::LostBlock, None);
            return None;
        };
        let (payload, whole) = trace::payload(bytes, at, &block);
        self.bytes_read += u64::from(block.size);
        let gap = self.before_block(place.offset, &block);
        let announced = match block.closing {
            Closing::Closed(close) => Some(u64::from(close.events)),
            Closing::Open | Closing::Damaged => None,
        };
        self.current = Current {
            block: Some(block),
            payload,
            start: place.offset + BLOCK_HEADER_BYTES as u64,
            next_number: announced.map(|events| self.number.saturating_add(events)),
            ..Current::default()
        };
        // A block that the file cuts off has no checksum that could be computed; like an open one
        // it is believed as far as it goes.
        match block
            .check(&self.current.payload)
            .filter(|_| whole || block.closing == Closing::Damaged)
        {
            Some(true) => self.current.checked = true,
            Some(false) => {
                self.current.payload = PayloadBytes::default();
                self.lost_track = true;
                self.report(place.offset, DamageKind::Checksum, announced);
            }
            None => {}
        }
        gap
    }

    /// What was lost between the events so far and a block.
    fn before_block(&mut self, offset: u64, block: &BlockHeader) -> Option<TimedEvent> {
        if block.first_event < self.number {
            self.lost_track = true;
            self.report(offset, DamageKind::Overlap, None);
        }
        let lost = block.first_event.saturating_sub(self.number);
        self.number += lost;
        self.tick = self.tick.max(block.base_tick);
        self.offset = offset;
        let gap = lost > 0 || self.lost_track;
        self.lost_track = false;
        gap.then_some(TimedEvent {
            event: Event::Gap { lost },
            site: None,
            tick: self.tick,
        })
    }

    /// Compares what the block had with what it said.
    fn leave_block(&mut self) {
        let current = std::mem::take(&mut self.current);
        self.events_read += current.events;
        let Some(block) = current.block else { return };
        if let Some(next) = current.next_number {
            if current.checked && !self.lost_track && next != self.number {
                let announced = next.saturating_sub(self.number - current.events);
                let what = DamageKind::Count {
                    found: current.events,
                    announced,
                };
                self.report(current.start - BLOCK_HEADER_BYTES as u64, what, None);
            }
            if self.number < next {
                self.lost_track = true;
            }
        }
        if self.blocks.as_slice().is_empty() && self.end.is_none() {
            // Nothing after it says how many events there were in all.
            let next = current.next_number.unwrap_or(self.number).max(self.number);
            let events = next.saturating_add(block.dropped);
            self.end = Some(StreamEnd {
                tick: self.tick,
                events,
            });
        }
    }

    fn missing_at_end(&mut self) -> Option<TimedEvent> {
        let end = self.end.filter(|_| !self.partial)?;
        let lost = end.events.saturating_sub(self.number);
        self.number += lost;
        (lost > 0 || self.lost_track).then(|| {
            self.tick = self.tick.max(end.tick);
            TimedEvent {
                event: Event::Gap { lost },
                site: None,
                tick: self.tick,
            }
        })
    }

    fn report(&mut self, offset: u64, what: DamageKind, events_lost: Option<u64>) {
        self.damage.push(Damage {
            offset,
            what,
            stream: Some(self.stream),
            events_lost,
        });
    }
}

impl Iterator for Events<'_> {
    type Item = TimedEvent;

    #[inline]
    fn next(&mut self) -> Option<TimedEvent> {
        loop {
            if let Some(event) = self.in_block() {
                return Some(event);
            }
            if self.finished {
                return None;
            }
            if let Some(gap) = self.next_block() {
                return Some(gap);
            }
        }
    }
}
