//! Libraries that are loaded when one of their predicates is called: stubs record of that what
//! ports do.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::collections::BTreeMap;

use portmortem_analyzer::figures::{Caller, laws};
use portmortem_analyzer::{ReplayOptions, replay};
use support::{program, record};

/// Calls, exits and fails by predicate, without those of predicates that depend on time.
fn counts(options: &str) -> BTreeMap<String, (u64, u64, u64)> {
    let (output, trace) = record(options, &program("autoloads.pl"), &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"done\n");
    let profile = replay(&trace, &ReplayOptions::default());
    assert!(profile.violations.is_empty(), "{:?}", profile.violations);
    assert!(laws::check(&profile).is_empty());
    let of_time = [
        "system:garbage_collect/0",
        "system:stack_shift/0",
        "system:waiting/0",
        "system:preempted/0",
    ];
    let rows = trace.predicates().iter().zip(&profile.predicates);
    rows.filter(|(info, figures)| figures.calls > 0 && !of_time.contains(&info.indicator.as_str()))
        .map(|(info, figures)| {
            let counts = (figures.calls, figures.exits(), figures.fails);
            (info.indicator.clone(), counts)
        })
        .collect()
}

#[test]
fn loading_a_library_is_a_box_and_hooks_in_it_are_recorded() {
    let stubs = counts("boundary(true)");
    let of = |indicator: &str| stubs.get(indicator).copied().unwrap_or_default();
    // The index says which library has it; once it is loaded no more is.
    assert_eq!(of("lists:numlist/3"), (2, 2, 0));
    assert_eq!(of("lists:last/2"), (2, 2, 0));
    assert_eq!(of("assoc:list_to_assoc/2"), (1, 1, 0));
    assert_eq!(of("system:print/1"), (1, 1, 0));
    let (loaded, ..) = of("system:autoload/0");
    assert!(loaded >= 3, "{loaded}");
    let (hooks, ..) = of("term_expansion/2");
    assert!(hooks > 0);
    // No goal of a library is the program's.
    assert_eq!(of("system:setup_call_cleanup/3"), (0, 0, 0));
    for (indicator, counted) in counts("ports(true)") {
        // Ports are put around it only when a directive has run.
        if indicator == "term_expansion/2" {
            continue;
        }
        assert_eq!(of(&indicator), counted, "{indicator}");
    }
}

/// A program may ask again and again for what no library has.
#[test]
fn a_search_that_finds_no_library_is_work_of_its_caller() {
    for options in ["boundary(true)", "ports(true)", "libraries(true)"] {
        let (output, trace) = record(options, &program("searches.pl"), &[]);
        assert_eq!(output.stdout, b"none of 100\n");
        let profile = replay(&trace, &ReplayOptions::default());
        let rows = trace.predicates().iter().zip(&profile.predicates);
        let called = rows.filter(|(_, figures)| figures.calls > 0);
        let names: Vec<&str> = called.map(|(info, _)| info.indicator.as_str()).collect();
        assert!(names.contains(&"has_rule/1"), "{names:?}");
        assert!(
            !names.iter().any(|name| name.contains("autoload")),
            "{options}: {names:?}"
        );
    }
}

/// The engine looks for `main/0` before any predicate of the program runs.
#[test]
fn a_search_before_the_program_is_no_box() {
    let (output, trace) = record("boundary(true)", &program("main_args.pl"), &["--", "a"]);
    assert!(output.status.success(), "{output:?}");
    let profile = replay(&trace, &ReplayOptions::default());
    let outermost = profile
        .edges
        .keys()
        .filter(|(caller, _)| *caller == Caller::Root);
    let names: Vec<&str> = outermost
        .map(|&(_, callee)| trace.predicate_name(callee))
        .collect();
    assert!(!names.contains(&"portmortem:instrument/0"), "{names:?}");
}
