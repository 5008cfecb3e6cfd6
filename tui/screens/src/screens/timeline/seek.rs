//! Going to an event, or to a whole box: where that is on the axis is found by threads.
//!
//! A key waits for them a moment, which mostly is enough, and then goes on.

use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::machine::{Class, WayOut};
use portmortem_analyzer::moment::Moment;
use portmortem_analyzer::timeline::{Activation, Began, Blocks, Segment};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::walk::Step;

use super::pictures::reader;
use super::{Effect, EventTarget, TimelineScreen};
use crate::screens::events::jumps::{is_mark, rounds};
use crate::screens::events::leaves;
use crate::screens::events::reader::EventReader;
use crate::screens::events::search::{Direction, EventTest, Leg, Search, SearchResult};
use crate::worker::{Received, Worker, soon};

/// Events between two looks at whether anybody still wants to know.
const STRIDE: u64 = 1 << 12;

/// Events on either side of one in which last calls of its box are looked for.
const NEAR: u64 = 10_000;

/// What is looked for.
#[derive(Debug)]
pub(super) struct Seek {
    stage: SeekStage,
    /// What to say if it is not found.
    nothing: String,
}

#[derive(Debug)]
enum SeekStage {
    /// Which event.
    Event(Search),
    /// Where it is.
    Place(Worker<SoughtPlace>),
}

/// Where something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SoughtPlace {
    /// An event of a stream, by the number and the stream's place in the trace.
    Event {
        stream: usize,
        number: u64,
        /// Where the cursor is to be: at its tick, or in the box that ends there.
        tick: u64,
        row: u64,
        /// The ticks of the activation of its box.
        from: u64,
        to: u64,
    },
    /// The ticks of a whole box.
    Box { from: u64, to: u64 },
}

/// What a thread is to find.
#[derive(Debug, Clone, Copy)]
enum Wish {
    /// The event of this number, or the next one that is visible.
    Event { stream: usize, number: u64 },
    /// The whole box of a segment.
    Box { stream: usize, segment: Segment },
}

/// Looks for a place; nothing is found if it is nowhere.
fn find_place(
    reader: EventReader,
    blocks: Arc<Blocks>,
    wish: Wish,
    last: u64,
) -> Worker<SoughtPlace> {
    Worker::start(0, move |task| {
        let goes_on = || task.is_wanted();
        let place = match wish {
            Wish::Event { stream, number } => {
                event(&reader, &blocks, stream, number, last, &goes_on)
            }
            Wish::Box { stream, segment } => {
                whole_box(&reader, &blocks, stream, &segment, last, &goes_on)
            }
        };
        if let Some(place) = place {
            task.found(place);
        }
    })
}

/// Where an event is; `last` is the end of everything.
fn event(
    events: &EventReader,
    blocks: &Blocks,
    stream: usize,
    number: u64,
    last: u64,
    goes_on: &dyn Fn() -> bool,
) -> Option<SoughtPlace> {
    let (trace, trail) = (&events.analysis.trace, events.analysis.trail());
    let mut walk = events.walk(number)?;
    let mut read = 0_u64;
    let step = loop {
        let step = walk.next()?;
        read += 1;
        if read.is_multiple_of(STRIDE) && !goes_on() {
            return None;
        }
        if step.number >= number && events.is_visible(&step) {
            break step;
        }
    };
    let row = reader(&events.analysis, blocks).row_of(&step, walk.moment());
    let activation = step
        .of
        .and_then(|(of, _)| Activation::at(trace, trail, stream, of.called, step.number, goes_on));
    let began = activation.and_then(|of| of.began).map(|(_, tick)| tick);
    let ended = activation.map(|of| of.ended.map_or(last, |(_, tick)| tick));
    let (last_call, next) = step
        .of
        .map_or((None, None), |(of, _)| last_calls(events, of.called, &step));
    let from = began.max(last_call).unwrap_or(step.tick);
    let tick = if leaves(&step) {
        step.tick.saturating_sub(1).max(from)
    } else {
        step.tick
    };
    Some(SoughtPlace::Event {
        stream,
        number: step.number,
        tick,
        row,
        from,
        to: ended
            .into_iter()
            .chain(next)
            .min()
            .unwrap_or(step.tick)
            .max(from),
    })
}

/// When a box became what it runs at an event by a last call, and when it becomes something else, as far as that is near.
fn last_calls(events: &EventReader, called: u64, at: &Step) -> (Option<u64>, Option<u64>) {
    let from = at.number.saturating_sub(NEAR).max(called);
    let (mut last, mut next, mut runs) = (None, None, None);
    let walk = events.walk(from).into_iter().flatten();
    for step in walk.take_while(|step| step.number < at.number.saturating_add(NEAR)) {
        let Some((of, _)) = step.of.filter(|(of, _)| of.called == called) else {
            continue;
        };
        let is_last_call = matches!(step.class(), Class::Depart(_));
        if is_last_call && runs.is_some_and(|runs| runs != of.predicate) {
            if step.number > at.number {
                next = Some(step.tick);
                break;
            }
            last = Some(step.tick);
        }
        if leaves(&step) && step.number >= at.number {
            break;
        }
        runs = Some(of.predicate);
    }
    (last, next)
}

/// From where to where the box of a segment goes.
fn whole_box(
    events: &EventReader,
    blocks: &Blocks,
    stream: usize,
    segment: &Segment,
    last: u64,
    goes_on: &dyn Fn() -> bool,
) -> Option<SoughtPlace> {
    let analysis = &events.analysis;
    let number = match segment.began {
        Began::Call => segment.called,
        _ => reader(analysis, blocks).last_event(stream, segment.from)?,
    };
    let (trace, trail) = (&analysis.trace, analysis.trail());
    let activation = Activation::at(trace, trail, stream, segment.called, number, goes_on);
    let began = activation.and_then(|of| of.began);
    let ended = activation.map(|of| of.ended.map_or(last, |(_, tick)| tick));
    Some(SoughtPlace::Box {
        from: began.map_or(segment.from, |(_, tick)| tick),
        to: ended.unwrap_or(segment.to),
    })
}

impl TimelineScreen {
    fn events(&self, stream: usize) -> Option<EventReader> {
        Some(EventReader::new(self.analysis()?, stream))
    }

    fn place(&self, wish: Wish) -> Option<SeekStage> {
        let (Wish::Event { stream, .. } | Wish::Box { stream, .. }) = wish;
        let blocks = Arc::clone(&self.pictures.as_ref()?.blocks);
        let worker = find_place(self.events(stream)?, blocks, wish, self.view.whole().to);
        Some(SeekStage::Place(worker))
    }

    fn begin(&mut self, stage: Option<SeekStage>, nothing: &str) -> Effect {
        self.seek = stage.map(|stage| Seek {
            stage,
            nothing: nothing.to_owned(),
        });
        let until = soon();
        self.take(Some(until)).unwrap_or(Effect::Done)
    }

    /// Goes to an event.
    pub(super) fn go_to_event(&mut self, target: EventTarget) -> Effect {
        match target {
            EventTarget::At { stream, number } => {
                let stage = self.place(Wish::Event { stream, number });
                self.begin(stage, "no event to show is there")
            }
            EventTarget::FirstOf(predicate) => {
                let streams = self.bands.streams().iter();
                let legs: Vec<Leg> = streams
                    .map(|&stream| Leg {
                        stream,
                        way: Direction::From(0),
                    })
                    .collect();
                let wanted = begins(move |of, _| of == predicate);
                let stage = self.search(legs, wanted);
                self.begin(stage, "there is no event of this predicate")
            }
            EventTarget::Mark(text) => {
                let stream = self.bands.stream(self.position().band);
                let Some(reader) = stream.and_then(|stream| self.events(stream)) else {
                    return Effect::Done;
                };
                let mut legs = rounds(&reader, self.position().sent());
                legs.retain(|leg| self.bands.band_of(leg.stream).is_some());
                let stage = self.search(legs, is_mark(&reader, text));
                self.begin(stage, "there is no such mark")
            }
        }
    }

    fn search(&self, legs: Vec<Leg>, wanted: EventTest) -> Option<SeekStage> {
        let reader = self.events(legs.first()?.stream)?;
        let total = legs.iter().map(|leg| leg.length(&reader)).sum();
        let search = Search::start(&reader, legs.into_iter(), total, 1, wanted);
        Some(SeekStage::Event(search))
    }

    /// To the next box that is searched for, or the one before, in this stream.
    pub(super) fn next_found(&mut self, later: bool) -> Effect {
        if !self.search.has_found() {
            return Effect::Say("no predicate has that name".to_owned());
        }
        let Some(stream) = self.bands.stream(self.position().band) else {
            return Effect::Done;
        };
        let (cursor, sent) = (self.position().cursor, self.position().sent());
        let is_found = self.search.finder();
        let way = match (sent, later) {
            (Some(number), true) => Direction::From(number.saturating_add(1)),
            (Some(number), false) => Direction::Until(number),
            (None, true) => Direction::From(self.known_number(false).unwrap_or(0)),
            (None, false) => Direction::Until(self.known_number(true).unwrap_or(u64::MAX)),
        };
        let wanted = begins(move |of, tick| {
            let beyond = match (sent, later) {
                (Some(_), _) => true,
                (None, true) => tick >= cursor,
                (None, false) => tick < cursor,
            };
            beyond && is_found(of)
        });
        let stage = self.search(vec![Leg { stream, way }], wanted);
        let side = if later { "later" } else { "earlier" };
        let title = self.title(stream);
        let nothing = format!("no {side} box of that name in {title}; n and N search on");
        self.begin(stage, &nothing)
    }

    /// To the next failure or redo of this stream after the column of the cursor, or the last one
    /// before it, however far that is.
    pub(super) fn far_failure(&mut self, later: bool) -> Effect {
        let Some(stream) = self.bands.stream(self.position().band) else {
            return Effect::Done;
        };
        let stretch = self.stretch(self.position().band);
        let tick = stretch.start_of(self.column_at() + u32::from(later));
        let first = self.pictures.as_ref().and_then(|pictures| {
            let trace = &pictures.analysis.trace;
            pictures.blocks.first_event_since(trace, stream, tick)
        });
        let way = match later {
            true => Direction::From(first.unwrap_or(u64::MAX)),
            false => Direction::Until(first.unwrap_or(u64::MAX)),
        };
        let wanted: EventTest = Box::new(move |reader: &EventReader, step: &Step, _: &Moment| {
            let is_beyond = if later {
                step.tick >= tick
            } else {
                step.tick < tick
            };
            let is_wanted = matches!(step.class(), Class::Leave(WayOut::Fail) | Class::ReEnter);
            is_beyond && is_wanted && reader.is_visible(step)
        });
        let stage = self.search(vec![Leg { stream, way }], wanted);
        let side = if later { "later" } else { "earlier" };
        let nothing = format!("no {side} failure or redo in {}", self.title(stream));
        self.begin(stage, &nothing)
    }

    /// The number of an event not after the cursor, or not before it, from columns that were read.
    fn known_number(&self, after: bool) -> Option<u64> {
        let (picture, at) = (self.picture()?, self.column_at() as usize);
        let first = |column: &portmortem_analyzer::timeline::TimeColumn| column.first_event;
        if after {
            picture.columns.iter().skip(at).find_map(first)
        } else {
            picture.columns.iter().take(at + 1).rev().find_map(first)
        }
    }

    /// To the whole box of a segment.
    pub(super) fn zoom_to_whole(&mut self, segment: Segment) -> Effect {
        let Some(stream) = self.bands.stream(self.position().band) else {
            return Effect::Done;
        };
        let stage = self.place(Wish::Box { stream, segment });
        self.begin(stage, "the ends of the box are not known")
    }

    /// Takes what was found, until some moment; `None` if there was nothing.
    pub(super) fn take(&mut self, until: Option<Instant>) -> Option<Effect> {
        loop {
            let seek = self.seek.as_ref()?;
            let place = match &seek.stage {
                SeekStage::Event(search) => match search.next(until)? {
                    SearchResult::Steps(stream, steps) => {
                        let number = steps.first()?.number;
                        let nothing = seek.nothing.clone();
                        let stage = self.place(Wish::Event { stream, number });
                        self.seek = stage.map(|stage| Seek { stage, nothing });
                        continue;
                    }
                    SearchResult::End(_) => None,
                },
                SeekStage::Place(worker) => match worker.next(until) {
                    Received::Value(place) => Some(place),
                    Received::NotYet => return None,
                    Received::Ended => None,
                },
            };
            let nothing = self.seek.take().map(|seek| seek.nothing);
            return Some(match place {
                Some(place) => self.arrive(place),
                None => nothing.map_or(Effect::Done, Effect::Say),
            });
        }
    }

    /// How much was looked at.
    pub(super) fn searched(&self) -> Option<f64> {
        match &self.seek.as_ref()?.stage {
            SeekStage::Event(search) => Some(search.share()),
            SeekStage::Place(_) => None,
        }
    }
}

/// Events with which a box of a predicate begins, by that and the tick.
fn begins(is: impl Fn(PredicateIndex, u64) -> bool + Send + 'static) -> EventTest {
    Box::new(move |reader: &EventReader, step: &Step, _: &Moment| {
        let begins = matches!(
            step.class(),
            Class::Enter(_) | Class::Depart(_) | Class::ReEnter
        );
        let of = step.of.filter(|_| begins);
        of.is_some_and(|(of, _)| is(of.predicate, step.tick)) && reader.is_visible(step)
    })
}
