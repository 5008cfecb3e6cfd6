//! A moment of a stream: which boxes are active, and which can be re-entered.
//!
//! Positions only, no figures, so this is simpler than the replay: a box on the choice stack is
//! re-entered below whatever box is active then, so both are plain stacks. Boxes are those of the
//! engine: last calls share the box of their caller.

pub(crate) mod checkpoint;
pub(crate) mod stack;

use std::sync::Arc;

use bincode::{Decode, Encode};
use portmortem_tracer::format::{Dialect, Event};

use crate::scope::Scope;
use crate::scope::focus::Way;
use crate::trace::PredicateIndex;
use checkpoint::{Change, Kept};
pub use stack::Stack;

/// A box at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct OpenBox {
    /// Number of the event in the stream by which it was called: the name of the box.
    pub called: u64,
    /// The box around it, by the same name; `None` if nobody traced is.
    pub caller: Option<u64>,
    /// What it runs.
    pub predicate: PredicateIndex,
    /// What it was called as; last calls made something else of it.
    pub called_as: PredicateIndex,
    /// Last calls that it made.
    pub last_calls: u64,
    /// Where it is on the way into the focus that is followed; 0 if none is.
    pub way: Way,
}

impl OpenBox {
    /// Whether it is looked at, on a walk that follows a scope.
    #[must_use]
    pub fn is_shown(&self, scope: &Scope) -> bool {
        scope.shows(self.way, self.predicate)
    }
}

/// The boxes of a stream at a moment. Copies of one that was [frozen](Moment::freeze) cost next to
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    dialect: Dialect,
    unknown: PredicateIndex,
    follow: Arc<Scope>,
    /// After a gap callers are not known.
    lost: bool,
    paused: bool,
    active: Stack,
    choices: Stack,
}

impl Moment {
    /// Before the first event of a stream. `unknown` is the predicate of boxes of before a gap.
    #[must_use]
    pub fn beginning(dialect: Dialect, unknown: PredicateIndex) -> Self {
        Self {
            dialect,
            unknown,
            follow: Arc::default(),
            lost: false,
            paused: false,
            active: Stack::default(),
            choices: Stack::default(),
        }
    }

    /// The same, following a focus.
    #[must_use]
    pub fn following(mut self, follow: Arc<Scope>) -> Self {
        self.follow = follow;
        self
    }

    /// The active chain, the active box on top.
    #[must_use]
    pub fn active(&self) -> &Stack {
        &self.active
    }

    /// The boxes that can be re-entered, the newest on top.
    #[must_use]
    pub fn choices(&self) -> &Stack {
        &self.choices
    }

    /// How many boxes there are on both stacks.
    #[must_use]
    pub fn boxes(&self) -> u64 {
        (self.active.len() + self.choices.len()) as u64
    }

    /// Whether recording is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Makes copies cheap, however many boxes there are: they share them.
    pub fn freeze(&mut self) {
        self.active.freeze();
        self.choices.freeze();
    }

    /// How the stacks changed since this was last asked, or since [`Moment::come_back`].
    pub(crate) fn change(&mut self) -> Change {
        Change {
            active: self.active.change(),
            choices: self.choices.change(),
            lost: self.lost,
            paused: self.paused,
        }
    }

    /// Goes to a moment of the same stream.
    pub(crate) fn come_back(&mut self, kept: &Kept) {
        (self.lost, self.paused) = (kept.lost, kept.paused);
        self.active = kept.active.clone().into();
        self.choices = kept.choices.clone().into();
    }

    /// The next event happens, the one of this number. The box that it belongs to, and how many are
    /// around that: of a port its box, of anything else the active one.
    pub fn step(&mut self, event: Event, number: u64) -> Option<(OpenBox, u64)> {
        match event {
            Event::Call { predicate } => {
                let called = self.make(predicate, number);
                self.active.push(called);
                self.innermost()
            }
            Event::Tail { predicate } => {
                self.be_active(number);
                if let Some(active) = self.active.last_mut() {
                    active.predicate = predicate;
                    active.last_calls += 1;
                    active.way = self.follow.enter(Some(active.way), false, predicate);
                }
                self.innermost()
            }
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                self.be_active(number);
                let place = self.innermost();
                let left = self.active.pop();
                if let Some(left) = left.filter(|_| event == Event::ExitNondet) {
                    self.choices.push(left);
                }
                place
            }
            Event::Redo => {
                self.redo(number);
                self.innermost()
            }
            Event::Cut { count } => {
                let left = self.choices.len().saturating_sub(count as usize);
                self.choices.truncate(left);
                self.innermost()
            }
            Event::Gap { .. } => {
                (self.lost, self.paused) = (true, false);
                self.active.truncate(0);
                self.choices.truncate(0);
                None
            }
            Event::Pause | Event::Resume => {
                self.paused = event == Event::Pause;
                self.innermost()
            }
            Event::Mark { .. } | Event::Clause { .. } | Event::Arguments(_) => self.innermost(),
        }
    }

    fn make(&self, predicate: PredicateIndex, number: u64) -> OpenBox {
        let caller = self.active.last();
        let from = caller.map(|caller| caller.way);
        OpenBox {
            called: number,
            caller: caller.map(|caller| caller.called),
            predicate,
            called_as: predicate,
            last_calls: 0,
            way: self.follow.enter(from, self.lost, predicate),
        }
    }

    /// After a gap a port may belong to a box that nothing is known of.
    fn be_active(&mut self, number: u64) {
        if self.active.is_empty() {
            let unknown = self.make(self.unknown, number);
            self.active.push(unknown);
        }
    }

    fn redo(&mut self, number: u64) {
        let newest = self.choices.pop();
        let mut entered = newest.unwrap_or_else(|| self.make(self.unknown, number));
        loop {
            let caller = self.active.last().map(|caller| caller.called);
            self.active.push(OpenBox { caller, ..entered });
            // In this dialect the event means the innermost box on the way; those around it were
            // re-entered with it.
            let inside = |choice: &&OpenBox| {
                self.dialect == Dialect::InnermostRedo && choice.caller == Some(entered.called)
            };
            if self.choices.last().filter(inside).is_none() {
                return;
            }
            let Some(choice) = self.choices.pop() else {
                return;
            };
            entered = choice;
        }
    }

    fn innermost(&self) -> Option<(OpenBox, u64)> {
        Some((*self.active.last()?, self.active.len() as u64 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: PredicateIndex = 99;

    /// Name, predicate, caller and depth of a box.
    type Located = (u64, PredicateIndex, Option<u64>, u64);

    /// Where the box of each event is.
    fn places(dialect: Dialect, events: &[Event]) -> Vec<Option<Located>> {
        let mut moment = Moment::beginning(dialect, UNKNOWN);
        (0..)
            .zip(events)
            .map(|(number, &event)| {
                let (of, depth) = moment.step(event, number)?;
                Some((of.called, of.predicate, of.caller, depth))
            })
            .collect()
    }

    fn call(predicate: u32) -> Event {
        Event::Call { predicate }
    }

    #[test]
    fn boxes_keep_their_names() {
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
                Some((0, 0, None, 0)),
                Some((1, 1, Some(0), 1)),
                Some((1, 1, Some(0), 1)),
                Some((3, 2, Some(0), 1)),
                Some((3, 2, Some(0), 1)),
                Some((1, 1, Some(0), 1)),
                Some((1, 3, Some(0), 1)),
                Some((1, 3, Some(0), 1)),
                Some((0, 0, None, 0)),
                Some((0, 0, None, 0)),
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
                Some((6, UNKNOWN, None, 0)),
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
            [Some((1, 1, Some(0), 1)), Some((1, 1, Some(0), 1))]
        );
        assert_eq!(
            last(Dialect::InnermostRedo),
            [Some((2, 2, Some(1), 2)), Some((2, 2, Some(1), 2))]
        );
    }
}
