//! `portmortem query`: every table can be asked in SQL, and the answers are those of the other commands.

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

/// What polars does not know is an error in a sentence, and the way around it that it shows works.
#[test]
fn refused_sql_has_a_way_around() {
    let sandbox = Sandbox::new();
    for (what, sql) in [
        (
            "subqueries in the place of values",
            "SELECT predicate, (SELECT max(calls) FROM predicates) AS most FROM predicates",
        ),
        (
            "subqueries in the place of values",
            "SELECT predicate FROM predicates WHERE calls > (SELECT avg(calls) FROM predicates)",
        ),
        (
            "subqueries in the place of values",
            "SELECT predicate FROM predicates WHERE calls > ALL (SELECT calls FROM edges)",
        ),
        (
            "EXISTS",
            "SELECT predicate FROM predicates p WHERE EXISTS (SELECT 1 FROM edges e WHERE e.caller = p.predicate)",
        ),
        (
            "EXISTS",
            "SELECT predicate FROM predicates WHERE NOT EXISTS (SELECT 1 FROM edges)",
        ),
        (
            "SEMI JOIN",
            "SELECT p.predicate FROM predicates p SEMI JOIN edges e ON p.predicate = e.caller",
        ),
        (
            "WITH RECURSIVE",
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r",
        ),
        (
            "the function rank",
            "SELECT predicate, rank() OVER (ORDER BY calls) FROM predicates",
        ),
        (
            "the function dense_rank",
            "SELECT predicate, dense_rank() OVER (ORDER BY calls) FROM predicates",
        ),
        ("the function json_array", "SELECT json_array(1, 2)"),
        (
            "ROLLUP",
            "SELECT predicate FROM predicates GROUP BY ROLLUP(predicate)",
        ),
        (
            "SIMILAR TO",
            "SELECT predicate FROM predicates WHERE predicate SIMILAR TO 'a%'",
        ),
    ] {
        let refusal = query(&sandbox, &["queens.pmt"], &[sql]);
        refusal.refuses(&format!("the SQL engine does not know {what}; "));
        let error = refusal.err();
        assert!(!error.contains("Span("), "{error}");
        match error.split_once(", as in ") {
            Some((_, instead)) => {
                let answer = query(&sandbox, &["queens.pmt"], &[instead.trim_end()]);
                answer.succeeds();
            }
            None => {
                refusal.says("`portmortem export --format parquet --to DIR TRACE`");
            }
        }
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
    let joined: String = (1..14)
        .map(|of| format!(" CROSS JOIN predicates p{of}"))
        .collect();
    for sql in [
        nested("(", "calls", ")", 60_000),
        nested("(", "calls", ")", 500),
        nested("abs(", "calls", ")", 15_000),
        nested("NOT ", "recursive", "", 25_000),
        nested("-", "calls", "", 100_000),
        nested("CASE WHEN calls > 1 THEN ", "calls", " END", 3_000),
        nested("(SELECT ", "1", ")", 8_000),
        chain("+ 1 ", 30_000),
        chain("> 1 OR NOT calls ", 7_000) + "> 1",
        format!("SELECT calls{} FROM predicates", "::BIGINT".repeat(12_000)),
        format!(
            "SELECT calls FROM predicates {}",
            "UNION ALL SELECT calls FROM predicates ".repeat(3_000)
        ),
        format!("SELECT count(*) AS n FROM predicates p0 {joined}"),
        format!("SELECT p0.predicate FROM predicates p0 {joined}"),
        "SELECT repeat('x', 1000000000000000000)".to_owned(),
        "SELECT repeat(predicate, 1000000000000000000) FROM predicates".to_owned(),
        "SELECT rpad(predicate, 1000000000000, 'x') FROM predicates".to_owned(),
        "SELECT lpad(predicate, 9223372036854775807, predicate) FROM predicates".to_owned(),
        "SELECT 1e400, 99999999999999999999999999999999999999999999999999".to_owned(),
        "SELECT calls / 0, calls % 0 FROM predicates".to_owned(),
        "SELECT power(calls, 1e308), -9223372036854775808 / -1 FROM predicates".to_owned(),
        "SELECT calls FROM predicates LIMIT 99999999999999999999999".to_owned(),
        "SELECT calls FROM predicates OFFSET -1".to_owned(),
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r"
            .to_owned(),
        "WITH r AS (SELECT * FROM r) SELECT * FROM r".to_owned(),
        "SELECT predicate FROM predicates WHERE predicate ~ '(a{1000}){1000}{1000}'".to_owned(),
        "SELECT predicate FROM predicates WHERE predicate REGEXP '(((a+)+)+)+$'".to_owned(),
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
        assert!(!outcome.err().contains("overflowed its stack"), "{shown}");
    }
    query(&sandbox, &["queens.pmt"], &[&chain("+ 1 ", 30_000)]).refuses("the SQL engine broke off");
}

/// The process that asks the SQL engine does not outlive the one that was started.
#[test]
fn a_signal_ends_both_processes() {
    let sandbox = Sandbox::new();
    let script = r#"
        mkfifo out; exec 3<>out
        "$portmortem" query TRACE 'SELECT * FROM events' --format csv >out & parent=$!
        # It waits for a reader from here on.
        head -c 1 <&3 >/dev/null
        child=$(cat /proc/$parent/task/$parent/children)
        kill -TERM $parent; wait $parent; echo $?
        while test -e /proc/${child% } && ! grep -q '^State:.Z' /proc/${child% }/status; do sleep 0.1; done
        echo "${child:+ended}"
    "#;
    let script = script.replace("TRACE", &format!("'{}'", sample("queens.pmt").display()));
    sandbox.sh(&script).prints("143\nended\n");
}
