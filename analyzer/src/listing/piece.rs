//! A piece of a stream, read without what was before: the events that may be listed, and what the
//! piece changes.

use std::mem;
use std::ops::Range;
use std::sync::atomic::Ordering;

use portmortem_tracer::format::Event;

use super::reasons::{LastPort, Passage};
use super::sides::{Began, Caller, Side, Sides};
use super::{Context, Pending};
use crate::machine::WayOut;
use crate::moment::{Moment, OpenBox};
use crate::tables::{EventAt, Facts, Listed, Place};
use crate::trace::StreamInfo;
use crate::walk::{Step, Walk};

/// A piece has no more events than these, so that what is found can be printed soon.
const MOST_EVENTS: usize = if cfg!(test) { 1 << 10 } else { 1 << 18 };

/// And no more rows.
const MOST_ROWS: usize = if cfg!(test) { 1 << 6 } else { 1 << 14 };

/// Events that may be listed, between two of their numbers.
#[derive(Debug)]
pub(super) struct Reading<'t> {
    walk: Walk<'t>,
    /// The first event after it.
    until: u64,
    is_over: bool,
}

/// An event that may be listed.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) step: Step,
    /// When, in ticks, pauses in the piece left out.
    pub(super) running: u64,
    pub(super) facts: Facts,
    pub(super) side: Option<Side>,
    pub(super) awaits: Awaits,
    pub(super) stack: Vec<(u64, OpenBox)>,
}

/// What is still to be found out about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Awaits {
    /// Whether it is listed.
    pub(super) verdict: bool,
    /// How its activation ends.
    pub(super) end: bool,
    /// Where its exception is caught.
    pub(super) catcher: bool,
    /// What happened before the piece.
    pub(super) past: bool,
    /// Of that: who failed or raised last.
    pub(super) cause: bool,
    /// It is not listed.
    pub(super) dropped: bool,
}

/// How an activation ended, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) outcome: WayOut,
    pub(super) running: u64,
}

/// An exception on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flight {
    pub(super) raised: Place,
    /// The box that is active since it was last seen.
    pub(super) catcher: Option<Place>,
}

/// What a piece has, and how it changes what is known.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) numbers: Range<u64>,
    pub(super) rows: Vec<Row>,
    pub(super) sides: Sides,
    /// Activations from before that ended, with how many boxes were around them.
    pub(super) ends: Vec<(usize, Ended)>,
    /// Rows that wait for the end of their activation, with how many boxes are around it.
    pub(super) waiting: Vec<(usize, usize)>,
    /// Ticks of pauses.
    pub(super) paused: u64,
    pub(super) begins_paused: bool,
    pub(super) ticks: Option<(u64, u64)>,
    pub(super) last_failure: Option<Place>,
    pub(super) last_port: Option<LastPort>,
    /// Exceptions before any other port: they may go on with one from before.
    pub(super) first_flight: Option<Flight>,
    pub(super) first_fliers: Vec<usize>,
    /// Another port came; what was on its way is caught.
    pub(super) landed: bool,
    /// An exception on its way at the end, if it has begun after another port.
    pub(super) flight: Option<Flight>,
    pub(super) fliers: Vec<usize>,
}

impl<'t> Reading<'t> {
    pub(super) fn new(cx: &Context<'t, '_>, stream: &StreamInfo, events: Range<u64>) -> Self {
        Self {
            walk: Walk::from(cx.trace, cx.trail, stream, events.start),
            until: events.end,
            is_over: false,
        }
    }

    /// Whether all of it was read.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The number of the next event.
    pub(super) fn next_number(&self) -> u64 {
        self.walk.next_number()
    }

    /// The same from here on to the end of the stream.
    pub(super) fn going_on(&self) -> Self {
        Self {
            walk: self.walk.clone(),
            until: u64::MAX,
            is_over: false,
        }
    }

    /// Reads on.
    pub(super) fn read(&mut self, cx: &Context<'t, '_>, listed: &Range<u64>) -> Piece {
        let moment = self.walk.moment();
        let start = self.walk.next_number();
        let mut piece = Piece {
            sides: Sides::new(moment.active().len(), moment.choices().len()),
            begins_paused: moment.is_paused(),
            ..Piece::default()
        };
        for _ in 0..MOST_EVENTS {
            if self.walk.next_number() >= self.until || piece.rows.len() >= MOST_ROWS {
                break;
            }
            let paused = self.walk.moment().is_paused();
            let Some(step) = self.walk.next() else {
                self.is_over = true;
                break;
            };
            if let (true, Some((_, last))) = (paused, piece.ticks) {
                piece.paused += step.tick.saturating_sub(last);
            }
            piece.ticks = Some((piece.ticks.map_or(step.tick, |(first, _)| first), step.tick));
            piece.take(cx, step, self.walk.moment(), listed);
        }
        self.is_over |= self.walk.next_number() >= self.until;
        piece.numbers = start..self.walk.next_number();
        piece
    }
}

impl Piece {
    /// The next event; `moment` is after it.
    fn take(&mut self, cx: &Context, step: Step, moment: &Moment, listed: &Range<u64>) {
        let running = step.tick.saturating_sub(self.paused);
        let began = Began::At {
            running,
            event: step.number,
        };
        let depth = self.sides.depth();
        let mut side = None;
        let mut ended = None;
        match step.event {
            Event::Call { .. } => self.sides.push(Side {
                began,
                caller: Caller::Site(step.site),
            }),
            Event::Tail { .. } => self.sides.depart(step.site),
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                let left = self.sides.pop();
                if step.event == Event::ExitNondet {
                    self.sides.leave_choice(left.caller);
                }
                let outcome = match step.event {
                    Event::ExitDet => WayOut::ExitDet,
                    Event::ExitNondet => WayOut::ExitNondet,
                    Event::Fail => WayOut::Fail,
                    _ => WayOut::Exception,
                };
                side = Some(left);
                ended = Some((depth.saturating_sub(1), Ended { outcome, running }));
            }
            Event::Redo => {
                for _ in depth..moment.active().len() {
                    self.sides.redo(began);
                }
            }
            Event::Cut { .. } => self.sides.cut(moment.choices().len()),
            Event::Gap { .. } => {
                cx.lost.store(true, Ordering::Relaxed);
                let outcome = WayOut::Lost;
                self.sides.lose();
                ended = Some((0, Ended { outcome, running }));
            }
            _ => {}
        }
        let side = side.or_else(|| self.sides.top());
        if cx.lists(&step, listed) {
            let entered = moment.active().len().saturating_sub(depth);
            self.list(cx, step, running, side, moment, entered);
        }
        if let Some((depth, ended)) = ended {
            self.end(cx, depth, ended, side);
        }
        self.remember(cx, step, moment);
    }

    /// Puts an event among the rows, unless the condition does not hold whatever else is found out.
    fn list(
        &mut self,
        cx: &Context,
        step: Step,
        running: u64,
        side: Option<Side>,
        moment: &Moment,
        entered: usize,
    ) {
        let mut row = Row {
            step,
            running,
            facts: Facts::default(),
            side,
            awaits: Awaits::default(),
            stack: Vec::new(),
        };
        match side.map(|side| side.caller) {
            Some(Caller::Site(site)) => row.facts.site = site,
            Some(_) => row.awaits.past = true,
            None => {}
        }
        let mut begin = None;
        match step.event {
            Event::Call { .. } | Event::Tail { .. } | Event::Redo => row.awaits.end = cx.future,
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                row.facts.outcome = Some(match step.event {
                    Event::ExitDet => WayOut::ExitDet,
                    Event::ExitNondet => WayOut::ExitNondet,
                    Event::Fail => WayOut::Fail,
                    _ => WayOut::Exception,
                });
                match side.map(|side| side.began) {
                    Some(Began::At {
                        running: began,
                        event,
                    }) => {
                        row.facts.took = Some(running.saturating_sub(began));
                        begin = Some(event);
                    }
                    Some(Began::Active(_)) => row.awaits.past = true,
                    Some(Began::Lost) | None => begin = Some(u64::MAX),
                }
            }
            _ => {}
        }
        let verdict = cx.verdict(&row);
        if verdict == Some(false) {
            return;
        }
        row.awaits.verdict = verdict.is_none();
        let of = step.of.map(|(of, _)| of.predicate);
        let is_explained = !of.is_some_and(|of| cx.is_between_ports(of));
        match step.event {
            _ if !is_explained => {}
            Event::Fail => match (self.last_failure, begin) {
                (Some(failure), Some(begin)) => {
                    row.facts.cause = Some(failure).filter(|place| place.event > Some(begin));
                }
                (None, Some(_)) => {}
                // Whatever failed in the piece did so in the activation.
                (Some(failure), None) => row.facts.cause = Some(failure),
                (None, None) => row.awaits.cause = true,
            },
            Event::Redo => {
                let asked = moment.active().newest().nth(entered);
                let asked = asked.map(|boxed| Place {
                    predicate: boxed.predicate,
                    event: None,
                });
                row.facts.cause = match self.last_port {
                    Some(LastPort::Failure(place)) => Some(place),
                    Some(LastPort::Lost) => None,
                    Some(LastPort::Other) | None => asked,
                };
                row.awaits.cause = self.last_port.is_none();
            }
            Event::Exception => {
                let here = || step.of.map(|(of, _)| place(&of, step.number));
                let flight = if self.landed {
                    self.flight
                } else {
                    self.first_flight
                };
                row.facts.cause = flight.map(|flight| flight.raised).or_else(here);
                row.awaits.cause = !self.landed;
                row.awaits.catcher = true;
            }
            _ => {}
        }
        row.awaits.past |= row.awaits.cause;
        if cx.boxes > 0 {
            row.stack = stack(&step, moment, cx.boxes);
        }
        let at = self.rows.len();
        if row.awaits.end {
            let depth = step.of.map_or(0, |(_, depth)| depth);
            self.waiting.push((depth as usize, at));
        }
        if row.awaits.catcher {
            let fliers = if self.landed {
                &mut self.fliers
            } else {
                &mut self.first_fliers
            };
            fliers.push(at);
        }
        self.rows.push(row);
    }

    /// The activation with so many boxes around it ended, and all inside it.
    fn end(&mut self, cx: &Context, depth: usize, ended: Ended, side: Option<Side>) {
        while let Some(&(_, at)) = self.waiting.last().filter(|(of, _)| *of >= depth) {
            self.waiting.pop();
            if let Some(row) = self.rows.get_mut(at) {
                row.ends(ended);
                cx.judge(row);
            }
        }
        while self.rows.last().is_some_and(|row| row.awaits.dropped) {
            self.rows.pop();
        }
        let is_from_before = side.is_none_or(|side| matches!(side.began, Began::Active(_)));
        if is_from_before {
            self.ends.push((depth, ended));
        }
    }

    /// What later rows are explained with.
    fn remember(&mut self, cx: &Context, step: Step, moment: &Moment) {
        let of = step.of.map(|(of, _)| of);
        if of.is_some_and(|of| cx.is_between_ports(of.predicate)) {
            return;
        }
        let here = of.map(|of| place(&of, step.number));
        if step.event == Event::Fail {
            self.last_failure = here;
        } else if matches!(step.event, Event::Gap { .. }) {
            self.last_failure = None;
        }
        self.last_port = LastPort::of(step.event, here).or(self.last_port);
        match (Passage::of(step.event), here) {
            (Passage::Flies, Some(here)) => {
                let active = moment.active().last();
                let catcher = active.map(|boxed| place(boxed, boxed.called));
                let flight = if self.landed {
                    &mut self.flight
                } else {
                    &mut self.first_flight
                };
                let raised = flight.map_or(here, |flight| flight.raised);
                *flight = Some(Flight { raised, catcher });
            }
            (Passage::Stays, _) => {}
            _ if !self.landed => self.landed = true,
            _ => {
                if let Some(flight) = self.flight.take() {
                    for at in mem::take(&mut self.fliers) {
                        if let Some(row) = self.rows.get_mut(at) {
                            row.is_caught(flight.catcher);
                        }
                    }
                }
            }
        }
    }
}

impl Row {
    /// The row as conditions and printers see it.
    pub(super) fn listed<'t>(&self, cx: &Context<'t, '_>) -> Listed<'t> {
        Listed {
            at: EventAt {
                trace: cx.trace,
                name: cx.name,
                stream: cx.stream,
                step: self.step,
            },
            sites: cx.sites,
            facts: self.facts,
        }
    }

    /// Whether all that is asked for is known.
    pub(super) fn is_settled(&self) -> bool {
        let Awaits {
            verdict,
            end,
            catcher,
            past,
            cause,
            dropped,
        } = self.awaits;
        dropped || !(verdict || end || catcher || past || cause)
    }

    /// What conditions cannot rely on.
    pub(super) fn pending(&self) -> Pending {
        let began = self.side.map(|side| side.began);
        let caller = self.side.map(|side| side.caller);
        let is_way_out = self.facts.outcome.is_some();
        Pending {
            site: self.awaits.past && matches!(caller, Some(Caller::Active(_) | Caller::Choice(_))),
            end: self.awaits.end,
            took: self.awaits.end
                || self.awaits.past && is_way_out && matches!(began, Some(Began::Active(_))),
        }
    }

    pub(super) fn ends(&mut self, ended: Ended) {
        self.awaits.end = false;
        self.facts.outcome = Some(ended.outcome);
        if !matches!(ended.outcome, WayOut::Lost | WayOut::Open) {
            self.facts.took = Some(ended.running.saturating_sub(self.running));
        }
    }

    pub(super) fn is_caught(&mut self, catcher: Option<Place>) {
        self.awaits.catcher = false;
        self.facts.caught = catcher;
    }
}

/// Who did something by the event of this number.
fn place(of: &OpenBox, event: u64) -> Place {
    Place {
        predicate: of.predicate,
        event: Some(event),
    }
}

/// The newest boxes at an event, the newest first, with how many are around each. One that ends
/// there is among them.
fn stack(step: &Step, moment: &Moment, most: usize) -> Vec<(u64, OpenBox)> {
    let active = moment.active();
    let height = active.len() as u64;
    let left = step.of.filter(|(_, depth)| *depth >= height);
    let left = left.map(|(of, depth)| (depth, of));
    let others = (0..height).rev().zip(active.newest());
    left.into_iter().chain(others).take(most).collect()
}
