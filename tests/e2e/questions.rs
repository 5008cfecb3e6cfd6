//! `docs/questions.pl`: the ten questions in Prolog have the answers of the commands in
//! `docs/questions.md`.

use std::collections::BTreeMap;
use std::fs;

use portmortem_tests::{Sandbox, repository};

use super::library::install_pack;
use super::opium::answers;

const QUERIES: &str = "
pm_open('shop.pmt', _T), slow(_T, 3, Slow).
pm_open('shop.pmt', _T), goals(_T, 3, Goals).
pm_open('shop.pmt', _T), calls_of(_T, 'price/2', Callers, Calls, Distinct).
pm_open('shop.pmt', _T), backtracks_into(_T, 'lists:member/2', Failed).
pm_open('shop.pmt', _T), thrown_away(_T, Undone).
pm_open('shop.pmt', _T), waits(_T, Waits).
pm_open('shop.pmt', _T), slowest(_T, 'price/2', 1000000, Slowest).
pm_open('shop.pmt', _T0), pm_open('shop_fixed.pmt', _T), changed(_T0, _T, Changed).
findall(_T, ( member(_N, [50,100,200,300,400]), atomic_list_concat([orders, _N, '.pmt'], _F), pm_open(_F, _T) ), _Ts), scales(_Ts, 'handle/3', 1, 'lists:numlist/3', 5000, Calls, Checks).
pm_open('shop.pmt', _T), advice(_T, [Saved-Repeated]).
";

type Row = BTreeMap<String, String>;

/// What a command writes as CSV.
fn rows(sandbox: &Sandbox, command: &str) -> Vec<Row> {
    let words = command.split(' ').map(|word| word.replace('+', " "));
    let outcome = sandbox.portmortem(words.chain(["--format".to_owned(), "csv".to_owned()]));
    let text = outcome.exits(0).out();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

/// Whether boxes of a predicate are calls that the program makes.
fn is_work(predicate: &str) -> bool {
    let others = ["waiting", "autoload", "garbage_collect", "stack_shift"];
    let mut others = others.iter().map(|name| format!("system:{name}/0"));
    others.all(|other| predicate != other)
}

/// An atom as `writeq` writes those with a slash.
fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "\\'"))
}

fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}

/// `Figure-Name`, the greatest first.
fn ranked(rows: &[Row], figure: &str, name: &str) -> String {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row[figure].parse::<u64>().unwrap()));
    let element = |row: &Row| format!("{}-{}", row[figure], quoted(&row[name]));
    list(rows.into_iter().map(element))
}

fn goals<'r>(rows: impl Iterator<Item = &'r Row>, figure: &str) -> String {
    let goal = |row: &Row| {
        let callee = quoted(&row["callee"]);
        format!("{}-goal({},{callee})", row[figure], row["line"])
    };
    list(rows.map(goal))
}

/// The answers, a line each but the last, from what the commands say.
fn expected(sandbox: &Sandbox) -> String {
    let export = "export shop.pmt --to tables --tables edges,backtracks,arguments";
    sandbox.portmortem(export.split(' ')).exits(0);
    let table = |name: &str, column: &str, is: &str| -> Vec<Row> {
        let file = sandbox.path("tables").join(format!("{name}.csv"));
        let mut reader = csv::Reader::from_path(file).unwrap();
        let rows = reader.deserialize().map(|row| -> Row { row.unwrap() });
        rows.filter(|row| row[column] == is).collect()
    };
    let report = rows(sandbox, "report shop.pmt");
    let work = |row: &&Row| is_work(&row["predicate"]);
    let hot: Vec<Row> = report.iter().filter(work).take(3).cloned().collect();
    let sites = rows(sandbox, "report shop.pmt --sites");
    let has_line = |row: &&Row| !row["line"].is_empty();
    let undone = rows(sandbox, "report shop.pmt --sites --sort undone");
    let undone = undone.iter().filter(|row| row["undone_ns"] != "0");
    let arguments = &table("arguments", "predicate", "price/2")[0];
    let slowest = "events shop.pmt --where port+=+call+and+predicate+=+price/2+and+took+>+1+ms";
    let mut slowest: Vec<(u64, String)> = rows(sandbox, slowest)
        .iter()
        .map(|row| (row["took_ns"].parse().unwrap(), row["seq"].clone()))
        .collect();
    slowest.sort_by_key(|&(took, _)| std::cmp::Reverse(took));
    let slowest = slowest
        .iter()
        .map(|(took, event)| format!("{took}-{event}"));
    let mut changed: Vec<(String, String, String)> = rows(sandbox, "diff shop.pmt shop_fixed.pmt")
        .iter()
        .map(|row| {
            let calls = |column: &str| match row[column].as_str() {
                "" => "0".to_owned(),
                calls => calls.to_owned(),
            };
            let name = row["predicate"].clone();
            (name, calls("calls_before"), calls("calls_after"))
        })
        .filter(|(name, before, after)| before != after && is_work(name))
        .collect();
    changed.sort();
    let change = |(name, before, after): &(String, String, String)| {
        format!("change({},{before},{after})", quoted(name))
    };
    let predict = "predict orders50.pmt orders100.pmt orders200.pmt orders300.pmt orders400.pmt \
                   --size-of handle/3#1 --at 5000";
    let predicted = rows(sandbox, predict);
    let numlist = predicted
        .iter()
        .find(|row| row["predicate"] == "lists:numlist/3");
    let numlist = numlist.unwrap();
    let number = |column: &str| numlist[column].parse::<f64>().unwrap();
    format!(
        "Slow = {}\nGoals = {}\nCallers = {}\nCalls = {}\nDistinct = {}\nFailed = {}\n\
         Undone = {}\nWaits = {}\nSlowest = {}\nChanged = {}\nCalls = {}\nChecks = {}\n",
        ranked(&hot, "self_ns", "predicate"),
        goals(sites.iter().filter(has_line).take(3), "served_ns"),
        ranked(&table("edges", "callee", "price/2"), "calls", "caller"),
        arguments["calls"],
        arguments["distinct"],
        ranked(
            &table("backtracks", "resumed", "lists:member/2"),
            "count",
            "failed"
        ),
        goals(undone, "undone_ns"),
        ranked(
            &table("edges", "callee", "system:waiting/0"),
            "served_ns",
            "caller"
        ),
        list(slowest),
        list(changed.iter().map(change)),
        number("calls"),
        number("points") - number("parameters"),
    )
}

#[test]
fn the_answers_are_those_of_the_commands() {
    let sandbox = Sandbox::new();
    install_pack(&sandbox, "packs/portmortem");
    for entry in fs::read_dir(repository("docs/questions")).unwrap() {
        let path = entry.unwrap().path();
        let copy = sandbox.directory().join(path.file_name().unwrap());
        fs::copy(&path, copy).unwrap();
    }
    let program = fs::read_to_string(repository("docs/questions.pl")).unwrap();
    let answered = answers(&sandbox, &program, QUERIES);
    let answered = answered.exits(0).out();
    let (others, last) = answered.split_once("Saved = ").unwrap();
    assert_eq!(others, expected(&sandbox));
    let advice = sandbox.portmortem(["advise", "shop.pmt", "--format", "json"]);
    let advice: serde_json::Value = serde_json::from_slice(&advice.exits(0).stdout).unwrap();
    let first = &advice["findings"][0];
    assert_eq!(first["cause"], "repeated-calls");
    let (saved, repeated) = last.split_once('\n').unwrap();
    assert_eq!(repeated, "Repeated = repeated('price/2',992)\n");
    assert!(first["evidence"].as_str().unwrap().starts_with("992 of "));
    // Here each row of the call tree is rounded, there their sum.
    let cost = first["cost_ns"].as_u64().unwrap();
    assert!(
        saved.parse::<u64>().unwrap().abs_diff(cost) < 50,
        "{saved} {cost}"
    );
}
