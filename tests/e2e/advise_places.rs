//! `portmortem advise`: general findings give way to those that name the cause, and advice fits
//! what is done with the data.

use portmortem_tests::Sandbox;
use serde_json::Value;

use super::advise::{self, causes, findings, only, says};

fn of_cause<'f>(found: &'f [Value], cause: &str) -> Option<&'f Value> {
    found.iter().find(|one| one["cause"] == cause)
}

/// The dict is what the collections are for; its finding says so, and there is no other advice.
#[test]
fn collections_are_part_of_what_makes_the_data() {
    let program = "\
:- initialization(main, main).
main :- numlist(1, 4000, Ws), foldl(count, Ws, _{}, _).
count(W, C0, C) :- K is W mod 1500, put_dict(K, C0, 1, C).
";
    let sandbox = Sandbox::with("run.pl", program);
    let record = ["record", "run.pl", "--values", "put_dict/4"];
    sandbox.portmortem(record).exits(0);
    let found = findings(&sandbox);
    assert!(!causes(&found).contains(&"memory"), "{found:#?}");
    let copied = of_cause(&found, "copied-data").unwrap();
    says(
        copied,
        "went into collections and stack shifts in system:put_dict/4",
    );
    let remedy = copied["remedy"].as_str().unwrap();
    assert!(remedy.contains("copies all pairs of the dict"), "{remedy}");
    assert!(remedy.contains("library(assoc)"), "{remedy}");
    // The goal with most of the work is the same.
    let hottest = of_cause(&found, "hottest").unwrap();
    assert_eq!(hottest["line"], copied["line"]);
    let remedy = hottest["remedy"].as_str().unwrap();
    assert!(remedy.starts_with("what copied-data says"), "{remedy}");
    // Without values nothing says what makes the data; what has most of it is known.
    sandbox.portmortem(["record", "run.pl", "--force"]).exits(0);
    let plain = findings(&sandbox);
    let memory = of_cause(&plain, "memory").unwrap();
    let remedy = memory["remedy"].as_str().unwrap();
    assert!(remedy.contains("put_dict/4 copies all pairs"), "{remedy}");
    assert!(!remedy.contains("accumulator"), "{remedy}");
}

/// All elements are gone over for one of them; where others are used, too, nothing is said.
#[test]
fn lists_that_are_made_for_one_element() {
    let program = |goal: &str| {
        format!(
            "\
:- initialization(main, main).
:- use_module(library(assoc)).
main :- numlist(1, 300, L), findall(K-K, member(K, L), Ps), list_to_assoc(Ps, A),
    forall(between(1, 200, N), ( next(N, L, A, X), nonvar(X) )).
next(_, L, A, X) :- {goal}, nonvar(L), nonvar(A).
"
        )
    };
    let title = |maker: &str, which: &str| {
        format!(
            "{maker} makes a list of all elements at line 5 of next/4, and only the {which} is used"
        )
    };
    for (goal, maker, which, instead) in [
        (
            "assoc_to_keys(A, [X|_])",
            "assoc:assoc_to_keys/2",
            "first",
            "min_assoc/3",
        ),
        (
            "assoc_to_values(A, Vs), last(Vs, X)",
            "assoc:assoc_to_values/2",
            "last",
            "max_assoc/3",
        ),
        (
            "msort(L, Ss), Ss = [X|_]",
            "system:msort/2",
            "first",
            "min_member/2",
        ),
        (
            "sort(0, @>=, L, Ss), Ss = [X|_]",
            "system:sort/4",
            "first",
            "foldl/4",
        ),
        (
            "setof(Y, member(Y, L), Ys), nth0(0, Ys, X)",
            "'$bags':setof/3",
            "first",
            "aggregate_all(min(X)",
        ),
        ("reverse(L, [X|_])", "lists:reverse/2", "first", "last/2"),
    ] {
        let found = advise::found(&program(goal), &[], "collected-for-first");
        let one = only(&found, &title(maker, which));
        let remedy = one["remedy"].as_str().unwrap();
        assert!(remedy.contains(instead), "{goal}: {remedy}");
    }
    for goal in [
        "assoc_to_keys(A, [X|Xs]), nonvar(Xs)",
        "msort(L, Ss), Ss = [X|_], last(Ss, Y), nonvar(Y)",
        "msort(L, Ss), sum_list(Ss, X)",
        "msort(L, X)",
        "last(L, X)",
    ] {
        let found = advise::found(&program(goal), &[], "collected-for-first");
        assert!(found.is_empty(), "{goal}: {found:#?}");
    }
}

/// A text that is only a key; one that is printed, kept as a value, or handed back is none.
#[test]
fn texts_that_are_keys() {
    let program = |visit: &str| {
        format!(
            "\
:- initialization(main, main).
:- use_module(library(assoc)).
:- dynamic([seen/1, label/2]).
main :- empty_assoc(A), forall(between(1, 900, N), ( X is N mod 40, visit(X, N, A) )).
visit(X, N, A) :- {visit}, nonvar(X), nonvar(N), nonvar(A).
key(X, Y, Key) :- atomic_list_concat([X, Y], '-', Key).
"
        )
    };
    for (visit, maker) in [
        (
            "key(X, X, K), ( seen(K) -> true ; assertz(seen(K)) )",
            "key/3",
        ),
        ("key(X, X, K), \\+ get_assoc(K, A, _)", "key/3"),
        (
            "format(atom(K), '~w/~w', [X, X]), \\+ memberchk(K-_, [])",
            "system:format/3",
        ),
        (
            "term_to_atom(f(X), K), ( label(K, _) -> true ; assertz(label(K, X)) )",
            "system:term_to_atom/2",
        ),
    ] {
        let found = advise::found(&program(visit), &[], "text-keys");
        let title = format!("{maker} makes a text at line 5 of visit/3 to look something up by it");
        let one = only(&found, &title);
        assert_eq!(one["certainty"], "likely", "{visit}");
    }
    for visit in [
        "key(X, X, K), assertz(label(X, K))",
        "key(X, X, K), put_assoc(X, A, K, _)",
        "key(X, X, K), ( seen(K) -> true ; print_message(silent, format(K, [])), assertz(seen(K)) )",
        "key(X, X, K), atom_length(K, _)",
        "key(X, X, K), debug(visits, '~w', [K])",
        "seen(X) -> true ; assertz(seen(X))",
    ] {
        let found = advise::found(&program(visit), &[], "text-keys");
        assert!(found.is_empty(), "{visit}: {found:#?}");
    }
}

/// What rejects facts computes something for each of them, or compares an argument of them.
#[test]
fn facts_that_an_index_would_lead_to() {
    let facts: String = (1..=300).map(|n| format!("item(it{n}, {n}).\n")).collect();
    let program = |goals: &str| {
        format!(
            "\
:- initialization(main, main).
main :- forall(between(1, 60, N), ( find(N, P), nonvar(P) )).
find(N, P) :- {goals}, !.
same(A, B) :- atom_concat(it, B, A).
equal(A, A).
{facts}"
        )
    };
    for (goals, words) in [
        (
            "item(I, P),\n  same(I, N)",
            "compute that once, where the facts are made",
        ),
        (
            "item(_, P),\n  equal(P, N)",
            "equal to what is known before, write that in the call of item/2",
        ),
        (
            "item(_, P),\n  P == N",
            "write that in the call of item/2, so that an index leads",
        ),
    ] {
        let found = advise::found(&program(goals), &[], "generator");
        let remedies: Vec<&str> = found
            .iter()
            .filter_map(|one| one["remedy"].as_str())
            .collect();
        assert!(
            remedies.iter().any(|one| one.contains(words)),
            "{goals}: {remedies:#?}"
        );
    }
}

/// A test of what a goal computes, at more work than it takes to generate, rejects nothing of what
/// is generated: each has to be tried. Before that goal, it does.
#[test]
fn a_test_of_what_is_computed() {
    let program = |goals: &str| {
        format!(
            "\
:- initialization(main, main).
main :- findall(X, good(X), Xs), length(Xs, N), print(N), nl.
good(X) :- {goals}.
weight(X, W) :- numlist(1, 100, L), sum_list(L, S), W is (X*S) mod 100.
"
        )
    };
    let found = |goals: &str| advise::found(&program(goals), &[], "generator");
    assert!(found("between(1, 3000, X), weight(X, W), W < 1").is_empty());
    only(
        &found("between(1, 3000, X), X < 20, weight(X, _)"),
        "tests in good/1 reject 99 % of what system:between/3 generates",
    );
}

/// No other structure is advised where the trace says that there is little data.
#[test]
fn the_hottest_goal_has_little_data() {
    let program = |most: u32| {
        format!(
            "\
:- initialization(main, main).
main :- findall(X, ( between(1, {most}, N), X is (N*7919) mod 1009 ), Xs), rounds(3000, Xs).
rounds(0, _) :- !.
rounds(N, Xs) :- msort(Xs, [_|_]), N1 is N-1, rounds(N1, Xs).
"
        )
    };
    let found = |most, options: &[&str]| advise::found(&program(most), options, "hottest");
    let values = ["--values", "msort/2"];
    let title = "most of the work: system:msort/2 at line 4 of rounds/2";
    let few = found(30, &values);
    let one = only(&few, title);
    says(&one, "what it was given is small");
    let remedy = one["remedy"].as_str().unwrap();
    assert!(remedy.starts_with("call it less often"), "{remedy}");
    for found in [found(300, &values), found(30, &[])] {
        let one = only(&found, title);
        let remedy = one["remedy"].as_str().unwrap();
        assert!(remedy.starts_with("sort once"), "{remedy}");
    }
}
