//! When a trace that is still being recorded is read again, and how fast it grows.

use std::time::{Duration, Instant};

use crate::format::{count, time};

/// The trace is not read again sooner than after so long, nor than so many times what reading it
/// took.
const REST: Duration = Duration::from_secs(1);
const REST_TIMES: u32 = 4;

/// A trace that is still being recorded.
#[derive(Debug)]
pub(super) struct Follow {
    /// When the analysis that is being made, or was made last, began.
    began: Instant,
    /// When the trace is read again.
    next: Instant,
    /// When how many events were there, the last two times.
    seen: [Option<(Instant, u64)>; 2],
    /// When the trace was read whose figures are shown.
    shown: Instant,
}

impl Follow {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            next: now + REST,
            seen: [None; 2],
            shown: now,
        }
    }

    /// Whether the trace is to be read again. If so, it is read now.
    pub(super) fn begin_if_due(&mut self, now: Instant) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.began = now;
            self.next = now + REST;
        }
        is_due
    }

    /// The figures are there of the trace that was read last, with so many events.
    pub(super) fn figures_came(&mut self, now: Instant, events: u64) {
        self.shown = self.began;
        self.seen = [self.seen[1], Some((now, events))];
        self.next = now + REST.max(now.duration_since(self.began) * REST_TIMES);
    }

    /// Events a second, if that is known, and how old the figures are that are shown.
    pub(super) fn in_words(&self) -> [Option<String>; 2] {
        let pace = self.pace().map(|pace| format!("{} events/s", count(pace)));
        [pace, Some(format!("{} behind", time(self.behind_ns())))]
    }

    /// Events that came in a second, between the last two times; `None` before the second time.
    fn pace(&self) -> Option<u64> {
        let [(before, less), (now, more)] = [self.seen[0]?, self.seen[1]?];
        let millis = now.duration_since(before).as_millis().max(1);
        let events = u128::from(more.saturating_sub(less)) * 1000 / millis;
        u64::try_from(events).ok()
    }

    fn behind_ns(&self) -> u64 {
        u64::try_from(self.shown.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
