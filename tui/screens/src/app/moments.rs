//! Ways between screens: to another screen at the same predicate or moment, to an event, to the slowest call of a predicate.

use portmortem_analyzer::trace::PredicateIndex;

use super::App;
use super::steps::Step;
use crate::screens::{Effect, EventTarget, SCREENS, ScreenId, calls_lost, slowest_call};
use crate::wanted_calls::{Answer, Wanted};

/// A predicate whose slowest call is shown as soon as it is known.
#[derive(Debug)]
pub(super) struct SlowestOf {
    predicate: PredicateIndex,
    calls: Wanted,
}

impl App {
    /// Shows another screen, at the predicate and the moment that the cursor is on here.
    pub(super) fn turn_to(&mut self, at: usize) {
        let (predicate, event) = (self.shown().predicate(), self.shown().event());
        let from = self.shown;
        self.show_at(at);
        if self.shown == from || self.analysis.is_none() {
            return;
        }
        let effect = match (SCREENS[at].id, event, predicate) {
            (ScreenId::Timeline | ScreenId::Events, Some(event), _) => {
                self.shown_mut().show_event(event)
            }
            (ScreenId::Timeline | ScreenId::Events, None, _) | (_, _, None) => Effect::Done,
            (_, _, Some(predicate)) => self.shown_mut().select(predicate),
        };
        if effect == Effect::Step {
            self.effect(effect);
        }
    }

    /// The stream that is looked at, by its place in the trace.
    pub(super) fn stream(&self) -> usize {
        let mut events = self.screens.iter().zip(SCREENS);
        let events = events.find(|(_, entry)| entry.id == ScreenId::Events);
        let event = events.and_then(|(slot, _)| slot.screen.event());
        match self.shown().event().or(event) {
            Some(EventTarget::At { stream, .. }) => stream,
            _ => 0,
        }
    }

    /// Shows an event; Esc comes back.
    pub(super) fn go_to_event(&mut self, target: EventTarget) {
        let from = self.shown;
        self.show(ScreenId::Events);
        let effect = self.shown_mut().show_event(target);
        let moved = effect == Effect::Step;
        if self.shown != from || moved {
            let to = self.shown;
            self.steps.push(Step::Enter { from, to, moved });
            // What is found later belongs to this step.
            self.arriving = !moved;
        }
        if !moved {
            self.effect(effect);
        }
    }

    /// What a thread of the screen found.
    pub(super) fn found(&mut self, effect: Effect) {
        let is_step = matches!(effect, Effect::Step | Effect::StepSaying(_));
        if let (true, true, Some(Step::Enter { to, moved, .. })) =
            (is_step, self.arriving, self.steps.last_mut())
            && *to == self.shown
        {
            (*moved, self.arriving) = (true, false);
            if let Effect::StepSaying(text) = effect {
                self.say(text);
            }
            return;
        }
        self.effect(effect);
    }

    /// Shows the event here, of a box its call, or the slowest call of the predicate here.
    pub(super) fn show_slowest(&mut self) {
        match (self.shown().event_of_box(), self.shown().predicate()) {
            (Some(event), _) => self.effect(Effect::Event(event)),
            (None, None) => self.say("no predicate here"),
            (None, Some(predicate)) => {
                let calls = Wanted::default();
                self.slowest_of = Some(SlowestOf { predicate, calls });
                self.find_slowest(false);
            }
        }
    }

    /// Goes to the slowest call that was asked for, if it is known by now; waits for it if told to.
    pub(super) fn find_slowest(&mut self, wait: bool) {
        let (Some(mut asked), Some(analysis)) = (self.slowest_of.take(), self.analysis.clone())
        else {
            return;
        };
        match asked.calls.ask(&analysis, wait) {
            Answer::Nothing | Answer::Begun => self.slowest_of = Some(asked),
            Answer::Lost => self.effect(calls_lost()),
            Answer::Found => self.effect(slowest_call(&analysis, asked.predicate)),
        }
    }

    /// How much of the events was read for that.
    pub(super) fn slowest_share(&self) -> Option<f64> {
        self.slowest_of.as_ref()?;
        self.analysis.as_ref()?.calls_share()
    }
}
