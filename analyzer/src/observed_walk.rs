//! A walk whose boxes an observer keeps something with.

use std::sync::Arc;

use crate::machine::{At, Observer, Pile, Seeded, Since, Stacks};
use crate::moment::Stack;
use crate::scope::Scope;
use crate::trace::events::Events;
use crate::walk::{Step, Walk};

/// Goes through a stream event by event, and tells an observer what happens to boxes.
#[derive(Debug, Clone)]
pub(crate) struct ObservedWalk<'t, P> {
    events: Events<'t>,
    follow: Arc<Scope>,
    stacks: Stacks<P>,
    /// Ticks of pauses since keeping began.
    paused: u64,
    /// The first and the last tick since then.
    ticks: Option<(u64, u64)>,
}

/// What happened since keeping began.
#[derive(Debug, Clone)]
pub(crate) struct WalkChanges<K> {
    pub(crate) active: Since<K>,
    pub(crate) choices: Since<K>,
    /// Ticks of pauses.
    pub(crate) paused: u64,
    /// The ticks of the first and the last event, if there was one.
    pub(crate) ticks: Option<(u64, u64)>,
}

impl<'t, P: Pile> ObservedWalk<'t, P> {
    /// Goes on where a walk is. `active` and `choices` add to its boxes what is kept with them.
    pub(crate) fn of(
        walk: Walk<'t>,
        active: impl FnOnce(Stack) -> P,
        choices: impl FnOnce(Stack) -> P,
    ) -> Self {
        let (events, moment) = walk.into_parts();
        let (follow, stacks) = moment.into_parts();
        Self {
            events,
            follow,
            stacks: stacks.into_piles(active, choices),
            paused: 0,
            ticks: None,
        }
    }

    /// Goes on with the boxes of a walk that came to its end, in the events that follow.
    pub(crate) fn going_on(events: Events<'t>, stacks: Stacks<P>) -> Self {
        Self {
            events,
            follow: Arc::default(),
            stacks,
            paused: 0,
            ticks: None,
        }
    }

    /// The boxes after the last event.
    pub(crate) fn into_stacks(self) -> Stacks<P> {
        self.stacks
    }

    /// How many boxes there are.
    pub(crate) fn boxes(&self) -> usize {
        self.stacks.active.height() + self.stacks.choices.height()
    }

    /// The tick of the last event, if one was read.
    pub(crate) fn tick(&self) -> Option<u64> {
        self.ticks.map(|(_, last)| last)
    }

    /// Reads the next event, for [`Self::step`]; `now` is its tick with pauses since keeping began
    /// left out.
    #[inline]
    pub(crate) fn read(&mut self) -> Option<At> {
        let timed = self.events.next()?;
        if let (true, Some((_, last))) = (self.stacks.paused, self.ticks) {
            self.paused += timed.tick.saturating_sub(last);
        }
        let first = self.ticks.map_or(timed.tick, |(first, _)| first);
        self.ticks = Some((first, timed.tick));
        Some(At {
            tick: timed.tick,
            site: timed.site,
            now: self.now(),
            ..At::new(timed.event, self.events.number())
        })
    }

    /// The event that was read happens.
    #[inline]
    pub(crate) fn step<O>(&mut self, at: &At, observer: &mut O) -> Step
    where
        O: Observer<Kept = P::Kept>,
    {
        Step {
            number: at.number,
            event: at.event,
            site: at.site,
            tick: at.tick,
            of: self.stacks.step(&self.follow, at, observer),
        }
    }

    /// The next event happens.
    #[inline]
    pub(crate) fn next<O>(&mut self, observer: &mut O) -> Option<Step>
    where
        O: Observer<Kept = P::Kept>,
    {
        let at = self.read()?;
        Some(self.step(&at, observer))
    }

    /// The tick of the last event, with pauses since keeping began left out.
    pub(crate) fn now(&self) -> u64 {
        self.ticks
            .map_or(0, |(_, last)| last.saturating_sub(self.paused))
    }

    /// The number of the next event, if none is lost before it.
    pub(crate) fn next_number(&self) -> u64 {
        self.events.next_number()
    }

    /// Whether recording is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.stacks.paused
    }

    /// The active chain.
    pub(crate) fn active(&self) -> &P {
        &self.stacks.active
    }

    /// The choice stack.
    pub(crate) fn choices(&self) -> &P {
        &self.stacks.choices
    }
}

impl<'t, K> ObservedWalk<'t, Seeded<Stack, K>> {
    /// With boxes that are there, what is made of the number of boxes below is kept.
    pub(crate) fn seeded(walk: Walk<'t>, active: fn(usize) -> K, choices: fn(usize) -> K) -> Self {
        Self::of(
            walk,
            |boxes| Seeded::new(boxes, active),
            |boxes| Seeded::new(boxes, choices),
        )
    }

    /// Keeping begins again.
    pub(crate) fn forget(&mut self) {
        self.stacks.active.forget();
        self.stacks.choices.forget();
        (self.paused, self.ticks) = (0, None);
    }

    /// What happened since keeping began.
    pub(crate) fn changes(&self) -> WalkChanges<K>
    where
        K: Clone,
    {
        WalkChanges {
            active: self.stacks.active.since(),
            choices: self.stacks.choices.since(),
            paused: self.paused,
            ticks: self.ticks,
        }
    }
}
