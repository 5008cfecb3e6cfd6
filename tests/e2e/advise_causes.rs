//! `portmortem advise` of plain recordings: more causes, each with a program without the mistake.

use portmortem_tests::Sandbox;
use serde_json::Value;

use super::advise::{causes, finding, findings, findings_on, says};

/// What is found in a program of which the trace says what it opened.
fn with_values(sandbox: &Sandbox, program: &str) -> Vec<Value> {
    sandbox.write("program.pl", program);
    let command = ["record", "program.pl", "--force", "-o", "run.pmt"];
    let values = ["--values", "open/3"];
    sandbox
        .portmortem([&command[..], &values].concat())
        .exits(0);
    findings(sandbox)
}

/// A file is opened again for each question; with values it is known whether it is the same one.
#[test]
fn a_file_that_is_opened_again() {
    let sandbox = Sandbox::new();
    let program = |name: &str| {
        format!(
            "\
:- initialization(main, main).
main :- forall(between(1, 60, N), rate(N, _)).
rate(N, Rate) :-
    {name},
    setup_call_cleanup(
        open(File, read, In),
        read_term(In, Rate, []),
        close(In)).
"
        )
    };
    for n in 1..=60 {
        sandbox.write(&format!("r{n}.txt"), "rate(1).\n");
    }
    let same = program("File = 'r1.txt', N > 0");
    let found = finding(&findings_on(&sandbox, &same), "read-again", "rate/2", 6);
    says(&found, "was called 60 times; rate/2, which does so, took");
    assert_eq!(found["certainty"], "to-check");
    let found = finding(&with_values(&sandbox, &same), "read-again", "rate/2", 6);
    says(
        &found,
        "Of 60 calls that were looked at, 59 at most read a file",
    );
    let others = program("format(atom(File), 'r~w.txt', [N])");
    assert!(!causes(&with_values(&sandbox, &others)).contains(&"read-again"));
}

/// A log is opened for each line; with values it is known whether it is the same one.
#[test]
fn a_log_that_is_opened_for_each_line() {
    let sandbox = Sandbox::new();
    let program = |file: &str| {
        format!(
            "\
:- initialization(main, main).
main :- forall(between(1, 60, N), note(N)).
note(N) :-
    {file},
    open(File, append, Out),
    format(Out, \"~d~n\", [N]),
    close(Out).
"
        )
    };
    let same = program("File = 'notes.txt'");
    let found = finding(&findings_on(&sandbox, &same), "opened-again", "note/1", 5);
    says(&found, "was called 60 times; to open and to close took");
    assert_eq!(found["certainty"], "to-check");
    let found = finding(&with_values(&sandbox, &same), "opened-again", "note/1", 5);
    says(
        &found,
        "Of 60 calls that were looked at, 59 at most opened a file",
    );
    let others = program("format(atom(File), 'n~w.txt', [N])");
    assert!(!causes(&with_values(&sandbox, &others)).contains(&"opened-again"));
}

/// Few elements are compared, and their keys cost much.
#[test]
fn keys_of_few_elements() {
    let sandbox = Sandbox::new();
    let program = "\
:- initialization(main, main).
main :- numlist(1, 24, L), predsort(by_key, L, S), length(S, N), print(N), nl.
by_key(O, A, B) :- key(A, KA), key(B, KB), compare(O, KA-A, KB-B).
key(X, K) :- numlist(1, 3000, L), sum_list(L, S), K is (X*7919 + S) mod 1009.
";
    let found = findings_on(&sandbox, program);
    let one = finding(&found, "computed-in-comparison", "by_key/3", 3);
    says(&one, "An element is compared with many others");
}

/// Solutions are counted, and the number is only compared with none.
#[test]
fn solutions_that_are_counted_to_see_whether_there_is_one() {
    let sandbox = Sandbox::new();
    let program = |test: &str| {
        format!(
            "\
:- initialization(main, main).
main :- forall(between(1, 300, N), ( some(N) -> true ; true )).
some(N) :-
    aggregate_all(count, even(N, _), Count),
    {test}.
even(N, X) :- between(1, N, X), X mod 2 =:= 0.
"
        )
    };
    let found = findings_on(&sandbox, &program("Count > 0"));
    let one = finding(&found, "collected-to-test", "some/1", 4);
    says(&one, "was called 300 times");
    assert!(!causes(&found).contains(&"growing-calls"), "{found:#?}");
    let counted = findings_on(&sandbox, &program("Count > 7"));
    assert!(!causes(&counted).contains(&"collected-to-test"));
}

/// A right recursion fills a table for each step; a left recursion has one, and a number for each
/// table is what is wanted.
#[test]
fn tables_of_a_recursion() {
    let sandbox = Sandbox::new();
    let program = |clause: &str, question: &str| {
        format!(
            "\
:- initialization(main, main).
:- table reaches/2.
main :- findall(Y, {question}, Ys), length(Ys, N), print(N), nl.
reaches(X, Y) :- edge(X, Y).
{clause}
edge(X, Y) :- X < 150, Y is X+1.
"
        )
    };
    let right = "reaches(X, Z) :- edge(X, Y), reaches(Y, Z).";
    let found = findings_on(&sandbox, &program(right, "reaches(1, Y)"));
    let one = finding(&found, "many-tables", "reaches/2", 4);
    says(
        &one,
        "1 call of reaches/2 from elsewhere led to 150 tables with 11,175 answers",
    );
    assert!(!causes(&found).contains(&"generator"), "{found:#?}");
    let left = "reaches(X, Z) :- reaches(X, Y), edge(Y, Z).";
    let all = "( between(1, 150, X), reaches(X, Y) )";
    for (clause, question) in [(left, "reaches(1, Y)"), (right, all)] {
        let found = findings_on(&sandbox, &program(clause, question));
        assert!(!causes(&found).contains(&"many-tables"), "{found:#?}");
    }
}

/// A lambda that a library calls is told at the goal that hands it over.
#[test]
fn a_lambda_in_a_variable() {
    let program = "\
:- initialization(main, main).
:- use_module(library(yall)).
main :-
    numlist(1, 3000, Table),
    rule(Table, Rule),
    numlist(1, 600, Ns),
    foldl(Rule, Ns, 0, S),
    print(S), nl.
rule(Table, [N,S0,S]>>( memberchk(N, Table), S is S0+N )).
";
    let sandbox = Sandbox::new();
    let found = findings_on(&sandbox, program);
    let one = finding(&found, "copied-data", "main/0", 7);
    says(&one, "The lambda was called 600 times");
    // What library yall has to share data fails, or copies it, too.
    let remedy = one["remedy"].as_str().unwrap();
    assert!(!remedy.contains('/'), "{remedy}");
}

const PICTURED: &str = "picture(L-N, T), true, debug(steps, \"~w\", [T]), Text = []";
const PICTURE: &str = "picture(L-N, T) :- append(L, [N], M), reverse(M, T).\n";

/// A text for messages that are not printed; and one that is printed, one that is needed
/// elsewhere, and one that debug/3 would make.
#[test]
fn text_that_is_made_for_nothing() {
    let sandbox = Sandbox::new();
    let program = |main: &str, step: &str| {
        format!(
            "\
:- initialization(main, main).
:- use_module(library(debug)).
main :- {main}, numlist(1, 50, L), forall(between(1, 600, N), step(N, L, _)).
step(N, L, Text) :-
    {step}.
"
        )
    };
    let text = "format(string(T), \"~d of ~p\", [N, L]), Text = none";
    for (step, printer) in [
        (
            format!("{text}, debug(steps, \"~s\", [T])"),
            "prolog_debug:debug/3",
        ),
        (
            format!("{text}, ( N > 0 -> debug(steps, T, []) ; true )"),
            "prolog_debug:debug/3",
        ),
    ] {
        let found = findings_on(&sandbox, &program("true", &step));
        let one = finding(&found, "unprinted-text", "step/3", 5);
        says(&one, &format!("hands its result to {printer} alone"));
    }
    let found = findings_on(&sandbox, &(program("true", PICTURED) + PICTURE));
    let one = finding(&found, "unprinted-text", "step/3", 5);
    says(&one, "picture/2 at line 5 of step/3 was called 600 times");
    // What else it makes is used.
    let used = PICTURED.replace("(L-N, T), true", "(L-N-M, T), last(M, _)");
    let more = PICTURE.replace("(L-N, T)", "(L-N-M, T)");
    let found = findings_on(&sandbox, &(program("true", &used) + &more));
    assert!(!causes(&found).contains(&"unprinted-text"), "{found:#?}");
    let wanted = text.replace("none", "T");
    let debug = "debug(steps, \"~s\", [T])";
    for (main, step) in [
        ("debug(steps)", format!("{text}, {debug}")),
        ("true", format!("{wanted}, {debug}")),
        (
            "true",
            format!("{text}, print_message(error, format(\"~s\", [T]))"),
        ),
        (
            "true",
            "Text = N, debug(steps, \"~d of ~p\", [N, L])".to_owned(),
        ),
    ] {
        let found = findings_on(&sandbox, &program(main, &step));
        assert!(
            !causes(&found).contains(&"unprinted-text"),
            "{step}: {found:#?}"
        );
    }
}

/// Small powers cost nothing, and are no finding.
#[test]
fn powers_that_are_made_as_a_whole() {
    let sandbox = Sandbox::new();
    let program = |exponent: &str, arithmetic: &str| {
        format!(
            "\
:- initialization(main, main).
main :- numlist(1000, 1060, Ms), all(Ms, {exponent}, Cs), sum_list(Cs, S), print(S), nl.
all([], _, []).
all([M|Ms], E, [C|Cs]) :-
    one(M, E, C),
    all(Ms, E, Cs).
one(M, E, C) :-
    {arithmetic}.
"
        )
    };
    let in_one = "C is M ** E mod 3233";
    let in_two = "P is M ^ E,\n    C is P mod 3233";
    for arithmetic in [in_one, in_two] {
        let found = findings_on(&sandbox, &program("65537", arithmetic));
        let one = finding(&found, "power-modulo", "one/3", 8);
        says(&one, "in 61 calls");
        assert!(one["remedy"].as_str().unwrap().contains("powm("));
    }
    for (exponent, arithmetic) in [
        ("3", in_one),
        ("3", in_two),
        ("65537", "C is powm(M, E, 3233)"),
        ("65537", "P is M ** E,\n    C is P + 1"),
    ] {
        let found = findings_on(&sandbox, &program(exponent, arithmetic));
        assert!(!causes(&found).contains(&"power-modulo"), "{arithmetic}");
    }
}
