//! `portmortem diagnose`: one command records, advises, records again and tries.

use std::fs;
use std::path::Path;

use portmortem_tests::patience::wait_until;
use portmortem_tests::sandbox::Run;
use portmortem_tests::{Sandbox, Status, built};
use serde_json::Value;

/// The same ten computations again and again, long enough to be worth a table.
const REPEATS: &str = ":- initialization(main, main).
main :- findall(S, ( between(1, 1200, N), M is N mod 10, sum(M, S) ), Ss), sum_list(Ss, T), print(T), nl.
sum(M, S) :- numlist(1, 300, L), add(L, M, 0, S).
add([], _, S, S).
add([X|Xs], M, S0, S) :- S1 is S0 + X mod (M+1), add(Xs, M, S1, S).
";

const ENDLESS: &str = ":- initialization(main, main).
main :- open('began', write, Out), close(Out), repeat, fail.
";

/// All but the home directory of the sandbox.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let files = fs::read_dir(sandbox.directory()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "home").collect();
    names.sort();
    names
}

fn report(sandbox: &Sandbox, command: &[&str]) -> Value {
    let outcome = sandbox.portmortem(command);
    outcome.exits(0);
    serde_json::from_slice(&outcome.stdout).unwrap()
}

/// What is in doubt is recorded, what is found is tried, and only the traces are left.
#[test]
fn a_program_is_recorded_again_with_what_is_in_doubt() {
    let sandbox = Sandbox::with("repeats.pl", REPEATS);
    let command = ["diagnose", "repeats.pl", "--format", "json", "--least", "0"];
    let report = report(&sandbox, &command);
    assert_eq!(report["status"], 0);
    assert_eq!(report["traces"][0], "repeats.pmt");
    assert_eq!(report["traces"][1], "repeats.more.pmt");
    assert_eq!(
        files(&sandbox),
        ["repeats.more.pmt", "repeats.pl", "repeats.pmt"]
    );
    let found = report["findings"].as_array().unwrap();
    let repeated = found
        .iter()
        .find(|one| one["cause"] == "repeated-calls" && one["predicate"] == "sum/2");
    let repeated = repeated.unwrap_or_else(|| panic!("{report:#}"));
    let evidence = repeated["evidence"].as_str().unwrap();
    assert!(
        evidence.contains("1,190 of 1,200 calls of sum/2"),
        "{evidence}"
    );
    let tried = &repeated["tried"][0];
    assert_eq!(tried["change"], "table sum/2");
    assert_eq!(tried["seconds"].as_array().unwrap().len(), 5, "{tried}");
    let text = fs::read_to_string(sandbox.path("repeats.pl")).unwrap();
    assert_eq!(text, REPEATS);
}

#[test]
fn the_page_says_what_the_time_is_what_was_tried_and_where_the_traces_are() {
    let sandbox = Sandbox::with("repeats.pl", REPEATS);
    let options = ["-o", "run.pmt", "--least", "0", "--patch", "faster.patch"];
    let command = [&["diagnose", "repeats.pl"], &options[..]].concat();
    let outcome = sandbox.portmortem(&command);
    outcome
        .exits(0)
        .shows("swipl repeats.pl\n")
        .shows("\nwork: ")
        .shows("   Tried:  table sum/2: ")
        .shows("\nConfirmed: ")
        .shows("Trace:     run.pmt\nTrace:     run.more.pmt, recorded with ")
        .says("recording the program: it runs once")
        .says("recording it again with ")
        .says("--arguments 'sum/2'")
        .says("running the program up to ");
    let kept = ["faster.patch", "repeats.pl", "run.more.pmt", "run.pmt"];
    assert_eq!(files(&sandbox), kept);
    // It can be done again: its own traces are replaced.
    sandbox.portmortem(&command).exits(0);
    sandbox.write("repeats.pmt", "no trace");
    let refused = sandbox.portmortem(["diagnose", "repeats.pl"]);
    refused.exits(1).says("repeats.pmt exists and is no trace");
    let text = fs::read_to_string(sandbox.path("repeats.pmt")).unwrap();
    assert_eq!(text, "no trace");
}

/// With one solution in place of all of them, the program prints less; to keep the sums is right.
const REFUTED: &str = ":- initialization(main, main).
main :- forall(between(1, 120, N), first(N)), findall(S, ( between(1, 1200, N), M is N mod 10, sum(M, S) ), Ss),
    sum_list(Ss, T), print(T), nl.
first(N) :-
    findall(X, said(N, X), Xs),
    Xs = [Y|_],
    Y > 0.
said(N, X) :- between(1, 5, X), print(N-X), nl.
sum(M, S) :- numlist(1, 300, L), add(L, M, 0, S).
add([], _, S, S).
add([X|Xs], M, S0, S) :- S1 is S0 + X mod (M+1), add(Xs, M, S1, S).
";

/// A finding whose changes all failed is none any more; what was measured comes first.
#[test]
fn what_is_refuted_is_told_at_the_end() {
    let sandbox = Sandbox::with("refuted.pl", REFUTED);
    let command = ["diagnose", "refuted.pl", "--least", "0"];
    let page = sandbox.portmortem(command);
    page.exits(0)
        .shows("\n1. ")
        .shows("Refuted:   '$bags':findall/3 collects all solutions of said/2, and only the");
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(!page.contains("   Name:   collected-for-first"), "{page}");
    let first = page.split("\n2. ").next().unwrap();
    assert!(
        first.contains("   Tried:  table sum/2: confirmed"),
        "{page}"
    );
    let report = report(&sandbox, &[&command[..], &["--format", "json"]].concat());
    let found = report["findings"].as_array().unwrap();
    let refuted: Vec<&Value> = found.iter().filter(|one| one["refuted"] == true).collect();
    let [refuted] = refuted[..] else {
        panic!("{report:#}");
    };
    assert_eq!(refuted["cause"], "collected-for-first");
    assert_eq!(refuted["tried"][0]["verdict"], "refuted");
}

/// Ctrl-C ends what runs, and nothing is left.
#[test]
fn an_interrupt_ends_it_in_order() {
    for (signal, command) in [
        (libc::SIGINT, "diagnose"),
        (libc::SIGTERM, "diagnose"),
        (libc::SIGINT, "try"),
    ] {
        let sandbox = Sandbox::with("endless.pl", ENDLESS);
        let temporary = sandbox.path("temporary");
        fs::create_dir(&temporary).unwrap();
        let run: Run = sandbox.command(built::portmortem());
        let mut run = run.args([command, "endless.pl"]);
        run.command.env("TMPDIR", &temporary);
        let running = run.start();
        wait_until("it runs", || sandbox.path("began").exists());
        running.signal(signal);
        let outcome = running.wait();
        assert_eq!(outcome.status, Status::Signal(signal), "{outcome}");
        outcome.says("interrupted");
        assert_eq!(files(&sandbox), ["began", "endless.pl", "temporary"]);
        // The process that waited for the program sees that it is gone.
        wait_until("nothing is left", || is_empty(&temporary));
    }
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let sandbox = Sandbox::with("endless.pl", ENDLESS);
    let outcome = sandbox.portmortem(["diagnose", "endless.pl", "--time-limit", "2"]);
    outcome.exits(1).says("did not end in 2 s");
    assert!(!sandbox.path("endless.pmt").exists());
}

#[test]
fn what_is_not_there_is_said() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.portmortem(["diagnose", "nothing.pl"]);
    outcome.exits(1).says("nothing.pl: no such Prolog file");
    sandbox.portmortem(["diagnose"]).exits(2);
}
