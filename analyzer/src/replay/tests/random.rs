//! Random executions: every sequence of choices is a valid run of an engine that keeps the model.
//!
//! Choices that are impossible where they stand become others, so that shrinking choices shrinks
//! the run.

use portmortem_tracer::format::{Arguments, Dialect, Event};
use proptest::prelude::*;

/// One step of the engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    what: u8,
    which: u8,
    /// Ticks since the last event.
    after: u8,
    /// How often in a row.
    times: u8,
}

/// What a run may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) predicates: u32,
    pub(crate) dialect: Dialect,
    pub(crate) gaps: bool,
    /// Calls may name sites, two of each predicate: after the predicates and the unknown one.
    pub(crate) sites: bool,
}

impl Limits {
    fn predicate(self, callable: u32) -> u32 {
        match callable.checked_sub(self.predicates) {
            None => callable,
            Some(site) => (site - 1) % self.predicates,
        }
    }

    fn callable(self, which: u8) -> u32 {
        let all = if self.sites { 3 } else { 1 } * self.predicates;
        match u32::from(which) % all {
            predicate if predicate < self.predicates => predicate,
            site => site + 1,
        }
    }
}

pub(crate) fn choices(most: usize) -> impl Strategy<Value = Vec<Choice>> {
    let times = prop_oneof![8 => Just(1u8), 2 => 2..6u8];
    let choice =
        (0..48u8, any::<u8>(), 0..20u8, times).prop_map(|(what, which, after, times)| Choice {
            what,
            which,
            after,
            times,
        });
    prop::collection::vec(choice, 0..most)
}

/// The run that these choices make, from `tick` on.
pub(crate) fn run(choices: &[Choice], limits: Limits, tick: u64) -> Vec<(Event, u64)> {
    let mut engine = Engine {
        limits,
        boxes: Vec::new(),
        active: None,
        choices: Vec::new(),
        paused: false,
        lost: false,
        tick,
        events: Vec::new(),
    };
    for choice in choices {
        for _ in 0..choice.times {
            engine.tick += u64::from(choice.after);
            engine.step(choice.what, choice.which);
        }
    }
    engine.events
}

struct Frame {
    parent: Option<usize>,
    base: usize,
    /// What its innermost logical box runs, if that is known.
    predicate: Option<u32>,
}

struct Engine {
    limits: Limits,
    boxes: Vec<Frame>,
    active: Option<usize>,
    choices: Vec<usize>,
    paused: bool,
    /// There was a gap.
    lost: bool,
    tick: u64,
    events: Vec<(Event, u64)>,
}

impl Engine {
    fn emit(&mut self, event: Event) {
        self.events.push((event, self.tick));
    }

    fn base(&self) -> usize {
        self.active.map_or(0, |active| self.boxes[active].base)
    }

    /// Whether nothing inside the active box can be re-entered.
    fn is_det(&self) -> bool {
        self.choices.len() == self.base()
    }

    fn step(&mut self, what: u8, which: u8) {
        match what {
            0..10 => self.call(which),
            10..15 => self.tail(which),
            15..20 => self.exit(self.is_det()),
            20..25 => self.exit(false),
            25..31 => self.redo(),
            31..34 => self.fail(),
            34..36 => self.cut(which),
            36 => self.exception(which),
            37 => self.pause(),
            38 if self.limits.gaps && which < 64 => self.gap(which),
            46.. => self.emit(Event::Arguments(Arguments::Hash(which.into()))),
            40..46 => self.clause(which),
            _ => self.emit(Event::Mark { text: 0 }),
        }
    }

    /// The active box enters one of the two clauses of its predicate; or an event says so that is not to be believed.
    fn clause(&mut self, which: u8) {
        let predicates = self.limits.predicates;
        let active = self.active.and_then(|active| self.boxes[active].predicate);
        let clause = match active {
            Some(predicate) if which < 200 => predicate + u32::from(which % 2) * predicates,
            _ => u32::from(which) % (2 * predicates + 2),
        };
        self.emit(Event::Clause { clause });
    }

    fn runs(&mut self, callable: u32) {
        if let Some(active) = self.active {
            self.boxes[active].predicate = Some(self.limits.predicate(callable));
        }
    }

    fn call(&mut self, which: u8) {
        if self.paused {
            return self.emit(Event::Mark { text: 1 });
        }
        let predicate = self.limits.callable(which);
        self.emit(Event::Call { predicate });
        self.open();
        self.runs(predicate);
    }

    fn open(&mut self) {
        self.boxes.push(Frame {
            parent: self.active,
            base: self.choices.len(),
            predicate: None,
        });
        self.active = Some(self.boxes.len() - 1);
    }

    fn tail(&mut self, which: u8) {
        if self.paused || !self.is_det() || self.is_outside() {
            return self.call(which);
        }
        let predicate = self.limits.callable(which);
        self.emit(Event::Tail { predicate });
        self.runs(predicate);
    }

    /// Whether no box can be active: then there is no way out either. After a gap one may be.
    fn is_outside(&mut self) -> bool {
        if self.active.is_none() && self.lost {
            self.open();
        }
        self.active.is_none()
    }

    fn exit(&mut self, det: bool) {
        if self.is_outside() {
            return self.call(0);
        }
        self.emit(if det {
            Event::ExitDet
        } else {
            Event::ExitNondet
        });
        if !det {
            self.choices.extend(self.active);
        }
        self.leave();
    }

    fn leave(&mut self) {
        self.active = self.active.and_then(|active| self.boxes[active].parent);
    }

    fn redo(&mut self) {
        if self.choices.is_empty() && self.active.is_none() && self.lost {
            self.open();
            self.emit(Event::Redo);
            return;
        }
        if self.is_det() {
            return if self.active.is_none() {
                self.call(1)
            } else {
                self.fail()
            };
        }
        self.emit(Event::Redo);
        self.active = self.choices.pop();
        if self.limits.dialect == Dialect::InnermostRedo {
            while let Some(&top) = self.choices.last()
                && self.boxes[top].parent == self.active
            {
                self.active = self.choices.pop();
            }
        }
    }

    fn fail(&mut self) {
        if !self.is_det() {
            return self.redo();
        }
        if self.is_outside() {
            return self.call(2);
        }
        self.emit(Event::Fail);
        self.leave();
    }

    /// Back to a moment when the active box was active.
    fn cut(&mut self, which: u8) {
        let moments: Vec<usize> = (self.base()..self.choices.len())
            .filter(|&at| self.boxes[self.choices[at]].parent == self.active)
            .map(|at| self.boxes[self.choices[at]].base)
            .collect();
        let Some(&height) = moments.get(usize::from(which) % moments.len().max(1)) else {
            if self.active.is_none() && self.lost && which < 128 {
                self.emit(Event::Cut {
                    count: u32::from(which) % 4,
                });
            }
            return;
        };
        self.cut_to(height, which);
    }

    /// One cut, or two in a row: recorders count up to a limit.
    fn cut_to(&mut self, height: usize, which: u8) {
        let count = (self.choices.len() - height) as u32;
        self.choices.truncate(height);
        let first = u32::from(which / 2) % count.max(1);
        if first > 0 {
            self.emit(Event::Cut { count: first });
        }
        self.emit(Event::Cut {
            count: count - first,
        });
    }

    fn exception(&mut self, which: u8) {
        if self.is_outside() {
            return self.call(3);
        }
        let base = self.base();
        let choices = self.choices.len() > base;
        // Engines differ in whether they unwind boxes or choicepoints first.
        if choices && which.is_multiple_of(2) {
            self.cut_to(base, which);
        }
        self.emit(Event::Exception);
        self.leave();
        if choices && !which.is_multiple_of(2) {
            self.cut_to(base, which);
        }
    }

    fn pause(&mut self) {
        self.emit(if self.paused {
            Event::Resume
        } else {
            Event::Pause
        });
        self.paused = !self.paused;
    }

    fn gap(&mut self, which: u8) {
        self.emit(Event::Gap { lost: which.into() });
        self.active = None;
        self.choices.clear();
        self.paused = false;
        self.lost = true;
    }
}
