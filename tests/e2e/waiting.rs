//! What a thread waits for, and what for a processor: each is in a row of its own, and belongs to
//! its goal. No bound here depends on how busy the machine is: a sleep takes at least its time.

use std::fs;

use portmortem_analyzer::figures::Caller;
use portmortem_tests::{Profiled, Sandbox};
use serde_json::Value;

const PROGRAM: &str = "
:- initialization(main, main).
main :-
    nap(0.2),
    ask,
    sleep(0.3),
    busy(300000).
nap(Time) :-
    sleep(Time).
ask :-
    shell('sleep 0.25').
busy(0) :- !.
busy(N) :- M is N-1, busy(M).
";

fn record() -> (Sandbox, Profiled) {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    sandbox
        .portmortem(["record", "-o", "run.pmt", "program.pl"])
        .exits(0);
    let recorded = Profiled::of(&sandbox.path("run.pmt"));
    (sandbox, recorded)
}

#[test]
fn each_goal_that_waits_is_named() {
    let (sandbox, _) = record();
    let command = [
        "advise", "run.pmt", "--format", "json", "--least", "0", "--top", "100",
    ];
    let report: Value = serde_json::from_slice(&sandbox.portmortem(command).stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    for (predicate, line, waits, ms) in [
        ("nap/1", 9, "system:sleep/1", 200),
        ("main/0", 6, "system:sleep/1", 300),
        ("ask/0", 11, "'$syspreds':shell/1", 250),
    ] {
        let found = findings.iter().find(|finding| {
            finding["cause"] == "waiting"
                && finding["predicate"] == predicate
                && finding["line"] == line
        });
        let found = found.unwrap_or_else(|| panic!("no {predicate} among {findings:#?}"));
        let evidence = found["evidence"].as_str().unwrap();
        let wanted = format!("{waits} was called 1 time there");
        assert!(evidence.contains(&wanted), "{evidence}");
        // The clocks are not read at one moment.
        let least = (ms - 20) * 1_000_000;
        assert!(found["cost_ns"].as_u64().unwrap() >= least, "{found}");
    }
}

/// Where the system says for how long a thread was ready to run, that is no waiting for something.
#[test]
fn waiting_for_a_processor_is_a_row_of_its_own() {
    let (_, recorded) = record();
    let is_told = fs::read_to_string("/proc/thread-self/schedstat").is_ok();
    let names = recorded.trace.predicates().iter();
    let has_row = names
        .clone()
        .any(|info| info.indicator == "system:preempted/0");
    assert_eq!(has_row, is_told);
    let waiting: u64 = names
        .zip(&recorded.profile.predicates)
        .filter(|(info, _)| info.is_waiting())
        .map(|(_, figures)| figures.self_ticks)
        .sum();
    let streams = recorded.profile.streams.iter();
    assert_eq!(
        streams.map(|stream| stream.waiting_ticks).sum::<u64>(),
        waiting
    );
    // Who is preempted works: it has no row of waiting that is as long as its sleep.
    let edges = &recorded.profile.edges;
    let of = |caller: &str, callee: &str| {
        let index = |name: &str| {
            let mut all = recorded.trace.predicates().iter();
            all.position(|info| info.indicator == name)
                .map(|at| at as u32)
        };
        let edge = index(caller)
            .zip(index(callee))
            .and_then(|(caller, callee)| edges.get(&(Caller::Predicate(caller), callee)));
        recorded
            .trace
            .clock()
            .duration_ns(edge.map_or(0, |edge| edge.spent_ticks))
    };
    assert!(of("system:sleep/1", "system:waiting/0") >= 460_000_000);
}

/// What is thrown away in 250 ms is some 25 ms of work.
#[test]
fn undone_is_never_above_the_work() {
    let program = "
:- initialization(main, main).
main :- findall(X, found(X), Xs), length(Xs, N), writeln(N).
found(X) :- between(1, 60, Y), candidate(Y, X), fits(X).
candidate(Y, X) :- member(X, [Y, Y, Y, Y]), sleep(0.001), busy(2000).
fits(X) :- busy(10), X mod 20 =:= 0.
busy(0) :- !.
busy(N) :- M is N-1, busy(M).
";
    let sandbox = Sandbox::with("program.pl", program);
    sandbox
        .portmortem(["record", "-o", "run.pmt", "program.pl"])
        .prints("12\n");
    let json = |command: &str| -> Value {
        let outcome = sandbox.portmortem([command, "run.pmt", "--format", "json"]);
        serde_json::from_str(&outcome.out()).unwrap()
    };
    let advice = json("advise");
    let work = advice["work_ns"].as_u64().unwrap();
    let report = json("report");
    let rows = report["predicates"].as_array().unwrap().iter();
    let undone: u64 = rows.map(|row| row["undone_ns"].as_u64().unwrap()).sum();
    assert!(undone > 0 && undone <= work, "{undone} of {work}");
    for finding in advice["findings"].as_array().unwrap() {
        let cost = finding["cost_ns"].as_u64().unwrap();
        let is_no_work = ["waiting", "memory"].contains(&finding["cause"].as_str().unwrap());
        assert!(is_no_work || cost <= work, "more than {work}: {finding}");
    }
}

/// The number before a word in a line of a report.
fn figure_before(text: &str, name: &str, place: usize) -> f64 {
    let row = text.lines().find(|line| line.ends_with(name));
    let row = row.unwrap_or_else(|| panic!("{name} in {text}"));
    let word = row.split_whitespace().nth(place);
    let number = word.and_then(|word| word.replace(',', "").parse().ok());
    number.unwrap_or_else(|| panic!("{row}"))
}

/// What waits for 200 ms below a predicate and a goal is in their times only if all is asked for.
#[test]
fn inclusive_times_and_times_of_goals_are_work() {
    let program = "
:- initialization(main, main).
main :- outer, busy(20000).
outer :- inner, busy(20000).
inner :- sleep(0.2).
busy(0) :- !.
busy(N) :- M is N-1, busy(M).
";
    let sandbox = Sandbox::with("program.pl", program);
    sandbox
        .portmortem(["record", "-o", "run.pmt", "program.pl"])
        .succeeds();
    let print = |args: &[&str]| sandbox.portmortem(args).succeeds().out();
    let advice: Value =
        serde_json::from_str(&print(&["advise", "run.pmt", "--format", "json"])).unwrap();
    let work = advice["work_ns"].as_u64().unwrap() as f64 / 1e6;
    let columns = "inclusive,calls,predicate";
    let report = ["report", "run.pmt", "--columns", columns];
    let inclusive = figure_before(&print(&report), " outer/0", 0);
    assert!(inclusive <= work, "{inclusive} of {work} ms");
    let inclusive = figure_before(&print(&[&report[..], &["--all"]].concat()), " outer/0", 0);
    assert!(inclusive >= 200.0, "{inclusive} ms");
    let sites = ["report", "run.pmt", "--sites"];
    let goal = "main/0 > outer/0";
    let text = print(&sites);
    let served = figure_before(&text, goal, 0);
    assert!(served <= work, "{work} ms: {text}");
    let served = figure_before(&print(&[&sites[..], &["--all"]].concat()), goal, 0);
    assert!(served >= 200.0, "{served} ms");
    let line = "main :- outer, busy(20000).";
    let served = figure_before(&print(&["annotate", "run.pmt"]), line, 0);
    assert!(served <= work, "{served} of {work} ms");
}
