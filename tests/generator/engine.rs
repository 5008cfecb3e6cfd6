//! Runs a program as Prolog would, and records what happens: clauses from first to last, goals from
//! left to right, back to the newest choice on failure.

use portmortem_tracer::Stream;
use portmortem_tracer::clock;
use portmortem_tracer::format::Event;

use super::boxes::Boxes;
use super::figures::{Totals, WayOut};
use super::program::{Goal, Program};
use super::random::{Dice, Random};

/// Where control goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    /// To the next goal of the active box.
    Forward,
    /// Back to the newest choice inside the active box.
    Backward,
    /// Out to a box that catches exceptions.
    Raise {
        /// Choices go when the exception is caught; else before each box does. Engines differ.
        late: bool,
        /// What will be left of the choice stack then.
        height: u32,
    },
}

/// One stream being made.
#[derive(Debug)]
pub(super) struct Engine<'p> {
    program: &'p Program,
    stream: Stream,
    boxes: Boxes,
    random: Random,
    dice: Dice,
    control: Control,
    /// Where the goals of the active box go on.
    goal: u32,
    innermost_redo: bool,
    marks: [u32; 2],
    tick: u64,
    /// Events still to make.
    remaining: u64,
}

/// What all streams have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<'p> {
    pub(super) program: &'p Program,
    pub(super) seed: u64,
    /// One redo for all boxes on the way to the innermost that is re-entered.
    pub(super) innermost_redo: bool,
    /// Texts for marks.
    pub(super) marks: [u32; 2],
    /// How far in the future events begin, in ticks.
    pub(super) lead: u64,
}

impl<'p> Engine<'p> {
    /// An execution that will make so many events.
    pub(super) fn new(settings: &Settings<'p>, stream: Stream, events: u64) -> Self {
        let random = Random::new(settings.seed, stream.id().into());
        let program = settings.program;
        let mut boxes = Boxes::new(program.predicates.len(), &program.edges, stream.id());
        boxes.figures.events = events;
        Self {
            program,
            stream,
            boxes,
            random,
            dice: Dice(0),
            control: Control::Forward,
            goal: 0,
            innermost_redo: settings.innermost_redo,
            marks: settings.marks,
            tick: clock::ticks() + settings.lead,
            remaining: events,
        }
    }

    /// Makes at most so many events; whether there are more to make.
    pub(super) fn run(&mut self, at_most: u64, totals: &mut Totals) -> bool {
        let stop = self.remaining.saturating_sub(at_most);
        while self.remaining > stop {
            self.dice = Dice(self.random.next());
            self.step(totals);
        }
        self.remaining > 0
    }

    /// Ends the stream. `false` if the clock has overtaken it, so that the end of the stream is
    /// later than its last event, at a tick that the generator does not know.
    pub(super) fn end(self, totals: &mut Totals) -> bool {
        self.stream.end();
        let in_time = clock::ticks() <= self.tick;
        let mut boxes = self.boxes;
        boxes.figures.last_tick = self.tick;
        boxes.end(totals);
        in_time
    }

    /// Time passes, then something happens. Called before the state changes.
    #[inline(always)]
    fn record(&mut self, event: Event) {
        self.record_after(event, self.dice.ticks());
    }

    #[inline(always)]
    fn record_after(&mut self, event: Event, ticks: u64) {
        if self.boxes.figures.first_event_tick == 0 {
            self.boxes.figures.first_event_tick = self.tick;
        } else {
            self.tick += ticks;
            self.boxes.pass(ticks);
        }
        self.remaining -= 1;
        self.stream.record_at(event, self.tick);
    }

    /// At most one event.
    #[inline]
    fn step(&mut self, totals: &mut Totals) {
        if let Some(what) = self.dice.rare()
            && self.rare(what)
        {
            return;
        }
        if self.boxes.paused && self.dice.coin() {
            return self.pause();
        }
        match self.control {
            Control::Forward => self.forward(totals),
            Control::Backward => self.backward(totals),
            Control::Raise { late, height } => self.raise(late, height, totals),
        }
    }

    /// Something that programs seldom do, if it can happen here.
    #[cold]
    fn rare(&mut self, what: u32) -> bool {
        let coin = self.dice.coin();
        match what {
            // The machine did something else.
            0..48 => self.record_after(
                Event::Mark {
                    text: self.marks[0],
                },
                self.dice.0 & 0xf_ffff,
            ),
            48..64 => self.record(Event::Mark {
                text: self.marks[usize::from(coin)],
            }),
            64..88 => self.pause(),
            _ => {
                let catches = self
                    .boxes
                    .active()
                    .is_none_or(|active| self.catches(active.predicate));
                if catches || !self.program.exceptions || self.control != Control::Forward {
                    return false;
                }
                self.control = Control::Raise {
                    late: coin,
                    height: self.boxes.height(),
                };
                return false;
            }
        }
        true
    }

    fn pause(&mut self) {
        let event = if self.boxes.paused {
            Event::Resume
        } else {
            Event::Pause
        };
        self.record(event);
        self.boxes.paused = !self.boxes.paused;
    }

    #[inline]
    fn forward(&mut self, totals: &mut Totals) {
        let Some(active) = self.boxes.active() else {
            return self.top_level(totals);
        };
        match self.program.goal(self.goal) {
            Goal::Call { edge, again } => {
                let left = again.then(|| active.left.saturating_sub(1));
                self.call(edge, left, totals);
            }
            Goal::Cut => {
                self.goal += 1;
                if let Some(active) = self.boxes.active_mut() {
                    active.alternatives = 0;
                }
                self.cut(self.boxes.base(), totals);
            }
            Goal::Builtin => self.goal += 1,
            Goal::End => {
                let alternatives = active.alternatives > 0;
                if alternatives || self.boxes.choices_inside() > 0 {
                    self.record(Event::ExitNondet);
                    self.goal = self.boxes.leave(WayOut::ExitNondet, totals);
                } else {
                    self.record(Event::ExitDet);
                    self.goal = self.boxes.leave(WayOut::ExitDet, totals);
                }
            }
        }
    }

    /// No box is active: the next solution, no more solutions, or the whole program again.
    fn top_level(&mut self, totals: &mut Totals) {
        if self.boxes.height() == 0 {
            self.call(0, None, totals);
        } else if self.dice.coin() {
            self.redo(totals);
        } else {
            self.cut(0, totals);
        }
    }

    #[inline]
    fn call(&mut self, edge: u32, left: Option<u32>, totals: &mut Totals) {
        if self.boxes.paused {
            return self.pause();
        }
        let program = self.program;
        let predicate = program.callee(edge);
        if self.is_last_call() && self.boxes.may_depart(edge) {
            self.record(Event::Tail {
                predicate: program.id(edge),
            });
            self.boxes.depart(edge, predicate, totals);
        } else {
            self.record(Event::Call {
                predicate: program.id(edge),
            });
            self.boxes.call(edge, predicate, self.goal + 1, totals);
        }
        self.enter(predicate, left);
    }

    fn is_last_call(&self) -> bool {
        self.program.last_calls
            && self.boxes.active().is_some_and(|active| {
                self.program.goal(self.goal + 1) == Goal::End && !self.catches(active.predicate)
            })
    }

    fn catches(&self, predicate: u32) -> bool {
        self.program.predicates[predicate as usize].fate.catches
    }

    /// Selects a clause for the active box.
    #[inline]
    fn enter(&mut self, predicate: u32, left: Option<u32>) {
        let predicate = &self.program.predicates[predicate as usize];
        let fate = &predicate.fate;
        let dice = self.dice;
        let left = left.unwrap_or_else(|| fate.length.saturating_sub(dice.below(fate.spread)));
        let (clause, alternatives) = predicate.select(left, dice.index());
        let fails = u32::from(dice.fate()) < fate.fails;
        let Some(active) = self.boxes.active_mut() else {
            return;
        };
        active.left = left;
        active.clause = clause;
        active.alternatives = if fails { 0 } else { alternatives };
        self.goal = self.program.start(clause);
        self.control = if fails {
            Control::Backward
        } else {
            Control::Forward
        };
    }

    #[inline]
    fn backward(&mut self, totals: &mut Totals) {
        if self.boxes.choices_inside() > 0 {
            return self.redo(totals);
        }
        let Some(active) = self.boxes.active_mut() else {
            self.control = Control::Forward;
            return;
        };
        if active.alternatives > 0 {
            active.alternatives -= 1;
            active.clause += 1;
            self.goal = self.program.start(active.clause);
            self.control = Control::Forward;
            return;
        }
        self.record(Event::Fail);
        self.boxes.leave(WayOut::Fail, totals);
    }

    fn redo(&mut self, totals: &mut Totals) {
        self.record(Event::Redo);
        self.boxes.redo(totals);
        while self.innermost_redo && self.boxes.called_newest() {
            self.boxes.redo(totals);
        }
        self.control = Control::Backward;
    }

    fn cut(&mut self, height: u32, totals: &mut Totals) {
        let count = self.boxes.height() - height;
        if count > 0 {
            self.record(Event::Cut { count });
            self.boxes.cut(height, totals);
        }
    }

    fn raise(&mut self, late: bool, height: u32, totals: &mut Totals) {
        let Some(active) = self.boxes.active() else {
            return self.caught(height, totals);
        };
        if self.catches(active.predicate) {
            return self.caught(height, totals);
        }
        let base = self.boxes.base();
        if base < self.boxes.height() && !late {
            return self.cut(base, totals);
        }
        self.record(Event::Exception);
        self.goal = self.boxes.leave(WayOut::Exception, totals);
        let height = base;
        self.control = Control::Raise { late, height };
    }

    fn caught(&mut self, height: u32, totals: &mut Totals) {
        self.control = Control::Forward;
        self.cut(height, totals);
    }
}
