//! Reads events into a chunk and notes everything that is wrong with them.

use portmortem_tracer::format::{Dialect, Event};

use super::chunk::Chunk;
use crate::figures::profile::{MAX_VIOLATIONS, Violation};
use crate::machine::Class;
use crate::trace::StreamInfo;
use crate::trace::damage::Damage;
use crate::trace::events::{Events, TimedEvent};

/// Faults of streams.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamFaults {
    /// The first ones of each stream.
    pub(super) violations: Vec<Violation>,
    pub(super) violation_count: u64,
    pub(super) damage: Vec<Damage>,
}

impl StreamFaults {
    pub(super) fn merge(&mut self, other: Self) {
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

/// Reads a stream, or a part of it, and notes its faults.
pub(super) struct StreamReader<'t> {
    stream: u32,
    pub(super) events: Events<'t>,
    /// How many violations of the stream are listed.
    listed: usize,
    found: StreamFaults,
}

impl<'t> StreamReader<'t> {
    pub(super) fn new(stream: &StreamInfo, events: Events<'t>) -> Self {
        Self {
            stream: stream.id,
            events,
            listed: 0,
            found: StreamFaults::default(),
        }
    }

    /// Replays an event that was read by itself.
    pub(super) fn step(&mut self, chunk: &mut Chunk, dialect: Dialect, event: TimedEvent) {
        let trace = self.events.trace();
        let callable = |predicate| trace.callable_at(predicate, event.site);
        let class = match Class::of(event.event) {
            Class::Enter(predicate) => Class::Enter(callable(predicate)),
            Class::Depart(predicate) => Class::Depart(callable(predicate)),
            class => class,
        };
        chunk.step(dialect, class, event.tick);
        let (number, offset) = (self.events.number(), self.events.offset());
        self.note(chunk, |_| (number, offset));
    }

    /// Notes violations of the last events. From the number of an event in the chunk, `place` tells its number
    /// in the stream and its place in the file.
    #[inline]
    pub(super) fn note(&mut self, chunk: &mut Chunk, place: impl FnMut(u64) -> (u64, u64)) {
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

    /// All faults, damage included.
    pub(super) fn finish(self) -> StreamFaults {
        let mut found = self.found;
        found.damage.extend(self.events.into_damage());
        found
    }
}

/// Where in a payload an event begins, for ascending numbers of events.
pub(super) fn offsets<'b>(mut bytes: &'b [u8], mut offset: u64) -> impl FnMut(u64) -> u64 + 'b {
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
