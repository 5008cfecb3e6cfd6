//! A moment of a stream: which boxes are active, and which can be re-entered.
//!
//! Positions only, no figures. Boxes are those of the engine: last calls share the box of their
//! caller.

pub(crate) mod checkpoint;
pub(crate) mod stack;

use std::sync::Arc;

use portmortem_tracer::format::{Dialect, Event};

pub use crate::machine::OpenBox;
use crate::machine::{At, Stacks};
use crate::scope::Scope;
use crate::trace::PredicateIndex;
use checkpoint::{Kept, StacksChange};
pub use stack::Stack;

/// The boxes of a stream at a moment. Copies of one that was [frozen](Moment::freeze) cost next to
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    follow: Arc<Scope>,
    stacks: Stacks<Stack>,
}

impl Moment {
    /// Before the first event of a stream. `unknown` is the predicate of boxes of before a gap.
    #[must_use]
    pub fn beginning(dialect: Dialect, unknown: PredicateIndex) -> Self {
        Self {
            follow: Arc::default(),
            stacks: Stacks::new(dialect, unknown),
        }
    }

    /// The same, following a focus.
    #[must_use]
    pub fn following(mut self, follow: Arc<Scope>) -> Self {
        self.follow = follow;
        self
    }

    /// What it follows, and its stacks.
    pub(crate) fn into_parts(self) -> (Arc<Scope>, Stacks<Stack>) {
        (self.follow, self.stacks)
    }

    /// The active chain, the active box on top.
    #[must_use]
    pub fn active(&self) -> &Stack {
        &self.stacks.active
    }

    /// The boxes that can be re-entered, the newest on top.
    #[must_use]
    pub fn choices(&self) -> &Stack {
        &self.stacks.choices
    }

    /// How many boxes there are on both stacks.
    #[must_use]
    pub fn boxes(&self) -> u64 {
        (self.stacks.active.len() + self.stacks.choices.len()) as u64
    }

    /// Whether recording is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.stacks.paused
    }

    /// Makes copies cheap, however many boxes there are: they share them.
    pub fn freeze(&mut self) {
        self.stacks.active.freeze();
        self.stacks.choices.freeze();
    }

    /// How the stacks changed since this was last asked, or since [`Moment::come_back`].
    pub(crate) fn change(&mut self) -> StacksChange {
        StacksChange {
            active: self.stacks.active.change(),
            choices: self.stacks.choices.change(),
            lost: self.stacks.lost,
            paused: self.stacks.paused,
        }
    }

    /// Goes to a moment of the same stream.
    pub(crate) fn come_back(&mut self, kept: &Kept) {
        let stacks = &mut self.stacks;
        (stacks.lost, stacks.paused) = (kept.lost, kept.paused);
        stacks.active = kept.active.clone().into();
        stacks.choices = kept.choices.clone().into();
    }

    /// The next event happens, the one of this number. The box that it belongs to, and how many are
    /// around that: of a port its box, of anything else the active one.
    #[inline]
    pub fn step(&mut self, event: Event, number: u64) -> Option<(OpenBox, u64)> {
        self.stacks
            .step(&self.follow, &At::new(event, number), &mut ())
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
