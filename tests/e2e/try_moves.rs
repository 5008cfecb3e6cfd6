//! `portmortem try` moves a goal only where all that it reads is bound.

use portmortem_tests::Sandbox;
use serde_json::Value;

/// What `try` proposes for a program.
fn proposed(text: &str) -> Vec<Value> {
    let sandbox = Sandbox::with("p.pl", text);
    let outcome = sandbox.portmortem(["try", "p.pl", "--format", "json", "--least", "0"]);
    outcome.exits(0);
    let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let tried = findings.flat_map(|finding| finding["tried"].as_array().unwrap());
    tried.cloned().collect()
}

/// The changed text of each change that moves goals.
fn moves(trials: &[Value]) -> Vec<(&str, String)> {
    let names = trials.iter().map(|trial| {
        let after = trial["edits"].as_array().unwrap().iter();
        let after: Vec<_> = after.map(|edit| edit["after"].as_str().unwrap()).collect();
        (trial["change"].as_str().unwrap(), after.concat())
    });
    let is_move = |name: &str| {
        name.contains(" before ") || name.contains(" behind ") && !name.starts_with("a cut")
    };
    names
        .filter(|(name, _)| is_move(name) || name.starts_with("tests "))
        .collect()
}

#[track_caller]
fn stays(text: &str) {
    let trials = proposed(text);
    let moved = moves(&trials);
    assert!(moved.is_empty(), "{moved:#?}");
}

/// Tests that would fail, succeed or raise an error before the goal that binds what they read,
/// which is an argument of the head, too.
#[test]
fn a_test_stays_behind_what_binds_its_variables() {
    for test in [
        "Y > 5",
        "Y =:= 6",
        "Y @> 5",
        "Y \\== 3, Y \\== 4",
        "Y == 6",
        "nonvar(Y), Y > 5",
        "integer(Y), Y > 5",
        "\\+ Y = 3",
        "\\+ odd(Y)",
    ] {
        stays(&format!(
            ":- initialization(main, main).
main :- findall(X-Y, pick(X, Y), L), length(L, N), print(N), nl.
pick(X, Y) :- between(1, 3000, X), Y is X mod 7, {test}.
odd(Y) :- Y mod 2 =:= 1.
"
        ));
    }
}

/// `ok/2` gives another answer if nothing is bound yet.
#[test]
fn a_goal_stays_behind_what_binds_its_variables() {
    stays(
        ":- initialization(main, main).
main :- findall(X, pick(X), L), length(L, N), print(N), nl.
pick(X) :- member(A, [1,2,3]), between(1, 1000, X), ok(A, X).
ok(A, X) :- \\+ X = 3, X mod 100 =:= A.
",
    );
}

/// One call of three leaves it unbound.
#[test]
fn an_argument_that_is_bound_at_some_calls_is_not_known() {
    stays(
        ":- initialization(main, main).
main :- forall(member(Y, [6, 5, _]), ( findall(X-Y, pick(X, Y), L), length(L, N), print(N), nl )).
pick(X, Y) :- between(1, 3000, X), value(X, Y), Y > 5.
value(X, Y) :- Y is X mod 7.
",
    );
}

/// A clause that is called with a number, and what a goal before has bound.
#[test]
fn what_is_bound_is_tested_earlier() {
    let trials = proposed(
        ":- initialization(main, main).
main :- findall(X-Y, pick(4, X, Y), L), length(L, N), print(N), nl.
pick(K, X, Y) :-
    between(1, 3000, X),
    Y is X mod 7,
    X > 2990,
    Y > K.
",
    );
    let moved = moves(&trials);
    let [(name, after)] = moved.as_slice() else {
        panic!("{moved:#?}");
    };
    assert_eq!(*name, "tests as early as possible at line 4");
    assert_eq!(after, "    X > 2990,\n    Y is X mod 7,\n");
}

/// A comparison of an unbound variable is true here as well: no output would show that it is wrong.
#[test]
fn what_no_output_would_show_stays_behind_what_binds_it() {
    let trials = proposed(
        ":- initialization(main, main).
main :- findall(X-Y, pick(X, Y), L), length(L, N), print(N), nl.
pick(X, Y) :- between(1, 3000, X), Y is X mod 7, X mod 3 =:= 0, Y \\== 9.
",
    );
    let moved = moves(&trials);
    let after = "pick(X, Y) :- between(1, 3000, X), X mod 3 =:= 0, Y is X mod 7, Y \\== 9.\n";
    let early = ("tests as early as possible at line 3", after.to_owned());
    assert_eq!(moved, [early]);
}

#[test]
fn a_goal_whose_variables_are_called_with_values_comes_first() {
    let trials = proposed(
        ":- initialization(main, main).
main :- forall(between(1, 2000, N), ( accept(N) -> true ; true )).
accept(N) :- numbers(L), costly(L, S), S > 0, wanted(N).
numbers(L) :- numlist(1, 100, L).
costly(L, S) :- sum_list(L, S).
wanted(N) :- N mod 10 =:= 0.
",
    );
    let moved = moves(&trials);
    let first = "accept(N) :- numbers(L), wanted(N), costly(L, S), S > 0.\n";
    let is_first = |one: &(&str, String)| one.0 == "wanted/1 before costly/2" && one.1 == first;
    assert!(moved.iter().any(is_first), "{trials:#?}");
}

#[test]
fn a_cut_is_not_passed() {
    stays(
        ":- initialization(main, main).
main :- findall(X-Y, ( between(1, 3000, X), pick(X, Y) ), L), length(L, N), print(N), nl.
pick(X, Y) :- between(1, 3, Z), Y is X + Z, !, X > 2990.
",
    );
}
