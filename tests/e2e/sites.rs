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

/// What happens beside the goals of a program.
const OF_NO_GOAL: [&str; 6] = [
    "portmortem:instrument/0",
    "system:autoload/0",
    "system:garbage_collect/0",
    "system:preempted/0",
    "system:stack_shift/0",
    "system:waiting/0",
];

/// The clauses that call something, and those of them that have a site, each as its predicate and
/// its number.
fn calling_clauses(sandbox: &Sandbox) -> [BTreeSet<(String, String)>; 2] {
    let events = sandbox
        .portmortem(["events", "run.pmt", "--format", "csv"])
        .succeeds()
        .out();
    let mut reader = csv::Reader::from_reader(events.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let names = ["port", "predicate", "box", "parent", "clause", "site"].map(column);
    // What each box runs.
    let mut clauses: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for record in reader.records().map(Result::unwrap) {
        let [port, predicate, own, parent, clause, site] = names.map(|at| record[at].to_owned());
        let caller = match port.as_str() {
            "clause" => {
                clauses.insert(own, (predicate, clause));
                continue;
            }
            "call" => clauses.get(&parent).cloned(),
            "tail" => clauses.remove(&own),
            _ => continue,
        };
        if let Some(caller) = caller.filter(|_| !OF_NO_GOAL.contains(&predicate.as_str())) {
            if !site.is_empty() {
                found[1].insert(caller.clone());
            }
            found[0].insert(caller);
        }
    }
    found
}

/// Constraints over integers, constraint handling rules, and a grammar with strings. Before 9.2,
/// `library(clpfd)` made clauses of the calls of `maplist/2` in the first program, too.
#[test]
fn all_clauses_that_call_something_have_sites() {
    for (name, at_least) in [("puzzles.pl", 7), ("constraints.pl", 40), ("parser.pl", 20)] {
        let sandbox = Sandbox::new();
        let profiled = sandbox.record("run", &program(name), &["--clauses"]);
        assert!(profiled.events() > 0);
        let [calling, sited] = calling_clauses(&sandbox);
        assert!(calling.len() >= at_least, "{name}: {calling:?}");
        let without: Vec<_> = calling.difference(&sited).collect();
        assert!(without.is_empty(), "{name}: {without:?}");
    }
}

/// The calls of `q/0` and `r/0` in a program that calls nothing else from those lines.
fn lines_of_calls(program: &str) -> BTreeMap<String, usize> {
    let sandbox = Sandbox::new();
    let profiled = sandbox.record("run", program, &[]);
    assert!(profiled.events() > 0);
    let events = sandbox.portmortem(["events", "run.pmt", "--format", "csv"]);
    let events = events.succeeds().out();
    let mut reader = csv::Reader::from_reader(events.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let names = ["port", "predicate", "line"];
    let columns = names.map(|name| headers.iter().position(|header| header == name).unwrap());
    let mut lines = BTreeMap::new();
    for record in reader.records().map(Result::unwrap) {
        let [port, predicate, line] = columns.map(|at| &record[at]);
        if ["call", "tail"].contains(&port) && ["q/0", "r/0"].contains(&predicate) {
            *lines.entry(format!("{predicate}:{line}")).or_default() += 1;
        }
    }
    lines
}

/// Nothing comes before the goal, so its stub is met before the body has any.
#[test]
fn a_body_that_call_makes_may_begin_with_a_goal() {
    let program = ":- initialization(main, main).\n\
                   q. r.\n\
                   main :- forall(between(1, 3, _), call((\n\
                   q,\n\
                   r))).\n";
    let expected = BTreeMap::from([("q/0:4".to_owned(), 3), ("r/0:5".to_owned(), 3)]);
    assert_eq!(lines_of_calls(program), expected);
}
