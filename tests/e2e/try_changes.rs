//! `portmortem try`: changes that findings propose are made in memory and compared with it.

use std::fs;
use std::process::Command;

use portmortem_tests::{Sandbox, repository};
use serde_json::Value;

/// Its choicepoints are never used, so a cut in the first clauses changes nothing but the time.
const FIB: &str = ":- initialization(main, main).
main :- current_prolog_flag(argv, [Last|_]), atom_number(Last, N), fib(N, F), print(F), nl.
fib(0, 0).
fib(1, 1).
fib(N, F) :-
    N > 1,
    A is N-1,
    B is N-2,
    fib(A, FA),
    fib(B, FB),
    F is FA+FB.
";

/// All trials of a program that was given these arguments.
fn trials(sandbox: &Sandbox, program: &str, options: &[&str], arguments: &[&str]) -> Vec<Value> {
    let mut command = vec!["try", program, "--format", "json", "--least", "0"];
    command.extend(options);
    command.push("--");
    command.extend(arguments);
    let outcome = sandbox.portmortem(command);
    outcome.exits(0);
    let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    report["trials"].as_array().unwrap().clone()
}

#[track_caller]
fn trial<'t>(trials: &'t [Value], change: &str) -> &'t Value {
    let found = trials.iter().find(|trial| trial["change"] == change);
    found.unwrap_or_else(|| panic!("{change}: {trials:#?}"))
}

/// How much faster it is depends on the machine; that it does the same does not.
#[test]
fn a_cut_does_the_same_and_its_patch_applies() {
    let sandbox = Sandbox::with("fib.pl", FIB);
    let options = ["--patch", "faster.patch"];
    let all = trials(&sandbox, "fib.pl", &options, &["21"]);
    let cut = trial(&all, "a cut behind the head and first tests of fib/2");
    let text = cut["text"].as_str().unwrap();
    assert!(!text.contains("other"), "{cut:#?}");
    assert_eq!(cut["seconds"].as_array().unwrap().len(), 5);
    assert_eq!(fs::read_to_string(sandbox.path("fib.pl")).unwrap(), FIB);

    let patch = fs::read_to_string(sandbox.path("faster.patch")).unwrap();
    let is_confirmed = all.iter().any(|trial| trial["verdict"] == "confirmed");
    assert_eq!(!patch.is_empty(), is_confirmed, "{all:#?}");
    if is_confirmed {
        let mut git = Command::new("git");
        git.args(["apply", "-p0", "faster.patch"]);
        let applied = git.current_dir(sandbox.path("")).status().unwrap();
        assert!(applied.success(), "{patch}");
        let changed = fs::read_to_string(sandbox.path("fib.pl")).unwrap();
        assert!(changed.contains("fib(0, 0) :- !."), "{changed}");
    }
}

#[test]
fn what_changes_the_output_is_refuted() {
    let sandbox = Sandbox::new();
    let program = repository("tests/programs/slow/library_generator.pl");
    let program = program.display().to_string();
    let all = trials(&sandbox, &program, &[], &[]);
    let moved = trial(&all, "ok/2 before member/2");
    assert_eq!(moved["verdict"], "refuted");
    let text = moved["text"].as_str().unwrap();
    assert!(
        text.starts_with("refuted: other output: line 1 is"),
        "{text}"
    );
}

/// Each run gets what was read from standard input, and the words behind `--`.
#[test]
fn runs_get_input_and_arguments() {
    let text = FIB.replace(
        "current_prolog_flag(argv, [Last|_]), atom_number(Last, N)",
        "current_prolog_flag(argv, [_|_]), read(N)",
    );
    let sandbox = Sandbox::with("fib.pl", &text);
    sandbox.write("input", "15.\n");
    let script = "$portmortem try fib.pl --format json --least 0 -- word < input";
    let outcome = sandbox.sh(script);
    outcome.exits(0);
    let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let all = report["trials"].as_array().unwrap();
    let cut = trial(all, "a cut behind the head and first tests of fib/2");
    assert!(!cut["text"].as_str().unwrap().contains("other"), "{cut:#?}");
}

#[test]
fn a_program_that_prints_something_else_each_time_cannot_be_compared() {
    let program = ":- initialization(main, main).
main :- fib(21, _), get_time(Now), print(Now), nl.
fib(0, 0).
fib(1, 1).
fib(N, F) :- N > 1, A is N-1, B is N-2, fib(A, FA), fib(B, FB), F is FA+FB.
";
    let sandbox = Sandbox::with("now.pl", program);
    let outcome = sandbox.portmortem(["try", "now.pl", "--least", "0"]);
    outcome
        .exits(1)
        .says("does something else when it runs again");
}

#[test]
fn what_is_not_there_is_said() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.portmortem(["try", "nothing.pl"]);
    outcome.exits(1).says("nothing.pl: no such Prolog file");
}
