//! Pieces of a stream, one after the other: what each did not know of the time before and after it.

use std::collections::VecDeque;
use std::iter;
use std::ops::{ControlFlow, Range};

use rayon::prelude::*;

use super::open_activation::{ActivationBegan, CallingGoal, OpenActivation};
use super::piece::{ActivationEnd, Flight, Piece, PieceRow, Reading, since};
use super::reasons::{AskingBox, LastPort};
use super::{PlaceToBegin, ReadingContext, TakeEvent};
use crate::machine::{Class, WayOut};
use crate::tables::PredicateMoment;
use crate::trace::{SiteIndex, StreamInfo};

/// Rows, and boxes kept with them, that may wait for what comes later.
pub(super) const MOST_QUEUED: usize = if cfg!(test) { 1 << 5 } else { 1 << 18 };

/// Joins pieces.
pub(super) struct PieceJoin<'t, 'c> {
    cx: &'c ReadingContext<'t, 'c>,
    stream: &'c StreamInfo,
    places: &'c [PlaceToBegin],
    past: Past,
    queue: RowQueue,
}

/// What is known before an event.
#[derive(Debug, Default)]
struct Past {
    /// Its number.
    at: u64,
    /// The active boxes. All callers are sites, and none began in a piece before.
    active: Vec<OpenActivation>,
    choices: Vec<Option<SiteIndex>>,
    last_failure: Option<PredicateMoment>,
    last_port: Option<LastPort>,
    clock: CarriedClock,
}

/// What carries over from piece to piece, for those that only look for ends.
#[derive(Debug, Clone, Copy, Default)]
struct CarriedClock {
    /// Ticks of pauses.
    paused: u64,
    last_tick: Option<u64>,
    flight: Option<Flight>,
}

/// Rows in the order of their events, of which the first one is not settled.
#[derive(Debug, Default)]
struct RowQueue {
    rows: VecDeque<PieceRow>,
    /// How many there were before.
    gone: u64,
    boxes: usize,
    /// Which wait for the end of their activation, with how many boxes are around it.
    waiting: Vec<(usize, u64)>,
    /// Which wait for where their exception is caught.
    fliers: Vec<u64>,
}

impl<'t, 'c> PieceJoin<'t, 'c> {
    pub(super) fn new(
        cx: &'c ReadingContext<'t, 'c>,
        stream: &'c StreamInfo,
        places: &'c [PlaceToBegin],
    ) -> Self {
        Self {
            cx,
            stream,
            places,
            past: Past::default(),
            queue: RowQueue::default(),
        }
    }

    /// Takes the next piece, which `reading` is at the end of. Those before it may have been left
    /// out, if there is nothing in them.
    pub(super) fn add(
        &mut self,
        piece: Piece,
        reading: &Reading<'t>,
        take: &mut TakeEvent,
    ) -> ControlFlow<()> {
        if self.past.at < piece.numbers.start {
            if self.queue.rows.is_empty() && piece.rows.iter().all(PieceRow::is_settled) {
                return self.hand_out(&mut piece.rows.into(), take);
            }
            self.catch_up(piece.numbers.start);
        }
        self.join(piece);
        self.queue.flush(self.cx, take)?;
        if self.queue.rows.len() + self.queue.boxes > MOST_QUEUED {
            self.look_ahead(reading);
            self.queue.flush(self.cx, take)?;
        }
        ControlFlow::Continue(())
    }

    /// There are no more rows. Activations that are open are looked for in the rest of the stream.
    pub(super) fn finish(mut self, reading: &Reading<'t>, take: &mut TakeEvent) -> ControlFlow<()> {
        if !self.queue.rows.is_empty() {
            self.look_ahead(reading);
        }
        self.queue.flush(self.cx, take)
    }

    fn hand_out(&self, rows: &mut VecDeque<PieceRow>, take: &mut TakeEvent) -> ControlFlow<()> {
        let rows = rows.iter().filter(|row| !row.awaits.dropped);
        for row in rows {
            take(&row.listed(self.cx), &row.stack)?;
        }
        ControlFlow::Continue(())
    }

    /// Reads what was left out.
    fn catch_up(&mut self, until: u64) {
        let silent = self.cx.silent();
        let from = self.past.at;
        let mut starts = vec![from];
        let between = self.places.iter().map(|place| place.event);
        starts.extend(between.filter(|event| (from + 1..until).contains(event)));
        let ends = starts.iter().copied().skip(1).chain([until]);
        let ranges: Vec<Range<u64>> = starts
            .iter()
            .copied()
            .zip(ends)
            .map(|(from, to)| from..to)
            .collect();
        for wave in ranges.chunks(rayon::current_num_threads().max(1) * 2) {
            let read = |events: &Range<u64>| {
                let mut reading = Reading::new(&silent, self.stream, events.clone());
                let piece = reading.read(&silent, &(0..0));
                (reading, piece)
            };
            let pieces: Vec<_> = wave.par_iter().map(read).collect();
            for (mut reading, mut piece) in pieces {
                loop {
                    self.join(piece);
                    if reading.is_over() {
                        break;
                    }
                    piece = reading.read(&silent, &(0..0));
                }
            }
        }
    }

    /// Reads on, only to see how those end that wait for it. What is not found is open at the end
    /// of the stream.
    fn look_ahead(&mut self, reading: &Reading<'t>) {
        let silent = self.cx.silent();
        let mut clock = self.past.clock;
        let mut reading = reading.going_on();
        while self.queue.waits() && !reading.is_over() {
            let piece = reading.read(&silent, &(0..0));
            clock.begin(&piece);
            self.queue.see(self.cx, &piece, clock);
            clock.end(&piece);
        }
        let outcome = WayOut::Open;
        let running = 0;
        self.queue
            .end(self.cx, 0, ActivationEnd { outcome, running });
        self.queue.land(clock.flight);
    }

    fn join(&mut self, mut piece: Piece) {
        let (active, choices) = piece.heights;
        self.queue.move_up(self.past.active.len(), active);
        make_high(&mut self.past.active, active, OpenActivation::UNKNOWN);
        make_high(&mut self.past.choices, choices, None);
        self.past.clock.begin(&piece);
        let base = self.queue.gone + self.queue.rows.len() as u64;
        self.queue.see(self.cx, &piece, self.past.clock);
        let rows = std::mem::take(&mut piece.rows);
        for mut row in rows {
            self.past.explain(&mut row);
            self.cx.judge(&mut row);
            self.queue.boxes += row.stack.len();
            self.queue.rows.push_back(row);
        }
        let waiting = piece.waiting.iter();
        let waiting = waiting.map(|&(depth, at)| (depth, base + at as u64));
        self.queue.waiting.extend(waiting);
        let fliers =
            |fliers: &[usize]| -> Vec<u64> { fliers.iter().map(|&at| base + at as u64).collect() };
        self.queue.fliers.extend(fliers(&piece.first_fliers));
        if piece.landed {
            let flight = self.past.clock.going_on(&piece);
            self.queue.land(flight);
            self.queue.fliers = fliers(&piece.fliers);
        }
        self.past.pass(&piece);
    }
}

/// Behind events that were not kept a piece may know more boxes than the one before it, which knew
/// the newest of them. Nothing is known of those below.
fn make_high<T: Clone>(stack: &mut Vec<T>, height: usize, unknown: T) {
    let more = height.saturating_sub(stack.len());
    let fewer = stack.len().saturating_sub(height);
    stack.splice(..fewer, iter::repeat_n(unknown, more));
}

impl CarriedClock {
    /// A piece begins.
    fn begin(&mut self, piece: &Piece) {
        if let (true, Some((first, _)), Some(last)) =
            (piece.begins_paused, piece.ticks, self.last_tick)
        {
            self.paused += first.saturating_sub(last);
        }
    }

    fn end(&mut self, piece: &Piece) {
        self.flight = if piece.landed {
            piece.flight
        } else {
            self.going_on(piece)
        };
        self.paused += piece.paused;
        self.last_tick = piece.ticks.map(|(_, last)| last).or(self.last_tick);
    }

    /// The exception that is on its way before the first other port of a piece.
    fn going_on(&self, piece: &Piece) -> Option<Flight> {
        let raised = self.flight.or(piece.first_flight)?.raised;
        let catcher = piece.first_flight.or(self.flight)?.catcher;
        Some(Flight { raised, catcher })
    }

    /// A time of a piece, with the pauses before it left out, too.
    fn running(&self, running: u64) -> u64 {
        running.saturating_sub(self.paused)
    }
}

impl Past {
    /// Adds to a row what its piece did not know.
    fn explain(&self, row: &mut PieceRow) {
        row.running = row.running.map(|running| self.clock.running(running));
        if !row.awaits.past {
            return;
        }
        let known = row.activation.map(|activation| self.known(activation));
        row.awaits.past = false;
        if let Some(CallingGoal::Site(site)) = known.map(|known| known.caller) {
            row.facts.site = site;
        }
        let from_before = row
            .activation
            .is_some_and(|activation| activation.is_from_before());
        let mut begin = u64::MAX;
        if let (true, Some(ActivationBegan::At { running, event })) =
            (from_before, known.map(|known| known.began))
        {
            begin = event;
            if row.facts.outcome.is_some() && !row.awaits.end {
                row.facts.took = since(running, row.running);
            }
        }
        if row.step.class() == Class::Leave(WayOut::Fail) && from_before && begin == u64::MAX {
            // It is unknown when the activation began, so also what failed in it.
            (row.facts.cause, row.awaits.cause) = (None, false);
        }
        if !row.awaits.cause {
            return;
        }
        row.awaits.cause = false;
        match (row.step.class(), self.last_port, self.clock.flight) {
            (Class::Leave(WayOut::Fail), ..) => {
                row.facts.cause = self
                    .last_failure
                    .filter(|failure| failure.event > Some(begin));
            }
            (Class::ReEnter, Some(LastPort::Failure(failure)), _) => {
                row.facts.cause = Some(failure)
            }
            (Class::ReEnter, Some(LastPort::Asked(AskingBox(asking))), _) => {
                row.facts.cause = asking;
            }
            (Class::ReEnter, Some(LastPort::Lost) | None, _) => row.facts.cause = None,
            (Class::Leave(WayOut::Exception), _, Some(flight)) => {
                row.facts.cause = Some(flight.raised)
            }
            _ => {}
        }
    }

    /// An activation of a piece, as it is known here.
    fn known(&self, activation: OpenActivation) -> OpenActivation {
        let before = |around: usize| self.active.get(around).copied();
        OpenActivation {
            began: match activation.began {
                ActivationBegan::At { running, event } => ActivationBegan::At {
                    running: running.map(|running| self.clock.running(running)),
                    event,
                },
                ActivationBegan::Active(around) => {
                    before(around).map_or(ActivationBegan::Lost, |known| known.began)
                }
                ActivationBegan::Lost => ActivationBegan::Lost,
            },
            caller: CallingGoal::Site(self.site(activation.caller)),
        }
    }

    /// The goal that called a box of a piece, if that is known.
    fn site(&self, caller: CallingGoal) -> Option<SiteIndex> {
        match caller {
            CallingGoal::Site(site) => site,
            CallingGoal::Active(around) => match self.active.get(around)?.caller {
                CallingGoal::Site(site) => site,
                _ => None,
            },
            CallingGoal::Choice(before) => self.choices.get(before).copied().flatten(),
        }
    }

    /// The piece is over.
    fn pass(&mut self, piece: &Piece) {
        let active = piece.active.kept.iter();
        let active: Vec<OpenActivation> = active.map(|&active| self.known(active)).collect();
        let choices = piece.choices.kept.iter();
        let choices: Vec<_> = choices.map(|choice| self.site(choice.caller)).collect();
        self.active.truncate(piece.active.left);
        self.active.extend(active);
        self.choices.truncate(piece.choices.left);
        self.choices.extend(choices);
        self.last_failure = piece.last_failure.or(self.last_failure);
        self.last_port = piece.last_port.or_else(|| {
            let last = self.last_port?;
            Some(match piece.first_asking {
                Some(asking) => last.behind_redo(asking),
                None => last,
            })
        });
        self.clock.end(piece);
        self.at = piece.numbers.end;
    }
}

impl RowQueue {
    /// Whether rows wait for what comes later.
    fn waits(&self) -> bool {
        !self.waiting.is_empty() || !self.fliers.is_empty()
    }

    /// So many boxes are active, and not as many as before: there are more below, or fewer.
    fn move_up(&mut self, before: usize, height: usize) {
        for (around, _) in &mut self.waiting {
            *around = (*around + height).saturating_sub(before);
        }
    }

    fn row(&mut self, number: u64) -> Option<&mut PieceRow> {
        let at = number.checked_sub(self.gone)?;
        self.rows.get_mut(usize::try_from(at).ok()?)
    }

    /// What happens in a piece to activations and exceptions from before.
    fn see(&mut self, cx: &ReadingContext, piece: &Piece, clock: CarriedClock) {
        for &(depth, ended) in &piece.ends {
            let running = clock.running(ended.running);
            self.end(cx, depth, ActivationEnd { running, ..ended });
        }
        if piece.landed && piece.rows.is_empty() {
            self.land(clock.going_on(piece));
        }
    }

    /// The activation with so many boxes around it ended, and all inside it.
    fn end(&mut self, cx: &ReadingContext, depth: usize, ended: ActivationEnd) {
        while let Some(&(_, number)) = self.waiting.last().filter(|(of, _)| *of >= depth) {
            self.waiting.pop();
            if let Some(row) = self.row(number) {
                row.ends(ended);
                cx.judge(row);
            }
        }
    }

    /// The exceptions that were on their way are caught.
    fn land(&mut self, flight: Option<Flight>) {
        let catcher = flight.and_then(|flight| flight.catcher);
        for number in std::mem::take(&mut self.fliers) {
            if let Some(row) = self.row(number) {
                row.is_caught(catcher);
            }
        }
    }

    /// Hands out all rows before the first that waits.
    fn flush(&mut self, cx: &ReadingContext, take: &mut TakeEvent) -> ControlFlow<()> {
        while self.rows.front().is_some_and(PieceRow::is_settled) {
            let Some(row) = self.rows.pop_front() else {
                break;
            };
            self.gone += 1;
            self.boxes -= row.stack.len();
            if !row.awaits.dropped {
                take(&row.listed(cx), &row.stack)?;
            }
        }
        ControlFlow::Continue(())
    }
}
