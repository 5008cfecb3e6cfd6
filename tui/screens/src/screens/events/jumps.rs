//! Ways from one event to another that may be far.

use portmortem_analyzer::machine::{Class, Note};
use portmortem_analyzer::moment::{Moment, OpenBox};
use portmortem_analyzer::timeline::Blocks;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::walk::Step;

use super::reader::EventReader;
use super::search::{Direction, EventTest, Leg, Search};
use super::{Effect, EventsScreen, is_port, leaves};

/// What is looked for in the whole stream if need be, to go there.
#[derive(Debug)]
pub(super) struct Jump {
    pub(super) search: Search,
    pub(super) then: Then,
    /// What there is none of, if nothing is found.
    pub(super) what: String,
    /// What to say there.
    pub(super) text: Option<String>,
}

/// What to do with the event that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Go there; Esc comes back.
    Go,
    /// List the events around it.
    List,
}

impl EventsScreen {
    fn find(&mut self, legs: Vec<Leg>, then: Then, what: &str, wanted: EventTest) -> Effect {
        let Some(reader) = &self.reader else {
            return Effect::Done;
        };
        let total = legs.iter().map(|leg| leg.length(reader)).sum();
        let search = Search::start(reader, legs.into_iter(), total, 1, wanted);
        self.find_by(search, then, what)
    }

    /// The same for events that are listed, if there may be any.
    fn find_listed(&mut self, legs: Vec<Leg>, then: Then, what: &str) -> Effect {
        let Some(reader) = &self.reader else {
            return Effect::Done;
        };
        let total = legs.iter().map(|leg| leg.length(reader)).sum();
        let search = Search::for_listed(reader, legs.into_iter(), total, 1);
        self.find_by(search, then, what)
    }

    fn find_by(&mut self, search: Search, then: Then, what: &str) -> Effect {
        let what = what.to_owned();
        self.jump = Some(Jump {
            search,
            then,
            what,
            text: None,
        });
        self.stopped = false;
        self.soon()
    }

    /// Looks in one direction from the cursor.
    fn find_from_here(
        &mut self,
        forward: bool,
        then: Then,
        what: &str,
        wanted: EventTest,
    ) -> Effect {
        let (Some(reader), Some(&step)) = (&self.reader, self.step()) else {
            return Effect::Done;
        };
        let way = if forward {
            Direction::After(step)
        } else {
            Direction::Before(step)
        };
        let which = if forward { "later" } else { "earlier" };
        let legs = vec![Leg {
            stream: reader.stream,
            way,
        }];
        self.find(legs, then, &format!("{which} {what}"), wanted)
    }

    /// Lists the events around the one of this number, if it is listed, or else around the next that is.
    pub(super) fn list_around(&mut self, number: u64) -> Effect {
        let Some(reader) = &self.reader else {
            return Effect::Done;
        };
        let stream = reader.stream;
        let legs =
            [Direction::From(number), Direction::Until(number)].map(|way| Leg { stream, way });
        self.clear();
        self.find_listed(legs.into(), Then::List, "event that is listed")
    }

    /// To the first or the last event that is listed.
    pub(super) fn end_of_stream(&mut self, last: bool) -> Effect {
        let Some(reader) = &self.reader else {
            return Effect::Done;
        };
        let way = if last {
            Direction::Until(reader.last().saturating_add(1))
        } else {
            Direction::From(0)
        };
        let leg = Leg {
            stream: reader.stream,
            way,
        };
        self.find_listed(vec![leg], Then::Go, "event that is listed")
    }

    /// The same, saying something there.
    pub(super) fn go_to_event_saying(
        &mut self,
        stream: usize,
        number: u64,
        text: String,
    ) -> Effect {
        let effect = self.go_to_event(stream, number);
        match (effect, &mut self.jump) {
            (Effect::Step, _) => Effect::StepSaying(text),
            // It is not there yet.
            (_, Some(jump)) => {
                jump.text = Some(text);
                Effect::Done
            }
            (_, None) => Effect::Say(text),
        }
    }

    /// To the event of this number, or the next one if it was lost or is hidden.
    pub(super) fn go_to_event(&mut self, stream: usize, number: u64) -> Effect {
        let ways = [Direction::From(number), Direction::Until(number)];
        let legs = ways.map(|way| Leg { stream, way });
        let visible =
            Box::new(|reader: &EventReader, step: &Step, _: &Moment| reader.is_visible(step));
        self.find(legs.into(), Then::Go, "event that is not hidden", visible)
    }

    /// To the first event of this stream that is not before a tick.
    pub(super) fn go_to_time(&mut self, tick: u64) -> Effect {
        let Some(reader) = &self.reader else {
            return Effect::Done;
        };
        let (trace, stream) = (&reader.analysis.trace, reader.stream);
        match Blocks::of(trace).first_event_since(trace, stream, tick) {
            Some(number) => self.go_to_event(stream, number),
            None => Effect::Say("no event of this stream is at that time, or later".to_owned()),
        }
    }

    /// To the next mark with a text, of this stream or another one; after the last one to the
    /// first.
    pub(super) fn next_mark(&mut self, text: u32) -> Effect {
        let Some(reader) = &self.reader else {
            return Effect::Done;
        };
        let legs = rounds(reader, self.step().map(|step| step.number));
        self.find(legs, Then::Go, "such mark", is_mark(reader, text))
    }

    /// To the first event of a predicate, in whichever stream.
    pub(super) fn first_of(&mut self, predicate: PredicateIndex) -> Effect {
        let Some(reader) = &self.reader else {
            return Effect::Done;
        };
        let streams = 0..reader.analysis.trace.streams().len();
        let legs = streams.map(|stream| Leg {
            stream,
            way: Direction::From(0),
        });
        let total = reader.analysis.events();
        let search = Search::start(reader, legs, total, 1, of(predicate));
        self.find_by(search, Then::Go, "event of this predicate")
    }

    /// To the next event that the filter finds, or without a filter to one of the same predicate.
    pub(super) fn next_match(&mut self, forward: bool) -> Effect {
        if self.filter.is_empty() {
            return self.same_predicate(forward);
        }
        let (Some(reader), Some(&step)) = (&self.reader, self.step()) else {
            return Effect::Done;
        };
        let (way, what) = if forward {
            (Direction::After(step), "later match")
        } else {
            (Direction::Before(step), "earlier match")
        };
        let stream = reader.stream;
        self.find_listed(vec![Leg { stream, way }], Then::Go, what)
    }

    pub(super) fn same_predicate(&mut self, forward: bool) -> Effect {
        match self.of() {
            Some(OpenBox { predicate, .. }) => {
                let what = "event of this predicate";
                self.find_from_here(forward, Then::Go, what, of(predicate))
            }
            None => Effect::Say("no predicate here".to_owned()),
        }
    }

    pub(super) fn same_port(&mut self, forward: bool) -> Effect {
        let Some(kind) = self.step().map(Step::kind) else {
            return Effect::Done;
        };
        let same = move |reader: &EventReader, step: &Step, _: &Moment| {
            step.kind() == kind && reader.lists(step)
        };
        self.find_from_here(forward, Then::Go, kind.name(), Box::new(same))
    }

    /// To the other end of the box: from a way out to its call, otherwise to where it ends.
    pub(super) fn other_end(&mut self) -> Effect {
        let at = self.step().filter(|step| leaves(step));
        match (at.and_then(|step| step.of), &self.reader) {
            (Some((of, _)), Some(reader)) => self.go_to_event(reader.stream, of.called),
            _ => self.box_end(),
        }
    }

    /// To where this box ends: its next way out.
    fn box_end(&mut self) -> Effect {
        let Some((of, _)) = self.step().and_then(|step| step.of) else {
            return Effect::Say("no box here".to_owned());
        };
        let ends = move |_: &EventReader, step: &Step, _: &Moment| {
            let same = step.of.is_some_and(|(other, _)| other.called == of.called);
            same && leaves(step)
        };
        self.find_from_here(true, Then::Go, "end of this box", Box::new(ends))
    }

    /// To the call of this box, or if that is here, of the one around it.
    pub(super) fn box_call(&mut self) -> Effect {
        let (Some(&step), Some(reader)) = (self.step(), &self.reader) else {
            return Effect::Done;
        };
        let Some((of, _)) = step.of else {
            return Effect::Say("no box here".to_owned());
        };
        let stream = reader.stream;
        if let Some(selected) = self.selected() {
            return self.go_to_event(stream, selected.called);
        }
        if of.called != step.number {
            return self.go_to_event(stream, of.called);
        }
        // Those that are hidden are passed.
        let around = reader.stacks(&step).active.newest;
        match around.iter().find(|(_, other)| other.called != of.called) {
            Some((_, caller)) => self.go_to_event(stream, caller.called),
            None => Effect::Say("no recorded box is around this one".to_owned()),
        }
    }

    /// What was found is gone to.
    pub(super) fn arrive(&mut self, jump: &Jump, stream: usize, step: Step) -> Effect {
        match jump.then {
            Then::List => {
                // Another filter begins where the user was, not where this one led.
                let place = self.place;
                self.load(stream, step);
                self.place = place;
                Effect::Done
            }
            Then::Go => match (self.go(stream, step), &jump.text) {
                (Effect::Step, Some(text)) => Effect::StepSaying(text.clone()),
                (_, Some(text)) => Effect::Say(text.clone()),
                (effect, None) => effect,
            },
        }
    }
}

/// From after an event of a stream on through all streams, and round to where that began.
pub(in crate::screens) fn rounds(reader: &EventReader, at: Option<u64>) -> Vec<Leg> {
    let streams = reader.analysis.trace.streams().len();
    let others = (1..=streams).map(|by| (reader.stream + by) % streams);
    let from = at.map_or(0, |number| number.saturating_add(1));
    let here = Leg {
        stream: reader.stream,
        way: Direction::From(from),
    };
    let others = others.map(|stream| Leg {
        stream,
        way: Direction::From(0),
    });
    std::iter::once(here).chain(others).collect()
}

/// Marks with the text of this id.
pub(in crate::screens) fn is_mark(reader: &EventReader, text: u32) -> EventTest {
    let wanted = reader.analysis.trace.text(text).map(str::to_owned);
    Box::new(
        move |reader: &EventReader, step: &Step, _: &Moment| match step.class() {
            Class::Note(Note::Mark(text)) => reader.analysis.trace.text(text) == wanted.as_deref(),
            _ => false,
        },
    )
}

/// Ports of a predicate.
fn of(predicate: PredicateIndex) -> EventTest {
    Box::new(move |_: &EventReader, step: &Step, _: &Moment| {
        is_port(step) && step.of.is_some_and(|(of, _)| of.predicate == predicate)
    })
}
