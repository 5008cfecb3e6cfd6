//! Garbage collections and stack shifts have rows of their own, and asking the engine for them
//! changes nothing in the program.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::path::PathBuf;
use std::process::{Command, Output};

use portmortem_analyzer::figures::laws;
use portmortem_analyzer::figures::{Caller, PredicateFigures};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::{Profile, ReplayOptions, Trace, replay};
use portmortem_tracer::format::Event;
use support::{program, record};

/// Runs a program of `programs/collections` recorded; its trace must be whole. Built-ins have no
/// boxes: so long stretches end at
/// ports of the program's own predicates.
fn recorded(name: &str, arguments: &[&str]) -> (Output, Trace, Profile) {
    recorded_with("boundary(false)", name, arguments)
}

/// The same with these options.
fn recorded_with(options: &str, name: &str, arguments: &[&str]) -> (Output, Trace, Profile) {
    let mut more = vec!["--"];
    more.extend(arguments);
    let (output, trace) = record(options, &file(name), &more);
    assert!(output.status.success(), "{name}: {output:?}");
    let profile = replay(&trace, &ReplayOptions::default());
    assert!(
        profile.violations.is_empty(),
        "{name}: {:?}",
        profile.violations
    );
    assert!(laws::check(&profile).is_empty(), "{name}");
    (output, trace, profile)
}

fn file(name: &str) -> PathBuf {
    program(&format!("collections/{name}.pl"))
}

/// The figures of a predicate; of one that did not run, zeros.
fn row(trace: &Trace, profile: &Profile, indicator: &str) -> PredicateFigures {
    let mut known = trace.predicates().iter().zip(&profile.predicates);
    let found = known.find(|(info, _)| info.indicator == indicator);
    found.map_or_else(Default::default, |(_, figures)| *figures)
}

fn text(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap().trim()
}

/// No more than what the engine counted in the same run, less what the clocks differ by: the
/// recorder asks the same clock, but only after
/// long stretches. One in which the stacks grow to megabytes, or as much is garbage, is long on
/// every machine.
#[test]
fn rows_take_no_more_than_what_the_engine_counted() {
    for options in ["boundary(false),ports(true)", "boundary(false)"] {
        takes_no_more_than_the_engine_counted(options);
    }
}

fn takes_no_more_than_the_engine_counted(options: &str) {
    let (output, trace, profile) = recorded_with(options, "garbage", &[]);
    let words: Vec<&str> = text(&output).split(' ').collect();
    assert_eq!(words[0], "150000");
    for (indicator, counted) in [
        ("system:garbage_collect/0", words[1]),
        ("system:stack_shift/0", words[2]),
    ] {
        let counted_ns = counted.parse::<f64>().unwrap() * 1000.0;
        let figures = row(&trace, &profile, indicator);
        let recorded_ns = trace.clock().duration_ns(figures.inclusive_ticks) as f64;
        assert!(recorded_ns > 0.0, "{indicator}: nothing was seen");
        let most = counted_ns * 1.05 + 10_000.0;
        assert!(
            recorded_ns <= most,
            "{indicator}: {recorded_ns} of {counted_ns}"
        );
        assert_eq!(figures.self_ticks, figures.inclusive_ticks);
        assert!(figures.calls > 0);
        assert_eq!(figures.calls, figures.exits_det);
    }
    // What the program calls is the same on every run.
    for (indicator, calls) in [("build/2", 150_001), ("waste/1", 150_001), ("main/0", 1)] {
        assert_eq!(row(&trace, &profile, indicator).calls, calls);
    }
}

/// A stub reads what the engine has counted before every event that comes late enough, cuts among
/// them.
#[test]
fn stubs_miss_no_collection() {
    let (output, trace, profile) = recorded_with("boundary(false)", "every", &[]);
    let counted: u64 = text(&output).parse().unwrap();
    let all = row(&trace, &profile, "system:garbage_collect/0");
    assert!(all.calls <= counted, "{} of {counted}", all.calls);
    let named = |index: PredicateIndex| trace.predicates()[index as usize].indicator.as_str();
    for predicate in ["collect/0", "before_cut/0"] {
        let is_edge = |(caller, callee): &(Caller, PredicateIndex)| {
            matches!(caller, Caller::Predicate(caller) if named(*caller) == predicate)
                && named(*callee) == "system:garbage_collect/0"
        };
        let mut edges = profile.edges.iter();
        let (_, figures) = edges.find(|(edge, _)| is_edge(edge)).unwrap();
        assert_eq!(figures.ports.calls, 10, "{predicate}");
    }
}

#[test]
fn handlers_run_as_without_recording() {
    let mut plain = Command::new("swipl");
    let plain = plain.arg(file("handlers")).output().unwrap();
    let (output, trace, profile) = recorded("handlers", &[]);
    assert_eq!((plain.status, text(&plain)), (output.status, text(&output)));
    assert_eq!(text(&output), "500 called, 500 caught");
    // Handlers that ran during a question are in the trace like all others.
    assert_eq!(row(&trace, &profile, "handle/1").calls, 500);
    assert_eq!(row(&trace, &profile, "handle/1").exits(), 500);
}

/// Only ports ask the engine, which runs Prolog; stubs read.
const PORTS: &str = "boundary(false),ports(true)";

#[test]
fn what_a_question_calls_is_recorded() {
    let (output, trace, profile) = recorded_with(PORTS, "question", &["calls"]);
    let answers = "call-true\nexit_det-true\nexit_nondet-true\nredo-true\nfail-false";
    assert_eq!(text(&output), answers);
    // The box that is re-entered leaves a long stretch again.
    let asked = row(&trace, &profile, "asked/0");
    assert_eq!((asked.calls, asked.exits()), (6, 6));
    let fails = row(&trace, &profile, "fails/0");
    assert_eq!((fails.calls, fails.fails), (1, 1));
}

#[test]
fn what_a_question_throws_goes_on() {
    let (output, trace, profile) = recorded_with(PORTS, "question", &["throws"]);
    let answers = "call-asked\nexit_det-asked\nexit_nondet-asked\nredo-asked\nfail-asked";
    assert_eq!(text(&output), answers);
    for indicator in ["exits/0", "leaves_one/1", "redone/1", "fails/0"] {
        assert_eq!(
            row(&trace, &profile, indicator).exceptions,
            1,
            "{indicator}"
        );
    }
    assert_eq!(row(&trace, &profile, "called/0").calls, 0);
    assert_eq!(row(&trace, &profile, "redone/1").redos, 1);
}

#[test]
fn a_question_may_end_the_recording() {
    let (output, trace, profile) = recorded_with(PORTS, "question", &["stops"]);
    let answers = "call-true\nexit_det-true\nexit_nondet-true\nredo-true\nfail-false";
    assert_eq!(text(&output), answers);
    assert_eq!(row(&trace, &profile, "question/1").open, 1);
    assert_eq!(row(&trace, &profile, "exits/0").calls, 0);
}

/// What the engine collects and shifts while it loads the program comes before the first event, and
/// is in no stretch between two.
#[test]
fn nothing_is_told_before_the_first_event() {
    let (_, trace, _) = recorded("loads", &[]);
    let first = trace.events(&trace.streams()[0]).next().unwrap();
    let Event::Call { predicate } = first.event else {
        panic!("{first:?}");
    };
    assert_eq!(trace.predicates()[predicate as usize].indicator, "main/0");
}
