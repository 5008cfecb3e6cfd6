//! The plain sequential replay: one event after the other, in the terms of the model.
//!
//! It is the oracle that the fast replay is measured against, and it does the traces on which that
//! gives up: with gaps, or with events that cannot happen. Streams know nothing of each other and are
//! replayed in parallel; their figures are sums, so the result does not depend on the number of threads.
//!
//! Data flows: [`crate::events`] → `stream` (what each port means; `backtrack` for those that concern
//! the choice stack, `unknown` for what must have been before a gap) → `state` (what is active, what can be re-entered; `chain` for boxes that share a
//! frame) and `accounts` (counts and time). Nothing recurses, and memory is that of the boxes that
//! are active or can be re-entered.

pub(in crate::replay) mod accounts;
mod backtrack;
mod chain;
pub(in crate::replay) mod state;
pub(in crate::replay) mod stream;
mod unknown;

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::ReplayOptions;
use super::scope::Scope;
use crate::damage::Damage;
use crate::figures::StreamFigures;
use crate::profile::{MAX_VIOLATIONS, Profile, Violation};
use crate::trace::{StreamInfo, Trace};
use accounts::Accounts;
use state::State;
use stream::StreamReplay;

/// Events between two reports of progress.
const REPORT_EVERY: u64 = 1 << 16;

/// The figures of all streams.
pub(in crate::replay) fn replay(trace: &Trace, options: &ReplayOptions, scope: &Scope) -> Profile {
    trace
        .streams()
        .par_iter()
        .fold(
            || Worker::new(trace, options, scope),
            |mut worker, stream| {
                worker.replay(stream);
                worker
            },
        )
        .map(Worker::into_profile)
        .reduce(Profile::default, |mut all, part| {
            all.merge(part);
            all
        })
}

/// Replays streams one after the other into the same books.
struct Worker<'r> {
    trace: &'r Trace,
    options: &'r ReplayOptions<'r>,
    scope: &'r Scope,
    accounts: Accounts,
    state: State,
    streams: Vec<StreamFigures>,
    violations: Vec<Violation>,
    violation_count: u64,
    damage: Vec<Damage>,
}

impl<'r> Worker<'r> {
    fn new(trace: &'r Trace, options: &'r ReplayOptions, scope: &'r Scope) -> Self {
        Self {
            trace,
            options,
            scope,
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
        let mut replay = StreamReplay::new(accounts, state, self.scope, stream.dialect(), begin);
        let (mut listed, mut reported) = (0, 0);
        let mut until_report = REPORT_EVERY;
        let mut last = begin;
        let mut read = 0;
        while let Some(event) = next.filter(|event| !self.scope.is_over(event.tick)) {
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
                if self.options.is_cancelled() {
                    break;
                }
                reported = report(self.options.progress, reported, events.bytes_read());
            }
            last = event.tick;
            read = events.events_read();
            next = events.next();
        }
        // Until the window is over somebody was active.
        last = next.map_or(last, |event| event.tick);
        let figures = replay.finish(stream.end.map_or(last, |end| end.tick.max(last)));
        report(self.options.progress, reported, events.bytes_read());
        self.streams.push(StreamFigures {
            stream: stream.id,
            events: read,
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
