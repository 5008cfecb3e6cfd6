//! One reading of the events for all that is found out beside the replay: figures by clause, what
//! calls were made with, what arguments were at calls and exits, who waited for whom, and the times
//! of single calls.

use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::arguments::{self, MOST_DISTINCT, ReadArguments};
use crate::calls::{Calls, Timing};
use crate::clauses::{self, CountedClauses};
use crate::figures::arguments::ArgumentsOfPredicates;
use crate::figures::clauses::Clauses;
use crate::figures::values::Values;
use crate::figures::waits::Waits;
use crate::machine::pass::{PassWatch, one_stream, over_streams};
use crate::scope::Scope;
use crate::trace::Trace;
use crate::{values, waits};

/// What was found of what is looked at.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) clauses: Clauses,
    pub(crate) arguments: ArgumentsOfPredicates,
    pub(crate) values: Values,
    /// If the trace says it.
    pub(crate) waits: Option<Waits>,
    /// If they were asked for.
    pub(crate) calls: Option<Calls>,
}

/// What is asked for beside what the trace says by itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    /// The times of single calls.
    pub(crate) calls: bool,
    /// Who waited for whom, if the trace says it.
    pub(crate) waits: bool,
}

/// Reads the streams that are looked at, in parallel, if the trace names clauses, arguments, values
/// or what threads share, or if calls are asked for. `None` if it was cancelled.
pub(crate) fn read(
    trace: &Trace,
    scope: &Scope,
    asked: Asked,
    cancel: Option<&AtomicBool>,
) -> Option<Found> {
    let with_calls = asked.calls;
    let shared = waits::KnownOfAll::of(trace).filter(|_| asked.waits);
    let says_more = !trace.clauses().is_empty()
        || !trace.with_arguments().is_empty()
        || !trace.with_values().is_empty()
        || shared.is_some();
    if !says_more && !with_calls {
        return Some(Found::default());
    }
    let watch = PassWatch {
        progress: None,
        cancel,
    };
    let room = AtomicUsize::new(MOST_DISTINCT);
    let timing = with_calls.then(|| Timing::of(trace));
    let new = || {
        let clauses = clauses::ClauseLedger::of(trace, scope);
        let arguments = arguments::ArgumentLedger::of(trace, scope, &room);
        let calls = timing.as_ref().map(|timing| timing.observer(scope));
        let values = values::ValueLedger::of(trace, scope);
        let waits = shared
            .as_ref()
            .map(|known| waits::WaitLedger::new(known, scope));
        (clauses, ((arguments, (values, waits)), calls))
    };
    let found = over_streams(
        trace,
        scope,
        watch,
        new,
        |(clauses, ((arguments, (values, waits)), calls))| Parts {
            clauses: clauses
                .map(clauses::ClauseLedger::counted)
                .unwrap_or_default(),
            pages: arguments
                .map(arguments::ArgumentLedger::into_pages)
                .unwrap_or_default(),
            values: values
                .map(values::ValueLedger::into_values)
                .unwrap_or_default(),
            waits: waits.map(waits::WaitLedger::into_read).unwrap_or_default(),
            calls: calls.map(Calls::observed).unwrap_or_default(),
        },
        Parts::and,
    )?;
    let pages = match found.pages.are_cut_short() {
        true => in_turn(trace, scope, watch)?,
        false => found.pages,
    };
    let waits = match &shared {
        Some(known) => {
            let others = of_others(trace, scope, watch, known)?;
            Some(found.waits.and(others).close(trace))
        }
        None => None,
    };
    Some(Found {
        clauses: found.clauses.since(),
        arguments: pages.close(),
        values: found.values,
        waits,
        calls: with_calls.then_some(found.calls),
    })
}

/// What was found of some streams.
#[derive(Default)]
struct Parts {
    clauses: CountedClauses,
    pages: ReadArguments,
    values: Values,
    waits: waits::ReadWaits,
    calls: Calls,
}

impl Parts {
    /// With that of other streams, which come after them.
    fn and(self, other: Self) -> Self {
        Self {
            clauses: self.clauses.and(other.clauses),
            pages: self.pages.and(other.pages),
            values: values::and(self.values, other.values),
            waits: self.waits.and(other.waits),
            calls: self.calls.and(other.calls),
        }
    }
}

/// What the streams did that are not looked at: others may have waited for them.
fn of_others(
    trace: &Trace,
    scope: &Scope,
    watch: PassWatch,
    known: &waits::KnownOfAll,
) -> Option<waits::ReadWaits> {
    let mut ledger = waits::WaitLedger::new(known, scope);
    let mut others = trace.streams().iter();
    others
        .all(|stream| {
            scope.has_stream(stream.id) || one_stream(trace, stream, scope, watch, &mut ledger)
        })
        .then(|| ledger.into_read())
}

/// What calls were made with, stream by stream: of more different calls than can be told apart, the
/// first ones are.
fn in_turn(trace: &Trace, scope: &Scope, watch: PassWatch) -> Option<ReadArguments> {
    let room = AtomicUsize::new(MOST_DISTINCT);
    let mut ledger = arguments::ArgumentLedger::of(trace, scope, &room);
    let mut streams = trace.streams().iter();
    streams
        .all(|stream| {
            !scope.has_stream(stream.id) || one_stream(trace, stream, scope, watch, &mut ledger)
        })
        .then(|| {
            ledger
                .map(arguments::ArgumentLedger::into_pages)
                .unwrap_or_default()
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::calls::CallsOnRequest;
    use crate::replay::tests::{long_script, long_trace};
    use crate::replay::{ReplayOptions, replay};
    use crate::scope::Window;
    use crate::trace::mapping::Mapping;

    /// How many times each stream is read for figures, arguments and times of calls in a window:
    /// by the replay until its end, by the replay until it begins, and for all the rest together.
    #[test]
    fn all_that_is_asked_for_is_found_in_one_reading() {
        let mut runner = TestRunner::deterministic();
        let script = long_script().new_tree(&mut runner).unwrap().current();
        let mapping = Mapping::from(long_trace(&script));
        let trace = Trace::read(mapping, Path::new("a.pmt")).unwrap();
        assert!(!trace.clauses().is_empty());
        let ticks: Vec<u64> = trace
            .events(&trace.streams()[0])
            .map(|timed| timed.tick)
            .collect();
        let window = Window {
            from: ticks[ticks.len() / 3],
            until: ticks[ticks.len() / 2],
        };
        for (window, each) in [(None, 2), (Some(window), 3)] {
            let options = ReplayOptions {
                window,
                // A stream that is cut is opened part by part.
                chunk_bytes: Some(u64::MAX),
                ..ReplayOptions::default()
            };
            let scope = Arc::new(options.scope(&trace));
            let calls = CallsOnRequest::new(Arc::clone(&scope));
            let before = trace.readings.load(Ordering::Relaxed);
            let profile = replay(
                &trace,
                &ReplayOptions {
                    calls: Some(&calls),
                    ..options
                },
            );
            let readings = trace.readings.load(Ordering::Relaxed) - before;
            assert!(!profile.clauses.is_empty());
            let most = each * trace.streams().len() as u64;
            assert_eq!(readings, most, "{window:?}");
            assert_eq!(*calls.known().unwrap().as_ref(), Calls::of(&trace, &scope));
        }
    }
}
