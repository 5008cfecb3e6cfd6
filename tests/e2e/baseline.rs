//! `portmortem record --baseline`: net times that add up to those of unrecorded runs.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

use std::fs;
use std::path::Path;

use portmortem_analyzer::{ReplayOptions, Trace, replay};
use portmortem_tests::{Sandbox, built};
use portmortem_tracer::format::{Baseline, Fit};

/// Reads terms, and does some work for each; ends with the status that the last one says.
const PROGRAM: &str = "
:- initialization(main, main).
main :- read(X), go(X, 0).
go(end_of_file, Status) :- !, format('status ~w~n', [Status]), halt(Status).
go(N, _) :- numlist(1, 30, L), forall(between(1, 40, _), nrev(L, _)), read(X), go(X, N).
nrev([], []).
nrev([X|Xs], R) :- nrev(Xs, R0), app(R0, [X], R).
app([], L, L).
app([X|Xs], L, [X|Ys]) :- app(Xs, L, Ys).
";

fn open(sandbox: &Sandbox) -> Trace {
    sandbox.portmortem(["verify", "run.pmt"]).succeeds();
    Trace::open(&sandbox.path("run.pmt")).unwrap()
}

fn record(sandbox: &Sandbox, redirection: &str) -> portmortem_tests::Outcome {
    let portmortem = built::portmortem().display();
    sandbox.sh(&format!(
        "{portmortem} record --force --baseline -o run.pmt program.pl {redirection}"
    ))
}

#[test]
fn net_times_add_up_to_what_the_program_takes() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    sandbox.write("input", "1. 2. 0.");
    let recorded = record(&sandbox, "< input");
    // Once: what further runs print is put away.
    recorded.exits(0).prints("status 0\n").demand(
        recorded.err().is_empty(),
        "nothing to say of a baseline that was found",
    );
    let baseline = adds_up(&sandbox);
    let runs = match baseline.runs {
        1 => "(1 unrecorded run)".to_owned(),
        runs => format!("({runs} unrecorded runs)"),
    };
    let report = sandbox.portmortem(["report", "run.pmt"]);
    let text = report.succeeds().out();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&runs), "{text}");
    assert!(text.contains("in all what the program takes unrecorded"));
    sandbox.portmortem(["index", "run.pmt"]).succeeds();
    let indexed = sandbox.portmortem(["report", "run.pmt"]);
    assert_eq!(indexed.succeeds().out(), report.out());
}

/// Net times are in all what the baseline says, which is handed out.
fn adds_up(sandbox: &Sandbox) -> Baseline {
    let trace = open(sandbox);
    let baseline = *trace.baseline().unwrap();
    let profile = replay(&trace, &ReplayOptions::default());
    let net = profile.compensation.unwrap().compensated_ticks;
    let net = trace.clock().duration_ns(net);
    assert!(
        net.abs_diff(baseline.ns) * 50 < baseline.ns,
        "{net} ns for {baseline:?}"
    );
    baseline
}

/// While a recorded thread works another one waits, which no cost of its few events explains.
const THREADS: &str = "
:- initialization(main, main).
main :- thread_create(work, Id), thread_join(Id, Status), writeln(Status).
work :- fib(19, _).
fib(0, 0) :- !.
fib(1, 1) :- !.
fib(N, F) :- A is N-1, fib(A, FA), B is N-2, fib(B, FB), F is FA+FB.
";

#[test]
fn net_times_add_up_where_threads_wait_for_recorded_ones() {
    let sandbox = Sandbox::with("program.pl", THREADS);
    record(&sandbox, "< /dev/null").exits(0).prints("true\n");
    adds_up(&sandbox);
    let trace = open(&sandbox);
    let profile = replay(&trace, &ReplayOptions::default());
    let main = (0..trace.unknown_predicate())
        .find(|&predicate| trace.predicate_name(predicate) == "main/0")
        .unwrap() as usize;
    let recorded = profile.predicates[main].self_ticks;
    let net = profile.compensation.unwrap().predicates[main].self_ticks;
    // Recording takes as long as the work itself, and more.
    assert!(net * 3 < recorded * 2, "{net} of {recorded}");
    let left = |fit: &&Fit| fit.predicate.is_some() && fit.left < 1024;
    assert!(
        trace.fits().iter().any(|fit| left(&fit)),
        "{:?}",
        trace.fits()
    );
}

#[test]
fn the_exit_status_is_that_of_the_recorded_run() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    sandbox.write("input", "0. 7.");
    record(&sandbox, "< input").exits(7).prints("status 7\n");
    assert!(open(&sandbox).baseline().is_some());
}

#[test]
fn input_from_a_file_begins_where_it_began() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    sandbox.write("input", "8.\n0. 0.");
    let portmortem = built::portmortem().display();
    let recorded = sandbox.sh(&format!(
        "{{ read first; echo $first; {portmortem} record --baseline -o run.pmt program.pl; }} < input"
    ));
    recorded.exits(0).prints("8.\nstatus 0\n");
    assert!(open(&sandbox).baseline().is_some(), "{recorded}");
}

#[test]
fn without_a_baseline_the_recording_is_as_it_was() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    // What a pipe held is gone.
    let portmortem = built::portmortem().display();
    let recorded = sandbox.sh(&format!(
        "echo '1. 3.' | {portmortem} record --force --baseline -o run.pmt program.pl"
    ));
    recorded
        .exits(3)
        .prints("status 3\n")
        .says("no baseline: the program ended differently");
    assert_eq!(open(&sandbox).baseline(), None);

    sandbox.write(
        "program.pl",
        "main :- \\+ exists_file(done), open(done, write, S), close(S).\nthen.\n",
    );
    let goal = sandbox.portmortem([
        "record",
        "--force",
        "--baseline",
        "-o",
        "run.pmt",
        "-g",
        "(main ; then)",
        "program.pl",
    ]);
    goal.exits(0)
        .says("the program did something else when it ran again");
    assert_eq!(open(&sandbox).baseline(), None);
}

#[test]
fn an_outermost_predicate_that_calls_itself_cannot_be_timed() {
    let sandbox = Sandbox::with(
        "program.pl",
        "down(0) :- !.\ndown(N) :- M is N-1, down(M), true.\n",
    );
    let options = ["record", "--baseline", "-o", "run.pmt", "-g", "down(5000)"];
    let recorded = sandbox.portmortem(options.into_iter().chain(["program.pl"]));
    recorded
        .exits(0)
        .says("no baseline")
        .says("begin with one that does not");
    assert_eq!(open(&sandbox).baseline(), None);
}

#[test]
fn a_recording_that_was_cut_short_has_none() {
    let sandbox = Sandbox::with(
        "program.pl",
        "main :- current_prolog_flag(pid, P), format(atom(C), 'kill -9 ~w', [P]), shell(C), sleep(60).\n",
    );
    let recorded = sandbox.portmortem([
        "record",
        "--baseline",
        "-o",
        "run.pmt",
        "-g",
        "main",
        "program.pl",
    ]);
    recorded
        .exits(128 + 9)
        .says("no baseline: the recorded run did not end in order");
}

#[test]
fn what_it_does_not_go_with() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    for options in [["--symbolic", "--force"], ["--max-size", "10M"]] {
        let refused = sandbox.portmortem(
            ["record", "--baseline", "program.pl"]
                .into_iter()
                .chain(options),
        );
        refused.exits(2).says("cannot be used with");
    }
    assert!(!fs::exists(sandbox.path("program.pmt")).unwrap());
}

#[test]
fn nothing_stays_in_the_temporary_directory() {
    let sandbox = Sandbox::with("program.pl", "main.\n");
    fs::create_dir(sandbox.path("tmp")).unwrap();
    let mut run = sandbox.command(Path::new(built::portmortem())).args([
        "record",
        "--baseline",
        "-o",
        "run.pmt",
        "-g",
        "main",
        "program.pl",
    ]);
    run.command.env("TMPDIR", sandbox.path("tmp"));
    run.wait().succeeds();
    assert_eq!(fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0);
}
