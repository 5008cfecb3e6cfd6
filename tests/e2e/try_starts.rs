//! `portmortem try` and `diagnose` take every way to start that `record` takes.

use std::fs;

use portmortem_tests::Sandbox;
use serde_json::Value;

/// Notes in a file what it was started with, each time.
const PROGRAM: &str =
    "main :- current_prolog_flag(argv, Argv), current_prolog_flag(optimise, Optimise),
        open(seen, append, Out), print(Out, [Optimise|Argv]), nl(Out), close(Out),
        fib(19, F), print(F), nl.
fib(0, 0).
fib(1, 1).
fib(N, F) :- N > 1, A is N-1, B is N-2, fib(A, FA), fib(B, FB), F is FA+FB.
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("p.pl", PROGRAM);
    let starts = ":- initialization(main, main).\n".to_owned() + PROGRAM;
    sandbox.write("m.pl", &starts);
    fs::create_dir(sandbox.path("lib")).unwrap();
    sandbox.write("lib/fibs.pl", PROGRAM);
    sandbox.write("script", "#!/usr/bin/env swipl\n".to_owned() + &starts);
    sandbox.sh("chmod +x script").succeeds();
    sandbox
}

/// Runs the command: a change is tried, and each run was started alike.
#[track_caller]
fn starts(sandbox: &Sandbox, command: &[&str], seen: &str) {
    let _ = fs::remove_file(sandbox.path("seen"));
    let outcome = sandbox.portmortem(command);
    outcome.exits(0);
    let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let text = report["findings"].to_string();
    let cut = "a cut behind the head and first tests of fib/2";
    assert!(text.contains(cut), "{command:?}: {report:#}");
    assert!(!text.contains("refuted: other"), "{command:?}: {report:#}");
    let runs = fs::read_to_string(sandbox.path("seen")).unwrap();
    let lines: Vec<_> = runs.lines().collect();
    assert!(lines.len() > 10, "{command:?}: {runs}");
    assert!(
        lines.iter().all(|line| *line == seen),
        "{command:?}: {runs}"
    );
}

const OPTIONS: [&str; 4] = ["--format", "json", "--least", "0"];

#[test]
fn every_way_to_start_is_tried() {
    let sandbox = sandbox();
    let starts = |words: &[&str], seen: &str| {
        starts(&sandbox, &[&["try"], &OPTIONS[..], words].concat(), seen);
    };
    starts(&["m.pl", "a", "b"], "[false,a,b]");
    starts(&["m.pl", "--", "-a", "--b"], "[false,'-a','--b']");
    starts(&["-g", "main", "p.pl", "a"], "[false,a]");
    starts(&["script", "--", "a", "-x"], "[false,a,'-x']");
    starts(&["--", "./script", "a", "-x"], "[false,a,'-x']");
    let command = "-- swipl -O -p library=lib -g main -t halt -s lib/fibs.pl -- a";
    let words: Vec<_> = command.split(' ').collect();
    starts(&words, "[true,a]");
}

#[test]
fn every_way_to_start_is_diagnosed() {
    let sandbox = sandbox();
    let starts = |words: &[&str], seen: &str| {
        starts(
            &sandbox,
            &[&["diagnose"], &OPTIONS[..], words].concat(),
            seen,
        );
    };
    starts(&["m.pl", "a", "b"], "[false,a,b]");
    assert!(sandbox.path("m.pmt").exists());
    let command = "-- swipl -O -g main -t halt p.pl a";
    starts(&command.split(' ').collect::<Vec<_>>(), "[true,a]");
    assert!(sandbox.path("p.pmt").exists());
}

/// The command of a trace is started again, however it was.
#[test]
fn the_command_of_a_trace_is_started_as_it_was() {
    let sandbox = sandbox();
    for (command, seen) in [
        ("m.pl a", "[false,a]"),
        ("-- ./script a -x", "[false,a,'-x']"),
        ("-- swipl -O -g main -t halt -s p.pl -- a", "[true,a]"),
    ] {
        let words: Vec<_> = command.split(' ').collect();
        let record = [&["record", "--force", "-o", "run.pmt"], &words[..]].concat();
        sandbox.portmortem(record).exits(0);
        starts(
            &sandbox,
            &[&["try", "run.pmt"], &OPTIONS[..]].concat(),
            seen,
        );
    }
}

#[test]
fn wrong_use_says_what_to_type() {
    let sandbox = sandbox();
    for command in ["try", "diagnose"] {
        let says = |words: &[&str], text: &str| {
            let outcome = sandbox.portmortem([&[command], words].concat());
            outcome.exits(1).says(text);
        };
        let to_type = format!("portmortem {command} -- swipl");
        says(&["--", "p.pl"], &format!("{to_type} p.pl"));
        says(&["--", "/bin/true"], &to_type);
        says(
            &["-g", "main", "--", "swipl", "p.pl"],
            &format!("{to_type} -g GOAL"),
        );
        says(&["--", "swipl", "--version"], "nothing to try");
        sandbox.portmortem([command]).exits(2).says("FILE.pl");
    }
}
