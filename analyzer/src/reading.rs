//! One reading of the events for all that is found out beside the replay: figures by clause, what
//! calls were made with, what arguments were at calls and exits, and the times of single calls.

use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::arguments::{self, MOST_DISTINCT, Pages};
use crate::calls::{Calls, Timing};
use crate::clauses::{self, Counted};
use crate::figures::arguments::Arguments;
use crate::figures::clauses::Clauses;
use crate::figures::values::Values;
use crate::machine::pass::{Watch, one_stream, over_streams};
use crate::scope::Scope;
use crate::trace::Trace;
use crate::values;

/// What was found of what is looked at.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) clauses: Clauses,
    pub(crate) arguments: Arguments,
    pub(crate) values: Values,
    /// If they were asked for.
    pub(crate) calls: Option<Calls>,
}

/// Reads the streams that are looked at, in parallel, if the trace names clauses, arguments or
/// values or if `with_calls`. `None` if it was cancelled.
pub(crate) fn read(
    trace: &Trace,
    scope: &Scope,
    with_calls: bool,
    cancel: Option<&AtomicBool>,
) -> Option<Found> {
    let says_more = !trace.clauses().is_empty()
        || !trace.with_arguments().is_empty()
        || !trace.with_values().is_empty();
    if !says_more && !with_calls {
        return Some(Found::default());
    }
    let watch = Watch {
        progress: None,
        cancel,
    };
    let room = AtomicUsize::new(MOST_DISTINCT);
    let timing = with_calls.then(|| Timing::of(trace));
    let new = || {
        let clauses = clauses::Books::of(trace, scope);
        let arguments = arguments::Books::of(trace, scope, &room);
        let calls = timing.as_ref().map(|timing| timing.observer(scope));
        let values = values::Books::of(trace, scope);
        (clauses, ((arguments, values), calls))
    };
    let (clauses, pages, values, calls) = over_streams(
        trace,
        scope,
        watch,
        new,
        |(clauses, ((arguments, values), calls))| {
            let clauses = clauses.map(clauses::Books::counted);
            let pages = arguments.map(arguments::Books::into_pages);
            let values = values.map(values::Books::into_values);
            let calls = calls.map(Calls::observed);
            (
                clauses.unwrap_or_default(),
                pages.unwrap_or_default(),
                values.unwrap_or_default(),
                calls.unwrap_or_default(),
            )
        },
        |(clauses, pages, values, calls): (Counted, Pages, Values, Calls), other| {
            (
                clauses.and(other.0),
                pages.and(other.1),
                values::and(values, other.2),
                calls.and(other.3),
            )
        },
    )?;
    let pages = match pages.are_cut_short() {
        true => in_turn(trace, scope, watch)?,
        false => pages,
    };
    Some(Found {
        clauses: clauses.since(),
        arguments: pages.close(),
        values,
        calls: with_calls.then_some(calls),
    })
}

/// What calls were made with, stream by stream: of more different calls than can be told apart, the
/// first ones are.
fn in_turn(trace: &Trace, scope: &Scope, watch: Watch) -> Option<Pages> {
    let room = AtomicUsize::new(MOST_DISTINCT);
    let mut books = arguments::Books::of(trace, scope, &room);
    let mut streams = trace.streams().iter();
    streams
        .all(|stream| {
            !scope.has_stream(stream.id) || one_stream(trace, stream, scope, watch, &mut books)
        })
        .then(|| books.map(arguments::Books::into_pages).unwrap_or_default())
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
            assert_eq!(calls.known(), Some(&Calls::of(&trace, &scope)));
        }
    }
}
