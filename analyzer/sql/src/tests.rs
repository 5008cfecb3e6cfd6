//! Queries of a recorded sample.

use std::path::Path;

use portmortem_analyzer::tables::Table;
use portmortem_analyzer::{Profile, ReplayOptions, Tables, Trace, replay};

use crate::{Query, QueryError, Value};

fn sample() -> (Trace, Profile) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/queens.pmt");
    let trace = Trace::open(&path).unwrap();
    let profile = replay(&trace, &ReplayOptions::default());
    (trace, profile)
}

/// The answer of the sample, each row as text.
fn answer(sql: &str) -> Vec<String> {
    let (trace, profile) = sample();
    let mut query = Query::parse(sql).unwrap();
    query
        .add(Tables::new("queens", &trace, &profile), |_| ())
        .unwrap();
    let mut rows = Vec::new();
    let asked = query.rows(|values| {
        let shown = values.iter().map(|value| match value {
            Value::Missing => "-".to_owned(),
            Value::Text(text) => text.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => format!("{number:.3}"),
            Value::Bool(truth) => truth.to_string(),
        });
        rows.push(shown.collect::<Vec<_>>().join(" "));
        Ok::<_, QueryError>(())
    });
    asked.unwrap();
    rows
}

#[test]
fn values_keep_their_kinds() {
    let sql = "SELECT caller, recursive, recursive = 1, calls, NULL, calls * 0.5 FROM edges WHERE callee = 'main/0'";
    assert_eq!(answer(sql), ["<root> false 0 1 - 0.500"]);
}

/// SQLite says of the first of several questions in one which columns are true or false.
#[test]
fn numbers_are_no_flags() {
    let sql = "SELECT recursive FROM edges UNION ALL SELECT 1 UNION ALL SELECT max(calls) FROM edges \
               ORDER BY 1 DESC LIMIT 2";
    assert_eq!(answer(sql), ["13752", "1"]);
    assert_eq!(answer("SELECT x'00ff', 0.5"), ["x'00ff' 0.500"]);
}

#[test]
fn sqlite_is_given_what_it_lacks() {
    assert_eq!(
        answer(
            "SELECT predicate FROM predicates WHERE predicate REGEXP '^[p-r].*/[23]$' ORDER BY predicate"
        ),
        ["permute/3", "queens/2", "rows/3"]
    );
    assert_eq!(
        answer(
            "WITH n(x) AS (VALUES (2), (4), (4), (4), (5), (5), (7), (9), (NULL)) SELECT stddev(x), median(x) FROM n"
        ),
        ["2.138 4.500"]
    );
    assert_eq!(
        answer("SELECT stddev(calls) FROM predicates WHERE calls = 1 AND predicate = 'main/0'"),
        ["-"]
    );
    let sql = "SELECT 75 REGEXP '5', 'a' REGEXP NULL, NULL REGEXP 'a', 75 REGEXP 5";
    assert_eq!(answer(sql), ["1 - - 1"]);
    assert_eq!(
        answer("SELECT sqrt(16), 'A' LIKE 'a', 'a' LIKE 'a'"),
        ["4.000 0 1"]
    );
}

#[test]
fn only_what_is_read_is_filled() {
    let tables = |sql: &str| Query::parse(sql).unwrap().tables().collect::<Vec<_>>();
    assert_eq!(tables("SELECT count(*) FROM events"), [Table::Events]);
    assert_eq!(tables("SELECT 1"), []);
    assert_eq!(
        tables(
            "SELECT e.calls FROM edges e WHERE EXISTS (SELECT 1 FROM predicates WHERE predicate = e.caller)"
        ),
        [Table::Predicates, Table::Edges]
    );
    assert_eq!(answer("SELECT count(*) FROM predicates"), ["7"]);
    assert_eq!(answer("SELECT sum(calls) > 0 FROM predicates"), ["1"]);
}

#[test]
fn a_query_changes_nothing() {
    let file = std::env::temp_dir().join("portmortem-sql-must-not-be.db");
    let file = file.to_str().unwrap();
    for sql in [
        "DELETE FROM predicates",
        "INSERT INTO predicates(predicate) VALUES ('p/0')",
        "CREATE TABLE t(x)",
        "DROP TABLE predicates",
        "BEGIN",
        "VACUUM",
        &format!("VACUUM INTO '{file}'"),
        &format!("ATTACH '{file}' AS f"),
        "PRAGMA journal_mode = WAL",
        "PRAGMA temp_store_directory = '/tmp'",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT 1; SELECT 2",
        "SELECT * FROM pragma_optimize(-1)",
        "",
        "-- nothing",
    ] {
        assert!(Query::parse(sql).is_err(), "{sql}");
        assert!(!Path::new(file).exists(), "{sql}");
    }
    assert_eq!(answer("PRAGMA table_info(cycles)")[0], "0 trace TEXT 0 - 0");
    assert!(matches!(
        Query::parse("DELETE FROM predicates"),
        Err(QueryError::NoQuestion)
    ));
}

#[test]
fn wrong_names_are_errors_as_such() {
    let error = |sql: &str| Query::parse(sql).err().unwrap().to_string();
    assert_eq!(error("SELECT * FROM steams"), "no table is called steams");
    assert_eq!(
        error("SELECT cals FROM predicates"),
        "no column is called cals"
    );
    assert_eq!(
        error("SELECT calls FROM predicates WHERE predicate = \"p/0\""),
        "no such column: \"p/0\" - should this be a string literal in single-quotes?"
    );
    let none = "is none of the tables after FROM and JOIN; a table with a name by AS goes by that";
    assert_eq!(error("SELECT e.caller FROM edges"), format!("e {none}"));
    assert_eq!(
        error("SELECT predicates.* FROM edges"),
        format!("predicates {none}")
    );
    assert_eq!(error("SELEKT 1"), "near \"SELEKT\": syntax error");
    assert_eq!(error("SELECT none(1)"), "no such function: none");
}
