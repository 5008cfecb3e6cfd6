//! Ways between screens: to another screen at the same predicate or moment, to an event, to the slowest call of a predicate.

use portmortem_analyzer::trace::PredicateIndex;

use super::App;
use super::history::HistoryPlace;
use crate::keys::Action;
use crate::screen::calls::{calls_lost, slowest_call};
use crate::screen::{Effect, EventTarget, Pointing, Screen};
use crate::screens::{SCREENS, ScreenId};
use crate::wanted_calls::{CallsAnswer, WantedCalls};

/// A predicate whose slowest call is shown, or compared, as soon as it is known.
#[derive(Debug)]
pub(super) struct SlowestOf {
    predicate: PredicateIndex,
    calls: WantedCalls,
    /// It is to be compared with the usual one, not shown.
    compares: bool,
}

impl App {
    /// Shows another screen as it was left, or at the predicate and the moment under the cursor:
    /// if those are to be taken along, or if it was never seen.
    pub(super) fn turn_to(&mut self, at: usize, takes_along: bool) {
        let (predicate, event) = (self.shown().predicate(), self.shown().event());
        if self.screens.place() == at {
            return;
        }
        self.step_from(self.here());
        let is_new = !self.screens.was_seen(at);
        self.show_at(at);
        if self.analysis.is_none() || !(takes_along || is_new) {
            return;
        }
        let effect = match (SCREENS[at].id, event, predicate) {
            (ScreenId::Timeline | ScreenId::Events, Some(event), _) => {
                self.shown_mut().show_event(event)
            }
            (ScreenId::Timeline | ScreenId::Events, None, _) | (_, _, None) => Effect::Done,
            // It opens at the costliest finding unless it is asked about a predicate.
            (ScreenId::Advice, ..) if !takes_along => Effect::Done,
            (_, _, Some(predicate)) => self.shown_mut().select(predicate),
        };
        // What is found later belongs to this step.
        let has_arrived = matches!(effect, Effect::Step | Effect::StepSaying(_));
        self.history.expect_arrival(!has_arrived);
    }

    /// Shows the exceptions, on the screen that has them.
    pub(super) fn show_exceptions(&mut self) {
        let mut screens = SCREENS.iter();
        if let Some(at) = screens.position(|entry| entry.id == ScreenId::Backtracking) {
            self.turn_to(at, false);
            if self.analysis.is_some() {
                self.shown_mut().act(Action::Exceptions);
            }
        }
    }

    /// The stream that is looked at, by its place in the trace.
    pub(super) fn stream(&self) -> usize {
        let events = self.screens.get(ScreenId::Events);
        let event = events.and_then(Pointing::event);
        match self.shown().event().or(event) {
            Some(EventTarget::At { stream, .. }) => stream,
            _ => 0,
        }
    }

    /// Shows an event; Esc comes back.
    pub(super) fn go_to_event(&mut self, target: EventTarget) {
        self.show_event_on(ScreenId::Events, target);
    }

    /// Shows a stream on the timeline; Esc comes back.
    pub(super) fn go_to_stream(&mut self, stream: usize) {
        let target = EventTarget::At { stream, number: 0 };
        self.show_event_on(ScreenId::Timeline, target);
    }

    /// The screen of moments: that of events if it is shown, else the timeline.
    fn of_moments(&self) -> ScreenId {
        match self.screen() {
            ScreenId::Events => ScreenId::Events,
            _ => ScreenId::Timeline,
        }
    }

    /// What it is called where a moment is to be shown on it.
    pub(super) fn moments_are_shown(&self) -> &'static str {
        match self.of_moments() {
            ScreenId::Events => "among the events",
            _ => "on the timeline",
        }
    }

    /// Shows a mark with the text of this id; Esc comes back.
    pub(super) fn go_to_mark(&mut self, text: u32) {
        self.show_event_on(self.of_moments(), EventTarget::Mark(text));
    }

    fn show_event_on(&mut self, screen: ScreenId, target: EventTarget) {
        self.show_on(screen, |screen| screen.show_event(target));
    }

    /// Shows a screen, where something is to be gone to.
    fn show_on(&mut self, screen: ScreenId, go: impl FnOnce(&mut dyn Screen) -> Effect) {
        let (from, before) = (self.screens.place(), self.here());
        self.show(screen);
        let effect = go(self.shown_mut());
        let moved = effect == Effect::Step;
        if self.screens.place() != from || moved {
            self.step_from(before);
            // What is found later belongs to this step.
            self.history.expect_arrival(!moved);
        }
        if !moved {
            self.effect(effect, self.here());
        }
    }

    /// Shows a moment, in nanoseconds since the beginning; Esc comes back.
    pub(super) fn go_to_time(&mut self, ns: u64) {
        let tick = self.recording.trace().clock().tick_at_ns(ns);
        self.show_on(self.of_moments(), |screen| screen.show_time(tick));
    }

    /// What a thread of the screen found; `before`: where the user was until then.
    pub(super) fn found(&mut self, effect: Effect, before: HistoryPlace) {
        let effect = self.history.arrive(effect);
        self.effect(effect, before);
    }

    /// Shows the event here, of a box its call, or the slowest call of the predicate here.
    pub(super) fn show_slowest(&mut self) {
        match (self.shown().event_of_box(), self.shown().predicate()) {
            (Some(event), _) => self.go_to_event(event),
            (None, None) => self.say("no predicate here"),
            (None, Some(predicate)) => self.find_slowest_of(predicate, false),
        }
    }

    /// Compares the call of the box here, or the slowest call of the predicate here.
    pub(super) fn compare(&mut self) {
        match (self.shown().event_of_box(), self.shown().predicate()) {
            (Some(event), _) => self.compare_call(event),
            (None, Some(predicate)) => self.find_slowest_of(predicate, true),
            (None, None) => self.say("no call here"),
        }
    }

    /// Shows the slowest call of a predicate, or compares it with the usual one.
    pub(super) fn find_slowest_of(&mut self, predicate: PredicateIndex, compares: bool) {
        self.slowest_of = Some(SlowestOf {
            predicate,
            calls: WantedCalls::default(),
            compares,
        });
        self.find_slowest(false);
    }

    /// Goes to the slowest call that was asked for, if it is known by now; waits for it if told to.
    pub(super) fn find_slowest(&mut self, wait: bool) {
        let (Some(mut asked), Some(analysis)) = (self.slowest_of.take(), self.analysis.clone())
        else {
            return;
        };
        match asked.calls.ask(&analysis, wait) {
            CallsAnswer::Nothing | CallsAnswer::Begun => self.slowest_of = Some(asked),
            CallsAnswer::Lost => self.effect(calls_lost(), self.here()),
            CallsAnswer::Found => match slowest_call(&analysis, asked.predicate) {
                Effect::Event(target) if asked.compares => self.compare_call(target),
                effect => self.effect(effect, self.here()),
            },
        }
    }

    /// How much of the events was read for that.
    pub(super) fn slowest_share(&self) -> Option<f64> {
        self.slowest_of.as_ref()?;
        self.analysis.as_ref()?.calls_share()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use portmortem_analyzer::Filters;
    use portmortem_analyzer::trace::Trace;

    use super::*;
    use crate::keys;
    use crate::theme::ThemeName;

    /// Whatever the thread that looks for it has found by then.
    #[test]
    fn what_a_key_gives_up_it_says() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/queens.pmt");
        let trace = Trace::open(&path).unwrap();
        let app = App::new(trace, &path, ThemeName::Dark, Filters::default());
        let mut app = app.without_sources();
        app.wait();
        for name in ["down", "esc"] {
            app.slowest_of = Some(SlowestOf {
                predicate: 0,
                calls: WantedCalls::default(),
                compares: false,
            });
            app.key(&keys::key(name).unwrap());
            let said = app.message().unwrap();
            assert!(said.starts_with("stopped: the slowest call"), "{said}");
            assert!(app.slowest_of.is_none());
        }
    }
}
