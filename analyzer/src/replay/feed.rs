//! Events out of blocks into a chunk.

use portmortem_tracer::format::{Dialect, Event, SHORT_END, Take};

use super::chunk::Chunk;
use crate::machine::Class;
use crate::trace::Trace;

/// The part of a block that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadBlock {
    /// Events replayed, and the bytes that they take.
    pub(super) events: u64,
    pub(super) bytes: usize,
    /// When the last of them happened, or the first after the window.
    pub(super) tick: u64,
    /// The window is over.
    pub(super) over: bool,
}

impl Chunk<'_> {
    /// Replays what the next event does, of an engine that speaks `dialect`. Ticks never go
    /// backwards. What it calls is a [`Callable`](crate::trace::Callable).
    #[inline]
    pub(super) fn step(&mut self, dialect: Dialect, class: Class, tick: u64) {
        if self.early && self.scope.window.is_some_and(|window| tick >= window.from) {
            self.window_begins();
        }
        let tick = self.scope.nearest(tick);
        if let Class::Lose(lost) = class {
            self.gap(lost, tick.saturating_sub(self.clock.tick()));
        } else {
            self.advance(tick);
        }
        if self.hides {
            self.happen::<true>(dialect, class);
        } else {
            self.happen::<false>(dialect, class);
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
    ) -> ReadBlock {
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
    ) -> ReadBlock {
        let before = self.events;
        let mut left = self.replay_first(trace, dialect, bytes, tick);
        while left.len() < bytes.len() && !self.unusual {
            let next = Next::<HIDES> {
                chunk: self,
                trace,
                dialect,
                bytes: left,
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
        ReadBlock {
            events: self.events - before,
            bytes: bytes.len() - left.len(),
            tick: self.clock.tick().max(tick),
            over: false,
        }
    }

    /// Replays an event that [`Event::take_short`] does not read; its length in bytes, if it can be read.
    #[inline(never)]
    fn replay_long(&mut self, trace: &Trace, dialect: Dialect, bytes: &[u8]) -> Option<usize> {
        let (class, delta, rest) = next(trace, bytes)?;
        self.step(dialect, class, self.clock.tick().checked_add(delta)?);
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
        let Some((class, delta, rest)) = next(trace, bytes) else {
            return bytes;
        };
        let Some(tick) = tick.checked_add(delta) else {
            return bytes;
        };
        self.step(dialect, class, tick);
        rest
    }

    fn replay_in_window(
        &mut self,
        trace: &Trace,
        dialect: Dialect,
        bytes: &[u8],
        mut tick: u64,
    ) -> ReadBlock {
        let before = self.events;
        let mut over = false;
        let mut left = bytes;
        while let Some((class, delta, rest)) = next(trace, left) {
            let Some(at) = tick.checked_add(delta) else {
                break;
            };
            tick = at;
            over = self.scope.is_over(tick);
            if over {
                break;
            }
            self.step(dialect, class, tick);
            left = rest;
        }
        ReadBlock {
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
    /// From the event on.
    bytes: &'n [u8],
}

impl<const HIDES: bool> Take for Next<'_, '_, HIDES> {
    /// How many bytes were replayed; `None` if the event calls something unknown.
    type Taken = Option<usize>;

    #[inline(always)]
    fn take(self, event: Event, delta: u64, length: usize) -> Option<usize> {
        let class = class(self.trace, event)?;
        self.chunk.clock.go_on(delta)?;
        self.chunk.pass::<HIDES>(delta);
        if !HIDES
            && let Some((fails, delta)) = Event::short_end(&self.bytes[length..])
            && self.chunk.replay_leaf(class, fails, delta).is_some()
        {
            return Some(length + SHORT_END);
        }
        self.chunk.happen::<HIDES>(self.dialect, class);
        Some(length)
    }
}

/// What an event does; `None` if it calls something unknown. What it calls is a
/// [`Callable`](crate::trace::Callable).
#[inline(always)]
fn class(trace: &Trace, event: Event) -> Option<Class> {
    Some(match Class::of(event) {
        Class::Enter(id) => Class::Enter(trace.callable(id)?),
        Class::Depart(id) => Class::Depart(trace.callable(id)?),
        class => class,
    })
}

/// What the next event does, the ticks since the one before, and the bytes that follow; `None` if
/// no event can be read.
fn next<'b>(trace: &Trace, bytes: &'b [u8]) -> Option<(Class, u64, &'b [u8])> {
    if bytes.is_empty() {
        return None;
    }
    let (event, delta, length) = Event::decode(bytes).ok()?;
    Some((class(trace, event)?, delta, &bytes[length..]))
}
