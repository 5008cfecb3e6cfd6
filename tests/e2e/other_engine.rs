//! An engine in C, which nothing here knows: what it says through `portmortem.h` is all that
//! reports and advice need.

use std::path::Path;

use portmortem_tests::{Profiled, Sandbox, built, repository};
use serde_json::Value;

const PROGRAM: &str = "\
main :-
    gather(X, item(X)),
    round(200).
round(0).
round(N) :-
    value(3, _),
    gate(table),
    flush,
    M is N-1, round(M).
item(1).
item(2).
value(N, M) :- M is N*N.
";

/// A recording of the program by the engine, `t.pmt`.
fn recorded(options: &[&str]) -> Sandbox {
    let sandbox = Sandbox::with("toy.pl", PROGRAM);
    let library = built::portmortem().parent().unwrap().display().to_string();
    let (include, source) = (
        repository("tracer/include"),
        repository("tests/e2e/other_engine.c"),
    );
    let rpath = format!("-Wl,-rpath,{library}");
    let include = format!("-I{}", include.display());
    let compile = [
        "-std=c11",
        "-D_GNU_SOURCE",
        "-Wall",
        "-Wextra",
        "-Werror",
        &include,
        source.to_str().unwrap(),
        "-o",
        "engine",
        "-L",
        &library,
        "-lportmortem_tracer",
        &rpath,
    ];
    sandbox.run(Path::new("cc"), compile).succeeds();
    let run = [&["t.pmt"], options].concat();
    sandbox.run(&sandbox.path("engine"), run).succeeds();
    sandbox
}

fn json(sandbox: &Sandbox, command: &[&str]) -> Value {
    let outcome = sandbox.portmortem([command, &["--format", "json"]].concat());
    serde_json::from_slice(&outcome.succeeds().stdout).unwrap()
}

fn findings(sandbox: &Sandbox) -> Vec<Value> {
    let all = json(
        sandbox,
        &["advise", "t.pmt", "--least", "0", "--top", "100"],
    );
    all["findings"].as_array().unwrap().clone()
}

#[test]
fn figures_are_there() {
    let sandbox = recorded(&[]);
    sandbox.portmortem(["verify", "t.pmt"]).succeeds();
    let profiled = Profiled::of(&sandbox.path("t.pmt"));
    let calls = |name| profiled.row(name).calls;
    assert_eq!((calls("value/2"), calls("toy:gate/1")), (200, 200));
    assert_eq!(calls("round/1"), 201);
    // Its own work is none of the program.
    assert_eq!(
        profiled.names(),
        [
            "item/1",
            "main/0",
            "round/1",
            "toy:flush/0",
            "toy:gate/1",
            "toy:gather/2",
            "value/2"
        ]
    );
    let clauses = sandbox.portmortem([
        "export",
        "t.pmt",
        "--to",
        "tables",
        "--tables",
        "clauses,arguments",
    ]);
    clauses.succeeds();
    let table = |name| std::fs::read_to_string(sandbox.path(name)).unwrap();
    let clauses = table("tables/clauses.csv");
    assert!(
        clauses.contains("t,round/1,2,toy.pl,5,200,200,"),
        "{clauses}"
    );
    let arguments = table("tables/arguments.csv");
    assert!(arguments.contains("value/2"), "{arguments}");
    sandbox
        .portmortem(["report", "t.pmt"])
        .succeeds()
        .shows("left out (--all shows it): waiting ")
        .shows("collections and stack shifts ")
        .shows("200 calls, 2 distinct arguments; the most repeated 100 times");
}

/// A redo out of a predicate that collects throws away nothing that is missed.
#[test]
fn collectors_are_those_that_it_names() {
    let undone = |options: &[&str]| {
        let profiled = Profiled::of(&recorded(options).path("t.pmt"));
        let pairs = profiled.profile.backtracks.values();
        pairs.map(|pair| pair.undone_ticks).sum::<u64>()
    };
    assert_eq!(undone(&[]), 0);
    assert!(undone(&["bare"]) > 0);
}

#[test]
fn lines_are_annotated() {
    let sandbox = recorded(&[]);
    let text = sandbox.portmortem(["annotate", "t.pmt"]).succeeds().out();
    for (line, calls) in [("    value(3, _),", "200"), ("    gate(table),", "200")] {
        let row = text.lines().find(|row| row.ends_with(line));
        let row = row.unwrap_or_else(|| panic!("{line} is not in {text}"));
        assert!(row.split_whitespace().any(|word| word == calls), "{row}");
    }
}

#[test]
fn advice_asks_for_roles_and_arguments() {
    let of = |all: &[Value], cause: &str| {
        let found = all.iter().find(|one| one["cause"] == cause).cloned();
        found.map(|one| format!("{} {}", one["title"], one["line"]))
    };
    let all = findings(&recorded(&[]));
    let says = |cause: &str| of(&all, cause).unwrap_or_else(|| panic!("no {cause}: {all:#?}"));
    assert!(
        says("waiting").contains("the mutex of toy:gate/1"),
        "{all:#?}"
    );
    assert!(says("waiting").ends_with(" 7"), "{all:#?}");
    assert!(says("repeated-calls").contains("value/2"), "{all:#?}");
    assert!(says("flushes").ends_with(" 8"), "{all:#?}");
    // What nothing says is not guessed.
    let bare = findings(&recorded(&["bare"]));
    for cause in ["waiting", "flushes"] {
        assert_eq!(of(&bare, cause), None, "{bare:#?}");
    }
}

/// `portmortem record` does not run it, so its options would be of no use.
#[test]
fn no_option_of_record_is_named() {
    let sandbox = recorded(&[]);
    std::fs::copy(sandbox.path("t.pmt"), sandbox.path("u.pmt")).unwrap();
    for (command, said) in [
        (
            &["report", "t.pmt", "--focus", "nosuch/1"][..],
            "matches nosuch/1; `report --top 1000` lists those of the trace",
        ),
        (
            &["report", "t.pmt", "--focus", "system:nosuch/1"],
            "matches system:nosuch/1; `report --top 1000` lists those of the trace",
        ),
        (
            &["diff", "--by", "test", "t.pmt", "u.pmt"],
            "no tests of plunit have figures in it\n",
        ),
        (
            &["predict", "t.pmt", "--size-of", "item/1#4"],
            "no size of argument 4 of item/1 was recorded\n",
        ),
    ] {
        sandbox.portmortem(command).exits(1).says(said);
    }
    let prediction = json(
        &sandbox,
        &["predict", "t.pmt", "--size", "n=200", "--at", "400"],
    );
    let remarks = prediction["remarks"].as_array().unwrap();
    let says = |said: &str| remarks.iter().any(|remark| remark == said);
    assert!(
        says(
            "times include the recorder's own: what recording costs is not known of parts of a trace"
        ),
        "{remarks:#?}"
    );
}
