//! What is told of the events of a trace of which others were not kept, against the whole trace.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use portmortem_tracer::format::Event;
use proptest::prelude::*;

use crate::condition::ListedCondition;
use crate::listing::Listing;
use crate::machine::WayOut;
use crate::tables::{EventFacts, SiteNames};
use crate::trace::Trace;
use crate::walk::{Step, Trail};

/// All events of a trace as they are listed, by stream and number.
fn listed(trace: &Trace, trail: Option<&Trail>) -> BTreeMap<(u32, u64), (Step, EventFacts)> {
    let sites = SiteNames::of(trace);
    let all = ListedCondition::parse("event >= 0", trace, &sites).unwrap();
    let mut found = BTreeMap::new();
    let _ = Listing::new(trace, "", trail, &sites).each(&all, &mut |event, _| {
        let of = (event.at.stream, event.at.step.number);
        found.insert(of, (event.at.step, event.facts));
        ControlFlow::Continue(())
    });
    found
}

/// What is told of the events that are there is true; and of those from where a walk can begin on,
/// up to the next that are missing, all is told of their boxes.
pub(super) fn told_as_in(whole: &Trace, rest: &Trace, trail: &Trail) -> Result<(), TestCaseError> {
    let expected = listed(whole, None);
    let unknown = whole.unknown_predicate();
    let mut are_known = false;
    for ((stream, number), (step, facts)) in listed(rest, Some(trail)) {
        if matches!(step.event, Event::Gap { .. }) {
            let at = rest.stream_place(stream).unwrap();
            are_known = trail.places(at).any(|(event, _)| event == number + 1);
            prop_assert!(rest.are_not_kept(stream, number));
            continue;
        }
        are_known |= number == 0;
        let (all, known) = &expected[&(stream, number)];
        prop_assert_eq!(
            (step.event, step.tick, step.site),
            (all.event, all.tick, all.site)
        );
        if are_known {
            prop_assert_eq!(step.of, all.of, "event {} of stream {}", number, stream);
        }
        if let Some((of, _)) = step.of.filter(|(of, _)| of.predicate != unknown) {
            prop_assert_eq!(of.predicate, all.of.unwrap().0.predicate);
        }
        let is_lost = matches!(facts.outcome, None | Some(WayOut::Lost));
        let are_true = (facts.took.is_none() || facts.took == known.took)
            && (facts.site.is_none() || facts.site == known.site)
            && (is_lost || facts.outcome == known.outcome);
        prop_assert!(are_true, "{:?}: {:?}, not {:?}", step, facts, known);
    }
    Ok(())
}
