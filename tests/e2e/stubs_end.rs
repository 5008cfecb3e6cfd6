//! What becomes of stubs: after a recording, when another one begins, in the child of a fork, in
//! other threads, and when the process is killed.

use std::time::Duration;

use portmortem_tests::{Profiled, Random, Sandbox, Status, repository};
use portmortem_tracer::format::StreamKind;

use crate::library::{calls, run, whole, with_pack};

const PROGRAM: &str = "
p(0) :- !.
p(N) :- q(N), N1 is N-1, p(N1).
q(N) :- r(N), member(X, [1,2]), X > 1, !.
r(_).
r(_) :- fail.
";

/// Numbers of an earlier recording would name other predicates.
#[test]
fn another_recording_has_its_own_selection() {
    let sandbox = with_pack(PROGRAM);
    let goal = "pm_record(p(10), [output('a.pmt'), exclude('r/1')]), p(100), \
                pm_record(p(20), [output('b.pmt'), exclude('q/1')]), p(100), \
                pm_record(p(30), [output('c.pmt')]), p(100), \
                pm_record(p(40), [output('d.pmt'), ports(true)])";
    run(&sandbox, goal).succeeds();
    for (trace, of_p, of_q, of_r) in [
        ("a.pmt", 11, 10, 0),
        ("b.pmt", 21, 0, 20),
        ("c.pmt", 31, 30, 30),
        ("d.pmt", 41, 40, 40),
    ] {
        let profiled = whole(&sandbox, trace);
        let counted = ["p/1", "q/1", "r/1"].map(|name| calls(&profiled, name));
        assert_eq!(counted, [of_p, of_q, of_r], "{trace}");
    }
}

/// Clauses that were entered in between, or loaded, are recorded again.
#[test]
fn code_that_ran_between_two_recordings_is_recorded_again() {
    let sandbox = with_pack(PROGRAM);
    sandbox.write("more.pl", "s(X) :- p(X), t(X).\nt(_).\n");
    let goal = "pm_record(p(5), [output('a.pmt')]), p(5), consult(more), s(5), \
                pm_record(s(5), [output('b.pmt')]), s(5), consult(more), s(5), \
                pm_record(s(5), [output('c.pmt')])";
    run(&sandbox, goal).succeeds();
    for trace in ["b.pmt", "c.pmt"] {
        let profiled = whole(&sandbox, trace);
        let counted = ["s/1", "t/1", "p/1", "r/1"].map(|name| calls(&profiled, name));
        assert_eq!(counted, [1, 1, 6, 5], "{trace}");
        assert_eq!(profiled.edge("s/1", "t/1").calls, 1, "{trace}");
    }
}

/// In the middle of its goals, and from another thread.
#[test]
fn a_recording_that_ends_in_the_middle() {
    let sandbox = with_pack(&format!(
        "{PROGRAM}
m :- p(3), pm_stop, p(3), findall(X, u(X), Xs), print(Xs), nl.
u(X) :- member(X, [1,2]), r(X).
w(0) :- !.
w(N) :- catch(p(2), _, true), N1 is N-1, w(N1).
",
    ));
    let goal = "pm_start('a.pmt', []), m, pm_start('b.pmt', []), thread_create(w(20000), T), w(100), pm_stop, \
                w(100), thread_join(T, S), print(S), nl, pm_record(m, [output('c.pmt')])";
    run(&sandbox, goal)
        .succeeds()
        .prints("[1,2]\ntrue\n[1,2]\n");
    for (trace, of_p) in [("a.pmt", 4), ("c.pmt", 4)] {
        assert_eq!(calls(&whole(&sandbox, trace), "p/1"), of_p, "{trace}");
    }
    assert!(calls(&whole(&sandbox, "b.pmt"), "w/1") >= 101);
}

/// A trace that is full: the program goes on without stubs.
#[test]
fn a_trace_that_is_full() {
    let sandbox = with_pack(PROGRAM);
    let goal = "pm_record(p(100000), [output('a.pmt'), max_size(1000000)]), p(1000), \
                pm_record(p(10), [output('b.pmt')])";
    run(&sandbox, goal).succeeds();
    let profiled = Profiled::of(&sandbox.path("a.pmt"));
    assert!((100..100_000).contains(&calls(&profiled, "p/1")));
    assert_eq!(calls(&whole(&sandbox, "b.pmt"), "p/1"), 11);
}

/// A box that `halt/0` leaves has not failed. Later versions raise an exception, earlier ones end
/// where they are.
#[test]
fn halting_is_no_failure() {
    let sandbox = Sandbox::new();
    let program = "
:- initialization(main, main).
main :- a(3).
a(0) :- halt(3).
a(N) :- N1 is N-1, a(N1), true.
";
    sandbox.write("halts.pl", program);
    let recorded = sandbox.portmortem(["record", "-o", "run.pmt", "halts.pl"]);
    recorded.exits(3);
    let profiled = whole(&sandbox, "run.pmt");
    assert_eq!(calls(&profiled, "a/1"), 4);
    assert_eq!(profiled.row("a/1").fails, 0);
    assert_eq!(profiled.row("main/0").fails, 0);
}

/// Threads that call, load, assert, collect and retract while the code of all gets its stubs. The
/// engine itself loses a thread now and then, recorded or not; nothing else may happen.
/// `PORTMORTEM_ROUNDS=20` makes 60 rounds.
#[test]
fn threads_that_load_and_collect() {
    let rounds = portmortem_tests::rounds();
    let program = repository("tests/programs/stress.pl");
    for _ in 0..3 * rounds {
        let sandbox = Sandbox::new();
        let arguments = ["record", "-o", "run.pmt", program.to_str().unwrap()];
        let outcome = sandbox.portmortem(arguments);
        let lost = outcome.err().contains("ESRCH");
        assert!(lost || outcome.status == Status::Exit(0), "{outcome}");
        if !lost {
            outcome.prints("facts(72)\n");
        }
        sandbox.portmortem(["verify", "run.pmt"]).succeeds();
    }
}

/// `kill -9` while threads enter new code, which gets its stubs: the trace is readable.
/// `PORTMORTEM_ROUNDS=30` makes 300 attempts; `PORTMORTEM_SEED` is what a failure has printed.
#[test]
fn killed_while_stubs_are_made() {
    let rounds = portmortem_tests::rounds();
    let program = repository("tests/programs/new_code.pl");
    let random = Random::new();
    for _ in 0..10 * rounds {
        let sandbox = Sandbox::new();
        let arguments = ["record", "-o", "run.pmt", program.to_str().unwrap()];
        let running = sandbox
            .command(portmortem_tests::built::portmortem())
            .args(arguments)
            .start();
        running.wait_for_output("working");
        random.nap(Duration::from_millis(300));
        running.signal_group(libc::SIGKILL);
        let _ = running.wait();
        let verified = sandbox.portmortem(["verify", "run.pmt"]);
        verified.exits(3).hides("damaged");
    }
}

/// The engine tells of the end of a thread before it runs the goal of its `at_exit` option. What
/// that calls is no part of the next thread of the same number.
#[test]
fn goals_at_the_exit_of_a_thread() {
    let program = "
:- initialization(main, main).
main :- forall(between(1, 6, N), round(N)).
round(N) :-
    thread_create(work(N), A, [at_exit(bye(N))]), thread_join(A),
    thread_create(true, B, [at_exit(bye(N))]), thread_join(B),
    thread_create(work(N), C, []), thread_join(C).
work(N) :- step(N), step(N), true.
bye(N) :- step(N), true.
step(_).
";
    for options in [&[][..], &["--no-boundary"], &["--ports"]] {
        let sandbox = Sandbox::new();
        let profiled = sandbox.record("exits", program, options);
        sandbox.portmortem(["verify", "exits.pmt"]).succeeds();
        let of = |name| calls(&profiled, name);
        assert_eq!([of("work/1"), of("bye/1"), of("step/1")], [12, 12, 36]);
        let streams = profiled.trace.streams();
        let ran = streams.iter().zip(&profiled.profile.streams);
        let ran = ran.filter(|(_, figures)| figures.events > 0);
        let kinds: Vec<StreamKind> = ran.map(|(stream, _)| stream.kind()).collect();
        // Main, and of each round two that work and two exits.
        assert_eq!(kinds, [StreamKind::Thread; 1 + 6 * 4], "{options:?}");
    }
}

/// What a thread calls at its exit is left to the next thread of its number, and the memory of its
/// engine to any other: neither writes where the other does.
#[test]
fn threads_that_begin_while_others_exit() {
    let program = "
:- initialization(main, main).
main :- forall(between(1, 40, _), round).
round :-
    findall(Id, ( between(1, 6, N), thread_create(work(N), Id, [at_exit(bye(N))]) ), Ids),
    forall(member(Id, Ids), thread_join(Id)).
work(N) :- Steps is N * 50, count(Steps).
bye(N) :- Steps is 27 - N, count(Steps).
count(0) :- !.
count(N) :- M is N - 1, count(M).
";
    for options in [&[][..], &["--no-boundary"], &["--libraries", "--builtins"]] {
        let sandbox = Sandbox::new();
        let profiled = sandbox.record("exits", program, options);
        sandbox.portmortem(["verify", "exits.pmt"]).succeeds();
        let of = |name| calls(&profiled, name);
        let counted = 40 * (1..=6).map(|n| n * 50 + 1 + 27 - n + 1).sum::<u64>();
        let got = [of("round/0"), of("work/1"), of("bye/1"), of("count/1")];
        assert_eq!(got, [40, 240, 240, counted], "{options:?}");
    }
}
