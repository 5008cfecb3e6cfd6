//! `portmortem advise` of loops by failure: what a loop asks for again was not rejected.

use portmortem_tests::Sandbox;

use super::advise::{self, causes, finding, findings_on, only, says};

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

/// Each round begins at the root, though all but one part of the data is as it was.
#[test]
fn rounds_that_begin_at_the_root() {
    let program = |loops: &str| {
        format!(
            "\
:- initialization(main, main).
main :- sum(60, E), simplify(E, F), size(F, N), print(N), nl.
sum(0, x) :- !.
sum(N, T + x*1 + E) :- part(N, T), M is N-1, sum(M, E).
part(N, a+b+c+(d+e+f+(g+h+N))).
{loops}
rule(E*1, E).
size(A+B, N) :- !, size(A, I), size(B, J), N is I+J.
size(_, 1).
"
        )
    };
    let from_root = "\
simplify(E0, E) :-
    (   step(E0, E1)
    ->  simplify(E1, E)
    ;   E = E0
    ).
step(E0, E) :- rule(E0, E), !.
step(A+B, C+B) :- step(A, C), !.
step(A+B, A+C) :- step(B, C).";
    let one_pass = "\
simplify(A+B, E) :- !, simplify(A, C), simplify(B, D), step(C+D, E).
simplify(E0, E) :- step(E0, E).
step(E0, E) :- rule(E0, E), !.
step(E, E).";
    let options = ["--arguments", "step/2"];
    let found = |loops: &str| advise::found(&program(loops), &options, "begins-again");
    let one = only(
        &found(from_root),
        "step/2 begins from the beginning in each round at line 7 of simplify/2",
    );
    says(&one, "61 rounds of");
    says(&one, "had the same arguments as an earlier one");
    assert_eq!(one["certainty"], "likely");
    assert!(found(one_pass).is_empty());
}

/// All pairs are made, and goals behind them reject nearly all; begun with what relates them, there
/// are few.
#[test]
fn a_generator_of_which_little_comes_through() {
    let program = |cousins: &str| {
        format!(
            "\
:- initialization(main, main).
main :- findall(A-B, cousins(A, B), L), length(L, N), print(N), nl.
{cousins}
person(X) :- between(1, 200, X).
parent(P, C) :- P is C // 4.
parent(P, C) :- P is C // 4 + 1000.
child(P, C) :- P < 1000, Least is max(1, P*4), Most is min(200, P*4+3), between(Least, Most, C).
sisters(P, Q) :- P < 1000, Q is P xor 1.
"
        )
    };
    let pairs = "\
cousins(A, B) :-
    person(A),
    person(B),
    parent(P, A),
    parent(Q, B),
    sisters(P, Q).";
    let related = "\
cousins(A, B) :-
    person(A),
    parent(P, A),
    sisters(P, Q),
    child(Q, B).";
    let found = |cousins: &str| advise::found(&program(cousins), &[], "generator");
    let one = only(
        &found(pairs),
        "792 of 40,000 solutions of person/1 come through at line 5 of cousins/2",
    );
    says(
        &one,
        "Most were rejected by sisters/2 at line 8 of cousins/2",
    );
    let remedy = one["remedy"].as_str().unwrap();
    let is_free = "nothing before it says which solutions of person/1 are wanted";
    assert!(remedy.starts_with(is_free), "{remedy}");
    assert!(found(related).is_empty());
}

/// Where most of the work is in a predicate that goes along a list, that is said, of the program's
/// own and of a library's.
#[test]
fn the_hottest_goal_goes_along_a_list() {
    let program = |look: &str| {
        format!(
            "\
:- initialization(main, main).
main :- numlist(1, 600, L), forall(between(1, 3000, I), at(L, I, _)).
at(L, I, X) :- N is 400 + I mod 200, {look}.
look(0, [X|_], X) :- !.
look(N, [_|Xs], X) :- M is N-1, look(M, Xs, X).
"
        )
    };
    let hottest = |look: &str| {
        let found = advise::found(&program(look), &[], "hottest");
        found.into_iter().next().unwrap()
    };
    let own = hottest("look(N, L, X)");
    says(
        &own,
        "3,000 calls from elsewhere each go along a list, 499 elements in the mean",
    );
    let library = hottest("nth0(N, L, X)");
    says(
        &library,
        "lists:nth0/3 goes along the list from its beginning to the place",
    );
    let remedy = library["remedy"].as_str().unwrap();
    assert!(remedy.contains("use arg/3"), "{remedy}");
}

/// What was paid so far has tables of its own; what is still to be paid has not.
#[test]
fn a_sum_among_the_arguments_of_a_table() {
    let program = |best: &str| {
        format!(
            "\
:- initialization(main, main).
{best}
way(N, M, 1) :- M is N+1.
way(N, M, C) :- M is N+2, C is N mod 5.
"
        )
    };
    let carried = "\
:- table best/3.
main :- best(1, 0, B), print(B), nl.
best(N, Sum, Sum) :- N > 40.
best(N, Sum, B) :- N =< 40, findall(X, (way(N, M, C), S is Sum+C, best(M, S, X)), Xs), min_list(Xs, B).";
    let added = "\
:- table best/2.
main :- forall(between(1, 200, N), best(N, _)), best(1, B), print(B), nl.
best(N, 0) :- N > 240.
best(N, B) :- N =< 240, findall(X, (way(N, M, C), best(M, X0), X is X0+C), Xs), min_list(Xs, B).";
    let found = |best: &str| advise::found(&program(best), &[], "sums-in-tables");
    let one = only(
        &found(carried),
        "argument 2 of best/3 only carries a sum, and has tables of its own",
    );
    says(&one, "is computed with and handed on, and decides nothing");
    assert!(found(added).is_empty());
}

/// Each way has an answer of its own; the shortest of each two places has one.
#[test]
fn an_answer_for_each_way() {
    let program = |ways: &str| {
        format!(
            "\
:- initialization(main, main).
{ways}
road(X, Y) :- X < 15, between(1, 3, S), Y is X+S, Y =< 15.
"
        )
    };
    let all = "\
:- table way/3.
main :- findall(P, way(1, 15, P), Ps), length(Ps, N), print(N), nl.
way(X, Y, [X, Y]) :- road(X, Y).
way(X, Y, [X|P]) :- road(X, Z), way(Z, Y, P).";
    let shortest = "\
:- table way(_, _, min).
main :- way(1, 15, P), print(P), nl.
way(X, Y, 1-[X, Y]) :- road(X, Y).
way(X, Y, L-[X|P]) :- road(X, Z), way(Z, Y, W), W = L0-P, L is L0+1.";
    let found = |ways: &str| advise::found(&program(ways), &[], "many-answers");
    let one = only(
        &found(all),
        "way/3 keeps an answer for each way to a result, told apart by argument 3",
    );
    says(&one, "Argument 3 grows behind the recursive call");
    assert!(found(shortest).is_empty());
}
