//! `portmortem predict` on real recordings: functions of the size found, times of other sizes and other platforms.

use portmortem_models::platform::Platform;
use portmortem_tests::{Sandbox, repository};
use serde_json::Value;

const NREV: &str = "
:- use_module(library(portmortem)).
run(N) :- numlist(1, N, L), nrev(L, _).
marked(Ns) :- member(N, Ns), atom_concat('n=', N, Mark), pm_mark(Mark), run(N), pm_mark(done), fail.
marked(_).
nrev([], []).
nrev([X|T], R) :- nrev(T, R0), app(R0, [X], R).
app([], L, L).
app([X|T], L, [X|R]) :- app(T, L, R).
";

/// A platform where a step takes 10 ns, an argument 1 ns, `is/2` 100 ns and nothing else anything.
const PLATFORM: &str = r#"
format = 2
models = []

[machine]
processor = "abacus"
processors = 1
memory_bytes = 0
system = "none"
engine = "none"
calibrated_unix = 0
repetitions = 250

[refined]
standard_error_us = 1.0
relative_error = 0.1

[refined.nanoseconds]
nargs = 1.0
step = 10.0

[isolated.builtins]
"is/2" = 100.0

[isolated.operators]

[isolated.control]
"#;

/// Traces of naive reverse, one for each size.
fn traces(sandbox: &Sandbox, sizes: &[u32], options: &[&str]) -> Vec<String> {
    sandbox.write("nrev.pl", NREV);
    let record = |size: &u32| {
        let (goal, trace) = (format!("run({size})"), format!("n{size}.pmt"));
        let mut command = vec!["record", "-g", &goal, "-o", &trace];
        command.extend(options);
        command.push("nrev.pl");
        sandbox.portmortem(command).succeeds();
        trace
    };
    sizes.iter().map(record).collect()
}

fn predict(sandbox: &Sandbox, traces: &[String], options: &[&str]) -> Value {
    let mut command = vec!["predict", "--format", "json"];
    command.extend(traces.iter().map(String::as_str));
    command.extend(options);
    let outcome = sandbox.portmortem(command);
    serde_json::from_str(&outcome.succeeds().out()).unwrap()
}

fn row<'j>(prediction: &'j Value, predicate: &str) -> &'j Value {
    let rows = prediction["predicates"].as_array().unwrap();
    rows.iter()
        .find(|row| row["predicate"] == predicate)
        .unwrap()
}

/// The program of the README says its sizes itself, with times or with symbolic costs.
#[test]
fn sizes_are_cost_centres() {
    let program = repository("tests/programs/costs/nrev.pl");
    for options in [&[][..], &["--symbolic"]] {
        let sandbox = Sandbox::new();
        sandbox.write("platform.toml", PLATFORM);
        sandbox.record_file(&program, options);
        let traces = ["nrev.pmt".to_owned()];
        let platform = ["--at", "500", "--platform", "platform.toml"];
        let prediction = match options {
            [] => predict(&sandbox, &traces, &platform[..2]),
            _ => predict(&sandbox, &traces, &platform),
        };
        for (predicate, calls) in [("nrev/2", "n + 1"), ("app/3", "1/2 n^2 + 1/2 n")] {
            let row = row(&prediction, predicate);
            assert_eq!(row["calls_function"], calls, "{predicate} {options:?}");
            assert_eq!(row["exact"], true);
        }
    }
}

#[test]
fn naive_reverse_is_understood_from_five_sizes() {
    let sandbox = Sandbox::new();
    let traces = traces(&sandbox, &[4, 8, 12, 16, 20], &[]);
    let prediction = predict(&sandbox, &traces, &["--size", "n=4,8,12,16,20"]);
    assert_eq!(prediction["size"], 200);
    let append = row(&prediction, "app/3");
    assert_eq!(append["calls_function"], "1/2 n^2 + 1/2 n");
    assert_eq!(append["kind"], "quadratic");
    assert_eq!(append["exact"], true);
    assert_eq!(
        (append["points"].as_u64(), append["parameters"].as_u64()),
        (Some(5), Some(3))
    );
    assert_eq!(append["calls"], 20_100.0);
    assert_eq!(row(&prediction, "nrev/2")["calls_function"], "n + 1");
    assert_eq!(row(&prediction, "run/1")["calls_function"], "1");
    let ns = |key: &str| prediction[key].as_u64().unwrap();
    assert!(ns("total_low_ns") <= ns("total_ns") && ns("total_ns") <= ns("total_high_ns"));
    let remarks = prediction["remarks"].to_string();
    assert!(remarks.contains("an estimate"), "{remarks}");
}

#[test]
fn measured_net_times_are_no_estimates() {
    let sandbox = Sandbox::new();
    let traces = traces(&sandbox, &[4, 8, 12], &["--baseline"]);
    let prediction = predict(&sandbox, &traces, &["--size", "n=4,8,12"]);
    let remarks = prediction["remarks"].to_string();
    assert!(!remarks.contains("an estimate"), "{remarks}");
    assert!(!remarks.contains("the recorder's own"), "{remarks}");
}

#[test]
fn marks_tell_the_sizes() {
    let sandbox = Sandbox::new();
    sandbox.write("nrev.pl", NREV);
    let goal = "marked([5,10,15,20,25])";
    sandbox
        .portmortem(["record", "-g", goal, "nrev.pl"])
        .succeeds();
    let traces = ["nrev.pmt".to_owned()];
    let prediction = predict(&sandbox, &traces, &["--at", "1000"]);
    let append = row(&prediction, "app/3");
    assert_eq!(append["calls_function"], "1/2 n^2 + 1/2 n");
    assert_eq!(append["calls"], 500_500.0);
    assert_eq!(row(&prediction, "nrev/2")["calls"], 1001.0);
    let outcome = sandbox.portmortem(["predict", "nrev.pmt", "--at", "1000"]);
    outcome
        .succeeds()
        .shows("= 1/2 n^2 + 1/2 n")
        .shows("Predicted for n = 1,000 on the machine that recorded")
        .shows("times include the recorder's own")
        .shows("garbage collections and stack shifts are not included");
    let outcome = sandbox.portmortem(["predict", "nrev.pmt", "--format", "csv"]);
    outcome
        .succeeds()
        .shows("predicate,size,calls_function,kind,exact")
        .shows("app/3,250,1/2 n^2 + 1/2 n,quadratic,true");
}

#[test]
fn a_symbolic_recording_is_priced_on_a_platform() {
    let sandbox = Sandbox::new();
    sandbox.write("p.toml", PLATFORM);
    let traces = traces(&sandbox, &[4, 8, 12, 16, 20], &["--symbolic"]);
    // 10 + 3 ns for each of the 10 steps of app/3, 10 + 2 for each of the 5 of nrev/2.
    let prediction = predict(&sandbox, &traces[..1], &["--platform", "p.toml"]);
    assert_eq!(row(&prediction, "app/3")["self_ns"], 130);
    assert_eq!(row(&prediction, "nrev/2")["self_ns"], 60);
    assert_eq!(prediction["platform"]["processor"], "abacus");
    assert_eq!(prediction["unpriced"][0], "builtin:lists:numlist/3");
    let options = [
        "--platform",
        "p.toml",
        "--size",
        "n=4,8,12,16,20",
        "--at",
        "100",
    ];
    let prediction = predict(&sandbox, &traces, &options);
    assert_eq!(row(&prediction, "app/3")["self_ns"], 13 * 5050);
    assert_eq!(row(&prediction, "nrev/2")["self_ns"], 12 * 101);
}

#[test]
fn a_machine_is_calibrated_and_predicted_for() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.toml", "an older one");
    let outcome = sandbox.portmortem(["calibrate", "--force", "-o", "mine.toml"]);
    outcome.succeeds();
    let platform = Platform::read(&sandbox.path("mine.toml")).unwrap();
    assert_eq!(platform.machine.repetitions, 250);
    // As many as there are sets of the six components, less those that cannot be told apart.
    let models = platform.models.len();
    assert!((40..=63).contains(&models), "{models}");
    // What it takes on a busy machine may be anything, and is no less than nothing.
    assert!(platform.refined.nanoseconds["step"] >= 0.0);

    let traces = traces(&sandbox, &[4, 8, 12, 16, 20], &["--symbolic"]);
    let options = ["--platform", "mine.toml", "--size", "n=4,8,12,16,20"];
    let prediction = predict(&sandbox, &traces, &options);
    let append = row(&prediction, "app/3");
    assert_eq!(append["calls"], 20_100.0);
    let [low, ns, high] =
        ["self_low_ns", "self_ns", "self_high_ns"].map(|name| append[name].as_u64().unwrap());
    assert!(low <= ns && ns <= high, "{append}");
}

#[test]
fn what_is_missing_is_said() {
    let sandbox = Sandbox::new();
    sandbox.write("p.toml", PLATFORM);
    let traces = traces(&sandbox, &[4, 8], &[]);
    let [four, eight] = [&traces[0], &traces[1]];
    let refuses = |arguments: &[&str], message: &str| {
        let command = ["predict"].iter().chain(arguments);
        sandbox.portmortem(command).refuses(message);
    };
    refuses(&[four], "nothing to predict");
    refuses(&[four, eight], "sizes of the inputs are not known");
    refuses(&[four, eight, "--size", "n=4"], "1 size for 2 traces");
    refuses(&[four, "--platform", "p.toml"], "record --symbolic");
    refuses(&[four, "--platform", "none.toml"], "none.toml");
    refuses(&[four, "--platform", "nrev.pl"], "not a platform");
    // Two sizes agree with every line.
    let prediction = predict(&sandbox, &traces, &["--size", "n=4,8"]);
    assert_eq!(row(&prediction, "app/3")["calls"], Value::Null);
    assert_eq!(row(&prediction, "app/3")["self_ns"], Value::Null);
    assert!(prediction["remarks"].to_string().contains("too few sizes"));
    sandbox.write("kept.toml", "mine");
    let outcome = sandbox.portmortem(["calibrate", "-o", "kept.toml"]);
    outcome.refuses("kept.toml exists");
}

/// Sizes of recorded arguments do as well as sizes that are written down.
#[test]
fn sizes_of_arguments() {
    let sandbox = Sandbox::new();
    let traces = traces(&sandbox, &[4, 8, 12, 16, 20], &["--arguments", "nrev/2"]);
    let prediction = predict(&sandbox, &traces, &["--size-of", "nrev/2#1"]);
    assert_eq!(prediction["size"], 200);
    assert_eq!(row(&prediction, "nrev/2")["calls_function"], "n + 1");
    assert_eq!(row(&prediction, "nrev/2")["calls"], 201.0);
    for (wrong, why) in [
        ("nrev/2#2", "no size of argument 2 of nrev/2"),
        ("app/3#1", "--arguments 'app/3'"),
    ] {
        let command = ["predict", &traces[0], "--size-of", wrong];
        sandbox.portmortem(command).exits(1).says(why);
    }
    for wrong in ["nrev/2", "nrev/2#0", "nrev/2#one"] {
        let command = ["predict", &traces[0], "--size-of", wrong];
        sandbox.portmortem(command).exits(2).says("nrev/2#1");
    }
}
