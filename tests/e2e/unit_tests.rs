//! `record --tests` and `report --tests`: what each test of plunit did, counted by hand; and the
//! tests do what they do unrecorded.

use std::collections::BTreeMap;
use std::fs;

use portmortem_analyzer::Tables;
use portmortem_analyzer::tables::TestRow;
use portmortem_tests::{Outcome, Profiled, Sandbox, masks, repository};

const TESTS: &str = "\
:- use_module(library(plunit)).
:- begin_tests(math).
test(sum) :- sum(20, S), S == 210.
test(choice) :- p(X), X == 1.
test(all, [all(X == [1,2,3])]) :- p(X).
test(fails, [fail]) :- p(4).
test(throws, [throws(oops)]) :- oops.
test(twice, [forall(member(N, [3,5]))]) :- sum(N, S), S > N.
test(collects) :- garbage_collect, p(1), !.
test('it''s, one') :- p(1), !.
test(wrong) :- p(9).
:- end_tests(math).
:- begin_tests('a b:c').
test(sum) :- p(2), !, sum(1, _).
:- end_tests('a b:c').
p(1). p(2). p(3).
sum(0, 0) :- !.
sum(N, S) :- M is N-1, sum(M, T), S is T+N.
oops :- throw(oops).
";

/// A test of the sample `queens.pl`.
pub(super) const OF_QUEENS: &str = "
:- use_module(library(plunit)).
:- begin_tests(queens).
test(six) :- queens(6, _), !.
:- end_tests(queens).
";

/// The file with the tests, and that of a program which runs them itself.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("math.plt", TESTS);
    sandbox.write(
        "main.pl",
        ":- initialization(main, main).\n:- ['math.plt'].\nmain :- ( run_tests -> writeln(ok) ; writeln(failed) ).\n",
    );
    sandbox
}

fn row<'p>(profiled: &'p Profiled, test: &str) -> TestRow<'p> {
    let mut rows = Tables::new("math", &profiled.trace, &profiled.profile).tests();
    rows.find(|row| row.test == test)
        .unwrap_or_else(|| panic!("no test {test}"))
}

/// Runs, choicepoints left, calls, redos, fails, exceptions.
fn counts(profiled: &Profiled, test: &str) -> [u64; 6] {
    let row = row(profiled, test);
    [
        row.runs,
        row.choicepoints,
        row.calls,
        row.redos,
        row.fails,
        row.exceptions,
    ]
}

/// What the tests say, without the time that they took.
fn said(outcome: &Outcome) -> (Vec<u8>, Vec<String>) {
    let text = masks::stderr(&outcome.stderr);
    let untimed = |line: &str| match line.rsplit_once(' ') {
        Some((before, "sec")) => before.trim_end_matches(|c: char| c != ' ').to_owned(),
        _ => line.to_owned(),
    };
    (outcome.stdout.clone(), text.lines().map(untimed).collect())
}

#[test]
fn each_test_is_counted() {
    let sandbox = sandbox();
    let record = ["record", "--tests", "--no-boundary", "math.plt"];
    sandbox.portmortem(record).exits(1);
    let profiled = Profiled::of(&sandbox.path("math.pmt"));
    for (test, line, expected) in [
        ("math:sum", 3, [1, 0, 21, 0, 0, 0]),
        ("math:choice", 4, [1, 1, 1, 0, 0, 0]),
        ("math:all", 5, [1, 2, 1, 2, 0, 0]),
        ("math:fails", 6, [1, 0, 1, 0, 1, 0]),
        ("math:throws", 7, [1, 0, 1, 0, 0, 1]),
        ("math:twice", 8, [2, 0, 10, 0, 0, 0]),
        ("math:collects", 9, [1, 0, 1, 0, 0, 0]),
        ("math:it's, one", 10, [1, 0, 1, 0, 0, 0]),
        ("math:wrong", 11, [1, 0, 1, 0, 1, 0]),
        ("a b:c:sum", 14, [1, 0, 3, 0, 0, 0]),
    ] {
        assert_eq!(counts(&profiled, test), expected, "{test}");
        let row = row(&profiled, test);
        assert_eq!(
            (row.file, row.line),
            (Some("math.plt"), Some(line)),
            "{test}"
        );
    }
    assert!(row(&profiled, "math:collects").collections >= 1);
    let tables = Tables::new("math", &profiled.trace, &profiled.profile);
    assert_eq!(tables.tests().count(), 10);
    // Nothing counts twice, and nothing is lost.
    let calls: u64 = tables.centers().map(|row| row.calls).sum();
    let known = profiled.trace.predicates().iter();
    let known = known.zip(&profiled.profile.predicates);
    let of_program = known.filter(|(info, _)| info.is_called_by_program());
    assert_eq!(calls, of_program.map(|(_, of)| of.calls).sum::<u64>());
}

/// Output, messages and exit status are those without a recording, however the tests are run.
#[test]
fn tests_do_what_they_do_unrecorded() {
    let sandbox = sandbox();
    let of_file = ["-g", "run_tests", "-t", "halt", "math.plt"];
    let plain = sandbox.swipl(of_file);
    plain
        .exits(1)
        .says("test wrong: failed")
        .says("choicepoint");
    let by_command = [&["record", "-o", "x.pmt", "--", "swipl"][..], &of_file].concat();
    for words in [
        &["record", "--tests", "-o", "x.pmt", "math.plt"][..],
        &["record", "-g", "run_tests", "-o", "x.pmt", "math.plt"],
        &["record", "--tests", "--clauses", "-o", "x.pmt", "math.plt"],
        &[
            "record",
            "--tests",
            "--libraries",
            "-o",
            "x.pmt",
            "math.plt",
        ],
        &[
            "record", "--tests", "--values", "*", "-o", "x.pmt", "math.plt",
        ],
        &[
            "record",
            "--tests",
            "--include",
            "sum/2",
            "-o",
            "x.pmt",
            "math.plt",
        ],
        &by_command,
    ] {
        let recorded = sandbox.portmortem(words);
        assert_eq!(recorded.status, plain.status, "{recorded}");
        assert_eq!(said(&recorded), said(&plain), "{recorded}");
        let profiled = Profiled::of(&sandbox.path("x.pmt"));
        assert_eq!(counts(&profiled, "math:twice")[0], 2, "{words:?}");
        sandbox.portmortem(["verify", "x.pmt"]).succeeds();
    }
    // A program that runs its tests itself.
    let plain = sandbox.swipl(["main.pl"]);
    plain.exits(0).prints("failed\n");
    let recorded =
        sandbox.portmortem(["record", "--tests", "-o", "x.pmt", "--", "swipl", "main.pl"]);
    assert_eq!(recorded.status, plain.status);
    assert_eq!(said(&recorded), said(&plain));
    let profiled = Profiled::of(&sandbox.path("x.pmt"));
    assert_eq!(counts(&profiled, "math:twice")[0], 2);
}

/// The slowest comes first, and other formats have all columns.
#[test]
fn tests_are_reported() {
    let sandbox = sandbox();
    sandbox
        .portmortem(["record", "--tests", "math.plt"])
        .exits(1);
    let report = sandbox.portmortem(["report", "--tests", "math.pmt"]);
    let text = report.succeeds().out();
    assert_eq!(
        text.lines().filter(|line| line.contains(" math:")).count(),
        9,
        "{text}"
    );
    for part in [" left", " collections", "math:it's, one", " 3 math:sum\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let top = [
        "report", "--tests", "math.pmt", "--sort", "runs", "--top", "1",
    ];
    sandbox
        .portmortem(top)
        .succeeds()
        .shows(" math:twice\n")
        .shows("… and 9 more");
    let csv = sandbox.portmortem(["report", "--tests", "math.pmt", "--format", "csv"]);
    let csv = csv.succeeds().out();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    let rows: Vec<_> = rows.map(|row| row.unwrap()).collect();
    let times = rows.iter().map(|row| row["self_ns"].parse().unwrap());
    let times: Vec<u64> = times.collect();
    assert_eq!(times.len(), 10);
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let sql = "SELECT test, runs FROM tests WHERE runs > 1";
    sandbox
        .portmortem(["query", "math.pmt", sql, "--format", "csv"])
        .succeeds()
        .prints("test,runs\nmath:twice,2\n");
    // The usual report has them as cost centres, whose names it takes.
    let usual = sandbox.portmortem(["report", "math.pmt"]);
    usual.succeeds().shows("math:sum@line 3");
    let center = "cost_center('math:sum@line 3')";
    for option in ["--focus", "--predicate"] {
        let part = sandbox.portmortem(["report", "math.pmt", option, center]);
        part.succeeds().shows("sum/2").hides("oops/0");
    }
}

/// The script of `docs/ci.md` fails where a test fails or makes many more calls, and only there.
#[test]
fn a_build_fails_if_a_test_makes_more_calls() {
    let page = fs::read_to_string(repository("docs/ci.md")).unwrap();
    let (_, script) = page.split_once("```sh\n").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    let sandbox = Sandbox::with("check-tests", script);
    // The tests that do not fail.
    let wrong = "test(wrong) :- p(9).\n";
    let before = TESTS.replace(wrong, "");
    for checkout in ["before", "after"] {
        fs::create_dir(sandbox.path(checkout)).unwrap();
    }
    sandbox.write("before/math.plt", &before);
    let check = |after: &str| {
        sandbox.write("after/math.plt", after);
        let path = "PATH=$(dirname \"$portmortem\"):$PATH";
        sandbox.sh(&format!("{path} sh check-tests before after math.plt"))
    };
    let heading = "test,file,line,before,after\n";
    check(&before).exits(0).prints(heading);
    // Two calls more are less than a fifth.
    let some = before.replace("sum(20, S), S == 210", "sum(22, S), S == 253");
    check(&some).exits(0).prints(heading);
    let many = before.replace("sum(20, S), S == 210", "sum(30, S), S == 465");
    let slower = check(&many);
    slower
        .exits(1)
        .prints(&format!("{heading}math:sum,math.plt,3,21,31\n"));
    check(TESTS).exits(1).says("test wrong: failed").prints("");
}

/// A trace without tests says how to record some, and ports record none.
#[test]
fn traces_without_tests_say_so() {
    let sandbox = sandbox();
    let plain = ["record", "-o", "x.pmt", "-g", "sum(3, _)", "math.plt"];
    sandbox.portmortem(plain).exits(0);
    let report = sandbox.portmortem(["report", "--tests", "x.pmt"]);
    report
        .succeeds()
        .shows("no tests; record them with --tests");
    let ports = ["record", "--tests", "--ports", "math.plt"];
    sandbox.portmortem(ports).exits(2).says("--ports");
}
