//! One call against the usual one: found by a thread, shown over the screen.

use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::calls::AgainstUsual;

use super::App;
use crate::analysis::AnalysisView;
use crate::overlay::{Against, Overlay};
use crate::screen::EventTarget;
use crate::worker::{Received, Worker, poll_until, soon};

/// A comparison that is being made.
#[derive(Debug)]
pub(super) struct Comparing {
    analysis: Arc<AnalysisView>,
    worker: Worker<Option<AgainstUsual>>,
}

impl App {
    /// Begins to compare the call of an event.
    pub(super) fn compare_call(&mut self, target: EventTarget) {
        let (Some(analysis), EventTarget::At { stream, number }) = (self.analysis.clone(), target)
        else {
            return self.say("no call here");
        };
        let number = self.shown().call_here().unwrap_or(number);
        let of = Arc::clone(&analysis);
        let worker = Worker::start(0, move |task| {
            let goes_on = || task.is_wanted();
            let found = AgainstUsual::of(&of.trace, of.trail(), stream, number, &goes_on);
            task.found(found);
        });
        self.comparing = Some(Comparing { analysis, worker });
        self.say("comparing it with the other calls; Esc stops");
        self.take_comparison_until(Some(soon()));
    }

    /// Takes the comparison; waits for it if told to. `true` if it is there.
    pub(super) fn take_comparison(&mut self, wait: bool) -> bool {
        self.take_comparison_until(poll_until(wait))
    }

    fn take_comparison_until(&mut self, until: Option<Instant>) -> bool {
        let Some(comparing) = &self.comparing else {
            return false;
        };
        let found = match comparing.worker.next(until) {
            Received::NotYet => return false,
            Received::Value(found) => found,
            Received::Ended => None,
        };
        let against = found.map(|found| Against::new(&found, &comparing.analysis));
        self.comparing = None;
        self.message = None;
        match against {
            Some(against) => self.overlay = Some(Overlay::Against(against)),
            None => self.say("the time of no call is known here"),
        }
        true
    }
}
