//! Events out of blocks into a chunk.

use portmortem_tracer::format::{Dialect, Event, Take};

use super::chunk::Chunk;
use crate::trace::Trace;

/// The part of a block that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    /// Events replayed, and the bytes that they take.
    pub(super) events: u64,
    pub(super) bytes: usize,
    /// When the last of them happened, or the first after the window.
    pub(super) tick: u64,
    /// The window is over.
    pub(super) over: bool,
}

impl Chunk<'_> {
    /// Replays the next event, of an engine that speaks `dialect`. Ticks never go backwards. What it calls is a
    /// [`Callable`](crate::trace::Callable).
    #[inline]
    pub(super) fn step(&mut self, dialect: Dialect, event: Event, tick: u64) {
        if self.early && self.scope.window.is_some_and(|window| tick >= window.from) {
            self.window_begins();
        }
        let tick = self.scope.nearest(tick);
        if let Event::Gap { lost } = event {
            self.gap(lost, tick.saturating_sub(self.tick));
        } else {
            self.advance(tick);
        }
        if self.hides {
            self.happen::<true>(dialect, event);
        } else {
            self.happen::<false>(dialect, event);
        }
    }

    /// Replays the events in `bytes` of an engine that speaks `dialect`; `tick` is the time of the event
    /// before. Ends at an event that cannot be read, or that needs the stream as a whole.
    pub(super) fn replay(
        &mut self,
        trace: &Trace,
        dialect: Dialect,
        bytes: &[u8],
        tick: u64,
    ) -> Read {
        if self.scope.window.is_some() {
            return self.replay_in_window(trace, dialect, bytes, tick);
        }
        if self.hides {
            self.replay_all::<true>(trace, dialect, bytes, tick)
        } else {
            self.replay_all::<false>(trace, dialect, bytes, tick)
        }
    }

    fn replay_all<const HIDES: bool>(
        &mut self,
        trace: &Trace,
        dialect: Dialect,
        bytes: &[u8],
        tick: u64,
    ) -> Read {
        let before = self.events;
        let mut left = self.replay_first(trace, dialect, bytes, tick);
        while left.len() < bytes.len() && !self.unusual {
            let next = Next::<HIDES> {
                chunk: self,
                trace,
                dialect,
            };
            let length = match Event::take_short(left, next) {
                Some(length) => length,
                None => self.replay_long(trace, dialect, left),
            };
            let Some(length) = length else {
                break;
            };
            left = &left[length..];
        }
        Read {
            events: self.events - before,
            bytes: bytes.len() - left.len(),
            tick: self.tick.max(tick),
            over: false,
        }
    }

    /// Replays an event that [`Event::take_short`] does not read; its length in bytes, if it can be read.
    #[inline(never)]
    fn replay_long(&mut self, trace: &Trace, dialect: Dialect, bytes: &[u8]) -> Option<usize> {
        let (event, delta, rest) = next(trace, bytes)?;
        self.step(dialect, event, self.tick.checked_add(delta)?);
        Some(bytes.len() - rest.len())
    }

    /// Replays the first event of some bytes, which may come long after the one before; what is left.
    #[inline(never)]
    fn replay_first<'b>(
        &mut self,
        trace: &Trace,
        dialect: Dialect,
        bytes: &'b [u8],
        tick: u64,
    ) -> &'b [u8] {
        let Some((event, delta, rest)) = next(trace, bytes) else {
            return bytes;
        };
        let Some(tick) = tick.checked_add(delta) else {
            return bytes;
        };
        self.step(dialect, event, tick);
        rest
    }

    fn replay_in_window(
        &mut self,
        trace: &Trace,
        dialect: Dialect,
        bytes: &[u8],
        mut tick: u64,
    ) -> Read {
        let before = self.events;
        let mut over = false;
        let mut left = bytes;
        while let Some((event, delta, rest)) = next(trace, left) {
            let Some(at) = tick.checked_add(delta) else {
                break;
            };
            tick = at;
            over = self.scope.is_over(tick);
            if over {
                break;
            }
            self.step(dialect, event, tick);
            left = rest;
        }
        Read {
            events: self.events - before,
            bytes: bytes.len() - left.len(),
            tick,
            over,
        }
    }
}

/// Replays an event as it is decoded.
struct Next<'n, 'c, const HIDES: bool> {
    chunk: &'n mut Chunk<'c>,
    trace: &'n Trace,
    dialect: Dialect,
}

impl<const HIDES: bool> Take for Next<'_, '_, HIDES> {
    /// How many bytes the event took; `None` if it calls something unknown.
    type Taken = Option<usize>;

    #[inline(always)]
    fn take(self, mut event: Event, delta: u64, length: usize) -> Option<usize> {
        if let Event::Call { predicate } | Event::Tail { predicate } = &mut event {
            *predicate = self.trace.callable(*predicate)?;
        }
        self.chunk.tick = self.chunk.tick.checked_add(delta)?;
        self.chunk.pass::<HIDES>(delta);
        self.chunk.happen::<HIDES>(self.dialect, event);
        Some(length)
    }
}

/// The next event, the ticks since the one before, and the bytes that follow; `None` if no event can be read.
/// It calls a [`Callable`](crate::trace::Callable).
fn next<'b>(trace: &Trace, bytes: &'b [u8]) -> Option<(Event, u64, &'b [u8])> {
    if bytes.is_empty() {
        return None;
    }
    let (mut event, delta, length) = Event::decode(bytes).ok()?;
    if let Event::Call { predicate } | Event::Tail { predicate } = &mut event {
        *predicate = trace.callable(*predicate)?;
    }
    Some((event, delta, &bytes[length..]))
}
