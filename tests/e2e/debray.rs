//! Debray's four tables ("Profiling Prolog Programs", 1988, section 4): all 36 numbers, from real recordings.

use std::collections::BTreeMap;
use std::fs;

use portmortem_tests::{Profiled, Sandbox, Status, repository, sample};
use serde::Deserialize;

#[derive(Deserialize)]
struct Paper {
    answers: Vec<[String; 3]>,
    tables: Vec<Table>,
}

/// By predicate; what is neither (the order of goals, the time) is left out.
type Table = BTreeMap<String, serde_json::Value>;

const PREDICATES: [&str; 3] = ["teacher/2", "student/2", "course/3"];

fn paper() -> Paper {
    let text = fs::read_to_string(repository("tests/expected/debray-tables.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Calls, backtracks and failures of the three predicates, as printed in the paper.
fn printed(table: &Table) -> Vec<[u64; 3]> {
    PREDICATES
        .map(|predicate| {
            ["calls", "backtracks", "failures"]
                .map(|column| table[predicate][column].as_u64().unwrap())
        })
        .to_vec()
}

/// The same figures as recorded.
fn recorded(profiled: &Profiled) -> Vec<[u64; 3]> {
    PREDICATES
        .map(|predicate| {
            let row = profiled.row(predicate);
            [row.calls, row.redos, row.fails]
        })
        .to_vec()
}

#[test]
fn all_of_them_come_out_of_recordings_of_the_three_predicates() {
    for (order, table) in (1..).zip(&paper().tables) {
        let sandbox = Sandbox::new();
        let options = [
            "--byrd",
            "--include",
            "teacher/2",
            "--include",
            "student/2",
            "--include",
            "course/3",
        ];
        let profiled = sandbox.record_file(&sample(&format!("debray{order}.pl")), &options);
        assert_eq!(recorded(&profiled), printed(table), "order {order}");
        assert_eq!(
            profiled.names(),
            ["course/3", "student/2", "teacher/2"],
            "order {order}"
        );
    }
}

#[test]
fn and_of_recordings_of_everything() {
    for (order, table) in (1..).zip(&paper().tables) {
        let sandbox = Sandbox::new();
        let profiled = sandbox.record_file(&sample(&format!("debray{order}.pl")), &["--byrd"]);
        assert_eq!(recorded(&profiled), printed(table), "order {order}");
        assert!(profiled.find("p/3").is_some());
    }
}

/// Without `--byrd` a determinate exit closes its box: calls are the paper's, redos and failures are what the
/// engine does.
#[test]
fn calls_are_the_same_without_byrd() {
    for (order, table) in (1..).zip(&paper().tables) {
        let sandbox = Sandbox::new();
        let profiled = sandbox.record_file(&sample(&format!("debray{order}.pl")), &[]);
        let calls = |figures: Vec<[u64; 3]>| {
            figures
                .into_iter()
                .map(|[calls, ..]| calls)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            calls(recorded(&profiled)),
            calls(printed(table)),
            "order {order}"
        );
        assert!(recorded(&profiled)[0][1] <= printed(table)[0][1]);
    }
}

#[test]
fn the_program_gives_the_papers_answers() {
    let wanted: String = paper()
        .answers
        .iter()
        .map(|answer| answer.join(" ") + "\n")
        .collect();
    for order in 1..=4 {
        let sandbox = Sandbox::new();
        let file = sample(&format!("debray{order}.pl"));
        let arguments = ["record".as_ref(), "--byrd".as_ref(), file.as_os_str()];
        sandbox.portmortem(arguments).succeeds().prints(&wanted);
    }
}

/// By what failed and what was re-entered: how often, from the table `backtracks`.
fn backtracks(sandbox: &Sandbox, program: &str) -> BTreeMap<(String, String), u64> {
    let sample = sample(program);
    let trace = sandbox.path("run.pmt");
    let record = sandbox.portmortem([
        "record".as_ref(),
        "--byrd".as_ref(),
        "--force".as_ref(),
        "--output".as_ref(),
        trace.as_os_str(),
        sample.as_os_str(),
    ]);
    assert_eq!(record.status, Status::Exit(0), "{record:?}");
    let export = sandbox.portmortem([
        "export".as_ref(),
        trace.as_os_str(),
        "--force".as_ref(),
        "--to".as_ref(),
        sandbox.path("tables").as_os_str(),
    ]);
    assert_eq!(export.status, Status::Exit(0), "{export:?}");
    let table = sandbox.path("tables").join("backtracks.csv");
    csv::Reader::from_path(table)
        .unwrap()
        .records()
        .map(|row| {
            let row = row.unwrap();
            (
                (row[1].to_owned(), row[2].to_owned()),
                row[3].parse().unwrap(),
            )
        })
        .collect()
}

/// Section 4: `teacher` is called, and fails, out of proportion, and every failure but those of its own
/// alternatives re-enters `student`. Debray pulls `teacher` forward; then it fails into nothing but itself.
#[test]
fn the_backtracks_lead_to_the_reordering_that_he_makes() {
    let sandbox = Sandbox::new();
    let pair = |failed: &str, resumed: &str| (failed.to_owned(), resumed.to_owned());
    let before = backtracks(&sandbox, "debray1.pl");
    let worst = before.values().max().unwrap();
    assert_eq!(before[&pair("teacher/2", "student/2")], *worst);
    let after = backtracks(&sandbox, "debray2.pl");
    assert!(!after.contains_key(&pair("teacher/2", "student/2")));
    let by_teacher = |edges: &BTreeMap<(String, String), u64>| -> u64 {
        let mine = edges
            .iter()
            .filter(|((failed, _), _)| failed == "teacher/2");
        mine.map(|(_, count)| count).sum()
    };
    assert_eq!(by_teacher(&before), 78);
    assert!(by_teacher(&after) < 78 / 10);
}
