//! Why one event happened: which failure led to it, what was cut, where an exception was raised and
//! caught.
//!
//! The same rules as for the columns `cause` and `caught` of a listing, for one event and without
//! reading all that was before it: the stream is read back in pieces until the cause is found.

use super::reasons::LastPort;
use crate::machine::{Class, Passage, WayOut};
use crate::moment::OpenBox;
use crate::tables::PredicateMoment;
use crate::trace::{BoxKind, StreamInfo, Trace};
use crate::walk::{Step, Trail, Walk};

/// Events of the first piece that is read back. Each that follows has 16 times as many.
const FIRST_EVENTS: u64 = if cfg!(test) { 30 } else { 4000 };

/// Events between two looks at whether anybody still wants to know.
const STRIDE: u64 = 1 << 12;

/// Boxes of a cut that are named.
const MOST_CUT: usize = 300;

/// Why an event happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explanation {
    /// A failure: the box that failed last inside of the activation. `None`: none did, the clauses
    /// of the box itself failed.
    Failure(Option<PredicateMoment>),
    /// A redo: the failure that caused it.
    Redo(PredicateMoment),
    /// A redo without a recorded failure: the active box, which failed in its own clause or asked
    /// for another solution.
    Asked(Option<PredicateMoment>),
    /// A cut: the call of the box that cut, and the boxes that it took the choicepoints of, the
    /// newest first.
    Cut(PredicateMoment, Vec<PredicateMoment>),
    /// An exception: the event by which it left its first box, and the call of the box that it does
    /// not leave.
    Exception(PredicateMoment, Option<PredicateMoment>),
    /// Events were lost before, so the cause is not known.
    Lost,
    /// Nothing but the call of a box, or what the program goes on with.
    None,
}

/// Explains events of a trace.
pub struct Explainer<'t, 'v> {
    trace: &'t Trace,
    trail: Option<&'t Trail>,
    kinds: Vec<BoxKind>,
    /// Whether an event is one of those looked at.
    shows: &'v dyn Fn(&Step) -> bool,
    goes_on: &'v dyn Fn() -> bool,
}

/// The part of a stream before an event, and what was found there.
struct Back<T> {
    found: Option<T>,
    /// It is the beginning of the stream.
    is_first: bool,
}

impl<'t, 'v> Explainer<'t, 'v> {
    /// Only events that `shows` says yes to are causes. `goes_on` is asked now and then whether
    /// anybody still wants to know.
    #[must_use]
    pub fn new(
        trace: &'t Trace,
        trail: Option<&'t Trail>,
        shows: &'v dyn Fn(&Step) -> bool,
        goes_on: &'v dyn Fn() -> bool,
    ) -> Self {
        let kinds = BoxKind::by_predicate(trace);
        Self {
            trace,
            trail,
            kinds,
            shows,
            goes_on,
        }
    }

    /// Explains an event; `None` if it is no longer wanted.
    #[must_use]
    pub fn explain(&self, stream: &StreamInfo, at: &Step) -> Option<Explanation> {
        if !self.is_step(at) {
            return Some(Explanation::None);
        }
        match at.class() {
            Class::Leave(WayOut::Fail) => self.failure(stream, at),
            Class::ReEnter => self.redo(stream, at),
            Class::Leave(WayOut::Exception) => self.exception(stream, at),
            Class::Cut(count) => Some(self.cut(stream, at, count)),
            Class::Enter(_)
            | Class::Depart(_)
            | Class::Leave(_)
            | Class::Lose(_)
            | Class::Pause(_)
            | Class::Note(_) => Some(Explanation::None),
        }
    }

    /// Whether it is a step of the program, and not work of the engine between two.
    fn is_step(&self, step: &Step) -> bool {
        let of = step.of.map(|(of, _)| of.predicate);
        !of.is_some_and(|of| BoxKind::of(&self.kinds, of).is_between_ports())
    }

    fn counts(&self, step: &Step) -> bool {
        self.is_step(step) && (self.shows)(step)
    }

    fn walk(&self, stream: &StreamInfo, from: u64) -> Walk<'t> {
        Walk::from(self.trace, self.trail, stream, from)
    }

    /// The last thing before an event that `find` makes something of. It is given events with the
    /// height of the active chain before them.
    fn last<T>(
        &self,
        stream: &StreamInfo,
        at: &Step,
        find: impl Fn(&Step, &Walk, usize) -> Option<T>,
    ) -> Option<Option<T>> {
        let mut size = FIRST_EVENTS;
        loop {
            let back = self.back(stream, at, size, &find)?;
            if back.found.is_some() || back.is_first {
                return Some(back.found);
            }
            size = size.saturating_mul(16);
        }
    }

    fn back<T>(
        &self,
        stream: &StreamInfo,
        at: &Step,
        size: u64,
        find: &impl Fn(&Step, &Walk, usize) -> Option<T>,
    ) -> Option<Back<T>> {
        let from = at.number.saturating_sub(size);
        let mut walk = self.walk(stream, from);
        let mut found = None;
        let mut read = 0_u64;
        loop {
            let height = walk.moment().active().len();
            let Some(step) = walk.next().filter(|step| step != at) else {
                break;
            };
            if step.number > at.number {
                break;
            }
            read += 1;
            if read.is_multiple_of(STRIDE) && !(self.goes_on)() {
                return None;
            }
            found = find(&step, &walk, height).or(found);
        }
        Some(Back {
            found,
            is_first: from == 0,
        })
    }

    /// The last failure since the activation began.
    fn failure(&self, stream: &StreamInfo, at: &Step) -> Option<Explanation> {
        let Some((of, _)) = at.of else {
            return Some(Explanation::Lost);
        };
        let last = self.last(stream, at, |step, walk, height| {
            if matches!(step.class(), Class::Lose(_)) {
                return Some(Explanation::Lost);
            }
            if begins(step, walk, height, of.called) {
                return Some(Explanation::Failure(None));
            }
            let failed = step.class() == Class::Leave(WayOut::Fail) && self.counts(step);
            failed.then(|| Explanation::Failure(here(step)))
        });
        Some(last?.unwrap_or(Explanation::Lost))
    }

    fn redo(&self, stream: &StreamInfo, at: &Step) -> Option<Explanation> {
        let last = self.last(stream, at, |step, _, _| {
            let counts = self.counts(step) || matches!(step.class(), Class::Lose(_));
            let port = counts.then(|| LastPort::of(step.class(), here(step)));
            port.flatten().map(|port| (port, step.number))
        });
        Some(match last? {
            Some((LastPort::Failure(place), _)) => Explanation::Redo(place),
            Some((LastPort::Lost, _)) | None => Explanation::Lost,
            Some((LastPort::Other | LastPort::Asked(_), other)) => {
                let asking = self.asking(stream, at, other);
                Explanation::Asked(asking.as_ref().map(call_of))
            }
        })
    }

    /// The box that was active at the first redo of those in a row of which one is `at`, the last
    /// port before them being no failure.
    fn asking(&self, stream: &StreamInfo, at: &Step, last_port: u64) -> Option<OpenBox> {
        let mut walk = self.walk(stream, last_port);
        loop {
            let active = walk.moment().active().last().copied();
            let step = walk.next()?;
            let is_redo = step.class() == Class::ReEnter && self.is_step(&step);
            if step.number > last_port && is_redo || step.number >= at.number {
                return active;
            }
        }
    }

    fn exception(&self, stream: &StreamInfo, at: &Step) -> Option<Explanation> {
        let landed = self.last(stream, at, |step, _, _| {
            let lands = self.is_step(step) && Passage::of(step.class()) == Passage::Lands;
            lands.then_some(*step)
        })?;
        let from = landed.map_or(0, |landed| landed.number);
        let mut walk = self.walk(stream, from);
        let (mut raised, mut catcher) = (here(at), None);
        let mut read = 0_u64;
        let mut is_first = true;
        while let Some(step) = walk.next() {
            read += 1;
            if read.is_multiple_of(STRIDE) && !(self.goes_on)() {
                return None;
            }
            if landed.is_some_and(|landed| step.number <= landed.number) || !self.is_step(&step) {
                continue;
            }
            match Passage::of(step.class()) {
                Passage::Flies => {
                    if is_first && (self.shows)(&step) {
                        (raised, is_first) = (here(&step), false);
                    }
                    catcher = walk.moment().active().last().copied();
                }
                Passage::Lands => break,
                Passage::Stays => {}
            }
        }
        let caught = catcher.as_ref().map(call_of);
        Some(raised.map_or(Explanation::Lost, |raised| {
            Explanation::Exception(raised, caught)
        }))
    }

    fn cut(&self, stream: &StreamInfo, at: &Step, count: u32) -> Explanation {
        let Some((of, _)) = at.of else {
            return Explanation::Lost;
        };
        let walk = self.walk(stream, at.number);
        let newest = walk.moment().choices().newest();
        let cut = newest.take((count as usize).min(MOST_CUT));
        Explanation::Cut(call_of(&of), cut.map(|of| call_of(&of)).collect())
    }
}

/// Whether a box is entered by an event, before which so many boxes were active.
fn begins(step: &Step, walk: &Walk, height: usize, called: u64) -> bool {
    match step.class() {
        Class::Enter(_) => step.number == called,
        Class::ReEnter => {
            let active = walk.moment().active();
            let mut entered = active.newest().take(active.len().saturating_sub(height));
            entered.any(|of| of.called == called)
        }
        Class::Depart(_)
        | Class::Leave(_)
        | Class::Cut(_)
        | Class::Lose(_)
        | Class::Pause(_)
        | Class::Note(_) => false,
    }
}

/// The box of an event, and the event.
fn here(step: &Step) -> Option<PredicateMoment> {
    step.of.map(|(of, _)| PredicateMoment {
        predicate: of.predicate,
        event: Some(step.number),
    })
}

/// A box, and its call.
fn call_of(of: &OpenBox) -> PredicateMoment {
    PredicateMoment {
        predicate: of.predicate,
        event: Some(of.called),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;
    use std::sync::Arc;

    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::listing::{Bounds, Listing, Pending, Wanted};
    use crate::replay::tests::{long_script, long_trace};
    use crate::tables::{EventFacts, Listed, SiteNames};
    use crate::trace::mapping::Mapping;
    use crate::walk::Scan;

    struct All;

    impl Wanted for All {
        fn quick(&self, _: &Step) -> Option<bool> {
            Some(true)
        }

        fn decide(&self, _: &Listed, _: Pending) -> Option<bool> {
            Some(true)
        }

        fn needs_end(&self) -> bool {
            false
        }

        fn bounds(&self) -> Bounds {
            Bounds::default()
        }
    }

    /// What a listing says of an event, as an explanation; of what it says nothing, what is
    /// explained is not wrong.
    fn same(step: &Step, facts: &EventFacts, found: &Explanation) -> bool {
        match (step.class(), facts.cause, found) {
            (Class::Leave(WayOut::Fail), cause, Explanation::Failure(inside)) => cause == *inside,
            (Class::Leave(WayOut::Fail) | Class::ReEnter, None, Explanation::Lost) => true,
            (Class::ReEnter, Some(cause), Explanation::Redo(failure)) => cause == *failure,
            (Class::ReEnter, cause, Explanation::Asked(asked)) => {
                cause.map(|cause| (cause.predicate, cause.event))
                    == asked.map(|asked| (asked.predicate, None))
            }
            (
                Class::Leave(WayOut::Exception),
                Some(cause),
                Explanation::Exception(raised, caught),
            ) => (cause, facts.caught) == (*raised, *caught),
            (Class::Leave(WayOut::Fail | WayOut::Exception) | Class::ReEnter, ..) => false,
            (Class::Cut(_), _, Explanation::Cut(by, _)) => {
                step.of.is_some_and(|(of, _)| by.event == Some(of.called))
            }
            (Class::Cut(_), _, Explanation::Lost) => step.of.is_none(),
            (_, _, found) => *found == Explanation::None,
        }
    }

    /// Every event of every so many is explained as in the listing.
    fn check(bytes: Vec<u8>, every: usize) -> usize {
        let trace = Trace::read(Mapping::from(bytes), Path::new("a.pmt")).unwrap();
        let scan = Scan {
            every: 1000,
            trace: &trace,
            follow: Arc::default(),
            progress: None,
            cancel: None,
        };
        let trail = scan.all();
        let sites = SiteNames::of(&trace);
        let mut rows = Vec::new();
        let listing = Listing::new(&trace, "", None, &sites);
        let _ = listing.each(&All, &mut |event, _| {
            rows.push((event.at.stream, event.at.step, event.facts));
            ControlFlow::Continue(())
        });
        let explainer = Explainer::new(&trace, Some(&trail), &|_| true, &|| true);
        let mut causes = 0;
        for (stream, step, facts) in rows.iter().step_by(every) {
            let streams = trace.streams();
            let stream = streams.iter().find(|info| info.id == *stream).unwrap();
            let found = explainer.explain(stream, step).unwrap();
            assert!(same(step, facts, &found), "{step:?} {facts:?} {found:?}");
            causes += usize::from(facts.cause.is_some());
        }
        causes
    }

    #[test]
    fn the_causes_are_those_of_a_listing() {
        let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
        let queens = std::fs::read(traces.join("queens.pmt")).unwrap();
        assert!(check(queens, 7) > 1000);
        let threads = std::fs::read(traces.join("threads_exceptions.pmt")).unwrap();
        assert!(check(threads, 1) > 10);
    }

    #[test]
    fn long_and_damaged_ones_too() {
        let mut runner = TestRunner::deterministic();
        let script = long_script().new_tree(&mut runner).unwrap().current();
        let mut bytes = long_trace(&script);
        assert!(check(bytes.clone(), 5) > 10);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        check(bytes, 5);
    }
}
