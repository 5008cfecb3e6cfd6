//! `portmortem advise` of recordings with values: each finding, and a program without the mistake.

use serde_json::Value;

use super::advise::{self, only, says};

/// The findings of this cause with values of these predicates.
fn found(program: &str, values: &[&str], cause: &str) -> Vec<Value> {
    let options = values.iter().flat_map(|of| ["--values", of]);
    advise::found(program, &options.collect::<Vec<_>>(), cause)
}

const COUNTING: &str = "\
:- initialization(main, main).
:- set_prolog_flag(gc, false).
main :- numlist(1, 350, Ws), empty(E), foldl(count, Ws, E, _).
";

#[test]
fn a_dict_that_is_copied_for_each_key() {
    let program = format!("{COUNTING}empty(_{{}}).\ncount(W, C0, C) :- put_dict(W, C0, 1, C).\n");
    let found = found(&program, &["*"], "copied-data");
    // Not what calls it.
    let one = only(
        &found,
        "system:put_dict/4 makes its data anew at each step at line 5 of count/3",
    );
    says(&one, "Argument 2 grew from 3 to ");
    says(&one, "calls were given the result of a call before.");
    assert_eq!(one["certainty"], "likely");
}

#[test]
fn a_tree_shares_what_does_not_change() {
    let program = format!(
        ":- use_module(library(assoc)).\n{COUNTING}empty(t).\ncount(W, C0, C) :- put_assoc(W, C0, 1, C).\n"
    );
    assert!(found(&program, &["*"], "copied-data").is_empty());
}

/// A list is gone over for each element that is added, also when few are new; a tree is not.
#[test]
fn a_list_that_is_gone_over_for_what_is_new() {
    let program = |add: &str| {
        format!(
            "\
:- initialization(main, main).
:- use_module(library(assoc)).
main :- numlist(1, 3000, Ns), empty(E), foldl(add, Ns, E, _).
{add}
"
        )
    };
    let list = "empty([]).\nadd(N, S0, S) :- M is N mod 400, union([a-M, b-M, c-M, d-M], S0, S).";
    let found_in = |add| {
        let values = ["union/3", "put_assoc/4"];
        found(&program(add), &values, "walked-again")
    };
    let one = only(
        &found_in(list),
        "lists:union/3 goes over data that grows in each round at line 5 of add/3",
    );
    says(&one, "calls were given the result of a call before");
    let tree = "empty(t).\nadd(N, S0, S) :- put_assoc(N, S0, 1, S).";
    assert!(found_in(tree).is_empty());
}

/// Each step takes a character from the front of a text, and copies the rest; a list of codes
/// shares it.
#[test]
fn a_text_that_is_consumed_from_its_front() {
    let program = |step: &str, text: &str| {
        format!(
            "\
:- initialization(main, main).
:- set_prolog_flag(gc, false).
main :- numlist(1, 1500, Ns), atomic_list_concat(Ns, A), {text}, rest(T, 600).
rest(_, 0) :- !.
rest(T, N) :- {step}, M is N-1, rest(R, M).
"
        )
    };
    for (step, text, callee) in [
        (
            "sub_string(T, 1, _, 0, R)",
            "atom_string(A, T)",
            "system:sub_string/5",
        ),
        (
            "string_code(1, T, C), string_codes(S, [C]), string_concat(S, R, T)",
            "atom_string(A, T)",
            "system:string_concat/3",
        ),
    ] {
        let found = found(&program(step, text), &["*"], "copied-data");
        let title =
            format!("{callee} copies what is left of a text at each step at line 5 of rest/2");
        let one = only(&found, &title);
        assert!(one["remedy"].as_str().unwrap().contains("string_codes/2"));
    }
    let codes = program("T = [_|R]", "atom_codes(A, T)");
    assert!(found(&codes, &["*"], "copied-data").is_empty());
    // A text that grows is none that is consumed.
    let grows = program("string_concat(T, x, R)", "atom_string(A, T)");
    let found = found(&grows, &["*"], "copied-data");
    let title = "system:string_concat/3 makes its data anew at each step at line 5 of rest/2";
    only(&found, title);
}

/// Two data that grow in turn at one goal.
#[test]
fn dicts_that_are_copied_in_turn() {
    let program = "\
:- initialization(main, main).
:- set_prolog_flag(gc, false).
main :- numlist(1, 350, Ws), foldl(count, Ws, _{}-_{}, _).
count(W, A0-B0, A-B) :- add(W, A0, A), add(W, B0, B).
add(W, C0, C) :- put_dict(W, C0, W, C).
";
    let found = found(program, &["put_dict/4"], "copied-data");
    let title = "system:put_dict/4 makes its data anew at each step at line 5 of add/3";
    only(&found, title);
}

/// A number that grows in each step is as good as a text that does.
#[test]
fn a_number_that_grows() {
    let program = |rest: &str| {
        format!(
            "\
:- initialization(main, main).
main :- forall(between(1, 4, _), round).
round :- numlist(1, 40000, Ns), foldl(hash, Ns, 0, H), M is H mod 1009, print(M), nl.
hash(N, H0, H) :- H is (H0 * 1000003 + N){rest}.
"
        )
    };
    let found_in = |rest| found(&program(rest), &["hash/3"], "walked-again");
    let [one] = &found_in("")[..] else {
        panic!("it is not found");
    };
    let remedy = one["remedy"].as_str().unwrap();
    assert!(remedy.contains("keep it small in each step"), "{remedy}");
    assert!(found_in(" mod 1000000007").is_empty());
}

/// By a helper, of a fact that holds the whole state.
#[test]
fn a_state_in_one_fact() {
    let program = "\
:- initialization(main, main).
:- dynamic stock/1.
main :- findall(A-20, between(1, 300, A), Items), assertz(stock(Items)), forall(between(1, 200, N), ( A is N mod 10 + 290, sell(A) )).
sell(A) :- retract(stock(Items0)), replace(Items0, A, Items), assertz(stock(Items)).
replace([A-N0|Items], A, [A-N|Items]) :- !, N is N0-1.
replace([Item|Items0], A, [Item|Items]) :- replace(Items0, A, Items).
";
    let found = found(program, &["replace/3"], "copied-data");
    only(
        &found,
        "replace/3 makes its data anew at each step at line 4 of sell/1",
    );
}

/// The state that changes meanwhile is not what `norm/2` reads.
#[test]
fn results_that_are_computed_again() {
    let program = "\
:- initialization(main, main).
:- dynamic user/2, seen/1.
main :- forall(between(1, 20, U), assertz(user(U, 3))), forall(between(1, 400, N), ( U is N mod 20 + 1, visit(U) )).
visit(U) :- norm(U, N), assertz(seen(U)), next(U, M), print(N-M), nl.
norm(U, N) :- user(U, X), numlist(1, 3000, L), sum_list(L, S), N is S*X.
next(U, N) :- aggregate_all(count, seen(U), N).
";
    // What norm/2 calls is not named beside it.
    let values = ["norm/2", "next/2", "numlist/3"];
    let found = found(program, &values, "repeated-calls");
    let one = only(&found, "norm/2 computes again what it has computed before");
    says(
        &one,
        "380 of 400 calls of norm/2 that were looked at (95 %)",
    );
}

/// A generator is computed again if all its solutions are the same, and not if those behind the
/// first one are others.
#[test]
fn solutions_that_are_computed_again() {
    let program = |last: &str| {
        format!(
            "\
:- initialization(main, main).
main :- forall(between(1, 100, Round), findall(B, best({last}, B), [_, _, _])).
best(Last, B) :- numlist(1, 3000, L), sum_list(L, S), best(Last, S, B).
best(_, S, S).
best(_, S, B) :- B is S+1.
best(Last, S, B) :- B is S+Last.
"
        )
    };
    let found_in = |last| found(&program(last), &["best/2"], "repeated-solutions");
    let found = found_in("2");
    let one = only(&found, "best/2 computes again what it has computed before");
    says(&one, "99 of 100 calls of best/2 that were looked at (99 %)");
    assert!(found_in("Round").is_empty());
    let global = program("0").replace(
        "B is S+Last",
        "nb_getval(n, N), M is N+1, nb_setval(n, M), B is S+M",
    );
    let global = global.replace("main :-", "main :- nb_setval(n, 0),");
    assert!(self::found(&global, &["best/2"], "repeated-solutions").is_empty());
}

/// A goal with variables in it that collects the same each time, also more than is compared; not
/// one that collects other things, and none that changes facts.
#[test]
fn solutions_that_are_collected_again() {
    let program = |facts: u32, goal: &str| {
        format!(
            "\
:- initialization(main, main).
:- dynamic sale/2.
main :- forall(between(1, {facts}, N), ( R is N mod 10, assertz(sale(R, N)) )),
    forall(between(1, 100, N), ( total(N, T), print(T), nl )).
total(N, T) :- R is N mod 10, findall(R1-A, {goal}, All), sum(All, R, 0, T).
sum([], _, T, T).
sum([R1-A|Xs], R, T0, T) :- ( R1 == R -> T1 is T0+A ; T1 = T0 ), sum(Xs, R, T1, T).
"
        )
    };
    let found_in = |facts, goal| found(&program(facts, goal), &["findall/3"], "repeated-calls");
    let one = only(
        &found_in(600, "sale(R1, A)"),
        "'$bags':findall/3 at line 5 of total/2 computes again what it has computed before",
    );
    says(&one, "99 of 100 calls that were looked at (99 %)");
    says(&one, "all results that are known were the same");
    let large = found_in(3000, "sale(R1, A)");
    says(
        &large[0],
        "too large to be compared, and nothing that it reads changed",
    );
    assert!(found_in(600, "( sale(R1, A), A > N )").is_empty());
    let changed = "( sale(R1, A), retract(sale(R1, A)), assertz(sale(R1, A)) )";
    assert!(found_in(600, changed).is_empty());
}

/// Facts that are all removed and stored again for one new one; not a state that is one fact.
#[test]
fn facts_that_are_stored_again() {
    let program = "\
:- initialization(main, main).
:- dynamic visited/1, at/1.
main :- assertz(at(0)), walk(150), visits(N), print(N), nl.
walk(0) :- !.
walk(N) :-
    findall(V, visited(V), Vs),
    retractall(visited(_)),
    Place is (N*N) mod 199,
    sort([Place|Vs], All),
    forall(member(V, All), assertz(visited(V))),
    M is N-1,
    walk(M).
visits(N) :- aggregate_all(count, visited(_), N).
";
    let found_in = |program: &str| found(program, &["assertz/1"], "asserted-again");
    let one = only(
        &found_in(program),
        "system:assertz/1 at line 10 of walk/1 stores facts again that were there before",
    );
    says(&one, "Facts were removed 150 times");
    let state = "    retract(at(_)), !, M is N-1, P is N mod 7, assertz(at(P)), walk(M).\nvisits";
    let begin = program.find("    findall").unwrap();
    let end = program.find("visits(N) :-").unwrap();
    let one_by_one = format!("{}{state}{}", &program[..begin], &program[end + 6..]);
    let one_by_one = one_by_one.replace("walk(150)", "walk(3000)");
    assert!(found_in(&one_by_one).is_empty());
}

/// Tables that are thrown away after each question; not those that stay.
#[test]
fn tables_that_are_filled_again() {
    let program = |then: &str| {
        format!(
            "\
:- initialization(main, main).
:- table finish/2.
main :- forall(between(1, 60, N), ( finish(N, T), {then}, T > 0 )).
finish(1, 1) :- !.
finish(N, T) :- M is N-1, finish(M, S), T is S+1.
"
        )
    };
    let found_in = |then| found(&program(then), &["finish/2"], "filled-again");
    let one = only(
        &found_in("abolish_all_tables"),
        "finish/2 fills tables again that were thrown away",
    );
    says(&one, "1,830 tables were filled");
    assert!(found_in("true").is_empty());
}

/// What is thrown is copied; a recursion through which something small is thrown copies nothing.
#[test]
fn data_that_is_thrown() {
    let program = |thrown: &str| {
        format!(
            "\
:- initialization(main, main).
main :- numlist(1, 3000, L), forall(between(1, 500, N), catch(check(N, L), bad(_), true)).
check(N, L) :- N > 0, L = [First|_], throw(bad({thrown})).
"
        )
    };
    let hottest = |thrown: &str| found(&program(thrown), &[], "hottest");
    says(&hottest("L")[0], "what is thrown is copied as a whole");
    let small = format!("{:?}", hottest("First"));
    assert!(!small.contains("what is thrown"), "{small}");
}

/// Clauses that do not exclude each other give a solution twice; what drives a loop does so on
/// purpose.
#[test]
fn the_same_solution_several_times() {
    let program = |last: &str| {
        format!(
            "\
:- initialization(main, main).
main :- findall(N, ( between(1, 500, N), size(N, S), S == none ), []).
size(N, S) :- N > 0, S = small.
size(N, S) :- {last}.
"
        )
    };
    let found_in = |last| found(&program(last), &["size/2"], "same-solutions");
    let found = found_in("N < 1000, S = small");
    let one = only(&found, "size/2 gives the same solution several times");
    says(&one, "500 were looked at; 500 (100 %) were the same");
    assert!(found_in("N < 1000, S = less").is_empty());
    assert!(found_in("N < 1000, nb_setval(n, N), S = small").is_empty());
}

fn orders(cost: &str) -> String {
    format!(
        "\
:- initialization(main, main).
:- table cost/3.
main :- forall(( between(1, 40, Order), between(1, 10, Part) ), cost(Order, Part, _)).
cost(Order, Part, Cost) :- Cost is {cost}.
"
    )
}

#[test]
fn an_argument_that_makes_no_difference() {
    let found_in = |cost: &str| found(&orders(cost), &["cost/3"], "useless-argument");
    let found = found_in("Part*3+0*Order");
    let one = only(&found, "argument 1 of cost/3 makes no difference");
    says(&one, "390 of 400 calls of cost/3");
    says(&one, "Each value of it has tables of its own.");
    // It matters, if only for the last one.
    assert!(found_in("Part*3+Order//40").is_empty());
}

/// Facts say of each value what is so, also where that is the same for all that was asked.
#[test]
fn no_argument_of_facts_is_useless() {
    let program = "\
:- initialization(main, main).
:- dynamic loan/2.
main :- forall(( between(1, 40, R), between(1, 10, B) ), assertz(loan(R, B))),
    forall(( between(1, 40, R), between(1, 10, B) ), has(R, B)).
has(R, B) :- loan(R, B), !.
";
    assert!(found(program, &["loan/2"], "useless-argument").is_empty());
}

#[test]
fn codes_that_become_an_atom_and_codes_again() {
    let program = |again: &str| {
        format!(
            "\
:- initialization(main, main).
main :- numlist(0'a, 0'z, Codes), loop(200, Codes).
loop(0, _) :- !.
loop(N, Codes) :- atom_codes(Name, Codes), {again}, M is N-1, loop(M, Again).
"
        )
    };
    let found_in = |again: &str| {
        found(
            &program(again),
            &["atom_codes/2", "reverse/2"],
            "to-and-fro",
        )
    };
    let found = found_in("atom_codes(Name, Again)");
    let one = only(
        &found,
        "system:atom_codes/2 undoes what system:atom_codes/2 has done",
    );
    says(&one, "of 400 exits of system:atom_codes/2");
    assert!(found_in("atom_length(Name, L), Again = [L|Codes]").is_empty());
}

/// Tables of lists are looked up element by element; those of places in them are not.
#[test]
fn tables_that_are_looked_up_by_lists() {
    let program = |common: &str, call: &str| {
        format!(
            "\
:- initialization(main, main).
:- table common/3.
main :- numlist(1, 60, L), findall(Y, (member(X, L), Y is X*7 mod 61), M), start(L, M), {call}, print(N), nl.
start(L, M) :- A =.. [a|L], B =.. [b|M], nb_setval(a, A), nb_setval(b, B).
{common}
"
        )
    };
    let lists = "\
common([], _, 0) :- !.
common(_, [], 0) :- !.
common([X|Xs], [X|Ys], N) :- !, common(Xs, Ys, M), N is M+1.
common([X|Xs], [Y|Ys], N) :- common(Xs, [Y|Ys], A), common([X|Xs], Ys, B), N is max(A, B).";
    let places = "\
common(61, _, 0) :- !.
common(_, 61, 0) :- !.
common(I, J, N) :- at(a, I, X), at(b, J, X), !, I1 is I+1, J1 is J+1, common(I1, J1, M), N is M+1.
common(I, J, N) :- I1 is I+1, J1 is J+1, common(I1, J, A), common(I, J1, B), N is max(A, B).
at(Of, I, X) :- nb_getval(Of, T), arg(I, T, X).";
    let found_in = |program: &str| found(program, &["common/3"], "table-keys");
    let one = only(
        &found_in(&program(lists, "common(L, M, N)")),
        "tables of common/3 are looked up by large terms",
    );
    says(&one, "goes through all of its arguments to find its table");
    assert!(found_in(&program(places, "common(1, 1, N)")).is_empty());
}

/// Exact fractions grow in each step; rounded ones do not.
#[test]
fn numbers_that_grow_long() {
    let program = |step: &str| {
        format!(
            "\
:- initialization(main, main).
main :- F is 1 + 7 rdiv 1200, debt(600, F, 1000).
debt(0, _, D) :- !, X is float(D), print(X), nl.
debt(N, F, D0) :- D is {step}, M is N-1, debt(M, F, D).
"
        )
    };
    let found_in = |step: &str| found(&program(step), &["debt/3"], "long-numbers");
    let one = only(
        &found_in("D0*F - 8"),
        "numbers in argument 3 of debt/3 grow long",
    );
    says(&one, "debt/3 computes with argument 3, which had 1 to ");
    assert!(found_in("round(D0*F*100) rdiv 100 - 8").is_empty());
}
