//! A piece of a stream, read without what was before: the events that may be listed, and what the
//! piece changes.

use std::mem;
use std::ops::Range;
use std::sync::atomic::Ordering;

use super::open_activation::{ActivationBegan, ActivationKeeper, CallingGoal, OpenActivation};
use super::reasons::{AskingBox, LastPort};
use super::{Pending, ReadingContext};
use crate::machine::{Class, Passage, Pile, Seeded, Since, WayOut};
use crate::moment::{OpenBox, Stack};
use crate::observed_walk::ObservedWalk;
use crate::tables::{EventAt, EventFacts, Listed, PredicateMoment};
use crate::trace::StreamInfo;
use crate::walk::{Step, Walk};

/// A piece has no more events than these, so that what is found can be printed soon.
const MOST_EVENTS: usize = if cfg!(test) { 1 << 10 } else { 1 << 18 };

/// And no more rows.
const MOST_ROWS: usize = if cfg!(test) { 1 << 6 } else { 1 << 14 };

/// Boxes with their activations.
type Activations = Seeded<Stack, OpenActivation>;

/// Events that may be listed, between two of their numbers.
#[derive(Debug)]
pub(super) struct Reading<'t> {
    walk: ObservedWalk<'t, Activations>,
    /// The first event after it.
    until: u64,
    is_over: bool,
    /// The stream has no further event.
    at_end: bool,
    /// Recording may be paused: no event says so since others that were not kept.
    may_be_paused: bool,
}

/// An event that may be listed.
#[derive(Debug, Clone)]
pub(super) struct PieceRow {
    pub(super) step: Step,
    /// When, in ticks, pauses in the piece left out; if it is known whether they are.
    pub(super) running: Option<u64>,
    pub(super) facts: EventFacts,
    /// That of its box: of a way out, the one that ends.
    pub(super) activation: Option<OpenActivation>,
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
pub(super) struct ActivationEnd {
    pub(super) outcome: WayOut,
    pub(super) running: u64,
}

/// An exception on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flight {
    pub(super) raised: PredicateMoment,
    /// The box that is active since it was last seen.
    pub(super) catcher: Option<PredicateMoment>,
}

/// What a piece has, and how it changes what is known.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) numbers: Range<u64>,
    pub(super) rows: Vec<PieceRow>,
    /// How many boxes are active, and can be re-entered, where it begins.
    pub(super) heights: (usize, usize),
    /// How the stacks differ from those at its beginning.
    pub(super) active: Since<OpenActivation>,
    pub(super) choices: Since<OpenActivation>,
    /// Activations from before that ended, with how many boxes were around them.
    pub(super) ends: Vec<(usize, ActivationEnd)>,
    /// Rows that wait for the end of their activation, with how many boxes are around it.
    pub(super) waiting: Vec<(usize, usize)>,
    /// Ticks of pauses.
    pub(super) paused: u64,
    pub(super) begins_paused: bool,
    pub(super) ticks: Option<(u64, u64)>,
    pub(super) last_failure: Option<PredicateMoment>,
    pub(super) last_port: Option<LastPort>,
    /// The box that asked for the first redo before any other port, if no failure before the piece
    /// caused it.
    pub(super) first_asking: Option<AskingBox>,
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
    pub(super) fn new(
        cx: &ReadingContext<'t, '_>,
        stream: &StreamInfo,
        events: Range<u64>,
    ) -> Self {
        Self {
            walk: ObservedWalk::seeded(
                Walk::from(cx.trace, cx.trail, stream, events.start),
                OpenActivation::of_active,
                OpenActivation::of_choice,
            ),
            until: events.end,
            is_over: false,
            at_end: false,
            may_be_paused: false,
        }
    }

    /// The tick of the last event, with pauses since the beginning left out, if the stream has no
    /// further one.
    pub(super) fn end_of_stream(&self) -> Option<u64> {
        self.at_end.then(|| self.walk.now())
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
            at_end: false,
            may_be_paused: self.may_be_paused,
        }
    }

    /// Reads on.
    pub(super) fn read(&mut self, cx: &ReadingContext<'t, '_>, listed: &Range<u64>) -> Piece {
        self.walk.forget();
        let start = self.walk.next_number();
        let mut piece = Piece {
            begins_paused: self.walk.is_paused(),
            heights: (self.walk.active().height(), self.walk.choices().height()),
            ..Piece::default()
        };
        for _ in 0..MOST_EVENTS {
            if self.walk.next_number() >= self.until || piece.rows.len() >= MOST_ROWS {
                break;
            }
            let height = self.walk.active().height();
            let mut keeper = ActivationKeeper {
                may_be_paused: self.may_be_paused,
                left: None,
            };
            let Some(step) = self.walk.next(&mut keeper) else {
                (self.is_over, self.at_end) = (true, true);
                break;
            };
            self.may_be_paused = match step.class() {
                Class::Lose(_) => cx.trace.are_not_kept(cx.stream, step.number),
                // No box is called in a pause.
                Class::Enter(_) | Class::Pause(_) => false,
                _ => self.may_be_paused,
            };
            let entered = self.walk.active().height().saturating_sub(height);
            piece.take(cx, step, keeper.left, self, entered, listed);
        }
        self.is_over |= self.walk.next_number() >= self.until;
        let changes = self.walk.changes();
        (piece.active, piece.choices) = (changes.active, changes.choices);
        (piece.paused, piece.ticks) = (changes.paused, changes.ticks);
        piece.numbers = start..self.walk.next_number();
        piece
    }
}

impl Piece {
    /// The next event, which ended an activation or none; `reading` is after it, and `entered`
    /// boxes more are active than before.
    fn take(
        &mut self,
        cx: &ReadingContext,
        step: Step,
        left: Option<OpenActivation>,
        reading: &Reading,
        entered: usize,
        listed: &Range<u64>,
    ) {
        let walk = &reading.walk;
        let running = walk.now();
        let active = || walk.active().newest().map(|(_, kept)| *kept);
        let activation = left.or_else(active);
        let asking = || {
            let boxed = walk.active().boxes().newest().nth(entered);
            AskingBox(boxed.map(|boxed| PredicateMoment {
                predicate: boxed.predicate,
                event: None,
            }))
        };
        let asking = (step.class() == Class::ReEnter).then(asking);
        if cx.lists(&step, listed) {
            self.list(
                cx,
                step,
                (!reading.may_be_paused).then_some(running),
                activation,
                walk.active().boxes(),
                asking,
            );
        }
        let around = step.of.map_or(0, |(_, around)| around as usize);
        match step.class() {
            Class::Leave(outcome) => {
                self.end(cx, around, ActivationEnd { outcome, running }, activation)
            }
            Class::Lose(_) => {
                cx.lost.store(true, Ordering::Relaxed);
                let outcome = WayOut::Lost;
                self.end(cx, 0, ActivationEnd { outcome, running }, None);
            }
            _ => {}
        }
        self.remember(cx, step, walk.active().boxes(), asking);
    }

    /// Puts an event among the rows, unless the condition does not hold whatever else is found out.
    fn list(
        &mut self,
        cx: &ReadingContext,
        step: Step,
        running: Option<u64>,
        activation: Option<OpenActivation>,
        active: &Stack,
        asking: Option<AskingBox>,
    ) {
        let mut row = PieceRow {
            step,
            running,
            facts: EventFacts::default(),
            activation,
            awaits: Awaits::default(),
            stack: Vec::new(),
        };
        match activation.map(|activation| activation.caller) {
            Some(CallingGoal::Site(site)) => row.facts.site = site,
            Some(_) => row.awaits.past = true,
            None => {}
        }
        let mut begin = None;
        match step.class() {
            Class::Enter(_) | Class::Depart(_) | Class::ReEnter => row.awaits.end = cx.future,
            Class::Leave(outcome) => {
                row.facts.outcome = Some(outcome);
                match activation.map(|activation| activation.began) {
                    Some(ActivationBegan::At {
                        running: began,
                        event,
                    }) => {
                        row.facts.took = since(began, running);
                        begin = Some(event);
                    }
                    Some(ActivationBegan::Active(_)) => row.awaits.past = true,
                    Some(ActivationBegan::Lost) | None => begin = Some(u64::MAX),
                }
            }
            Class::Cut(_) | Class::Lose(_) | Class::Pause(_) | Class::Note(_) => {}
        }
        let verdict = cx.verdict(&row);
        if verdict == Some(false) {
            return;
        }
        row.awaits.verdict = verdict.is_none();
        let of = step.of.map(|(of, _)| of.predicate);
        let is_explained = !of.is_some_and(|of| cx.is_between_ports(of));
        match step.class() {
            _ if !is_explained => {}
            Class::Leave(WayOut::Fail) => match (self.last_failure, begin) {
                (Some(failure), Some(begin)) => {
                    row.facts.cause = Some(failure).filter(|place| place.event > Some(begin));
                }
                (None, Some(_)) => {}
                // Whatever failed in the piece did so in the activation.
                (Some(failure), None) => row.facts.cause = Some(failure),
                (None, None) => row.awaits.cause = true,
            },
            Class::ReEnter => {
                row.facts.cause = match self.last_port {
                    Some(LastPort::Failure(place)) => Some(place),
                    Some(LastPort::Asked(AskingBox(place))) => place,
                    Some(LastPort::Lost) => None,
                    Some(LastPort::Other) => asking.and_then(|asking| asking.0),
                    None => self.first_asking.or(asking).and_then(|asking| asking.0),
                };
                row.awaits.cause = self.last_port.is_none();
            }
            Class::Leave(WayOut::Exception) => {
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
            row.stack = stack(&step, active, cx.boxes);
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
    fn end(
        &mut self,
        cx: &ReadingContext,
        depth: usize,
        ended: ActivationEnd,
        activation: Option<OpenActivation>,
    ) {
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
        let is_from_before = activation.is_none_or(|ended| ended.is_from_before());
        if is_from_before {
            self.ends.push((depth, ended));
        }
    }

    /// What later rows are explained with.
    fn remember(
        &mut self,
        cx: &ReadingContext,
        step: Step,
        active: &Stack,
        asking: Option<AskingBox>,
    ) {
        let of = step.of.map(|(of, _)| of);
        if of.is_some_and(|of| cx.is_between_ports(of.predicate)) {
            return;
        }
        let here = of.map(|of| place(&of, step.number));
        match step.class() {
            Class::Leave(WayOut::Fail) => self.last_failure = here,
            Class::Lose(_) => self.last_failure = None,
            _ => {}
        }
        self.last_port = LastPort::of(step.class(), here).or(self.last_port);
        if let Some(asking) = asking {
            match &mut self.last_port {
                Some(last) => *last = last.behind_redo(asking),
                None => self.first_asking = self.first_asking.or(Some(asking)),
            }
        }
        match (Passage::of(step.class()), here) {
            (Passage::Flies, Some(here)) => {
                let catcher = active.last();
                let catcher = catcher.map(|boxed| place(boxed, boxed.called));
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

impl PieceRow {
    /// The row as conditions and printers see it.
    pub(super) fn listed<'t>(&self, cx: &ReadingContext<'t, '_>) -> Listed<'t> {
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
        let began = self.activation.map(|activation| activation.began);
        let caller = self.activation.map(|activation| activation.caller);
        let is_way_out = self.facts.outcome.is_some();
        Pending {
            site: self.awaits.past
                && matches!(
                    caller,
                    Some(CallingGoal::Active(_) | CallingGoal::Choice(_))
                ),
            end: self.awaits.end,
            took: self.awaits.end
                || self.awaits.past
                    && is_way_out
                    && matches!(began, Some(ActivationBegan::Active(_))),
        }
    }

    pub(super) fn ends(&mut self, ended: ActivationEnd) {
        self.awaits.end = false;
        self.facts.outcome = Some(ended.outcome);
        if !matches!(ended.outcome, WayOut::Lost | WayOut::Open) {
            self.facts.took = since(self.running, Some(ended.running));
        }
    }

    pub(super) fn is_caught(&mut self, catcher: Option<PredicateMoment>) {
        self.awaits.catcher = false;
        self.facts.caught = catcher;
    }
}

/// The time from one moment to another, if both are known.
pub(super) fn since(began: Option<u64>, ended: Option<u64>) -> Option<u64> {
    Some(ended?.saturating_sub(began?))
}

/// Who did something by the event of this number.
fn place(of: &OpenBox, event: u64) -> PredicateMoment {
    PredicateMoment {
        predicate: of.predicate,
        event: Some(event),
    }
}

/// The newest boxes at an event, the newest first, with how many are around each. One that ends
/// there is among them.
fn stack(step: &Step, active: &Stack, most: usize) -> Vec<(u64, OpenBox)> {
    let height = active.len() as u64;
    let left = step.of.filter(|(_, depth)| *depth >= height);
    let left = left.map(|(of, depth)| (depth, of));
    let others = (0..height).rev().zip(active.newest());
    left.into_iter().chain(others).take(most).collect()
}
