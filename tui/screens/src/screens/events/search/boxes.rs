//! Looking for events by what their boxes do later: streams are read as `portmortem events` does
//! it.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

use portmortem_analyzer::condition::ListedCondition;
use portmortem_analyzer::listing::{Bounds, Listing, Pending, Wanted};
use portmortem_analyzer::tables::{Listed, SiteNames};
use portmortem_analyzer::walk::Step;

use super::{Direction, Leg, OFTEN, Search, SearchResult};
use crate::screens::events::reader::EventReader;
use crate::worker::{Task, Worker};

/// Events that are looked at first on the way back.
const FIRST: u64 = 4000;

/// A condition, while the task that looks for events is wanted.
struct While<'t> {
    condition: &'t ListedCondition,
    task: &'t Task<SearchResult>,
}

impl Wanted for While<'_> {
    fn quick(&self, step: &Step) -> Option<bool> {
        match self.task.is_wanted() {
            true => self.condition.quick(step),
            false => Some(false),
        }
    }

    fn decide(&self, event: &Listed, pending: Pending) -> Option<bool> {
        match self.task.is_wanted() {
            true => self.condition.decide(event, pending),
            false => Some(false),
        }
    }

    fn needs_end(&self) -> bool {
        self.condition.needs_end()
    }

    fn bounds(&self) -> Bounds {
        self.condition.bounds()
    }
}

impl Search {
    /// Looks for so many events that are listed by a condition on boxes.
    pub(super) fn by_boxes(
        reader: &EventReader,
        legs: impl Iterator<Item = Leg> + Send + 'static,
        most: usize,
    ) -> Self {
        let mut reader = reader.clone();
        Self(Worker::start(0, move |task| {
            let mut left = most;
            for leg in legs {
                reader.stream = leg.stream;
                let Some((condition, sites)) = reader.on_boxes() else {
                    break;
                };
                let looking = BoxSearch {
                    reader: &reader,
                    wanted: While { condition, task },
                    sites,
                };
                left = match leg.way.is_forward() {
                    true => looking.forward(leg.way, left),
                    false => looking.backward(leg.way, left),
                };
                if left == 0 {
                    task.found(SearchResult::End(true));
                    return;
                }
            }
            task.found(SearchResult::End(false));
        }))
    }
}

struct BoxSearch<'r> {
    reader: &'r EventReader,
    wanted: While<'r>,
    sites: &'r SiteNames,
}

impl BoxSearch<'_> {
    /// Hands out the events between two numbers that are listed.
    fn each(&self, numbers: Range<u64>, take: &mut dyn FnMut(Step) -> ControlFlow<()>) {
        let analysis = &self.reader.analysis;
        let Some(info) = self.reader.info() else {
            return;
        };
        let mut listing = Listing::new(&analysis.trace, "", analysis.trail(), self.sites);
        listing.streams = vec![info.id];
        listing.numbers = numbers;
        let task = self.wanted.task;
        let _ = listing.each(&self.wanted, &mut |event, _| {
            let step = event.at.step;
            if !task.is_wanted() {
                ControlFlow::Break(())
            } else if self.reader.lists(&step) {
                take(step)
            } else {
                ControlFlow::Continue(())
            }
        });
    }

    fn hand_over(&self, steps: Vec<Step>) {
        if !steps.is_empty() {
            let found = SearchResult::Steps(self.reader.stream, steps);
            self.wanted.task.found(found);
        }
    }

    /// How many are still to be found.
    fn forward(&self, way: Direction, most: usize) -> usize {
        let (mut left, mut batch, mut told) = (most, Vec::new(), Instant::now());
        let numbers = self.reader.numbers();
        self.each(way.number().max(numbers.start)..numbers.end, &mut |step| {
            if way.has(&step) {
                batch.push(step);
                left -= 1;
            }
            if left == 0 || told.elapsed() > OFTEN {
                self.hand_over(std::mem::take(&mut batch));
                told = Instant::now();
            }
            match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        self.hand_over(batch);
        left
    }

    /// The same, in windows, each from its beginning.
    fn backward(&self, way: Direction, most: usize) -> usize {
        let numbers = self.reader.numbers();
        let (mut left, mut size) = (most, FIRST);
        let mut until = way.number().saturating_add(1).min(numbers.end);
        while left > 0 && until > numbers.start && self.wanted.task.is_wanted() {
            let from = until.saturating_sub(size).max(numbers.start);
            let mut found = VecDeque::new();
            self.each(from..until, &mut |step| {
                if way.has(&step) {
                    found.push_back(step);
                }
                if found.len() > left {
                    found.pop_front();
                }
                ControlFlow::Continue(())
            });
            left -= found.len();
            self.hand_over(found.into_iter().rev().collect());
            until = from;
            size = size.saturating_mul(16);
        }
        left
    }
}
