//! `portmortem try` of programs with constraints. What a change gains depends on the machine; that
//! the program does the same with it does not.

use portmortem_tests::Sandbox;
use serde_json::Value;

use super::try_changes::{trial, trials};

#[track_caller]
fn does_the_same(trial: &Value) {
    let text = trial["text"].as_str().unwrap();
    let is_compared = ["confirmed", "undecided", "refuted: no faster"];
    assert!(
        is_compared.iter().any(|begin| text.starts_with(begin)),
        "{trial:#?}"
    );
}

/// Those that are written as operators, and those that a goal of the program posts. What is printed
/// comes afterwards.
#[test]
fn constraints_come_before_the_labelling() {
    for (constraints, line) in [
        ("A*A + B*B #= C*C,\n    A + B #> 22,\n", 7),
        ("right(A, B, C),\n", 7),
    ] {
        let program = format!(
            ":- initialization(main, main).
:- use_module(library(clpfd)).
main :- sums([_, _, _]).
sums([A, B, C]) :-
    Vs = [A, B, C],
    Vs ins 1..20,
    label(Vs),
    {constraints}    print(Vs), nl.
right(A, B, C) :- A*A + B*B #= C*C, A + B #> 22.
"
        );
        let sandbox = Sandbox::with("sums.pl", &program);
        let options = ["--patch", "first.patch"];
        let all = trials(&sandbox, "sums.pl", &options, &[]);
        let change = format!("constraints before label/1 at line {line}");
        does_the_same(trial(&all, &change));
    }
}

#[test]
fn domains_are_halved_or_the_smallest_comes_first() {
    let program = ":- initialization(main, main).
:- use_module(library(clpfd)).
main :- length(Xs, 6), Xs ins 0..5, chain(Xs, #<), label(Xs), print(Xs), nl.
";
    let sandbox = Sandbox::with("order.pl", program);
    let all = trials(&sandbox, "order.pl", &[], &[]);
    for order in ["ff", "ffc", "bisect"] {
        let change = format!("labeling([{order}], …) at line 3");
        does_the_same(trial(&all, &change));
    }
}

/// The values of a recording show them; without values nothing is tried.
#[test]
fn modes_that_values_show() {
    let program = "\
:- module(paths, [main/0]).
:- use_module(library(chr)).
:- initialization(main, main).
:- chr_constraint edge/2, path(?any, ?any).
edge(X, Y) ==> path(X, Y).
edge(X, Y), path(Y, Z) ==> path(X, Z).
path(X, Y) \\ path(X, Y) <=> true.
main :- numlist(1, 15, L), edges(L), path(1, 99), print(done), nl.
edges([]).
edges([X|Xs]) :- Y is X+1, edge(X, Y), edges(Xs).
";
    let sandbox = Sandbox::with("paths.pl", program);
    let change = "modes of constraints at line 4";
    let without = trials(&sandbox, "paths.pl", &[], &[]);
    assert!(without.iter().all(|one| one["change"] != change));

    let values = ["--values", "paths:edge/2", "--values", "paths:path/2"];
    let record = ["record", "paths.pl"].into_iter().chain(values);
    sandbox.portmortem(record).exits(0).prints("done\n");
    let with = trials(&sandbox, "paths.pmt", &[], &[]);
    does_the_same(trial(&with, change));
}
