//! From single calls to their events.

use portmortem_analyzer::calls::figures::SlowCall;
use portmortem_analyzer::trace::PredicateIndex;

use super::effect::{Effect, EventTarget};
use crate::analysis::AnalysisView;

/// To the slowest call of a predicate, of those whose times are known.
pub(crate) fn slowest_call(analysis: &AnalysisView, predicate: PredicateIndex) -> Effect {
    let figures = analysis
        .known_calls()
        .and_then(|calls| calls.predicate(predicate));
    match figures.and_then(|figures| figures.slowest.first()) {
        Some(call) => call_event(analysis, call),
        None => Effect::Say(format!(
            "the time of no call of {} is known; V shows its first event",
            analysis.predicate(predicate)
        )),
    }
}

/// To the event of a call.
pub(crate) fn call_event(analysis: &AnalysisView, call: &SlowCall) -> Effect {
    match event_of(analysis, call.stream, call.event) {
        Some(target) => Effect::Event(target),
        None => Effect::Say("the trace has no such stream".to_owned()),
    }
}

/// An event by the id of its stream and its number; `None` if the trace has no such stream.
pub(crate) fn event_of(analysis: &AnalysisView, stream: u32, number: u64) -> Option<EventTarget> {
    let stream = analysis.trace.stream_place(stream)?;
    Some(EventTarget::At { stream, number })
}

/// What is said if times of single calls were not found.
pub(crate) fn calls_lost() -> Effect {
    Effect::Say("the times of single calls were not found: a defect of Portmortem".to_owned())
}
