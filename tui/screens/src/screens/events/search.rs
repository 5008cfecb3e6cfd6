//! Looking for events in a thread of its own: a stream may have a thousand million.

mod boxes;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use portmortem_analyzer::machine::Class;
use portmortem_analyzer::moment::Moment;
use portmortem_analyzer::walk::Step;

use super::reader::EventReader;
use crate::worker::{Received, Task, Worker};

/// Events between two looks at whether to stop.
const PIECE: u64 = 1 << 14;

/// Found events are told of at least so often.
const OFTEN: Duration = Duration::from_millis(30);

/// Where to look: a stream by its place, and from where in which direction.
#[derive(Debug, Clone, Copy)]
pub(in crate::screens) struct Leg {
    pub(in crate::screens) stream: usize,
    pub(in crate::screens) way: Direction,
}

/// A direction, and where it begins.
#[derive(Debug, Clone, Copy)]
pub(in crate::screens) enum Direction {
    /// From the event of this number on.
    From(u64),
    /// From the next event on.
    After(Step),
    /// Back from the event before the one of this number.
    Until(u64),
    /// Back from the event before.
    Before(Step),
}

impl Leg {
    /// How many events there are on it.
    pub(in crate::screens) fn length(&self, reader: &EventReader) -> u64 {
        let numbers = reader.numbers_of(self.stream);
        if self.way.is_forward() {
            numbers.end.saturating_sub(self.way.number())
        } else {
            self.way.number().saturating_sub(numbers.start)
        }
    }
}

impl Direction {
    fn is_forward(self) -> bool {
        matches!(self, Self::From(_) | Self::After(_))
    }

    /// Whether an event lies that way. A gap in which no events are known to be lost has the number of
    /// the event before it.
    fn has(self, step: &Step) -> bool {
        let is_gap = |other: Step| matches!(other.class(), Class::Lose(_));
        match self {
            Self::From(number) => step.number >= number,
            Self::Until(number) => step.number < number,
            Self::After(last) => {
                step.number > last.number
                    || step.number == last.number && *step != last && !is_gap(last)
            }
            Self::Before(first) => {
                step.number < first.number
                    || step.number == first.number && *step != first && is_gap(first)
            }
        }
    }

    fn number(self) -> u64 {
        match self {
            Self::From(number) | Self::Until(number) => number,
            Self::After(step) | Self::Before(step) => step.number,
        }
    }
}

/// What a search has to say.
#[derive(Debug)]
pub(in crate::screens) enum SearchResult {
    /// Events of a stream, in the order in which they were come to.
    Steps(usize, Vec<Step>),
    /// That was all; whether there may be more.
    End(bool),
}

/// A search under way.
#[derive(Debug)]
pub(in crate::screens) struct Search(Worker<SearchResult>);

/// Says of an event, and the boxes after it, whether it is looked for.
pub(in crate::screens) type EventTest = Box<dyn FnMut(&EventReader, &Step, &Moment) -> bool + Send>;

impl Search {
    /// Looks for so many events along some legs, one after the other. `total` is the events to be looked at.
    pub(in crate::screens) fn start(
        reader: &EventReader,
        legs: impl Iterator<Item = Leg> + Send + 'static,
        total: u64,
        most: usize,
        wanted: EventTest,
    ) -> Self {
        let mut reader = reader.clone();
        Self(Worker::start(total, move |task| {
            let mut looking = SearchThread {
                most,
                wanted,
                task,
                batch: Vec::new(),
                told: Instant::now(),
                unsaid: 0,
            };
            for leg in legs {
                reader.stream = leg.stream;
                let went = if leg.way.is_forward() {
                    looking.forward(&reader, leg.way)
                } else {
                    looking.backward(&reader, leg.way)
                };
                if went.is_break() {
                    return;
                }
            }
            task.found(SearchResult::End(false));
        }))
    }

    /// Looks for events that are listed; not at all if it is known that there is none.
    pub(in crate::screens) fn for_listed(
        reader: &EventReader,
        legs: impl Iterator<Item = Leg> + Send + 'static,
        total: u64,
        most: usize,
    ) -> Self {
        if reader.on_boxes().is_some() {
            return Self::by_boxes(reader, legs, most);
        }
        let asked = reader.clone();
        let legs = legs.filter(move |_| !asked.lists_nothing());
        let wanted = Box::new(|reader: &EventReader, step: &Step, _: &Moment| reader.lists(step));
        Self::start(reader, legs, total, most, wanted)
    }

    /// What was found since; waits for it until then.
    pub(in crate::screens) fn next(&self, until: Option<Instant>) -> Option<SearchResult> {
        match self.0.next(until) {
            Received::Value(found) => Some(found),
            Received::NotYet => None,
            // The thread has panicked, or there was none.
            Received::Ended => Some(SearchResult::End(false)),
        }
    }

    /// How much was looked at, from 0 to 1.
    pub(in crate::screens) fn share(&self) -> f64 {
        self.0.share()
    }
}

/// The thread's side.
struct SearchThread<'t> {
    /// So many more.
    most: usize,
    wanted: EventTest,
    task: &'t Task<SearchResult>,
    batch: Vec<Step>,
    told: Instant,
    unsaid: u64,
}

impl SearchThread<'_> {
    /// Breaks if that is enough.
    fn hand_over(&mut self, reader: &EventReader) -> ControlFlow<()> {
        self.told = Instant::now();
        if !self.batch.is_empty() {
            let batch = std::mem::take(&mut self.batch);
            self.most = self.most.saturating_sub(batch.len());
            self.task.found(SearchResult::Steps(reader.stream, batch));
        }
        if self.most == 0 {
            self.task.found(SearchResult::End(true));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// An event was looked at. Breaks if the search was dropped.
    fn looked_at_one(&mut self) -> ControlFlow<()> {
        self.unsaid += 1;
        if self.unsaid == PIECE {
            self.task.progress().advance(PIECE);
            self.unsaid = 0;
            if !self.task.is_wanted() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn forward(&mut self, reader: &EventReader, way: Direction) -> ControlFlow<()> {
        let from = match way {
            Direction::After(last) => last.number.saturating_add(1),
            way => way.number(),
        };
        let numbers = reader.numbers();
        let Some(mut walk) = reader.walk(from.max(numbers.start)) else {
            return ControlFlow::Continue(());
        };
        // A trace that is still being recorded may have more by now.
        while let Some(step) = walk.next().filter(|step| step.number < numbers.end) {
            self.looked_at_one()?;
            if way.has(&step) && (self.wanted)(reader, &step, walk.moment()) {
                self.batch.push(step);
                if self.batch.len() == self.most {
                    return self.hand_over(reader);
                }
            }
            if self.unsaid == 0 && self.told.elapsed() > OFTEN {
                self.hand_over(reader)?;
            }
        }
        self.hand_over(reader)
    }

    /// In windows, each from its beginning.
    fn backward(&mut self, reader: &EventReader, mut way: Direction) -> ControlFlow<()> {
        let mut size = 4000_u64;
        let numbers = reader.numbers();
        loop {
            let from = way.number().saturating_sub(size).max(numbers.start);
            let Some(mut walk) = reader.walk(from) else {
                return ControlFlow::Continue(());
            };
            let mut first = None;
            let mut found = VecDeque::new();
            while let Some(step) = walk
                .next()
                .filter(|step| way.has(step) && step.number < numbers.end)
            {
                first = first.or(Some(step));
                self.looked_at_one()?;
                if (self.wanted)(reader, &step, walk.moment()) {
                    found.push_back(step);
                    if found.len() > self.most {
                        found.pop_front();
                    }
                }
            }
            self.batch = found.into_iter().rev().collect();
            self.hand_over(reader)?;
            if from == numbers.start {
                return ControlFlow::Continue(());
            }
            // The next window begins earlier: before the events of this one, or if all before them
            // were lost, further back.
            let is_earlier = first.is_some_and(|first| first.number < way.number());
            size = size.saturating_mul(16);
            if is_earlier {
                size = size.min(1_000_000);
            }
            if let Some(first) = first {
                way = Direction::Before(first);
            }
        }
    }
}
