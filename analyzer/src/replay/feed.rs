//! Events out of blocks into a chunk.

use portmortem_tracer::format::{Dialect, Event};

use super::chunk::Chunk;
use crate::trace::Trace;

/// What was read of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    /// Events replayed.
    pub(super) events: u64,
    /// When the last of them happened, or the first after the window.
    pub(super) tick: u64,
    /// The window is over.
    pub(super) over: bool,
}

impl Chunk<'_> {
    /// Replays the next event, of an engine that speaks `dialect`. Ticks never go backwards.
    #[inline]
    pub(super) fn step(&mut self, dialect: Dialect, event: Event, tick: u64) {
        if self.early && self.scope.window.is_some_and(|window| tick >= window.from) {
            self.window_begins();
        }
        self.advance(self.scope.nearest(tick));
        self.happen(dialect, event);
    }

    /// Replays the events in `bytes` of an engine that speaks `dialect`; `tick` is the time of the event
    /// before. `None` if something unusual is among them.
    pub(super) fn replay(
        &mut self,
        trace: &Trace,
        dialect: Dialect,
        mut bytes: &[u8],
        tick: u64,
    ) -> Option<Read> {
        if self.scope.window.is_some() {
            return self.replay_in_window(trace, dialect, bytes, tick);
        }
        self.advance(tick);
        let before = self.events;
        while !bytes.is_empty() {
            let (event, delta) = next(trace, &mut bytes)?;
            self.tick = self.tick.checked_add(delta)?;
            self.pass(delta);
            self.happen(dialect, event);
            if self.unusual {
                return None;
            }
        }
        Some(Read {
            events: self.events - before,
            tick: self.tick,
            over: false,
        })
    }

    fn replay_in_window(
        &mut self,
        trace: &Trace,
        dialect: Dialect,
        mut bytes: &[u8],
        mut tick: u64,
    ) -> Option<Read> {
        let before = self.events;
        let mut over = false;
        while !bytes.is_empty() {
            let (event, delta) = next(trace, &mut bytes)?;
            tick = tick.checked_add(delta)?;
            over = self.scope.is_over(tick);
            if over {
                break;
            }
            self.step(dialect, event, tick);
            if self.unusual {
                return None;
            }
        }
        Some(Read {
            events: self.events - before,
            tick,
            over,
        })
    }
}

/// The next event, and the ticks since the one before.
#[inline(always)]
fn next(trace: &Trace, bytes: &mut &[u8]) -> Option<(Event, u64)> {
    let (mut event, delta, length) = Event::decode(bytes).ok()?;
    *bytes = &bytes[length..];
    if let Event::Call { predicate } | Event::Tail { predicate } = &mut event {
        *predicate = trace.predicate_index(*predicate)?;
    }
    Some((event, delta))
}
