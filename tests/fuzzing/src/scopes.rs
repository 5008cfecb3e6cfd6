//! Target `scope`: the replay of a part of a trace finds the same in every way.
//!
//! The first line of an input has the filters, as the command line and the screens have them, with a
//! semicolon between two: `time 1ms..2s`, `hide lists:*`, `one 3` (hides a predicate by its index),
//! `in 2` (focus on a predicate), `path 0,2` (focus on a context) and `stream 1`. Anything else is skipped. What
//! follows is an input of the target `trace`.

use portmortem_analyzer::scope::filters::window_text;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::{Filter, Filters, FocusOn, ReplayOptions, Window};

use crate::agreement::{replay_in_all_ways, write_all_tables};
use crate::traces;

/// More filters than this take time and show nothing new.
const MOST_FILTERS: usize = 8;

/// Every replay finds the same, the laws hold, and every table can be written.
///
/// # Panics
/// If it is otherwise.
pub fn check(input: &[u8]) {
    let line_end = input.iter().position(|&byte| byte == b'\n');
    let (line, rest) = input.split_at(line_end.unwrap_or(input.len()));
    let Some(trace) = rest.get(1..).and_then(traces::open) else {
        return;
    };
    let scope = filters(&String::from_utf8_lossy(line), &trace);
    let profile = replay_in_all_ways(&trace, &ReplayOptions::of(&scope));
    write_all_tables(&trace, &profile);
    for filter in scope.filters() {
        let _ = filter.label(&trace);
    }
}

fn filters(line: &str, trace: &Trace) -> Filters {
    let mut scope = Filters::default();
    for filter in line.split(';').take(MOST_FILTERS) {
        let Some((what, value)) = filter.trim_start().split_once(' ') else {
            continue;
        };
        let filter = match what {
            "time" => window(value, trace).map(Filter::Window),
            "hide" => Some(Filter::Hide(value.to_owned())),
            "one" => index(value, trace).map(Filter::HideOne),
            "stream" => value.trim().parse().ok().map(Filter::Stream),
            "in" => index(value, trace).map(|index| Filter::Focus(FocusOn::Predicate(index))),
            "path" => {
                let path = value.split(',').map_while(|text| index(text, trace));
                let path: Vec<_> = path.collect();
                // Screens give the way to a row of the call tree, which has at least its own predicate.
                (!path.is_empty()).then_some(Filter::Focus(FocusOn::Context(path)))
            }
            _ => None,
        };
        if let Some(filter) = filter {
            scope.push(filter);
        }
    }
    scope
}

/// A range of time; it does not end before it begins, and can be shown.
fn window(text: &str, trace: &Trace) -> Option<Window> {
    let window = Window::parse(text, trace).ok()?;
    assert!(window.from <= window.until, "{text}");
    let _ = window_text(window, trace);
    Some(window)
}

/// A predicate of the trace, the unknown one included.
fn index(text: &str, trace: &Trace) -> Option<PredicateIndex> {
    let number: PredicateIndex = text.trim().parse().ok()?;
    Some(number % (trace.unknown_predicate() + 1))
}
