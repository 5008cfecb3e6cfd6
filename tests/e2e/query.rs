//! `portmortem query`: every table can be asked in SQL, and the answers are those of the other commands.

use std::collections::BTreeMap;
use std::fs;

use portmortem_analyzer::tables::Table;
use portmortem_tests::generator::{Shape, Workload, generate};
use portmortem_tests::{Outcome, Sandbox, sample};
use unicode_width::UnicodeWidthStr;

fn query(sandbox: &Sandbox, traces: &[&str], rest: &[&str]) -> Outcome {
    let traces = traces.iter().map(|name| sample(name).into_os_string());
    let rest = rest.iter().map(|argument| (*argument).into());
    sandbox.portmortem(["query".into()].into_iter().chain(traces).chain(rest))
}

#[test]
fn answers_have_three_formats() {
    let sandbox = Sandbox::new();
    let sql =
        "SELECT predicate, calls, redos FROM predicates WHERE calls > 6000 ORDER BY calls DESC";
    let asked = |format: &[&str]| {
        let rest: Vec<&str> = [sql].iter().chain(format).copied().collect();
        query(&sandbox, &["queens.pmt"], &rest)
    };
    asked(&[]).succeeds().prints(
        "  predicate  calls  redos\n  attack/3   19260      0\n  sel/3       7565  12052\n",
    );
    asked(&["--format", "csv"])
        .succeeds()
        .prints("predicate,calls,redos\nattack/3,19260,0\nsel/3,7565,12052\n");
    let json = asked(&["--format", "json"]).succeeds().out();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json,
        serde_json::json!([
            {"predicate": "attack/3", "calls": 19260, "redos": 0},
            {"predicate": "sel/3", "calls": 7565, "redos": 12052}
        ])
    );
}

/// Each table has as many rows as its file, for two traces at once.
#[test]
fn every_table_can_be_asked() {
    let sandbox = Sandbox::new();
    let traces = ["debray1.pmt", "parser.pmt"];
    let names: Vec<&str> = Table::ALL.iter().map(|table| table.name()).collect();
    let mut export = vec!["export".to_owned()];
    export.extend(traces.map(|name| sample(name).display().to_string()));
    export.extend(["--to", "tables", "--tables", &names.join(",")].map(str::to_owned));
    sandbox.portmortem(&export).exits(0);
    for name in names {
        let file = fs::read(sandbox.path(&format!("tables/{name}.csv"))).unwrap();
        let rows = csv::Reader::from_reader(file.as_slice()).into_records();
        let mut expected = BTreeMap::<String, usize>::new();
        for row in rows {
            *expected.entry(row.unwrap()[0].to_owned()).or_default() += 1;
        }
        let sql = format!("SELECT trace, count(*) AS n FROM {name} GROUP BY trace ORDER BY trace");
        let answer = query(&sandbox, &traces, &[&sql, "--format", "csv"]);
        let expected: String = expected
            .into_iter()
            .map(|(trace, n)| format!("{trace},{n}\n"))
            .collect();
        answer.succeeds().prints(&format!("trace,n\n{expected}"));
    }
}

#[test]
fn tables_can_be_joined() {
    let sandbox = Sandbox::new();
    let sql = "WITH busy AS (SELECT predicate, self_ns, calls FROM predicates WHERE calls > 5000)
        SELECT e.caller, e.callee, e.calls FROM edges e JOIN busy b ON e.callee = b.predicate
        WHERE e.recursive = false ORDER BY e.caller, e.callee";
    query(&sandbox, &["queens.pmt"], &[sql, "--format", "csv"])
        .succeeds()
        .prints("caller,callee,calls\nattack/2,attack/3,5508\npermute/3,attack/2,5508\npermute/3,sel/3,2057\n");
    let sums = "SELECT sum(events) AS ports, count(DISTINCT trace) AS traces FROM predicates";
    let answer = query(
        &sandbox,
        &["queens.pmt", "parser.pmt"],
        &[sums, "--format", "json"],
    );
    let json: serde_json::Value = serde_json::from_str(&answer.succeeds().out()).unwrap();
    assert_eq!(json[0]["traces"], 2);
}

/// A list is written whole, however long.
#[test]
fn lists_are_whole() {
    let sandbox = Sandbox::new();
    let sql = "SELECT array_agg(predicate) AS all FROM (SELECT predicate FROM predicates ORDER BY predicate) p";
    query(&sandbox, &["queens.pmt"], &[sql, "--format", "csv"])
        .succeeds()
        .prints("all\n\"[attack/2, attack/3, main/0, permute/3, queens/2, rows/3, sel/3]\"\n");
}

/// A table that does not fit is printed a value a line.
#[test]
fn text_fits_the_width() {
    let sandbox = Sandbox::new();
    for sql in [
        "SELECT * FROM predicates",
        "SELECT caller, callee, calls FROM edges",
        "SELECT port, stream, seq, predicate FROM events LIMIT 3",
    ] {
        let answer = query(&sandbox, &["queens.pmt"], &[sql]);
        for line in answer.succeeds().out().lines() {
            assert!(line.width() <= 80, "{sql}: {line}");
        }
    }
    let all = query(&sandbox, &["queens.pmt"], &["SELECT * FROM predicates"]);
    all.shows("\n  predicate          attack/3\n")
        .shows("\n  7 rows\n");
    query(&sandbox, &["queens.pmt"], &["SELECT trace FROM cycles"])
        .succeeds()
        .prints("  trace\n  0 rows\n");
    query(&sandbox, &["queens.pmt"], &["SHOW TABLES"])
        .succeeds()
        .shows("choicepoints\n");
}

#[test]
fn errors_name_what_there_is() {
    let sandbox = Sandbox::new();
    let refuses = |sql: &str, error: &str| {
        query(&sandbox, &["queens.pmt"], &[sql]).refuses(error);
    };
    refuses(
        "SELECT * FROM predicate",
        "no table is called predicate; there are predicates, ",
    );
    refuses(
        "SELECT fals FROM predicates",
        "no column is called fals; predicates has fails, ",
    );
    refuses(
        "SELECT p.predicate FROM predicates p JOIN edges e ON p.predicate = e.calle",
        "; edges has caller, callee, ",
    );
    refuses(
        "SELECT calls FROM predicates WHERE cals > 1",
        "no column is called cals; predicates has calls, ",
    );
    refuses("SELEKT 1", "sql parser error");
    refuses("", "");
    refuses("SELECT 1; SELECT 2", "");
    refuses("INSERT INTO predicates VALUES (1)", "");
    refuses("SELECT * FROM read_csv('/etc/passwd')", "read_csv");
    let none = sandbox.portmortem(["query", "absent.pmt", "SELECT trace FROM streams"]);
    none.refuses("absent.pmt");
    // A wrong question is told before any trace is read.
    let wrong = sandbox.portmortem(["query", "absent.pmt", "SELECT trace FROM steams"]);
    wrong.refuses("no table is called steams; there are streams, ");
}

/// What was lost is said, and the answer is of the rest.
#[test]
fn a_damaged_trace_is_answered_with_a_warning() {
    let sandbox = Sandbox::new();
    let whole = fs::read(sample("queens.pmt")).unwrap();
    sandbox.write("cut.pmt", &whole[..whole.len() / 3]);
    let sql = "SELECT count(*) AS n FROM streams";
    let answer = sandbox.portmortem(["query", "cut.pmt", sql, "--format", "csv"]);
    answer.exits(3).prints("n\n1\n").says("warning: cut.pmt: ");
}

#[test]
fn too_many_events_are_refused_with_the_way_out() {
    let sandbox = Sandbox::new();
    let large = sandbox.path("large.pmt");
    generate(&large, &Shape::new(Workload::Mixed, 4_000_001, 1)).unwrap();
    let asked = |sql: &str| sandbox.portmortem(["query", "large.pmt", sql]);
    asked("SELECT count(*) FROM events").refuses("portmortem export --tables events");
    asked("SELECT sum(events) AS events FROM streams")
        .succeeds()
        .shows("4000001");
}
