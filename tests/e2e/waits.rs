//! Which thread waited for which. No bound here depends on how busy the machine is: whoever is
//! awaited goes on once the other one is asleep.

use std::collections::BTreeSet;

use portmortem_tests::{Sandbox, trap};
use serde_json::Value;

fn recorded(arguments: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    let program = trap("waits/program.pl");
    let mut command = vec!["record", "-o", "run.pmt"];
    command.extend(arguments);
    command.push(program.to_str().unwrap());
    sandbox.portmortem(command).prints("done\n");
    sandbox
}

fn rows(sandbox: &Sandbox, options: &[&str]) -> Vec<Value> {
    let mut command = vec!["report", "run.pmt", "--waits", "--format", "json"];
    command.extend(options);
    let rows: Value = serde_json::from_str(&sandbox.portmortem(command).out()).unwrap();
    rows.as_array()
        .or(rows["waits"].as_array())
        .unwrap()
        .clone()
}

/// Whom `main` waited for, at a goal of a line.
fn awaited(rows: &[Value], predicate: &str) -> BTreeSet<(String, String, String)> {
    let text = |row: &Value, column: &str| row[column].as_str().unwrap_or("?").to_owned();
    let of_main = rows.iter().filter(|row| {
        row["name"] == "main" && row["predicate"].as_str().unwrap().ends_with(predicate)
    });
    of_main
        .map(|row| {
            assert!(row["line"].as_u64().is_some(), "{row}");
            (
                text(row, "kind"),
                text(row, "object"),
                text(row, "awaited_name"),
            )
        })
        .collect()
}

#[test]
fn each_wait_names_whom_it_was_for() {
    let sandbox = recorded(&[]);
    let all = rows(&sandbox, &[]);
    for (predicate, kind, object, whom) in [
        ("with_mutex/2", "mutex", "gate", "bee"),
        ("mutex_lock/1", "mutex", "gate", "wasp"),
        ("thread_get_message/1", "queue", "main", "bee"),
        ("thread_get_message/1", "queue", "main", "wasp"),
        ("thread_get_message/2", "queue", "jobs", "2"),
        ("thread_join/1", "thread", "2", "2"),
    ] {
        let found = awaited(&all, predicate);
        let wanted = [kind, object, whom].map(str::to_owned);
        let is_it = |(kind, object, whom): &(String, String, String)| {
            // A thread without an alias has some number.
            let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
            let same =
                |found: &str, wanted: &str| found == wanted || wanted == "2" && is_number(found);
            *kind == wanted[0] && same(object, &wanted[1]) && same(whom, &wanted[2])
        };
        assert!(found.iter().any(is_it), "{predicate} {wanted:?}: {all:#?}");
    }
    // Each stream has as much as its boxes of `waiting/0` but for rounding.
    let query = "select sum(waited_ns) as waited, count(*) as n from waits";
    let sums = sandbox.portmortem(["query", "run.pmt", "--format", "json", query]);
    let sums: Value = serde_json::from_str(&sums.out()).unwrap();
    let waiting = "select self_ns from predicates where predicate = 'system:waiting/0'";
    let waiting = sandbox.portmortem(["query", "run.pmt", "--format", "json", waiting]);
    let waiting: Value = serde_json::from_str(&waiting.out()).unwrap();
    let [waited, rows, waiting] = [&sums[0]["waited"], &sums[0]["n"], &waiting[0]["self_ns"]]
        .map(|number| number.as_u64().unwrap());
    assert!(waited.abs_diff(waiting) <= rows, "{waited} {waiting}");

    // As text, and of one stream: those that are not looked at are awaited all the same.
    let text = sandbox.portmortem(["report", "run.pmt", "--waits"]).out();
    assert!(
        text.contains("mutex gate") && text.contains("main/0 > with_mutex/2"),
        "{text}"
    );
    let of_main = rows_of_one(&sandbox);
    assert!(
        awaited(&of_main, "with_mutex/2")
            .iter()
            .any(|(.., whom)| whom == "bee")
    );
}

fn rows_of_one(sandbox: &Sandbox) -> Vec<Value> {
    let rows = rows(sandbox, &["--stream", "1"]);
    assert!(rows.iter().all(|row| row["stream"] == 1), "{rows:#?}");
    rows
}

/// The events say what calls are about; nothing is said of waits that the recorder did not note.
#[test]
fn events_name_what_threads_share() {
    let sandbox = recorded(&[]);
    let condition = "port = sync and text = gate";
    let events = sandbox.portmortem(["events", "run.pmt", "--where", condition]);
    let events = events.out();
    // `main` and `bee` by `with_mutex/2`, `main` and `wasp` lock and unlock.
    assert_eq!(events.matches("gate").count(), 6, "{events}");
    let sandbox = recorded(&["--ports"]);
    let report = sandbox.portmortem(["report", "run.pmt", "--waits"]);
    assert!(report.out().contains("is not known"), "{}", report.out());
}
