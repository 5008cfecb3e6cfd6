//! `portmortem try`: changes that findings propose are made in memory and compared with it.

use std::fs;
use std::process::Command;

use portmortem_tests::Sandbox;
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

/// All trials of all findings.
fn tried(report: &Value) -> Vec<Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    let tried = findings.flat_map(|finding| finding["tried"].as_array().unwrap());
    tried.cloned().collect()
}

/// All trials of a program that was given these arguments.
pub(super) fn trials(
    sandbox: &Sandbox,
    program: &str,
    options: &[&str],
    arguments: &[&str],
) -> Vec<Value> {
    let mut command = vec!["try", program, "--format", "json", "--least", "0"];
    command.extend(options);
    command.push("--");
    command.extend(arguments);
    let outcome = sandbox.portmortem(command);
    outcome.exits(0);
    let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    tried(&report)
}

#[track_caller]
pub(super) fn trial<'t>(trials: &'t [Value], change: &str) -> &'t Value {
    let found = trials.iter().find(|trial| trial["change"] == change);
    found.unwrap_or_else(|| panic!("{change}: {trials:#?}"))
}

/// What it binds is what the first element of the list was.
#[test]
fn the_first_solution_is_asked_for_alone() {
    let program = ":- initialization(main, main).
main :- forall(between(1, 300, N), ( first(N, X) -> print(X), nl ; print(none), nl )).
first(N, Found) :-
    (   findall(Y-N, above(N, Y), Ys),
        Ys = [X|_]
    ->  Found = X
    ).
above(N, Y) :- N < 290, between(N, 2000, Y), Y mod 7 =:= 3.
";
    let sandbox = Sandbox::with("first.pl", program);
    let all = trials(&sandbox, "first.pl", &[], &[]);
    let once = trial(&all, "once/1 in place of findall/3 at line 4");
    let text = once["text"].as_str().unwrap();
    assert!(!text.contains("other"), "{once:#?}");
}

/// The only solution is the same in any order of the variables.
#[test]
fn variables_are_labelled_in_another_order() {
    for labelling in ["label(Xs)", "labeling([], Xs)", "labeling([down], Xs)"] {
        let program = format!(
            ":- initialization(main, main).
:- use_module(library(clpfd)).
main :- length(Xs, 6), Xs ins 0..5, chain(Xs, #<), {labelling}, print(Xs), nl.
"
        );
        let sandbox = Sandbox::with("order.pl", &program);
        let all = trials(&sandbox, "order.pl", &[], &[]);
        let first_fail = trial(&all, "labeling([ff], …) at line 3");
        let text = first_fail["text"].as_str().unwrap();
        assert!(!text.contains("other"), "{labelling}: {first_fail:#?}");
    }
    let ordered = ":- initialization(main, main).
:- use_module(library(clpfd)).
main :- length(Xs, 6), Xs ins 0..5, chain(Xs, #<), labeling([ffc], Xs), print(Xs), nl.
";
    let sandbox = Sandbox::with("order.pl", ordered);
    let all = trials(&sandbox, "order.pl", &[], &[]);
    let is_order = |trial: &Value| trial["change"].as_str().unwrap().starts_with("labeling");
    assert!(!all.iter().any(is_order), "{all:#?}");
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

/// What they gain depends on the machine, and none of them changes the output.
#[test]
fn goals_that_are_committed_or_left_out_and_arguments_that_tell_clauses_apart() {
    let program = ":- initialization(main, main).
:- use_module(library(lists)).
main :- numlist(1, 30000, L), walk(0, L, S), print(S), nl, pick(L, N), print(N), nl, dots(2000), nl.
walk(S, [], S) :- true.
walk(S0, [X|Xs], S) :- S1 is S0+X, walk(S1, Xs, S).
pick([], 0).
pick([X|Xs], N) :- member(Y, [X, a]), Y == X, pick(Xs, N0), N is N0+1.
dots(0).
dots(N) :- N > 0, put_char('.'), flush_output, M is N-1, dots(M).
";
    let sandbox = Sandbox::with("all.pl", program);
    let all = trials(&sandbox, "all.pl", &[], &[]);
    for change in [
        "once/1 around member/2 at line 7",
        "no flush_output/0 at line 9",
    ] {
        let text = trial(&all, change)["text"].as_str().unwrap();
        let is_compared = ["confirmed", "undecided", "refuted: no faster"];
        assert!(
            is_compared.iter().any(|begin| text.starts_with(begin)),
            "{text}"
        );
    }
    // What a goal costs is a bound, and no change to make.
    let bounds = all.iter().filter(|one| {
        one["finding"]
            .as_str()
            .unwrap()
            .starts_with("most of the work")
    });
    for bound in bounds {
        assert!(
            ["at-most", "not-tried"].contains(&bound["verdict"].as_str().unwrap()),
            "{bound}"
        );
    }
}

/// Another order of variables has another first solution.
#[test]
fn what_changes_the_output_is_refuted() {
    let program = ":- initialization(main, main).
:- use_module(library(clpfd)).
main :- A in 0..5, B in 0..1, A #\\= B, label([A, B]), print(A-B), nl.
";
    let sandbox = Sandbox::with("order.pl", program);
    let all = trials(&sandbox, "order.pl", &["--patch", "faster.patch"], &[]);
    let ordered = trial(&all, "labeling([ff], …) at line 3");
    assert_eq!(ordered["verdict"], "refuted");
    let text = ordered["text"].as_str().unwrap();
    let other = "refuted: other output: line 1 is \"1-0\", not \"0-1\"";
    assert_eq!(text, other);
    assert!(ordered["figures"].is_null(), "{ordered}");
    let patch = fs::read_to_string(sandbox.path("faster.patch")).unwrap();
    assert_eq!(patch, "");
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
    let all = &tried(&report);
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

/// Structures that the engine finds no index in, so each call leaves a choicepoint; the second
/// argument tells the clauses apart.
const STEPS: &str = ":- initialization(main, main).
main :- numlist(1, 30000, L), codes(L, Cs), run(Cs, s, 0, N), print(N), nl.
codes([], []).
codes([X|Xs], [C|Cs]) :- M is X mod 3, code(M, C), codes(Xs, Cs).
code(0, up).
code(1, down).
code(2, keep).
run([], _, N, N).
run([C|Cs], S, N0, N) :- step(S, C, N0, N1), run(Cs, S, N1, N).
step(_, up, N0, N) :- N is N0+1.
step(_, down, N0, N) :- N is N0-1.
step(_, keep, N, N).
";

/// The clauses and the calls of the file are changed: the output is the same.
#[test]
fn the_argument_that_tells_clauses_apart_comes_first() {
    let sandbox = Sandbox::with("steps.pl", STEPS);
    let all = trials(&sandbox, "steps.pl", &[], &[]);
    let name = "the argument that tells clauses of step/4 apart comes first";
    let swapped = trial(&all, name);
    let text = swapped["text"].as_str().unwrap();
    assert!(!text.contains("other"), "{swapped:#?}");
    assert_eq!(swapped["seconds"].as_array().unwrap().len(), 5);
    // Nothing is said of changes that the text has no place for: both clauses of run/4 differ in
    // their first argument already.
    let of_run = |one: &Value| one["change"].as_str().unwrap().contains("of run/4 apart");
    assert!(!all.iter().any(of_run), "{all:#?}");
}

/// A trace names the command; nothing is recorded again.
#[test]
fn a_trace_is_tried() {
    let sandbox = Sandbox::with("fib.pl", FIB);
    let record = ["record", "fib.pl", "-o", "run.pmt", "--", "19"];
    sandbox.portmortem(record).exits(0).prints("4181\n");
    let command = ["try", "run.pmt", "--format", "json", "--least", "0"];
    let outcome = sandbox.portmortem(command);
    outcome.exits(0).says("running the program up to ");
    assert!(!outcome.err().contains("recording"), "{outcome}");
    let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let all = &tried(&report);
    let cut = trial(all, "a cut behind the head and first tests of fib/2");
    assert_eq!(cut["seconds"].as_array().unwrap().len(), 5, "{cut:#?}");
    let words = sandbox.portmortem(["try", "run.pmt", "--", "3"]);
    words.exits(1).says("a trace has the arguments");
    fs::remove_file(sandbox.path("fib.pl")).unwrap();
    let gone = sandbox.portmortem(["try", "run.pmt"]);
    gone.exits(1)
        .says("the program of this trace is not here; it was recorded as: swipl fib.pl");
}

/// Whatever is confirmed: the patch has the best change of it and those that are faster with it,
/// and says why it has no other.
#[test]
fn the_patch_has_the_best_of_what_is_confirmed() {
    let program = "
:- initialization(main, main).
main :- fib(21, F), print(F), nl, gib(21, G), print(G), nl.
fib(0, 0).
fib(1, 1).
fib(N, F) :- N > 1, A is N-1, B is N-2, fib(A, FA), fib(B, FB), F is FA+FB.
gib(0, 0).
gib(1, 2).
gib(N, F) :- N > 1, A is N-1, B is N-2, gib(A, FA), gib(B, FB), F is FA+FB.
";
    let sandbox = Sandbox::with("two.pl", program);
    let command = ["try", "two.pl", "--format", "json", "--least", "0"];
    let options = ["--patch", "faster.patch"];
    let outcome = sandbox.portmortem([&command[..], &options].concat());
    outcome.exits(0);
    let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let all = &tried(&report);
    let confirmed = all.iter().filter(|one| one["verdict"] == "confirmed");
    let gain = |one: &Value| one["figures"]["times_faster"].as_f64().unwrap();
    let best = confirmed.max_by(|a, b| gain(a).total_cmp(&gain(b)));
    let together = &report["together"];
    assert_eq!(together.is_object(), best.is_some(), "{report:#}");
    let patch = fs::read_to_string(sandbox.path("faster.patch")).unwrap();
    let Some(best) = best else {
        assert_eq!(patch, "");
        return;
    };
    assert_eq!(together["changes"][0], best["change"], "{report:#}");
    assert_eq!(together["seconds"].as_array().unwrap().len(), 5);
    let text = together["text"].as_str().unwrap();
    assert!(!text.contains("other"), "{together:#}");
    let mut findings: Vec<&str> = all
        .iter()
        .filter(|one| one["verdict"] == "confirmed")
        .map(|one| one["finding"].as_str().unwrap())
        .collect();
    findings.dedup();
    let count = |key: &str| together[key].as_array().unwrap().len();
    assert!(count("changes") + count("left_out") >= findings.len());
    for edit in together["files"][0]["edits"].as_array().unwrap() {
        for line in edit["after"].as_str().unwrap().lines() {
            assert!(patch.contains(line), "{line}: {patch}");
        }
    }
}

/// What a program gets of each change: where it is, the text before and after, and figures.
#[test]
fn a_change_has_its_text() {
    let sandbox = Sandbox::with("fib.pl", FIB);
    let all = trials(&sandbox, "fib.pl", &[], &["21"]);
    let cut = trial(&all, "a cut behind the head and first tests of fib/2");
    let file = cut["file"].as_str().unwrap();
    assert!(file.ends_with("/fib.pl"), "{file}");
    let edits = serde_json::json!([
        {"line": 3, "before": "fib(0, 0).\n", "after": "fib(0, 0) :- !.\n"},
        {"line": 4, "before": "fib(1, 1).\n", "after": "fib(1, 1) :- !.\n"},
    ]);
    assert_eq!(cut["edits"], edits);
    let figures = &cut["figures"];
    let number = |key: &str| figures[key].as_f64().unwrap();
    let ratio = number("seconds_before") / number("seconds_after");
    assert!((number("times_faster") - ratio).abs() < 1e-9, "{figures}");
    let is_confirmed = cut["verdict"] == "confirmed";
    assert_eq!(figures["spread_percent"].is_number(), is_confirmed);
}

/// What has no change, and what is not tried: one line says how many, and an option which.
#[test]
fn what_cannot_be_tried_is_counted() {
    let program = ":- initialization(main, main).
main :- forall(between(1, 300, N), catch(risky(N), _, true)), print(done), nl.
risky(N) :- numlist(1, 300, L), costly(L, S), check(N, S).
costly([], 0).
costly([X|Xs], S) :- costly(Xs, S0), S is S0 + X.
check(N, S) :- S > N, throw(too_large(S)).
check(_, _).
";
    let sandbox = Sandbox::with("risky.pl", program);
    let run = |options: &[&str]| {
        let command = [&["try", "risky.pl", "--least", "0"], options].concat();
        sandbox.portmortem(command).exits(0).out()
    };
    let text = run(&[]);
    assert!(!text.contains("not tried"), "{text}");
    assert!(!text.contains("no mechanical change"), "{text}");
    let json: Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
    let findings = json["findings"].as_array().unwrap().iter();
    let is_other = |one: &&Value| one["tried"].as_array().unwrap().is_empty();
    let is_hottest = |one: &&Value| one["cause"] == "hottest";
    let others = findings.filter(|one| is_other(one) && !is_hottest(one));
    let others: Vec<_> = others.collect();
    assert!(!others.is_empty(), "{json:#}");
    assert!(text.contains("no change that could be tried; --untried names them\n"));
    let named = run(&["--untried"]);
    for other in others {
        assert!(named.contains(other["title"].as_str().unwrap()), "{named}");
    }
    assert!(named.contains("   no mechanical change\n"), "{named}");
    assert!(!named.contains("--untried"), "{named}");
}

/// What looks at clauses that did not change between its calls may be tabled, and is told so.
#[test]
fn a_table_of_what_reads_clauses_that_stay() {
    let program = ":- initialization(main, main).
:- dynamic rate/2.
rate(a, 3).
rate(b, 4).
main :- findall(S, ( between(1, 1200, N), member(K, [a, b]), sum(K, S0), S is S0+N ), Ss), sum_list(Ss, T), print(T), nl.
sum(K, S) :- numlist(1, 300, L), add(L, K, 0, S).
add([], _, S, S).
add([X|Xs], K, S0, S) :- rate(K, R), S1 is S0 + X*R, add(Xs, K, S1, S).
";
    let sandbox = Sandbox::with("rates.pl", program);
    let options = ["--patch", "faster.patch"];
    let all = trials(&sandbox, "rates.pl", &options, &[]);
    let tabled = trial(&all, "table sum/2");
    assert_eq!(tabled["seconds"].as_array().unwrap().len(), 5, "{tabled}");
    let text = tabled["text"].as_str().unwrap();
    let is_confirmed = tabled["verdict"] == "confirmed";
    assert_eq!(
        text.contains("as long as no clause of rate/2 changes"),
        is_confirmed,
        "{text}"
    );
    let patch = fs::read_to_string(sandbox.path("faster.patch")).unwrap();
    assert_eq!(patch.contains(":- table sum/2"), is_confirmed, "{patch}");
}
