//! Another program shortens a trace while it is written: that ends the recording, not the program.

use std::fs::{self, File};
use std::path::Path;

use portmortem_tests::{Outcome, Sandbox, Status, built};

/// Works, waits for a file `stop` and works on, so that several blocks are filled after that.
const WORK: &str = "
work(0) :- !.
work(N) :- numlist(1, 20, L), reversed(L, _), N1 is N-1, work(N1).
reversed([], []).
reversed([H|T], R) :- reversed(T, R0), appended(R0, [H], R).
appended([], L, L).
appended([H|T], L, [H|R]) :- appended(T, L, R).
wait :- exists_file(stop), !.
wait :- sleep(0.01), wait.
";

const ONE_THREAD: &str = "
:- initialization(main, main).
main :- work(200), writeln(ready), flush_output, wait, work(2000), writeln(done), halt(5).
";

const THREADS: &str = "
:- initialization(main, main).
main :-
    findall(Id, ( between(1, 3, _), thread_create(both, Id) ), Ids),
    work(200), writeln(ready), flush_output, wait, work(2000),
    maplist(thread_join, Ids), later, writeln(done), halt(5).
both :- work(100), wait, work(2000).
later :- thread_create(work(10), Id), thread_join(Id).
";

/// A child that goes on by itself, and cleanup while the process ends.
const FORK: &str = "
:- initialization(main, main).
:- use_module(library(unix)).
:- use_module(library(apply)).
main :-
    work(200), writeln(ready), flush_output, wait,
    fork(Pid),
    (   Pid == child
    ->  work(200), halt(3)
    ;   wait(Pid, Status), writeln(Status), work(2000), at_halt(( work(10), writeln(halted) )), halt(5)
    ).
";

/// Runs a program that is shortened, and compares with the run of the engine.
fn goes_on(program: &str, options: &[&str], cut: impl Fn(u64) -> u64) -> Sandbox {
    let sandbox = Sandbox::with("work.pl", &format!("{program}{WORK}"));
    let plain = sandbox
        .command(Path::new("swipl"))
        .args(["work.pl"])
        .start();
    plain.wait_for_output("ready");
    sandbox.write("stop", "");
    let plain = plain.wait();
    fs::remove_file(sandbox.path("stop")).unwrap();
    let recorded = sandbox
        .command(built::portmortem())
        .args(["record", "-o", "run.pmt"])
        .args(options)
        .args(["work.pl"])
        .start();
    recorded.wait_for_output("ready");
    let file = File::options().write(true).open(sandbox.path("run.pmt"));
    let file = file.unwrap();
    let left = cut(file.metadata().unwrap().len());
    file.set_len(left).unwrap();
    sandbox.write("stop", "");
    let recorded = recorded.wait();
    recorded.is_sound();
    assert!(
        plain.status == recorded.status && plain.out() == recorded.out(),
        "{plain}\n{recorded}"
    );
    assert_eq!(
        recorded.err(),
        format!(
            "{}portmortem: another program shortened run.pmt while it was written: the recording ended there; record again\n",
            plain.err()
        )
    );
    assert_eq!(
        file.metadata().unwrap().len(),
        left,
        "nothing was written any more"
    );
    sandbox
}

/// Each command refuses the trace, or says that it is damaged.
fn is_refused_or_damaged(sandbox: &Sandbox) -> Vec<Outcome> {
    let commands = [
        ["report", "run.pmt"],
        ["verify", "run.pmt"],
        ["info", "run.pmt"],
    ];
    let outcomes = commands.map(|command| {
        let outcome = sandbox.portmortem(command);
        outcome.demand(
            [Status::Exit(1), Status::Exit(3)].contains(&outcome.status),
            "an error, or a damaged trace",
        );
        outcome
    });
    outcomes.into()
}

#[test]
fn to_nothing() {
    let sandbox = goes_on(ONE_THREAD, &[], |_| 0);
    for outcome in is_refused_or_damaged(&sandbox) {
        outcome.refuses("the file is empty");
    }
}

#[test]
fn to_a_part_of_the_header() {
    is_refused_or_damaged(&goes_on(ONE_THREAD, &[], |_| 100));
}

#[test]
fn to_a_page() {
    is_refused_or_damaged(&goes_on(ONE_THREAD, &[], |_| 4096));
}

#[test]
fn to_some_blocks() {
    is_refused_or_damaged(&goes_on(ONE_THREAD, &[], |_| 20_000));
}

/// All that was recorded is still there, so the trace itself says why there is no more.
#[test]
fn by_what_was_reserved() {
    let sandbox = goes_on(ONE_THREAD, &[], |length| length - 4096);
    for outcome in &is_refused_or_damaged(&sandbox)[..1] {
        outcome
            .exits(3)
            .shows("recording stopped: another program shortened the trace");
    }
}

#[test]
fn with_several_threads() {
    for left in [0, 30_000] {
        is_refused_or_damaged(&goes_on(THREADS, &[], |_| left));
    }
}

#[test]
fn before_a_fork() {
    is_refused_or_damaged(&goes_on(FORK, &[], |length| length / 4));
}

#[test]
fn while_the_newest_events_are_kept() {
    let options = ["--max-size", "512K", "--keep", "last"];
    for left in [0, 20_000, 100_000] {
        is_refused_or_damaged(&goes_on(ONE_THREAD, &options, |_| left));
    }
}

#[test]
fn in_every_mode() {
    for option in [
        "--symbolic",
        "--byrd",
        "--no-tail",
        "--clauses",
        "--baseline",
    ] {
        is_refused_or_damaged(&goes_on(ONE_THREAD, &[option], |_| 8192));
    }
}
