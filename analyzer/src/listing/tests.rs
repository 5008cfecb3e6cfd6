//! What is listed is what a plain reading of the whole stream finds, however it is cut into pieces.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use portmortem_tracer::format::Event;
use proptest::prelude::*;

use super::{Bounds, Listing, Pending, Wanted};
use crate::machine::{Class, WayOut};
use crate::replay::tests::{long_script, long_trace};
use crate::scope::Window;
use crate::tables::{EventFacts, Listed, PredicateMoment, SiteNames};
use crate::trace::mapping::Mapping;
use crate::trace::{BoxKind, SiteIndex, StreamInfo, Trace};
use crate::walk::{Scan, Step, Trail, Walk};

/// Which events are looked for.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Everything {
        future: bool,
    },
    TookMoreThan(u64),
    Ended(WayOut),
    /// Every so many sites.
    Sites(u32),
    Numbers(u64, u64),
    Nothing,
}

impl Asked {
    fn holds(self, step: &Step, facts: &EventFacts) -> bool {
        match self {
            Self::Everything { .. } => true,
            Self::TookMoreThan(least) => facts.took.is_some_and(|took| took > least),
            Self::Ended(outcome) => facts.outcome == Some(outcome),
            Self::Sites(every) => facts.site.is_some_and(|site| site % every == 0),
            Self::Numbers(from, to) => (from..=to).contains(&step.number),
            Self::Nothing => false,
        }
    }
}

impl Wanted for Asked {
    fn quick(&self, _: &Step) -> Option<bool> {
        matches!(self, Self::Nothing).then_some(false)
    }

    fn decide(&self, event: &Listed, pending: Pending) -> Option<bool> {
        let unknown = match self {
            Self::TookMoreThan(_) => pending.took,
            Self::Ended(_) => pending.end,
            Self::Sites(_) => pending.site,
            _ => false,
        };
        (!unknown).then(|| self.holds(&event.at.step, &event.facts))
    }

    fn needs_end(&self) -> bool {
        matches!(
            self,
            Self::Everything { future: true } | Self::TookMoreThan(_) | Self::Ended(_)
        )
    }

    fn bounds(&self) -> Bounds {
        match *self {
            Self::Numbers(from, to) => Bounds {
                numbers: from..=to,
                ..Bounds::default()
            },
            _ => Bounds::default(),
        }
    }
}

fn is_silent(event: Event) -> bool {
    matches!(Class::of(event), Class::Pause(_) | Class::Note(_))
}

/// An open box, as the plain reading has it.
#[derive(Clone)]
struct Open {
    /// The event that began its activation, if that was seen.
    began: Option<usize>,
    site: Option<SiteIndex>,
    /// Calls, last calls and redos that wait for the end.
    rows: Vec<usize>,
}

/// All events of a stream with all facts, the plain way: every event looks back and ahead as far as
/// it must.
fn plain(trace: &Trace, stream: &StreamInfo, future: bool) -> Vec<(Step, EventFacts)> {
    let kinds = BoxKind::by_predicate(trace);
    let mut walk = Walk::from(trace, None, stream, 0);
    // Each with the active box after it.
    let mut steps = Vec::new();
    let mut running = Vec::new();
    let (mut paused, mut last) = (0, None);
    let (mut heights, mut choices) = (Vec::new(), Vec::new());
    loop {
        let pauses = walk.moment().is_paused();
        let Some(step) = walk.next() else { break };
        if let (true, Some(last)) = (pauses, last) {
            paused += step.tick - last;
        }
        last = Some(step.tick);
        running.push(step.tick - paused);
        let active: Vec<_> = walk.moment().active().newest().take(8).collect();
        heights.push(walk.moment().active().len());
        choices.push(walk.moment().choices().len());
        steps.push((step, active));
    }
    let mut facts = vec![EventFacts::default(); steps.len()];
    let mut open: Vec<Open> = Vec::new();
    let mut exited: Vec<Option<SiteIndex>> = Vec::new();
    let between = |at: usize| {
        let of = steps[at].0.of.map(|(of, _)| of.predicate);
        of.is_some_and(|of| BoxKind::of(&kinds, of).is_between_ports())
    };
    let place = |at: usize| {
        let step = &steps[at].0;
        step.of.map(|(of, _)| PredicateMoment {
            predicate: of.predicate,
            event: Some(step.number),
        })
    };
    for at in 0..steps.len() {
        let step = &steps[at].0;
        let mut site = None;
        match step.event {
            Event::Call { .. } => open.push(Open {
                began: Some(at),
                site: step.site,
                rows: vec![at],
            }),
            Event::Tail { .. } => {
                if open.is_empty() {
                    open.push(Open {
                        began: None,
                        site: None,
                        rows: Vec::new(),
                    });
                }
                let top = open.last_mut().unwrap();
                top.site = step.site;
                top.rows.push(at);
            }
            Event::Redo => {
                while open.len() < heights[at] {
                    open.push(Open {
                        began: Some(at),
                        site: exited.pop().flatten(),
                        rows: Vec::new(),
                    });
                }
                open.last_mut().unwrap().rows.push(at);
            }
            Event::Cut { .. } => exited.truncate(choices[at]),
            Event::Gap { .. } => {
                for row in open.drain(..).flat_map(|open| open.rows) {
                    facts[row].outcome = Some(WayOut::Lost);
                }
                exited.clear();
            }
            _ => {}
        }
        if let Some(outcome) = step.class().way_out() {
            let left = open.pop();
            site = left.as_ref().and_then(|left| left.site);
            facts[at].outcome = Some(outcome);
            if step.event == Event::ExitNondet {
                exited.push(site);
            }
            let began = left.as_ref().and_then(|left| left.began);
            facts[at].took = began.map(|began| running[at] - running[began]);
            for row in left.map(|left| left.rows).unwrap_or_default() {
                facts[row].outcome = Some(outcome);
                facts[row].took = Some(running[at] - running[row]);
            }
            if step.event == Event::Fail
                && !between(at)
                && let Some(began) = began
            {
                let failed = (began..at)
                    .rev()
                    .find(|&other| steps[other].0.event == Event::Fail && !between(other));
                facts[at].cause = failed.and_then(place);
            }
        } else {
            site = open.last().map_or(site, |open| open.site);
        }
        facts[at].site = site;
        let before = || {
            (0..at).rev().find(|&other| {
                let event = steps[other].0.event;
                !between(other) && event != Event::Redo && !is_silent(event)
            })
        };
        if step.event == Event::Redo && !between(at) {
            let asking = |redo: usize| {
                let before = redo.checked_sub(1).map_or(0, |before| heights[before]);
                let (entered, active) = (heights[redo] - before, &steps[redo].1);
                assert!(
                    entered < active.len() || entered == heights[redo],
                    "more boxes than are kept"
                );
                active.get(entered).map(|boxed| PredicateMoment {
                    predicate: boxed.predicate,
                    event: None,
                })
            };
            facts[at].cause = match before().map(|other| (other, steps[other].0.event)) {
                Some((other, Event::Fail)) => place(other),
                None | Some((_, Event::Gap { .. })) => None,
                Some((other, _)) => {
                    let is_redo =
                        |one: &usize| steps[*one].0.event == Event::Redo && !between(*one);
                    (other + 1..=at).find(is_redo).and_then(asking)
                }
            };
        }
        if step.event == Event::Exception && !between(at) {
            let goes_on = |other: &usize| {
                let event = steps[*other].0.event;
                event == Event::Exception
                    || matches!(event, Event::Cut { .. })
                    || is_silent(event)
                    || between(*other)
            };
            let flies =
                |other: &usize| steps[*other].0.event == Event::Exception && !between(*other);
            let first = (0..=at).rev().take_while(goes_on).filter(flies).last();
            facts[at].cause = first.and_then(place);
            let last = (at..steps.len()).take_while(goes_on).filter(flies).last();
            let catcher = last.and_then(|last| steps[last].1.first().copied());
            facts[at].caught = catcher.map(|boxed| PredicateMoment {
                predicate: boxed.predicate,
                event: Some(boxed.called),
            });
        }
    }
    for row in open.into_iter().flat_map(|open| open.rows) {
        facts[row].outcome = Some(WayOut::Open);
    }
    let mut all = Vec::new();
    for ((step, _), mut facts) in steps.into_iter().zip(facts) {
        if !future
            && matches!(
                step.event,
                Event::Call { .. } | Event::Tail { .. } | Event::Redo
            )
        {
            (facts.outcome, facts.took) = (None, None);
        }
        all.push((step, facts));
    }
    all
}

/// Lists with and without a trail; returns how many events were listed.
fn check(trace: &Trace, trail: &Trail, asked: Asked, window: Option<Window>) -> usize {
    let sites = SiteNames::of(trace);
    let mut expected = Vec::new();
    for stream in trace.streams() {
        let all = plain(trace, stream, asked.needs_end()).into_iter();
        let within = |step: &Step| {
            window.is_none_or(|window| (window.from..window.until).contains(&step.tick))
        };
        expected.extend(all.filter(|(step, facts)| within(step) && asked.holds(step, facts)));
    }
    for trail in [None, Some(trail)] {
        let mut listing = Listing::new(trace, "t", trail, &sites);
        listing.window = window.unwrap_or(listing.window);
        listing.boxes = 2;
        let mut found = Vec::new();
        let went = listing.each(&asked, &mut |listed, stack| {
            assert!(stack.len() <= 2);
            found.push((listed.at.step, listed.facts));
            ControlFlow::Continue(())
        });
        assert_eq!(went, ControlFlow::Continue(()));
        let differ = found
            .iter()
            .zip(&expected)
            .find(|(found, expected)| found != expected);
        assert_eq!(differ, None, "{asked:?} with a trail: {}", trail.is_some());
        assert_eq!(found.len(), expected.len(), "{asked:?}");
    }
    expected.len()
}

fn trail(trace: &Trace) -> Trail {
    let scan = Scan {
        every: 700,
        trace,
        follow: Arc::default(),
        progress: None,
        cancel: None,
    };
    scan.all()
}

fn check_all(bytes: Vec<u8>) -> usize {
    let Ok(trace) = Trace::read(Mapping::from(bytes), Path::new("a.pmt")) else {
        return 0;
    };
    let trail = trail(&trace);
    let last = trace
        .streams()
        .iter()
        .flat_map(|stream| Walk::from(&trace, None, stream, 0));
    let (number, tick) = last.fold((0, 0), |(number, tick), step| {
        (step.number.max(number), step.tick.max(tick))
    });
    let window = Window {
        from: tick / 3,
        until: tick / 2,
    };
    let mut listed = 0;
    for asked in [
        Asked::Everything { future: false },
        Asked::Everything { future: true },
        Asked::TookMoreThan(tick / 100),
        Asked::TookMoreThan(2),
        Asked::Ended(WayOut::Fail),
        Asked::Ended(WayOut::Open),
        Asked::Sites(2),
        Asked::Numbers(number / 2, number / 2 + 50),
        Asked::Nothing,
    ] {
        listed += check(&trace, &trail, asked, None);
        listed += check(&trace, &trail, asked, Some(window));
    }
    listed
}

#[test]
fn the_recorded_samples() {
    for name in [
        "queens",
        "parser",
        "metainterp",
        "threads_exceptions",
        "debray1",
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../traces/{name}.pmt"));
        assert!(check_all(std::fs::read(path).unwrap()) > 100, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_trace_and_any_damage(script in long_script(), flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 0..4)) {
        let mut bytes = long_trace(&script);
        for (at, bits) in flips {
            let at = 4096 + at.index(bytes.len() - 4096);
            bytes[at] ^= bits;
        }
        check_all(bytes);
    }
}
