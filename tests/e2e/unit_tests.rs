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

/// The command of the workflow in `docs/ci.md` fails where a test fails or makes many more calls,
/// and only there.
#[test]
fn a_build_fails_if_a_test_makes_more_calls() {
    let page = fs::read_to_string(repository("docs/ci.md")).unwrap();
    let (_, command) = page.split_once("- run: |\n").unwrap();
    let is_command = |line: &&str| line.starts_with("          ");
    let command: Vec<&str> = command.lines().take_while(is_command).collect();
    let sandbox = Sandbox::with("command", &command.join("\n"));
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
        sandbox.sh(&format!("{path} sh -e command"))
    };
    check(&before).exits(0).shows("before: before.pmt: ");
    // Two calls more are less than a fifth.
    let some = before.replace("sum(20, S), S == 210", "sum(22, S), S == 253");
    check(&some).exits(0);
    let many = before.replace("sum(20, S), S == 210", "sum(30, S), S == 465");
    check(&many)
        .exits(1)
        .says("error: test.calls > 20 % is broken by 1 test: math:sum (21 to 31)\n");
    check(TESTS).exits(1).says("test wrong: failed").prints("");
}

/// Recordings of the tests before and after a change that moves all lines, makes one test call more
/// and one leave no choicepoint, and gives one another name: `before.pmt`, `after.pmt`.
fn changed() -> Sandbox {
    let mut after = format!("% All lines move.\n{TESTS}");
    for (old, new) in [
        ("sum(20, S), S == 210", "sum(30, S), S == 465"),
        ("test(choice) :- p(X)", "test(choice) :- p(X), !"),
        ("test(throws, ", "test(raises, "),
    ] {
        after = after.replace(old, new);
    }
    let sandbox = Sandbox::with("before.plt", TESTS);
    sandbox.write("after.plt", after);
    for file in ["before.plt", "after.plt"] {
        sandbox.portmortem(["record", "--tests", file]).exits(1);
    }
    sandbox
}

/// `diff --by test`: the test that got worse comes first, and what is new or gone last.
#[test]
fn tests_are_compared() {
    let sandbox = changed();
    let diff = |options: &[&str]| {
        let words = ["diff", "before.pmt", "after.pmt", "--by", "test"];
        sandbox.portmortem(words.iter().chain(options).copied())
    };
    let csv = diff(&["--format", "csv"]).succeeds().out();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    let rows: Vec<_> = rows.map(|row| row.unwrap()).collect();
    let names: Vec<&str> = rows.iter().map(|row| row["test"].as_str()).collect();
    assert_eq!((names.len(), names[0]), (11, "math:sum"), "{csv}");
    assert_eq!(names[9..], ["math:raises", "math:throws"], "{csv}");
    let of = |name: &str, columns: &[&str]| {
        let row = rows.iter().find(|row| row["test"] == name).unwrap();
        columns
            .iter()
            .map(|&column| row[column].clone())
            .collect::<Vec<_>>()
    };
    let place = ["file", "line", "calls_before", "calls_after"];
    assert_eq!(of("math:sum", &place), ["after.plt", "4", "21", "31"]);
    assert_eq!(of("math:raises", &place), ["after.plt", "8", "", "1"]);
    assert_eq!(of("math:throws", &place), ["before.plt", "7", "1", ""]);
    assert_eq!(of("a b:c:sum", &place), ["after.plt", "15", "3", "3"]);
    let left = ["left_before", "left_after", "redos_before", "redos_after"];
    assert_eq!(of("math:choice", &left), ["1", "0", "0", "0"]);
    assert_eq!(of("math:all", &left), ["2", "2", "2", "2"]);
    let exits = ["exits_before", "exits_after", "fails_before", "fails_after"];
    assert_eq!(of("math:sum", &exits), ["21", "31", "0", "0"]);
    let text = diff(&["--top", "1"]).succeeds().out();
    let mut table = text.lines().skip_while(|line| !line.ends_with(" test"));
    let row = table.nth(1).unwrap();
    assert!(row.contains(" math:sum (after.plt"), "{text}");
    let rest = table.next().unwrap();
    assert!(rest.ends_with(" shows all"), "{text}");
    for side in ["before", "after"] {
        let [one, other] = ["", "2"].map(|end| sandbox.path(&format!("{side}{end}.pmt")));
        fs::copy(one, other).unwrap();
    }
    let several = ["before.pmt,before2.pmt", "after.pmt,after2.pmt"];
    let several = ["diff", several[0], several[1], "--by", "test", "--top", "1"];
    let noise = sandbox.portmortem(several);
    noise.succeeds().shows(" noise test\n").shows("math:sum");
    diff(&["--sites"]).exits(2).says("--sites");
}

/// Plain `diff`: the cost centre of a test has its line in its name, and is the same one.
#[test]
fn tests_that_moved_are_the_same_predicates() {
    let sandbox = changed();
    let words = ["diff", "before.pmt", "after.pmt", "--format", "csv"];
    let csv = sandbox.portmortem(words).succeeds().out();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    let rows = rows.map(|row| row.unwrap());
    let of_tests: Vec<_> = rows
        .filter(|row| row["predicate"].contains("@line "))
        .collect();
    let with_one_side = of_tests
        .iter()
        .filter(|row| row["calls_before"].is_empty() || row["calls_after"].is_empty());
    let mut names: Vec<&str> = with_one_side.map(|row| row["predicate"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "cost_center('math:raises@line 8')",
            "cost_center('math:throws@line 7')"
        ],
        "{csv}"
    );
}

/// Limits of tests do not depend on which rows are shown, and are for each test on both sides.
#[test]
fn limits_of_tests_decide_on_the_exit_status() {
    let sandbox = changed();
    let diff = |options: &[&str]| {
        let words = ["diff", "before.pmt", "after.pmt"];
        sandbox.portmortem(words.iter().chain(options).copied())
    };
    let broken = "error: test.calls > 10 % is broken by 1 test: math:sum (21 to 31)\n";
    let limit = ["--fail-if", "test.calls > 10 %"];
    diff(&limit).exits(1).shows(" predicate\n").says(broken);
    let by_test = [&limit[..], &["--by", "test"]].concat();
    diff(&by_test).exits(1).shows(" test\n").says(broken);
    let left = ["--fail-if", "test.left - 0"];
    diff(&left).exits(1).says("1 test: math:choice (1 to 0)\n");
    let kept = [
        "--fail-if",
        "test.calls > 50 %",
        "--fail-if",
        "test.redos+0",
    ];
    diff(&kept).succeeds();
    let json = diff(&[&by_test[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.exits(1).out()).unwrap();
    let broken = json["broken"].as_array().unwrap();
    assert_eq!(broken.len(), 1);
    assert_eq!(broken[0]["test"], "math:sum");
    assert_eq!(
        (&broken[0]["before"], &broken[0]["after"]),
        (&21.into(), &31.into())
    );
    assert_eq!(json["tests"][0]["test"], "math:sum");
    assert_eq!(json["tests"].as_array().unwrap().len(), 11);
    assert!(json["predicates"].is_null());
    for wrong in [
        "test.calls",
        "test.cals > 1",
        "test. > 1",
        "test.self > 5 parsecs",
    ] {
        diff(&["--fail-if", wrong]).exits(2);
    }
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
    sandbox
        .portmortem(["record", "--tests", "math.plt"])
        .exits(1);
    let command = "x.pmt: no tests of plunit have figures in it; to record them: portmortem record --tests FILE.plt\n";
    for options in [["--by", "test"], ["--fail-if", "test.calls > 10 %"]] {
        for sides in [["math.pmt", "x.pmt"], ["x.pmt", "math.pmt"]] {
            let words = ["diff"].into_iter().chain(sides).chain(options);
            sandbox.portmortem(words).refuses(command);
        }
    }
    let ports = ["record", "--tests", "--ports", "math.plt"];
    sandbox.portmortem(ports).exits(2).says("--ports");
}
