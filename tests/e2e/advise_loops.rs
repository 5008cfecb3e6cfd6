//! `portmortem advise` of loops by failure: what a loop asks for again was not rejected.

use portmortem_tests::Sandbox;

use super::advise::{causes, finding, findings_on, says};

/// A clause that generates 1,500 numbers; what expands `forall/2` is loaded, or not.
fn program(imports: &str, body: &str) -> String {
    format!(
        "\
:- initialization(main, main).
{imports}
main :- numlist(1, 1500, L), ( p(L) -> true ; true ), print(done), nl.
p(L) :-
{body}.
twice(X, Y) :- Y is X*2.
"
    )
}

const INLINE: &str = ":- use_module(library(apply_macros)).";

/// The action passes, or fails in any case, and the loop asks for the next solution.
#[test]
fn a_loop_that_asks_for_all_solutions_rejects_none() {
    let sandbox = Sandbox::new();
    for body in [
        "    forall(member(X, L),
           ( twice(X, Y),
             Y =< 10000 ))",
        "    forall(member(X, L), X =< 10000)",
        "    \\+ ( member(X, L),
         twice(X, Y),
         \\+ Y =< 10000 )",
        "    (   member(X, L),
        twice(X, Y),
        Y > 1000,
        fail
    ;   true
    )",
    ] {
        for imports in [INLINE, ""] {
            let found = findings_on(&sandbox, &program(imports, body));
            assert!(!causes(&found).contains(&"generator"), "{body}: {found:#?}");
        }
    }
}

/// A test between the generator and a goal rejects, also in a loop.
#[test]
fn a_test_in_a_loop_rejects() {
    let sandbox = Sandbox::new();
    for (body, line, rejected) in [
        (
            "    forall(( member(X, L), X mod 5 =:= 0 ),
           twice(X, _))",
            5,
            "failed 1,200 times",
        ),
        (
            "    (   member(X, L),
        X > 1400,
        twice(X, _),
        fail
    ;   true
    )",
            5,
            "failed 1,400 times",
        ),
        (
            "    \\+ ( member(X, L),
         X > 10000 )",
            5,
            "failed 1,499 times",
        ),
    ] {
        let found = findings_on(&sandbox, &program(INLINE, body));
        let one = finding(&found, "generator", "p/1", line);
        says(&one, rejected);
    }
}
