//! `--format prolog`: SWI-Prolog loads the facts without a warning, and they say what `--format
//! json` says, whatever names are in the trace.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use portmortem_analyzer::tables::Table;
use portmortem_tests::{Sandbox, repository, sample};
use serde_json::{Map, Value, json};

use super::{hostile, names};

/// Facts by their name: an object for each, with the columns as keys.
type Facts = BTreeMap<String, Vec<Value>>;

/// Loads the facts with SWI-Prolog, in a locale without an encoding for most characters.
fn loaded(sandbox: &Sandbox, file: &Path) -> Facts {
    let text = fs::read(file).unwrap();
    assert!(text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')));
    let mut run = sandbox.command("swipl".as_ref());
    run.command.env("LC_ALL", "C");
    let script = repository("tests/prolog/facts_as_json.pl");
    let outcome = run
        .args([script.as_os_str(), "--".as_ref(), file.as_os_str()])
        .wait();
    outcome
        .exits(0)
        .demand(outcome.err().is_empty(), "no warning");
    let tables: Vec<Value> = serde_json::from_str(&outcome.out()).unwrap();
    let table = |table: &Value| {
        let columns = array(&decoded(&table["columns"])).to_vec();
        let rows = array(&table["rows"]).iter().map(|row| {
            let row = decoded(row);
            let cells = array(&row);
            assert_eq!(cells.len(), columns.len());
            let names = columns.iter().map(|name| name.as_str().unwrap().to_owned());
            Value::Object(names.zip(cells.iter().cloned()).collect())
        });
        let name = decoded(&table["name"]).as_str().unwrap().to_owned();
        (name, rows.collect())
    };
    tables.iter().map(table).collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// What the script printed, with texts in place of their codes.
fn decoded(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(decoded).collect(),
        Value::Object(object) => match object.get("atom") {
            Some(codes) => {
                let code = |code: &Value| char::from_u32(code.as_u64().unwrap() as u32).unwrap();
                Value::String(array(codes).iter().map(code).collect())
            }
            None => {
                let fields = object.iter();
                Value::Object(fields.map(|(key, of)| (key.clone(), decoded(of))).collect())
            }
        },
        other => other.clone(),
    }
}

/// What a command prints as Prolog, and as JSON.
fn printed(sandbox: &Sandbox, words: &[&str]) -> (Facts, String) {
    let of = |format: &str| {
        let outcome = sandbox.portmortem([words, &["--format", format]].concat());
        outcome.exits(0).out()
    };
    let facts = sandbox.write("facts.pl", of("prolog"));
    (loaded(sandbox, &facts), of("json"))
}

/// As many rows of the table as are expected at least.
fn compared(facts: &Facts, name: &str, expected: &[Value], least: usize) {
    assert_eq!(facts[name], expected, "{name}");
    assert!(expected.len() >= least, "{name}: {}", expected.len());
}

fn report(sandbox: &Sandbox, trace: &str, options: &[&str], least: usize) {
    let (facts, json) = printed(sandbox, &[&["report", trace], options].concat());
    let report: Map<String, Value> = serde_json::from_str(&json).unwrap();
    for (name, value) in &report {
        match value {
            Value::Array(rows) if name == "remarks" => {
                let rows = rows.iter().map(|remark| json!({ "remark": remark }));
                compared(&facts, name, &rows.collect::<Vec<_>>(), 0);
            }
            Value::Array(rows) => compared(&facts, name, rows, least),
            other => compared(&facts, name, &[json!({ "incomplete": other })], 1),
        }
    }
    assert_eq!(facts.len(), report.len());
}

fn objects(lines: &str) -> Vec<Value> {
    let lines = lines.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn everything(sandbox: &Sandbox, trace: &str, names: &[&str]) {
    report(sandbox, trace, &[], names.len());
    report(sandbox, trace, &["--predicate", "*"], names.len());
    report(
        sandbox,
        trace,
        &["--columns", "predicate,mean,determinism"],
        1,
    );
    report(sandbox, trace, &["--sites"], 1);
    report(sandbox, trace, &["--clauses"], 0);
    for options in [&[][..], &["--stack"]] {
        let (facts, json) = printed(sandbox, &[&["events", trace], options].concat());
        compared(&facts, "event", &objects(&json), names.len());
        let text = json!(facts["event"]).to_string();
        let found = names
            .iter()
            .filter(|name| text.contains(&json!(name).to_string()));
        assert_eq!(found.count(), names.len());
    }
    let sql = "SELECT e.predicate, calls / 3.0 AS \"It's \\ [] é\", -calls AS less, power(calls * 10.0, 20) AS large, \
        text, port = 'call' AS is_call \
        FROM events e LEFT JOIN predicates p ON e.predicate = p.predicate ORDER BY seq";
    let (facts, json) = printed(sandbox, &["query", trace, sql]);
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    compared(&facts, "answer", &rows, names.len());
    let tables: Vec<&str> = Table::ALL.iter().map(|table| table.name()).collect();
    for format in ["json", "prolog"] {
        let export = ["export", trace, "--to", "tables", "--format", format];
        let tables = ["--tables", &tables.join(",")];
        sandbox.portmortem([&export[..], &tables].concat()).exits(0);
    }
    for name in tables {
        let file = |extension: &str| sandbox.path(&format!("tables/{name}.{extension}"));
        let facts = loaded(sandbox, &file("pl"));
        let json = fs::read_to_string(file("json")).unwrap();
        compared(&facts, name, &objects(&json), 0);
    }
}

/// The program makes predicates with names that need quotes, and marks; one of its threads has such
/// a name.
#[test]
fn facts_of_a_program_with_any_names() {
    let more = "
        :- initialization(in_a_thread).
        in_a_thread :-
            pm_mark('[]'), pm_mark(''), pm_mark('a\\0\\b'), pm_mark('(mod)'), pm_mark(mod),
            thread_create(make, Id, [alias('it\\'s \\\\ \\x1F980\\')]), thread_join(Id).
    ";
    let program = format!(
        ":- use_module(library(portmortem)).\n{}{more}",
        names::program()
    );
    let sandbox = Sandbox::with("names.pl", &program);
    let trace = "it's [é].pmt";
    sandbox
        .portmortem(["record", "-o", trace, "names.pl"])
        .exits(0);
    let marks = ["[]", "", "a\0b", "(mod)", "mod"];
    everything(&sandbox, trace, &marks);
}

/// The trace has commands of terminals in all its names.
#[test]
fn facts_of_a_forged_trace() {
    let sandbox = Sandbox::new();
    hostile::forge(
        &sandbox.path("mod.pmt"),
        &[hostile::COMMANDS, "/etc/passwd"],
    );
    everything(&sandbox, "mod.pmt", &[hostile::COMMANDS]);
}

/// Facts of several traces are loaded together, and a table without rows has none.
#[test]
fn facts_of_several_files_are_loaded_together() {
    let sandbox = Sandbox::new();
    let mut expected = 0;
    for name in ["queens", "debray1"] {
        let trace = sample(&format!("{name}.pmt")).display().to_string();
        let export = ["export", &trace, "--to", name, "--format", "prolog"];
        sandbox.portmortem(export).exits(0);
        let report = sandbox
            .portmortem(["report", &trace, "--format", "json"])
            .out();
        let report: Value = serde_json::from_str(&report).unwrap();
        expected += array(&report["predicates"]).len();
    }
    sandbox.write(
        "load.pl",
        "
        :- initialization(main, main).
        main :-
            expand_file_name('{queens,debray1}/*.pl', Files),
            load_files(Files, [silent(true)]),
            count(predicates, Predicates), count(clauses, Clauses),
            print([Predicates, Clauses]), nl.
        count(Name, Count) :-
            pm_columns(Name, Columns), !,
            length(Columns, Arity), functor(Fact, Name, Arity),
            aggregate_all(count, Fact, Count).
        ",
    );
    let loaded = sandbox.swipl(["load.pl"]);
    loaded.succeeds().prints(&format!("[{expected},0]\n"));
}
