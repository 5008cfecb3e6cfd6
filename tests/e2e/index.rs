//! Indexes: where they are written, and that none is refused to a whole trace.

use std::fs;
use std::path::Path;

use portmortem_analyzer::Trace;
use portmortem_tests::patience::wait_until;
use portmortem_tests::{Sandbox, built, sample};

/// Recorded it is a trace of more than 10 MB.
const LONG: &str = "
:- initialization(main, main).
main :- between(1, 2500, _), step(1000), fail.
main :- writeln(done).
step(0) :- !.
step(N) :- next(N, M), step(M).
next(N, M) :- M is N-1.
";

/// Each `fill/1` can be re-entered, inside the one that called it; the cut takes all of them.
const NESTED: &str = "
:- initialization(main, main).
main :- length(L, 300000), fill(L), !, last(L, X), writeln(X).
fill([]).
fill([a|T]) :- fill(T).
fill([b|T]) :- fill(T).
";

/// The names of all files, but for those of `home`.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.directory()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != "home").collect();
    names.sort();
    names
}

fn is_whole(path: &Path) -> bool {
    Trace::open(path).is_ok_and(|trace| trace.end().is_some())
}

#[test]
fn a_long_recording_has_one() {
    let sandbox = Sandbox::with("long.pl", LONG);
    sandbox
        .portmortem(["record", "long.pl"])
        .succeeds()
        .prints("done\n");
    assert_eq!(files(&sandbox), ["long.pl", "long.pmt", "long.pmt.index"]);
    sandbox
        .portmortem(["index", "long.pmt"])
        .succeeds()
        .prints("long.pmt.index: up to date\n");
    let with = sandbox.portmortem(["report", "long.pmt"]).succeeds().out();

    sandbox
        .portmortem(["record", "--no-index", "-o", "plain.pmt", "long.pl"])
        .exits(0);
    assert!(!sandbox.path("plain.pmt.index").exists());

    // A command that does not look at all of it writes none; one that does writes one; nothing is to be gained by a small one.
    fs::remove_file(sandbox.path("long.pmt.index")).unwrap();
    sandbox
        .portmortem(["report", "long.pmt", "--focus", "step/1"])
        .succeeds();
    assert!(!sandbox.path("long.pmt.index").exists());
    sandbox
        .portmortem(["report", "long.pmt"])
        .succeeds()
        .prints(&with);
    sandbox
        .portmortem(["index", "long.pmt"])
        .succeeds()
        .prints("long.pmt.index: up to date\n");
    fs::copy(sample("queens.pmt"), sandbox.path("queens.pmt")).unwrap();
    sandbox.portmortem(["report", "queens.pmt"]).succeeds();
    assert!(!sandbox.path("queens.pmt.index").exists());
}

/// The program has ended, and its process waits for the index.
#[test]
fn an_interrupt_leaves_the_trace() {
    let sandbox = Sandbox::with("long.pl", LONG);
    let running = sandbox
        .command(built::portmortem())
        .args(["record", "long.pl"])
        .start();
    wait_until("the recording has ended", || {
        is_whole(&sandbox.path("long.pmt"))
    });
    running.signal(libc::SIGINT);
    let _ = running.wait();
    let temporary = |name: &String| name.ends_with(".new");
    wait_until("no file is half written", || {
        !files(&sandbox).iter().any(temporary)
    });
    sandbox
        .portmortem(["verify", "long.pmt"])
        .succeeds()
        .shows("no damage, nothing lost");
    sandbox
        .portmortem(["index", "long.pmt"])
        .succeeds()
        .shows("long.pmt.index: ");
}

#[test]
fn every_whole_trace_can_have_one() {
    let sandbox = Sandbox::with("nested.pl", NESTED);
    sandbox
        .portmortem(["record", "nested.pl"])
        .exits(0)
        .prints("a\n");
    sandbox.portmortem(["verify", "nested.pmt"]).succeeds();
    let before = sandbox
        .portmortem(["report", "nested.pmt"])
        .succeeds()
        .out();
    sandbox.portmortem(["index", "nested.pmt"]).succeeds();
    sandbox
        .portmortem(["report", "nested.pmt"])
        .succeeds()
        .prints(&before);
}
