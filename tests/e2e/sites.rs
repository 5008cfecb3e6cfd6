//! Goals have their lines whatever made their clauses: grammars, constraints, expansion.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use portmortem_tests::{Sandbox, repository};

use super::goals::{assert_lines, called};
use super::library::{run, whole, with_pack};

/// A program of `programs/sites`.
fn program(name: &str) -> String {
    fs::read_to_string(repository("tests/programs/sites").join(name)).unwrap()
}

/// Each kind of clause that expansion makes, or goal that it leaves without a place.
#[test]
fn goals_of_clauses_that_expansion_made_have_lines() {
    let program = program("kinds.pl");
    let sandbox = Sandbox::new();
    let profiled = sandbox.record("run", &program, &[]);
    assert_lines(&program, &called(&profiled, &sandbox));
}

/// Records `main/0` of a program that is loaded. What is called in each line of it.
fn called_after_loading(sandbox: &Sandbox, before: &str) -> BTreeMap<usize, BTreeSet<String>> {
    let goal = format!("{before}, pm_record(main, [output('run.pmt')])");
    run(sandbox, &goal).succeeds();
    called(&whole(sandbox, "run.pmt"), sandbox)
}

/// The recording begins after that: the files are read again.
#[test]
fn programs_that_were_loaded_before_the_recording_have_lines() {
    let sandbox = with_pack(&program("loaded.pl"));
    let called = called_after_loading(&sandbox, "true");
    let text = fs::read_to_string(sandbox.path("program.pl")).unwrap();
    assert_lines(&text, &called);
}

/// It might say something else now.
#[test]
fn a_file_that_was_changed_after_it_was_loaded_has_no_lines() {
    let sandbox = with_pack(&program("loaded.pl"));
    let touch = "set_time_file('program.pl', [], [modified(1)])";
    let called = called_after_loading(&sandbox, touch);
    assert!(called.is_empty(), "{called:?}");
}

/// A goal without a place takes none from the others.
#[test]
fn goals_of_clauses_that_expansion_made_have_lines_with_ports() {
    let program = program("grammar.pl");
    for options in [&["--ports"][..], &[]] {
        let sandbox = Sandbox::new();
        let profiled = sandbox.record("run", &program, options);
        assert_lines(&program, &called(&profiled, &sandbox));
    }
}
