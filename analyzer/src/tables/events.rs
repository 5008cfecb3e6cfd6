//! The table `events`: every event with the box it belongs to.
//!
//! It needs positions only, not figures, so it keeps a state of its own, simpler than that of the
//! replay: a box on the choice stack is re-entered below whatever box is active then, so each stack
//! is a plain list. Memory is that of the boxes that are active or can be re-entered.

use std::slice;

use portmortem_tracer::format::{Dialect, Event};

use super::Tables;
use super::row::rows;
use crate::events::{Events, TimedEvent};
use crate::figures::PredicateIndex;
use crate::trace::{StreamInfo, Trace};

rows! {
    /// A row of the table `events`.
    ///
    /// The box of a port is the one that it is a port of; of anything else, the active one. Boxes are
    /// those of the engine: last calls share the box of their caller, and `predicate` is what it runs.
    pub struct EventRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Number of the stream.
        pub stream: u32,
        /// Number of the event in its stream, from 0; lost events count. Of a gap: the last one lost.
        pub seq: u64,
        /// When, in ns since the beginning of the trace.
        pub ns: u64,
        /// `call`, `tail`, `exit_det`, `exit_nondet`, `redo`, `fail`, `exception`, `cut`, `pause`,
        /// `resume`, `gap` or `mark`.
        pub port: &'t str,
        /// Indicator of what the box runs, of a call or last call: what is called.
        pub predicate: Option<&'t str>,
        /// Boxes around the box.
        pub depth: Option<u64>,
        /// Number of the box in its stream, from 1.
        pub r#box: Option<u64>,
        /// Number of the box around it; nothing if nobody traced is.
        pub parent: Option<u64>,
        /// Of a cut: how many boxes lost their choicepoints. Of a gap: how many events were lost.
        pub count: Option<u64>,
        /// Of a mark: what it says.
        pub text: Option<&'t str>,
    }
}

impl<'t> Tables<'t> {
    /// By stream, then as they happened. Reads the trace again.
    pub fn events(self) -> impl Iterator<Item = EventRow<'t>> {
        EventRows {
            trace: self.trace,
            name: self.name,
            streams: self.trace.streams().iter(),
            current: None,
        }
    }
}

struct EventRows<'t> {
    trace: &'t Trace,
    name: &'t str,
    streams: slice::Iter<'t, StreamInfo>,
    current: Option<Stream<'t>>,
}

struct Stream<'t> {
    id: u32,
    events: Events<'t>,
    boxes: Boxes,
}

impl<'t> Iterator for EventRows<'t> {
    type Item = EventRow<'t>;

    fn next(&mut self) -> Option<EventRow<'t>> {
        loop {
            if let Some(stream) = &mut self.current
                && let Some(event) = stream.events.next()
            {
                return Some(row(self.trace, self.name, stream, event));
            }
            let info = self.streams.next()?;
            self.current = Some(Stream {
                id: info.id,
                events: self.trace.events(info),
                boxes: Boxes::new(info.dialect(), self.trace.unknown_predicate()),
            });
        }
    }
}

fn row<'t>(
    trace: &'t Trace,
    name: &'t str,
    stream: &mut Stream<'t>,
    timed: TimedEvent,
) -> EventRow<'t> {
    let place = stream.boxes.step(timed.event);
    EventRow {
        trace: name,
        stream: stream.id,
        seq: stream.events.number(),
        ns: trace.clock().since_start_ns(timed.tick),
        port: port(timed.event),
        predicate: place.map(|place| trace.predicate_name(place.of.predicate)),
        depth: place.map(|place| place.depth),
        r#box: place.map(|place| place.of.number),
        parent: place.and_then(|place| place.of.caller),
        count: match timed.event {
            Event::Cut { count } => Some(count.into()),
            Event::Gap { lost } => Some(lost),
            _ => None,
        },
        text: match timed.event {
            Event::Mark { text } => trace.text(text),
            _ => None,
        },
    }
}

fn port(event: Event) -> &'static str {
    match event {
        Event::Call { .. } => "call",
        Event::Tail { .. } => "tail",
        Event::ExitDet => "exit_det",
        Event::ExitNondet => "exit_nondet",
        Event::Redo => "redo",
        Event::Fail => "fail",
        Event::Exception => "exception",
        Event::Cut { .. } => "cut",
        Event::Pause => "pause",
        Event::Resume => "resume",
        Event::Gap { .. } => "gap",
        Event::Mark { .. } => "mark",
    }
}

/// The boxes of a stream: those that are active and those that can be re-entered.
struct Boxes {
    dialect: Dialect,
    unknown: PredicateIndex,
    /// How many there were so far.
    made: u64,
    /// The active chain, the active box last.
    active: Vec<OpenBox>,
    /// The choice stack, the newest box last.
    choices: Vec<OpenBox>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenBox {
    number: u64,
    caller: Option<u64>,
    predicate: PredicateIndex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    of: OpenBox,
    depth: u64,
}

impl Boxes {
    fn new(dialect: Dialect, unknown: PredicateIndex) -> Self {
        Self {
            dialect,
            unknown,
            made: 0,
            active: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The next event; the box that it belongs to.
    fn step(&mut self, event: Event) -> Option<Place> {
        match event {
            Event::Call { predicate } => {
                let called = self.make(predicate);
                self.active.push(called);
                self.place()
            }
            Event::Tail { predicate } => {
                self.be_active();
                if let Some(active) = self.active.last_mut() {
                    active.predicate = predicate;
                }
                self.place()
            }
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                self.be_active();
                let place = self.place();
                let left = self.active.pop();
                self.choices
                    .extend(left.filter(|_| event == Event::ExitNondet));
                place
            }
            Event::Redo => {
                self.redo();
                self.place()
            }
            Event::Cut { count } => {
                let left = self.choices.len().saturating_sub(count as usize);
                self.choices.truncate(left);
                self.place()
            }
            Event::Gap { .. } => {
                self.active.clear();
                self.choices.clear();
                None
            }
            Event::Pause | Event::Resume | Event::Mark { .. } => self.place(),
        }
    }

    fn make(&mut self, predicate: PredicateIndex) -> OpenBox {
        self.made += 1;
        OpenBox {
            number: self.made,
            caller: self.active.last().map(|caller| caller.number),
            predicate,
        }
    }

    /// After a gap a port may belong to a box that nothing is known of.
    fn be_active(&mut self) {
        if self.active.is_empty() {
            let unknown = self.make(self.unknown);
            self.active.push(unknown);
        }
    }

    fn redo(&mut self) {
        let newest = self.choices.pop();
        let mut entered = newest.unwrap_or_else(|| self.make(self.unknown));
        loop {
            let called_by = self.active.last().map(|caller| caller.number);
            self.active.push(OpenBox {
                caller: called_by,
                ..entered
            });
            // In this dialect the event means the innermost box on the way; those around it were
            // re-entered with it.
            let inside = |choice: &mut OpenBox| {
                self.dialect == Dialect::InnermostRedo && choice.caller == Some(entered.number)
            };
            match self.choices.pop_if(inside) {
                Some(choice) => entered = choice,
                None => return,
            }
        }
    }

    fn place(&self) -> Option<Place> {
        Some(Place {
            of: *self.active.last()?,
            depth: self.active.len() as u64 - 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: PredicateIndex = 99;

    /// Number, predicate, caller and depth of the box of each event.
    fn places(
        dialect: Dialect,
        events: &[Event],
    ) -> Vec<Option<(u64, PredicateIndex, Option<u64>, u64)>> {
        let mut boxes = Boxes::new(dialect, UNKNOWN);
        events
            .iter()
            .map(|&event| {
                let place = boxes.step(event)?;
                let OpenBox {
                    number,
                    caller,
                    predicate,
                } = place.of;
                Some((number, predicate, caller, place.depth))
            })
            .collect()
    }

    fn call(predicate: u32) -> Event {
        Event::Call { predicate }
    }

    #[test]
    fn boxes_keep_their_numbers() {
        let events = [
            call(0),
            call(1),
            Event::ExitNondet,
            call(2),
            Event::Fail,
            Event::Redo,
            Event::Tail { predicate: 3 },
            Event::ExitNondet,
            Event::Cut { count: 1 },
            Event::ExitDet,
            Event::Pause,
        ];
        assert_eq!(
            places(Dialect::EveryRedo, &events),
            [
                Some((1, 0, None, 0)),
                Some((2, 1, Some(1), 1)),
                Some((2, 1, Some(1), 1)),
                Some((3, 2, Some(1), 1)),
                Some((3, 2, Some(1), 1)),
                Some((2, 1, Some(1), 1)),
                Some((2, 3, Some(1), 1)),
                Some((2, 3, Some(1), 1)),
                Some((1, 0, None, 0)),
                Some((1, 0, None, 0)),
                None,
            ]
        );
    }

    #[test]
    fn after_a_gap_nothing_is_known() {
        let events = [
            call(0),
            Event::Gap { lost: 3 },
            Event::Redo,
            call(1),
            Event::ExitDet,
            Event::ExitDet,
            Event::Fail,
            Event::Cut { count: 7 },
        ];
        assert_eq!(
            places(Dialect::EveryRedo, &events)[1..],
            [
                None,
                Some((2, UNKNOWN, None, 0)),
                Some((3, 1, Some(2), 1)),
                Some((3, 1, Some(2), 1)),
                Some((2, UNKNOWN, None, 0)),
                Some((4, UNKNOWN, None, 0)),
                None,
            ]
        );
    }

    #[test]
    fn one_redo_may_enter_several_boxes() {
        let events = [
            call(0),
            call(1),
            call(2),
            Event::ExitNondet,
            Event::ExitNondet,
            Event::Redo,
            Event::Fail,
        ];
        let last = |dialect| places(dialect, &events)[5..].to_vec();
        assert_eq!(
            last(Dialect::EveryRedo),
            [Some((2, 1, Some(1), 1)), Some((2, 1, Some(1), 1))]
        );
        assert_eq!(
            last(Dialect::InnermostRedo),
            [Some((3, 2, Some(2), 2)), Some((3, 2, Some(2), 2))]
        );
    }
}
