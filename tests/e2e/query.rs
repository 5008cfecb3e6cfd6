//! `portmortem query`: every table can be asked in SQL, and answers are those of the other
//! commands.

use std::collections::BTreeMap;
use std::fs;

use portmortem_analyzer::tables::Table;
use portmortem_tests::generator::{Shape, Workload, generate};
use portmortem_tests::{Outcome, Sandbox, Status, sample};
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

/// Of SQL a user expects more than SELECT and JOIN.
#[test]
fn all_of_sql_can_be_asked() {
    let sandbox = Sandbox::new();
    for (sql, answer) in [
        (
            "SELECT predicate FROM predicates WHERE calls = (SELECT max(calls) FROM predicates)",
            "attack/3\n",
        ),
        (
            "SELECT predicate FROM predicates p WHERE EXISTS (SELECT 1 FROM edges WHERE callee = 'attack/3' AND caller = p.predicate) ORDER BY 1",
            "attack/2\nattack/3\n",
        ),
        (
            "SELECT predicate, rank() OVER (ORDER BY calls DESC) AS place FROM predicates ORDER BY place LIMIT 2",
            "attack/3,1\nsel/3,2\n",
        ),
        (
            "WITH RECURSIVE chain(predicate, depth) AS (VALUES ('main/0', 0) UNION
                SELECT callee, depth + 1 FROM edges JOIN chain ON caller = predicate WHERE depth < 9 AND recursive = false)
                SELECT predicate, max(depth) FROM chain GROUP BY predicate ORDER BY 2, 1 LIMIT 2",
            "main/0,0\nqueens/2,1\n",
        ),
        (
            "SELECT group_concat(predicate, ' ') FROM (SELECT predicate FROM predicates WHERE predicate REGEXP '/2$' ORDER BY 1)",
            "attack/2 queens/2\n",
        ),
        (
            "SELECT caller, recursive, recursive AND calls > 0 FROM edges WHERE callee = 'sel/3' AND recursive",
            "sel/3,true,1\n",
        ),
    ] {
        let asked = query(&sandbox, &["queens.pmt"], &[sql, "--format", "csv"]).succeeds().out();
        let rows = asked.split_once('\n').unwrap().1;
        assert_eq!(rows, answer, "{sql}");
    }
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
    query(
        &sandbox,
        &["queens.pmt"],
        &["SELECT name FROM sqlite_schema"],
    )
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
    refuses(
        "SHOW TABLES",
        "near \"SHOW\": syntax error; the SQL is that of SQLite, and SELECT name ",
    );
    let one_question = "a query is one question and changes nothing";
    refuses("", "SQL is empty");
    refuses("SELECT 1; SELECT 2", one_question);
    refuses("DELETE FROM predicates", one_question);
    refuses("ATTACH '/etc/passwd' AS passwd", one_question);
    refuses("SELECT * FROM read_csv('/etc/passwd')", "read_csv");
    let none = sandbox.portmortem(["query", "absent.pmt", "SELECT trace FROM streams"]);
    none.refuses("absent.pmt");
    // A wrong question is told before any trace is read.
    let wrong = sandbox.portmortem(["query", "absent.pmt", "SELECT trace FROM steams"]);
    wrong.refuses("no table is called steams; there are streams, ");
}

/// Options stand wherever a user thinks of them.
#[test]
fn options_stand_anywhere() {
    let sandbox = Sandbox::new();
    let [one, two] = ["queens.pmt", "parser.pmt"].map(|name| sample(name).display().to_string());
    let sql = "SELECT count(DISTINCT trace) AS traces FROM streams";
    let csv = ["--format", "csv"];
    for words in [
        [&csv[..], &[&one, &two, sql]].concat(),
        [&[one.as_str()][..], &csv, &[&two, sql]].concat(),
        [&[one.as_str(), &two][..], &csv, &[sql]].concat(),
        [&[one.as_str(), &two, sql][..], &csv].concat(),
    ] {
        let answer = sandbox.portmortem([&["query"], &words[..]].concat());
        answer.succeeds().prints("traces\n2\n");
    }
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

/// Events may be more than memory holds: the columns that are read are kept beside the memory.
#[test]
fn events_may_be_many() {
    let sandbox = Sandbox::new();
    let large = sandbox.path("large.pmt");
    generate(&large, &Shape::new(Workload::Mixed, 1_000_001, 1)).unwrap();
    let mut run = sandbox.command("sh".as_ref());
    let limited =
        "ulimit -d 200000; exec \"$portmortem\" --threads 1 query large.pmt \"$@\" --format csv";
    let sql = "SELECT count(*), count(DISTINCT seq), max(seq) FROM events";
    run = run.args(["-c", limited, "sh", sql]);
    run.wait().succeeds().shows("\n1000001,1000001,1000000\n");
}

/// Whatever a question does to the SQL engine, the answer is an error in one line.
#[test]
fn no_question_ends_the_program() {
    let sandbox = Sandbox::new();
    let trace = sample("queens.pmt");
    let wide = "x".repeat(40_000);
    let chain = |word: &str, times: usize| {
        format!(
            "SELECT calls FROM predicates WHERE calls {}",
            word.repeat(times)
        )
    };
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!(
            "SELECT {}{inner}{} FROM predicates",
            open.repeat(times),
            close.repeat(times)
        )
    };
    let joined: String = (1..12)
        .map(|of| format!(" CROSS JOIN predicates p{of}"))
        .collect();
    for sql in [
        nested("(", "calls", ")", 60_000),
        nested("(", "calls", ")", 500),
        nested("abs(", "calls", ")", 15_000),
        nested("NOT ", "recursive", "", 25_000),
        nested("- ", "calls", "", 50_000),
        nested("CASE WHEN calls > 1 THEN ", "calls", " END", 3_000),
        nested("(SELECT ", "1", ")", 8_000),
        chain("+ 1 ", 30_000),
        chain("> 1 OR NOT calls ", 7_000) + "> 1",
        format!(
            "SELECT calls FROM predicates {}",
            "UNION ALL SELECT calls FROM predicates ".repeat(3_000)
        ),
        format!("SELECT p0.predicate FROM predicates p0 {joined}"),
        "SELECT zeroblob(1000000000000000000)".to_owned(),
        "SELECT hex(zeroblob(400000000))".to_owned(),
        "SELECT printf('%*s', 2000000000, predicate) FROM predicates".to_owned(),
        "SELECT replace(hex(zeroblob(100000)), '0', hex(zeroblob(100000)))".to_owned(),
        "SELECT 1e400, 99999999999999999999999999999999999999999999999999".to_owned(),
        "SELECT calls / 0, calls % 0 FROM predicates".to_owned(),
        "SELECT sum(9223372036854775807) FROM predicates".to_owned(),
        "SELECT power(calls, 1e308), -9223372036854775808 / -1 FROM predicates".to_owned(),
        "SELECT calls FROM predicates LIMIT 99999999999999999999999".to_owned(),
        "SELECT calls FROM predicates LIMIT 1 OFFSET -1".to_owned(),
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r"
            .to_owned(),
        "WITH r AS (SELECT * FROM r) SELECT * FROM r".to_owned(),
        "SELECT predicate FROM predicates WHERE predicate REGEXP '(a{1000}){1000}{1000}'"
            .to_owned(),
        "SELECT predicate FROM predicates WHERE predicate REGEXP '(((a+)+)+)+$'".to_owned(),
        "SELECT predicate FROM predicates WHERE predicate REGEXP 7".to_owned(),
        format!(
            "SELECT predicate FROM predicates WHERE predicate LIKE '{}'",
            "%_".repeat(40_000)
        ),
        format!("SELECT '{wide}' AS {wide} FROM predicates"),
        format!("SELECT {wide} FROM predicates"),
    ] {
        // Enough for the engine itself, and soon too little for what is asked.
        let mut run = sandbox.command("sh".as_ref());
        run = run.args([
            "-c",
            "ulimit -d 500000; exec \"$portmortem\" query \"$@\"",
            "sh",
        ]);
        let outcome = run.args([trace.as_os_str(), sql.as_ref()]).wait();
        let shown: String = sql.chars().take(80).collect();
        outcome.is_sound();
        match outcome.status {
            Status::Exit(0) => outcome.says(""),
            Status::Exit(1) => outcome.refuses(""),
            _ => panic!("{shown}: {outcome}"),
        };
    }
}

/// An answer without end is written row by row, until its reader has seen enough.
#[test]
fn an_answer_may_have_no_end() {
    let sandbox = Sandbox::new();
    let trace = sample("queens.pmt");
    let sql = "WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r) SELECT n FROM r";
    for (format, last) in [
        ("csv", "4"),
        ("json", "{\"n\":4},"),
        ("prolog", "answer(1)."),
    ] {
        let script = format!(
            "ulimit -d 500000; \"$portmortem\" query '{}' '{sql}' --format {format} | head -n 5 | tail -n 1",
            trace.display()
        );
        sandbox.sh(&script).succeeds().prints(&format!("{last}\n"));
    }
}
