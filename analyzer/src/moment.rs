//! A moment of a stream: which boxes are active, and which can be re-entered.
//!
//! Positions only, no figures, so this is simpler than the replay: a box on the choice stack is re-entered
//! below whatever box is active then, so both stacks are plain lists. Boxes are those of the engine:
//! last calls share the box of their caller.

use bincode::{Decode, Encode};
use portmortem_tracer::format::{Dialect, Event};

use crate::figures::PredicateIndex;

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
}

/// The boxes of a stream at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    dialect: Dialect,
    unknown: PredicateIndex,
    active: Vec<OpenBox>,
    choices: Vec<OpenBox>,
}

impl Moment {
    /// Before the first event of a stream. `unknown` is the predicate of boxes of before a gap.
    #[must_use]
    pub fn beginning(dialect: Dialect, unknown: PredicateIndex) -> Self {
        Self {
            dialect,
            unknown,
            active: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The active chain, the active box last.
    #[must_use]
    pub fn active(&self) -> &[OpenBox] {
        &self.active
    }

    /// The boxes that can be re-entered, the newest last.
    #[must_use]
    pub fn choices(&self) -> &[OpenBox] {
        &self.choices
    }

    /// The next event happens, the one of this number. The box that it belongs to, and how many are around
    /// that: of a port its box, of anything else the active one.
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
                }
                self.innermost()
            }
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                self.be_active(number);
                let place = self.innermost();
                let left = self.active.pop();
                self.choices
                    .extend(left.filter(|_| event == Event::ExitNondet));
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
                self.active.clear();
                self.choices.clear();
                None
            }
            Event::Pause | Event::Resume | Event::Mark { .. } => self.innermost(),
        }
    }

    /// The stacks change as they did from one checkpoint to the next.
    pub(crate) fn change(&mut self, change: &Change) {
        change.active.apply(&mut self.active);
        change.choices.apply(&mut self.choices);
    }

    fn make(&self, predicate: PredicateIndex, number: u64) -> OpenBox {
        OpenBox {
            called: number,
            caller: self.active.last().map(|caller| caller.called),
            predicate,
            called_as: predicate,
            last_calls: 0,
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
            let inside = |choice: &mut OpenBox| {
                self.dialect == Dialect::InnermostRedo && choice.caller == Some(entered.called)
            };
            match self.choices.pop_if(inside) {
                Some(choice) => entered = choice,
                None => return,
            }
        }
    }

    fn innermost(&self) -> Option<(OpenBox, u64)> {
        Some((*self.active.last()?, self.active.len() as u64 - 1))
    }
}

/// How both stacks differ from those at the checkpoint before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(crate) struct Change {
    pub(crate) active: StackChange,
    pub(crate) choices: StackChange,
}

/// How a stack differs from what it was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(crate) struct StackChange {
    pub(crate) popped: u64,
    pub(crate) pushed: Vec<OpenBox>,
}

impl StackChange {
    pub(crate) fn apply(&self, stack: &mut Vec<OpenBox>) {
        let left = (stack.len() as u64).saturating_sub(self.popped);
        stack.truncate(left as usize);
        stack.extend_from_slice(&self.pushed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: PredicateIndex = 99;

    /// Name, predicate, caller and depth of a box.
    type Place = (u64, PredicateIndex, Option<u64>, u64);

    /// Where the box of each event is.
    fn places(dialect: Dialect, events: &[Event]) -> Vec<Option<Place>> {
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
