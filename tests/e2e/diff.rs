//! `portmortem diff`: what changed between two programs, the cause first; limits; noise.

use std::fs;

use portmortem_tests::{Outcome, Sandbox, repository, sample};
use portmortem_tracer::format::ENGINE_WORK;
use unicode_width::UnicodeWidthStr;

fn trace(name: &str) -> String {
    sample(name).display().to_string()
}

fn diff(sandbox: &Sandbox, before: &str, after: &str, options: &[&str]) -> Outcome {
    let sides = ["diff", before, after];
    sandbox.portmortem(sides.iter().chain(options).copied())
}

fn rows(outcome: &Outcome) -> Vec<csv::StringRecord> {
    let text = outcome.out();
    let reader = csv::Reader::from_reader(text.as_bytes());
    reader.into_records().map(Result::unwrap).collect()
}

/// A parser of sums and products: alternatives of a rule begin with the same goal, which is parsed again.
const SLOW: &str = "
:- initialization(main, main).
main :- nested(4, Tokens), expr(E, Tokens, []), numbervars(E, 0, _).
nested(0, [1]) :- !.
nested(N, ['('|Ts]) :- M is N-1, nested(M, Inner), append(Inner, [')'], Ts).
expr(E) --> term(T), [+], expr(E1), { E = T+E1 }.
expr(E) --> term(T), [-], expr(E1), { E = T-E1 }.
expr(E) --> term(E).
term(T) --> factor(F), [*], term(T1), { T = F*T1 }.
term(T) --> factor(T).
factor(1) --> [1].
factor(E) --> ['('], expr(E), [')'].
";

/// The same, with common beginnings parsed once.
const FAST: &str = "
:- initialization(main, main).
main :- nested(4, Tokens), expr(E, Tokens, []), numbervars(E, 0, _).
nested(0, [1]) :- !.
nested(N, ['('|Ts]) :- M is N-1, nested(M, Inner), append(Inner, [')'], Ts).
expr(E) --> term(T), more(T, E).
more(T, E) --> [+], !, expr(E1), { E = T+E1 }.
more(T, E) --> [-], !, expr(E1), { E = T-E1 }.
more(E, E) --> [].
term(T) --> factor(F), times(F, T).
times(F, T) --> [*], !, term(T1), { T = F*T1 }.
times(T, T) --> [].
factor(1) --> [1].
factor(E) --> ['('], expr(E), [')'].
";

/// `factor//1` is called most often; its caller was repaired. (It is called with other data now, which looks like a change of its own.)
#[test]
fn the_repaired_predicate_comes_first() {
    let sandbox = Sandbox::new();
    sandbox.record("slow", SLOW, &[]);
    sandbox.record("fast", FAST, &[]);
    let csv = diff(&sandbox, "slow.pmt", "fast.pmt", &["--format", "csv"]);
    let rows = rows(csv.succeeds());
    let mut first: Vec<&str> = rows.iter().take(3).map(|row| &row[0]).collect();
    assert_eq!(first[0], "term/3", "{csv}");
    first.sort_unstable();
    assert_eq!(first, ["expr/3", "factor/3", "term/3"], "{csv}");
    let row = |name: &str| rows.iter().find(|row| &row[0] == name).unwrap();
    // An expression had 3 × 2 factors at each of the 5 levels: 6 + 36 + … + 7776. Now it has one.
    assert_eq!((&row("factor/3")[2], &row("factor/3")[3]), ("9330", "5"));
    assert_eq!((&row("more/4")[2], &row("more/4")[3]), ("", "5"));
    let back = diff(&sandbox, "fast.pmt", "slow.pmt", &["--format", "csv"]);
    assert_eq!(&self::rows(back.succeeds())[0][0], "term/3");
}

/// Programs as users write them, and the same repaired.
#[test]
fn the_repaired_predicate_of_a_slow_program_comes_first() {
    for (name, goal, first) in [
        ("formula", "main(['3'])", "term/3"),
        ("memo", "main", "lookup/2"),
        ("whilei", "main(['300'])", "value/3"),
    ] {
        let sandbox = Sandbox::new();
        for program in [name.to_owned(), format!("{name}_fix")] {
            let file = repository(&format!("tests/programs/slow/{program}.pl"));
            let file = file.to_str().unwrap();
            // What is large, and is folded then, depends on how much of the disk is free.
            let record = ["record", "--keep", "all", "-g", goal, file];
            sandbox.portmortem(record).succeeds();
        }
        let sides = [format!("{name}.pmt"), format!("{name}_fix.pmt")];
        let csv = diff(&sandbox, &sides[0], &sides[1], &["--format", "csv"]);
        assert_eq!(&rows(csv.succeeds())[0][0], first, "{csv}");
    }
}

/// The goals of the samples of Debray's paper: 1 and 4 differ in the order of goals.
#[test]
fn counts_are_those_of_the_traces() {
    let sandbox = Sandbox::new();
    let (before, after) = (trace("debray1.pmt"), trace("debray4.pmt"));
    let text = diff(&sandbox, &before, &after, &[]);
    for line in text.succeeds().out().lines().skip(2) {
        assert!(line.width() <= 80, "{line}");
    }
    let calls = |path: &str| {
        let columns = ["--format", "csv", "--columns", "predicate,calls"];
        let report = ["report", path].into_iter().chain(columns);
        rows(sandbox.portmortem(report).succeeds())
    };
    let (before_calls, after_calls) = (calls(&before), calls(&after));
    let csv = diff(&sandbox, &before, &after, &["--format", "csv"]);
    let changes = rows(csv.succeeds());
    assert!(changes.len() >= before_calls.len());
    let is_engine_work =
        |row: &csv::StringRecord| ENGINE_WORK.iter().any(|name| row[0].contains(name));
    for change in changes.iter().filter(|row| !is_engine_work(row)) {
        let of = |rows: &[csv::StringRecord]| {
            let row = rows.iter().find(|row| row[0] == change[0]);
            row.map_or(String::new(), |row| row[1].to_owned())
        };
        assert_eq!(change[2], of(&before_calls), "{change:?}");
        assert_eq!(change[3], of(&after_calls), "{change:?}");
    }
    assert_eq!(&changes[0][0], "teacher/2");
    let json = diff(
        &sandbox,
        &before,
        &after,
        &["--format", "json", "--top", "2"],
    );
    let json: serde_json::Value = serde_json::from_str(&json.succeeds().out()).unwrap();
    assert_eq!(json["predicates"].as_array().unwrap().len(), 2);
    assert_eq!(json["predicates"][0]["predicate"], "teacher/2");
    assert_eq!(json["sites"].as_array().unwrap().len(), 2);
    let sites = diff(&sandbox, &before, &after, &["--sites", "--format", "csv"]);
    sites
        .succeeds()
        .shows("caller,clause,goal,callee,calls_before,calls_after,");
}

#[test]
fn the_same_trace_has_no_changes() {
    let sandbox = Sandbox::new();
    let queens = trace("queens.pmt");
    let same = diff(
        &sandbox,
        &queens,
        &queens,
        &["--fail-if", "calls +0", "--fail-if", "self +0%"],
    );
    same.succeeds()
        .shows(": 34,400 calls, self net 4.677 ms\n")
        .shows("no predicate changed\n")
        .shows("no goal changed\n");
}

#[test]
fn limits_decide_on_the_exit_status() {
    let sandbox = Sandbox::new();
    let (before, after) = (trace("debray4.pmt"), trace("debray1.pmt"));
    let broken = diff(
        &sandbox,
        &before,
        &after,
        &["--fail-if", "calls +10%", "--fail-if", "exceptions +0"],
    );
    broken
        .exits(1)
        .shows("predicate\n")
        .says("error: calls +10% is broken by ")
        .says("teacher/2 (");
    assert!(!broken.err().contains("exceptions"), "{broken}");
    let json = diff(
        &sandbox,
        &before,
        &after,
        &["--fail-if", "calls +10%", "--format", "json"],
    );
    let json: serde_json::Value = serde_json::from_str(&json.exits(1).out()).unwrap();
    let rows = json["broken"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["predicate"] == "teacher/2"));
    assert!(
        rows.iter()
            .all(|row| row["after"].as_u64() > row["before"].as_u64())
    );
    diff(&sandbox, &before, &after, &["--fail-if", "calls +1000000"]).succeeds();
    for wrong in ["calls", "cals +1", "self +5parsec"] {
        diff(&sandbox, &before, &after, &["--fail-if", wrong]).exits(2);
    }
    diff(&sandbox, &before, "absent.pmt", &[]).refuses("absent.pmt");
}

/// Three recordings on a side: the middle one counts, and the spread is told.
#[test]
fn several_recordings_have_noise() {
    let sandbox = Sandbox::new();
    let [a, b, c] = ["debray1.pmt", "debray2.pmt", "debray4.pmt"].map(trace);
    let side = format!("{a},{b},{c}");
    let text = diff(&sandbox, &side, &a, &[]);
    text.succeeds().shows("noise  predicate\n").shows(" to ");
    let csv = diff(&sandbox, &side, &side, &["--format", "csv"]);
    for row in rows(csv.succeeds()) {
        let number = |at: usize| row[at].parse::<u64>().unwrap();
        let first = row.len() - 6;
        assert!(number(first + 1) <= number(first) && number(first) <= number(first + 2));
        assert_eq!(number(first), number(first + 3));
    }
}

/// What was lost of a trace is said, and which modes differ.
#[test]
fn lost_events_and_other_modes_are_said() {
    let sandbox = Sandbox::new();
    let whole = fs::read(sample("queens.pmt")).unwrap();
    sandbox.write("cut.pmt", &whole[..whole.len() / 3]);
    let cut = diff(&sandbox, "cut.pmt", &trace("queens.pmt"), &[]);
    cut.exits(3).says("warning: cut.pmt: ").shows("predicate\n");
    let (program, goal) = (sample("debray1.pl"), ["--goal", "prog(_)"]);
    sandbox.record_file(&program, &goal);
    fs::rename(sandbox.path("debray1.pmt"), sandbox.path("usual.pmt")).unwrap();
    sandbox.record_file(&program, &[goal[0], goal[1], "--byrd"]);
    let modes = diff(&sandbox, "usual.pmt", "debray1.pmt", &[]);
    modes.succeeds().shows("different modes").shows("--byrd");
}
