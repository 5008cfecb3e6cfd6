//! Why the event under the cursor happened: found by a thread, said in a line, and gone to.

use std::time::Instant;

use portmortem_analyzer::listing::{Explainer, Explanation};
use portmortem_analyzer::tables::PredicateMoment;
use portmortem_analyzer::walk::Step;

use super::reader::EventReader;
use super::{Effect, EventsScreen};
use crate::format::count;
use crate::worker::{Received, Worker};

/// Boxes of a cut that are named.
const MOST_NAMED: usize = 3;

/// An explanation that is looked for.
#[derive(Debug)]
pub(super) struct SoughtReason {
    at: Step,
    worker: Worker<Explanation>,
}

/// What is said, and the event to go to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) event: Option<u64>,
}

impl SoughtReason {
    pub(super) fn look_for(reader: &EventReader, at: Step) -> Self {
        let reader = reader.clone();
        let worker = Worker::start(0, move |task| {
            let trace = &reader.analysis.trace;
            let shows = |step: &Step| reader.is_visible(step);
            let goes_on = || task.is_wanted();
            let explainer = Explainer::new(trace, reader.analysis.trail(), &shows, &goes_on);
            let explained = reader.info().map(|info| explainer.explain(info, &at));
            if let Some(explained) = explained.flatten() {
                task.found(explained);
            }
        });
        Self { at, worker }
    }

    /// What was found; waits for it until some moment. `None`: not yet.
    fn next(&self, until: Option<Instant>) -> Option<Option<Explanation>> {
        match self.worker.next(until) {
            Received::Value(found) => Some(Some(found)),
            Received::NotYet => None,
            Received::Ended => Some(None),
        }
    }
}

impl EventsScreen {
    /// Begins to look for why the event under the cursor happened.
    pub(super) fn explain(&mut self) -> Effect {
        let (Some(reader), Some(&at)) = (&self.reader, self.step()) else {
            return Effect::Done;
        };
        self.reason = Some(SoughtReason::look_for(reader, at));
        self.soon()
    }

    /// Takes the explanation if it is there: says it, and goes there.
    pub(super) fn take_reason(&mut self, until: Option<Instant>) -> Option<Effect> {
        let reason = self.reason.as_ref()?;
        let (at, found) = (reason.at, reason.next(until)?);
        self.reason = None;
        let reader = self.reader.as_ref()?;
        let told = told(reader, &at, &found?);
        Some(match told.event.filter(|event| *event != at.number) {
            Some(event) => self.go_to_event_saying(reader.stream, event, told.text),
            None => Effect::Say(told.text),
        })
    }
}

/// An explanation in words.
fn told(reader: &EventReader, at: &Step, explanation: &Explanation) -> Told {
    let name = |place: &PredicateMoment| reader.analysis.predicate(place.predicate).to_owned();
    let here = at
        .of
        .map_or("", |(of, _)| reader.analysis.predicate(of.predicate));
    let (text, event) = match explanation {
        Explanation::Failure(Some(place)) => (
            format!(
                "{here} fails: the last that failed in it is {}, here; x goes on",
                name(place)
            ),
            place.event,
        ),
        Explanation::Failure(None) => (
            format!("{here} fails by itself: a head or an unrecorded goal, no recorded box in it"),
            None,
        ),
        Explanation::Redo(place) => (
            format!("{here} is redone because {} fails, here", name(place)),
            place.event,
        ),
        Explanation::Asked(place) => {
            let active = place
                .as_ref()
                .map_or_else(|| "the program".to_owned(), name);
            let text = format!(
                "no traced box failed: {active} did so in an untraced goal, or asked for another solution"
            );
            (text, None)
        }
        Explanation::Cut(by, boxes) => {
            let named: Vec<String> = boxes.iter().take(MOST_NAMED).map(name).collect();
            let more = match boxes.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {} more", count(more as u64)),
            };
            let text = format!(
                "{} cuts, called here; gone: {}{more}",
                name(by),
                named.join(", ")
            );
            (text, by.event)
        }
        Explanation::Exception(raised, caught) => {
            let caught_in = match caught {
                Some(caught) => format!("caught in {}", name(caught)),
                None => "caught by no traced box".to_owned(),
            };
            match caught {
                // At the first box that it leaves, on to the one that it does not.
                Some(caught) if raised.event == Some(at.number) => (
                    format!("raised in {here}, {caught_in}, called here"),
                    caught.event,
                ),
                _ => (
                    format!("raised in {}, here; {caught_in}", name(raised)),
                    raised.event,
                ),
            }
        }
        Explanation::Lost => ("events were lost before it".to_owned(), None),
        Explanation::None => (
            "x explains failures, redos, exceptions and cuts".to_owned(),
            None,
        ),
    };
    Told { text, event }
}
