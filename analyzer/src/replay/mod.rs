//! Events to figures: the sequential replay of each stream.
//!
//! This is the plain replay, one event after the other, in the terms of the model: boxes, ports, the
//! active box and the choice stack. It stays as the oracle for faster ones. Streams know nothing of
//! each other and are replayed in parallel; their figures are sums, so the result does not depend
//! on the number of threads.
//!
//! Data flows: [`crate::events`] → `stream` (what each port means; `unknown` for what must have been
//! before a gap) → `state` (what is active, what can be re-entered; `chain` for boxes that share a
//! frame) and `accounts` (counts and time). Nothing recurses, and memory is that of the boxes that
//! are active or can be re-entered.

mod accounts;
mod chain;
mod state;
mod stream;
#[cfg(test)]
mod tests;
mod unknown;

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::damage::Damage;
use crate::figures::StreamFigures;
use crate::hide::Hide;
use crate::profile::{MAX_VIOLATIONS, Profile, Violation};
use crate::trace::{StreamInfo, Trace};
use accounts::Accounts;
use state::State;
use stream::StreamReplay;

/// Events between two reports of progress.
const REPORT_EVERY: u64 = 1 << 16;

/// What to replay, and how.
#[derive(Debug, Default)]
pub struct ReplayOptions<'o> {
    /// Predicates to treat as if they were part of their callers.
    pub hide: Hide,
    /// Counts up the bytes of event blocks read, for a display of progress against
    /// [`Trace::size`].
    pub progress: Option<&'o AtomicU64>,
}

/// Replays all streams of a trace, in parallel on rayon's current threads.
///
/// The profile also has all damage of the trace: what was known when it was opened, and what its
/// events had.
#[must_use]
pub fn replay(trace: &Trace, options: &ReplayOptions) -> Profile {
    let hidden = options.hide.mask(trace);
    let mut profile = trace
        .streams()
        .par_iter()
        .fold(
            || Worker::new(trace, options, &hidden),
            |mut worker, stream| {
                worker.replay(stream);
                worker
            },
        )
        .map(Worker::into_profile)
        .reduce(Profile::default, |mut all, part| {
            all.merge(part);
            all
        });
    profile.predicates.resize(hidden.len(), Default::default());
    profile.damage.extend_from_slice(trace.damage());
    profile.settle();
    profile
}

/// Replays streams one after the other into the same books.
struct Worker<'r> {
    trace: &'r Trace,
    progress: Option<&'r AtomicU64>,
    hidden: &'r [bool],
    accounts: Accounts,
    state: State,
    streams: Vec<StreamFigures>,
    violations: Vec<Violation>,
    violation_count: u64,
    damage: Vec<Damage>,
}

impl<'r> Worker<'r> {
    fn new(trace: &'r Trace, options: &'r ReplayOptions, hidden: &'r [bool]) -> Self {
        Self {
            trace,
            progress: options.progress,
            hidden,
            accounts: Accounts::new(trace.predicates().len()),
            state: State::new(),
            streams: Vec::new(),
            violations: Vec::new(),
            violation_count: 0,
            damage: Vec::new(),
        }
    }

    fn replay(&mut self, stream: &StreamInfo) {
        let mut events = self.trace.events(stream);
        let mut next = events.next();
        let first = next.map(|event| event.tick);
        let begin = stream.begin.as_ref().map(|begin| begin.tick);
        let begin = first.into_iter().chain(begin).min().unwrap_or(0);
        let (accounts, state) = (&mut self.accounts, &mut self.state);
        let mut replay = StreamReplay::new(accounts, state, self.hidden, stream.dialect(), begin);
        let (mut listed, mut reported) = (0, 0);
        let mut until_report = REPORT_EVERY;
        let mut last = begin;
        while let Some(event) = next {
            replay.step(event.event, event.tick);
            for what in replay.violations() {
                self.violation_count += 1;
                if listed < MAX_VIOLATIONS {
                    listed += 1;
                    let (event, offset) = (events.number(), events.offset());
                    self.violations.push(Violation {
                        stream: stream.id,
                        event,
                        offset,
                        what,
                    });
                }
            }
            until_report -= 1;
            if until_report == 0 {
                until_report = REPORT_EVERY;
                reported = report(self.progress, reported, events.bytes_read());
            }
            last = event.tick;
            next = events.next();
        }
        let figures = replay.finish(stream.end.map_or(last, |end| end.tick.max(last)));
        report(self.progress, reported, events.bytes_read());
        let events_read = events.events_read();
        self.streams.push(StreamFigures {
            stream: stream.id,
            events: events_read,
            ..figures
        });
        self.damage.extend(events.into_damage());
        if self.violations.len() > 2 * MAX_VIOLATIONS {
            self.violations
                .sort_by_key(|violation| (violation.stream, violation.event));
            self.violations.truncate(MAX_VIOLATIONS);
        }
    }

    fn into_profile(self) -> Profile {
        let mut profile = self.accounts.into_profile();
        profile.streams = self.streams;
        profile.violations = self.violations;
        profile.violation_count = self.violation_count;
        profile.damage = self.damage;
        profile.settle();
        profile
    }
}

/// Reports what was read since the last report; returns what is reported now.
fn report(progress: Option<&AtomicU64>, reported: u64, read: u64) -> u64 {
    if let Some(progress) = progress {
        progress.fetch_add(read - reported, Ordering::Relaxed);
    }
    read
}
