//! `portmortem advise` of programs with constraints: each finding, and programs that are right.

use portmortem_tests::Sandbox;

use super::advise::{findings, found, only, says};

const SUMS: &str = "\
:- initialization(main, main).
:- use_module(library(clpfd)).
main :- sums([A, B, C]), print([A, B, C]), nl.
";

const FIRST: &str = "labelled-first";

/// A constraint that is called, and one that is a test of numbers: A counts once, as it is right.
#[test]
fn constraints_behind_the_labelling() {
    let program = format!(
        "{SUMS}sums([A, B, C]) :-
    [A, B, C] ins 1..20,
    label([A, B, C]),
    all_different([A, B, C]),
    A*A + B*B #= C*C,
    A + B #> 22.
"
    );
    let found = found(&program, &[], FIRST);
    let one = only(
        &found,
        "clpfd:label/1 at line 6 of sums/1 gives values before constraints are posted, which reject \
         more than 99 %",
    );
    says(&one, "clpfd:all_different/1 at line 7 of sums/1 rejected ");
    says(
        &one,
        "constraints that were no more than tests of numbers rejected ",
    );
    assert_eq!(one["certainty"], "likely");
}

#[test]
fn constraints_that_another_predicate_posts() {
    let program = format!(
        "{SUMS}sums([A, B, C]) :-
    [A, B, C] ins 1..20,
    labeling([], [A, B, C]),
    right(A, B, C).
right(A, B, C) :-
    A*A + B*B #= C*C,
    A + B #> 22.
"
    );
    let found = found(&program, &[], FIRST);
    let one = only(
        &found,
        "clpfd:labeling/2 at line 6 of sums/1 gives values before constraints are posted, which reject \
         more than 99 %",
    );
    says(&one, "right/3 at line 7 of sums/1 rejected ");
}

/// One variable each.
#[test]
fn values_from_lists_and_ranges() {
    let program = format!(
        "{SUMS}sums([A, B, C]) :-
    between(1, 20, A),
    between(1, 20, B),
    numlist(1, 20, Cs),
    member(C, Cs),
    A*A + B*B #= C*C,
    A + B #> 22.
"
    );
    let found = found(&program, &[], FIRST);
    let one = only(
        &found,
        "lists:member/2 at line 8 of sums/1 gives values before constraints are posted, which reject \
         95 %",
    );
    assert!(one["remedy"].as_str().unwrap().contains("X in 1..9"));
}

/// Constraints come first; what comes last is a test that is no constraint; what is chosen is no
/// value of a variable of the constraint.
#[test]
fn the_labelling_comes_last() {
    for clauses in [
        "sums([A, B, C]) :-
    [A, B, C] ins 1..20,
    all_different([A, B, C]),
    A*A + B*B #= C*C,
    A + B #> 22,
    label([A, B, C]).
",
        "sums([A, B, C]) :-
    [A, B, C] ins 1..20,
    label([A, B, C]),
    A*A + B*B =:= C*C,
    A + B > 22.
",
        "sums([A, B, C]) :-
    numlist(1, 1500, Ns),
    member(N, Ns),
    M is N mod 1499,
    A #= M + 1,
    [A, B, C] = [1499, 1, 2].
",
    ] {
        let found = found(&format!("{SUMS}{clauses}"), &[], FIRST);
        assert!(found.is_empty(), "{clauses}: {found:#?}");
    }
}

/// What rejects the values is no constraint, but could be one; where numbers are generated
/// otherwise, that is not said.
#[test]
fn tests_behind_the_labelling() {
    let program = |generator: &str, test: &str| {
        format!(
            "{SUMS}sums([A, B, C]) :-
    [A, B, C] ins 1..20,
    {generator},
    {test}.
fits(A, B, C) :- A*A + B*B =:= C*C, A + B > 22.
"
        )
    };
    let label = "label([A, B, C])";
    let numbers = "numlist(1, 20, L), member(A, L), member(B, L), member(C, L)";
    for test in ["fits(A, B, C)", "A*A + B*B =:= C*C, A + B > 22"] {
        let of = |generator| {
            let found = found(&program(generator, test), &[], "generator");
            assert!(!found.is_empty(), "{generator} {test}");
            let remedies = found.iter().map(|one| one["remedy"].to_string());
            remedies.collect::<Vec<_>>().concat()
        };
        assert!(of(label).contains("so that propagation prunes the search"));
        assert!(!of(numbers).contains("propagation"));
    }
}

const PATHS: &str = "
edge(X, Y) ==> path(X, Y).
edge(X, Y), path(Y, Z) ==> path(X, Z).
path(X, Y) \\ path(X, Y) <=> true.
main :- numlist(1, 15, L), edges(L), path(1, 99).
edges([]).
edges([X|Xs]) :- Y is X+1, edge(X, Y), edges(Xs).
";

/// A program of rules with this declaration of its constraints, which begins in line 4.
fn paths(declaration: &str) -> String {
    format!(
        ":- module(run, [main/0]).
:- use_module(library(chr)).
:- initialization(main, main).
{declaration}{PATHS}"
    )
}

const SCANS: &str = "chr-scans";

#[test]
fn constraints_without_modes_are_looked_for_one_by_one() {
    let begin = "constraint handling rules go through all constraints:";
    let without = paths(":- chr_constraint edge/2, path(?any, ?any).");
    let found = found(&without, &[], SCANS);
    let title = format!("{begin} edge/2, path/2 are declared without modes");
    let one = only(&found, &title);
    assert_eq!(one["line"], 4);
    says(&one, " did not fit. No variable was in what ");
    let remedy = one["remedy"].as_str().unwrap();
    assert!(
        remedy.contains(":- chr_constraint edge(+int, …); and write :- chr_option(debug, off)")
    );
}

#[test]
fn code_for_the_debugger_has_no_indexes() {
    let with = paths(":- chr_constraint edge(+int, +int), path(+int, +int).");
    let found = found(&with, &[], SCANS);
    let title = "constraint handling rules go through all constraints: it is compiled for the \
                 debugger, without indexes";
    let one = only(&found, title);
    assert_eq!(one["certainty"], "to-check");
}

/// With indexes; and with variables, each of which knows its constraints.
#[test]
fn rules_with_an_index() {
    let indexed = paths(
        ":- chr_option(debug, off).
:- chr_constraint edge(+int, +int), path(+int, +int).",
    );
    let variables = "\
:- module(run, [main/0]).
:- use_module(library(chr)).
:- initialization(main, main).
:- chr_constraint leq/2.
leq(X, X) <=> true.
leq(X, Y), leq(Y, X) <=> X = Y.
leq(X, Y) \\ leq(X, Y) <=> true.
leq(X, Y), leq(Y, Z) ==> leq(X, Z).
main :- length(L, 15), L = [X|_], last(L, Y), chain(L), leq(Y, X).
chain([_]).
chain([X, Y|Zs]) :- leq(X, Y), chain([Y|Zs]).
";
    for program in [indexed.as_str(), variables] {
        let found = found(program, &[], SCANS);
        assert!(found.is_empty(), "{program}: {found:#?}");
    }
}

/// A domain of so many numbers from which two constraints take one after the other.
fn creeping(most: u32) -> String {
    format!(
        ":- initialization(main, main).
:- use_module(library(clpfd)).
main :- \\+ impossible(_, _).
impossible(X, Y) :-
    [X, Y] ins 0..{most},
    X #< Y,
    Y #< X.
"
    )
}

const CREEPING: &str = "creeping-propagation";

#[test]
fn propagators_that_run_again_and_again() {
    let libraries = ["--libraries"];
    let found_ones = found(&creeping(2000), &libraries, CREEPING);
    let title =
        "clpfd:clpfd_geq/2 at line 7 of impossible/2 runs the same propagators again and again";
    let one = only(&found_ones, title);
    says(&one, "The program has made 2 propagators");
    // What small domains have is done soon, and a plain recording does not show it.
    assert!(found(&creeping(20), &libraries, CREEPING).is_empty());
    assert!(found(&creeping(2000), &[], CREEPING).is_empty());
}

/// Many constraints, each of which wakes many others, and a search.
#[test]
fn propagators_that_run_as_they_must() {
    let program = "
:- initialization(main, main).
:- use_module(library(clpfd)).
main :- order(60), queens(8, Qs), print(Qs), nl.
order(N) :- length(Xs, N), Xs ins 1..1000, reverse(Xs, Ys), descending(Ys).
descending([_]).
descending([X, Y|Zs]) :- X #> Y, descending([Y|Zs]).
queens(N, Qs) :- length(Qs, N), Qs ins 1..N, safe(Qs), labeling([ff], Qs).
safe([]).
safe([Q|Qs]) :- no_attack(Q, Qs, 1), safe(Qs).
no_attack(_, [], _).
no_attack(Q, [P|Ps], D) :- Q #\\= P, abs(Q - P) #\\= D, D1 is D+1, no_attack(Q, Ps, D1).
";
    let sandbox = Sandbox::with("run.pl", program);
    let record = ["record", "run.pl", "--libraries"];
    sandbox.portmortem(record).exits(0);
    let all = findings(&sandbox);
    for cause in [FIRST, CREEPING, SCANS] {
        let found = all.iter().find(|one| one["cause"] == cause);
        assert_eq!(found, None);
    }
}

/// How often values were asked for again, and how often propagators ran for that.
#[test]
fn what_a_labelling_did() {
    let program = format!(
        "{SUMS}sums([A, B, C]) :-
    [A, B, C] ins 1..20,
    A*A + B*B #= C*C,
    A + B #> 22,
    label([A, B, C]),
    C >= 20.
"
    );
    for (options, runs) in [(&[][..], false), (&["--libraries"], true)] {
        let mut found = found(&program, options, "variable-order");
        // The library's own goal is another one.
        found.retain(|one| one["predicate"] == "sums/1");
        let title =
            "clpfd:label/1 gives values to variables in the order of the list at line 8 of sums/1";
        let one = only(&found, title);
        says(&one, "Backtracking went into it ");
        let evidence = one["evidence"].as_str().unwrap();
        assert_eq!(
            evidence.contains("In it propagators ran "),
            runs,
            "{evidence}"
        );
    }
}

/// Each row gets values before the columns have constraints; and all get values at the end.
#[test]
fn constraints_that_another_predicate_posts_later() {
    let program = |row: &str, square: &str| {
        format!(
            "\
:- initialization(main, main).
:- use_module(library(clpfd)).
main :- square(Rows), print(Rows), nl.
square(Rows) :-
    length(Rows, 3),
    maplist(row, Rows),
    transpose(Rows, Columns),
    maplist(column, Columns){square}.
row(Row) :-
    length(Row, 3),
    Row ins 1..9,
    sum(Row, #=, 15){row}.
column(Column) :-
    all_different(Column),
    sum(Column, #=, 15).
"
        )
    };
    let first = program(",\n    label(Row)", "");
    for options in [&[][..], &["--libraries"]] {
        let found = found(&first, options, FIRST);
        let one = found.first().unwrap_or_else(|| panic!("{options:?}"));
        assert_eq!(
            (&one["predicate"], &one["line"]),
            (&"row/1".into(), &13.into())
        );
        says(
            one,
            "had failed, which posts constraints, after row/1 had returned",
        );
        let remedy = one["remedy"].as_str().unwrap();
        assert!(
            remedy.contains("take clpfd:label/1 out of row/1"),
            "{remedy}"
        );
    }
    let last = program("", ",\n    append(Rows, All),\n    label(All)");
    assert!(found(&last, &[], FIRST).is_empty());
}

/// Code that is made of rules has lines that are none of the file: findings lead to the
/// declaration of the constraint.
#[test]
fn what_is_made_of_rules_leads_to_the_constraint() {
    for declaration in [
        ":- chr_constraint edge/2, path/2.",
        ":- chr_option(debug, off).\n:- chr_constraint edge(+int, +int), path(+int, +int).",
    ] {
        let program = paths(declaration).replace("(1, 15, L)", "(1, 40, L)");
        let lines = program.lines().count() as u64;
        let sandbox = Sandbox::with("run.pl", &program);
        sandbox.portmortem(["record", "run.pl"]).exits(0);
        let all = findings(&sandbox);
        let of_file = all.iter().filter(|one| {
            one["file"]
                .as_str()
                .is_some_and(|file| file.ends_with("run.pl"))
        });
        for one in of_file {
            assert!(one["line"].as_u64() <= Some(lines), "{one:#}");
            let predicate = one["predicate"].as_str().unwrap();
            assert!(!predicate.contains("___"), "{one:#}");
        }
        let hottest = all.iter().find(|one| one["cause"] == "hottest").unwrap();
        says(hottest, "is code that library chr makes of the rules of ");
        let remedy = hottest["remedy"].as_str().unwrap();
        assert_eq!(
            remedy.contains("declare modes"),
            declaration.contains("/2"),
            "{remedy}"
        );
    }
}
