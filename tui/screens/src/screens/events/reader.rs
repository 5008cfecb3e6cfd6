//! Reading of a stream in pieces: a page around an event, and searches that never go on for ever.

use std::collections::VecDeque;
use std::sync::Arc;

use portmortem_analyzer::index::{Step, Walk};
use portmortem_analyzer::moment::Moment;
use portmortem_analyzer::trace::StreamInfo;

use crate::analysis::Analysis;

/// Events of a page on each side of the one it was read for.
pub(super) const HALF: usize = 500;

/// The most events that a search looks at.
pub(super) const MOST_SEARCHED: u64 = 1_000_000;

/// A stream of the trace.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) analysis: Arc<Analysis>,
    /// Its place in the trace.
    pub(super) stream: usize,
}

/// Some events that follow on each other.
#[derive(Debug)]
pub(super) struct Page {
    /// The boxes before the first one.
    pub(super) before: Moment,
    pub(super) steps: Vec<Step>,
}

/// What came of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The event of this number.
    At(u64),
    /// There is none.
    Nothing,
    /// There is none as far as it looked.
    TooFar,
}

impl Reader {
    pub(super) fn info(&self) -> Option<&StreamInfo> {
        self.analysis.trace.streams().get(self.stream)
    }

    /// The number of the last event that can be shown.
    pub(super) fn last(&self) -> u64 {
        let figures = self.analysis.profile.streams.get(self.stream);
        let events = figures.map_or(0, |figures| {
            figures.events.saturating_add(figures.lost_events)
        });
        events.saturating_sub(1)
    }

    fn walk(&self, from: u64) -> Option<Walk<'_>> {
        let analysis = &self.analysis;
        let trail = analysis.trail();
        Some(Walk::along(&analysis.trace, trail, self.info()?, from))
    }

    /// The events around a number, and which of them it is: the last one not after it.
    pub(super) fn page(&self, around: u64) -> Option<(Page, usize)> {
        let around = around.min(self.last());
        let mut size = HALF as u64;
        loop {
            let from = around.saturating_sub(size);
            let mut walk = self.walk(from)?;
            let mut before = walk.frozen().clone();
            let mut steps = VecDeque::new();
            let mut rest = HALF;
            for step in walk.by_ref() {
                let after = step.number > around;
                steps.push_back(step);
                if after {
                    rest -= 1;
                    if rest == 0 {
                        break;
                    }
                } else if steps.len() > HALF
                    && let Some(step) = steps.pop_front()
                {
                    before.step(step.event, step.number);
                }
            }
            let reached = steps.front().is_some_and(|step| step.number <= around);
            if reached || from == 0 {
                let steps: Vec<Step> = steps.into();
                let at = steps.partition_point(|step| step.number <= around);
                return Some((Page { before, steps }, at.saturating_sub(1)));
            }
            // It began within lost events.
            size = size.saturating_mul(16);
        }
    }

    /// The number of the last event before one.
    pub(super) fn before(&self, number: u64) -> Option<u64> {
        match self.backward(number, u64::MAX, |_| true) {
            Found::At(number) => Some(number),
            Found::Nothing | Found::TooFar => None,
        }
    }

    /// The first event after one that `is` what is looked for.
    pub(super) fn forward(&self, after: u64, is: impl Fn(&Step) -> bool) -> Found {
        let Some(walk) = self.walk(after.saturating_add(1)) else {
            return Found::Nothing;
        };
        let last = self.last();
        let mut looked = 0;
        for step in walk.take_while(|step| step.number <= last) {
            if step.number > after && is(&step) {
                return Found::At(step.number);
            }
            looked += 1;
            if looked == MOST_SEARCHED {
                return Found::TooFar;
            }
        }
        Found::Nothing
    }

    /// The last event before one that `is` what is looked for, among so many.
    pub(super) fn backward(&self, before: u64, most: u64, is: impl Fn(&Step) -> bool) -> Found {
        let (mut end, mut size) = (before, 4000_u64);
        loop {
            let from = end.saturating_sub(size);
            let Some(walk) = self.walk(from) else {
                return Found::Nothing;
            };
            let mut steps = walk.take_while(|step| step.number < end).peekable();
            // Lost events that `from` is among come before the first one, as one gap.
            let first = steps.peek().map(|step| step.number);
            if let Some(step) = steps.filter(&is).last() {
                return Found::At(step.number);
            }
            if from == 0 {
                return Found::Nothing;
            }
            if before - from >= most {
                return Found::TooFar;
            }
            end = first.unwrap_or(end);
            size = match first {
                Some(_) => size.saturating_mul(16).min(MOST_SEARCHED),
                None => size.saturating_mul(16),
            };
        }
    }
}
