//! How a program ends while other threads work: what they did until the process was gone is in the
//! trace, or the trace says how much of it is not.
//!
//! Workers leave a byte in a file after each round of three events. The write goes to the system at
//! once.

use std::fs;
use std::path::Path;

use portmortem_tests::patience::wait_until;
use portmortem_tests::{Outcome, Profiled, Sandbox, Status, built};

/// Every round is three events: the last call of work/1, the call and the exit of tick/1.
const EVENTS_PER_ROUND: u64 = 3;

const WORKERS: &str = "
:- initialization(main, main).
worker(Name) :-
    atom_concat(Name, '.bytes', File),
    open(File, write, S, [type(binary), buffer(false)]),
    work(S).
work(S) :- tick(X), put_byte(S, X), work(S).
tick(1).
worked(Name) :-
    atom_concat(Name, '.bytes', File),
    repeat, exists_file(File), size_file(File, Size), Size > 100, !.
";

/// With so many events the index takes a while, which is made before the process may end. Threads
/// that run on meanwhile do thousands of rounds.
const MANY_EVENTS: &str = "
many :- between(1, 200000, X), tick(_), X >= 200000, !.
";

/// Records WORKERS and `program`, which must end with `status`.
fn record(program: &str, status: i32, options: &[&str]) -> Sandbox {
    let sandbox = sandbox(program);
    let arguments = [
        &["record", "--no-boundary", "-o", "run.pmt"],
        options,
        &["ends.pl"],
    ]
    .concat();
    sandbox.portmortem(arguments).exits(status);
    sandbox
}

fn sandbox(program: &str) -> Sandbox {
    Sandbox::with(
        "ends.pl",
        format!("{WORKERS}{MANY_EVENTS}{program}").as_str(),
    )
}

/// All rounds of these workers are recorded, and the trace is whole.
fn all_is_recorded(sandbox: &Sandbox, workers: &[&str]) {
    sandbox.portmortem(["verify", "run.pmt"]).exits(0);
    let profiled = Profiled::of(&sandbox.path("run.pmt"));
    assert!(profiled.trace.end().is_some());
    let events = profiled.port_events();
    for name in workers {
        let rounds = rounds(sandbox, name);
        let recorded = events.get(*name).copied().unwrap_or(0);
        assert!(
            rounds > 0 && recorded >= rounds * EVENTS_PER_ROUND,
            "{name}: {rounds} rounds, and {recorded} events are recorded"
        );
    }
}

fn rounds(sandbox: &Sandbox, worker: &str) -> u64 {
    fs::metadata(sandbox.path(&format!("{worker}.bytes"))).map_or(0, |file| file.len())
}

const WORK_IN_THREADS: &str = "
main :-
    many,
    forall(member(Name, [one, two, three]), thread_create(worker(Name), _, [alias(Name)])),
    worker(main).
";

/// The engine kills the process from the handler, in whichever thread that runs.
#[test]
fn by_a_signal() {
    for (signal, options) in [
        (libc::SIGTERM, &[][..]),
        (libc::SIGQUIT, &[]),
        (libc::SIGTERM, &["--ports"]),
        (libc::SIGTERM, &["--no-index"]),
    ] {
        let sandbox = sandbox(WORK_IN_THREADS);
        let arguments = ["record", "--no-boundary", "-o", "run.pmt"];
        let running = sandbox.command(built::portmortem()).args(arguments);
        let running = running.args(options).args(["ends.pl"]).start();
        wait_until("all work", || {
            ["main", "one", "two", "three"]
                .iter()
                .all(|name| rounds(&sandbox, name) > 100)
        });
        running.signal(signal);
        let outcome = running.wait();
        outcome.demand(
            outcome.status == Status::Signal(signal),
            "death by the signal",
        );
        all_is_recorded(&sandbox, &["main", "one", "two", "three"]);
    }
}

/// As a server does that ends in order.
#[test]
fn by_a_signal_that_the_program_handles() {
    let sandbox = sandbox(
        "
main :- many, on_signal(term, _, bye), thread_create(worker(one), _, [alias(one)]), worker(main).
bye(_) :- halt(4).
",
    );
    let arguments = ["record", "--no-boundary", "-o", "run.pmt", "ends.pl"];
    let running = sandbox.command(built::portmortem()).args(arguments).start();
    wait_until("all work", || {
        ["main", "one"]
            .iter()
            .all(|name| rounds(&sandbox, name) > 100)
    });
    running.signal(libc::SIGTERM);
    running.wait().exits(4);
    all_is_recorded(&sandbox, &["main", "one"]);
}

/// Threads are told to abort: the main thread, and some that nobody waits for.
#[test]
fn by_halt() {
    let in_a_thread = "
main :- many, thread_create(worker(one), _, [alias(one)]), thread_create(ender, _, [alias(ender)]), worker(main).
ender :- worked(main), worked(one), halt(4).
";
    all_is_recorded(&record(in_a_thread, 4, &[]), &["main", "one"]);
    let in_main = "
main :-
    thread_create(worker(one), _, [alias(one)]), thread_create(worker(two), _, [alias(two), detached(true)]),
    many, worked(one), worked(two).
";
    all_is_recorded(&record(in_main, 0, &[]), &["one", "two"]);
    let by_another = "
main :- many, thread_create(worker(one), _, [alias(one)]), thread_create(ender, _, [alias(ender)]), worker(main).
ender :- worked(main), worked(one), thread_signal(main, halt(4)).
";
    all_is_recorded(&record(by_another, 4, &[]), &["main", "one"]);
}

/// Goals of `at_halt/1` are the program's, and so is what threads do meanwhile.
#[test]
fn last_words_that_take_long() {
    let sandbox = record(
        "
main :- at_halt(last_words), thread_create(worker(one), _, [alias(one)]), worked(one).
last_words :- many, size_file('one.bytes', A), B is A + 1000, repeat, size_file('one.bytes', C), C > B, !.
",
        0,
        &[],
    );
    all_is_recorded(&sandbox, &["one"]);
    let profiled = Profiled::of(&sandbox.path("run.pmt"));
    let in_main = profiled.port_events()["main"];
    assert!(in_main > 400_000, "{in_main} events of main");
}

/// Of a thread that ends itself, and of engines that were left where they were, all is there.
#[test]
fn of_threads_and_engines_alone() {
    let sandbox = record(
        "
main :-
    thread_create(leaves, Id, [alias(leaves)]), thread_join(Id, exited(done)),
    thread_create(leaves, _, [alias(detached), detached(true)]),
    engine_create(X, steps(X), E, [alias(left)]),
    forall(between(1, 500, _), engine_next(E, _)),
    repeat, \\+ catch(thread_property(detached, status(_)), _, fail), !.
leaves :- between(1, 1000, X), tick(_), X >= 1000, !, thread_exit(done).
steps(X) :- between(1, inf, X), tick(_).
",
        0,
        &[],
    );
    let profiled = Profiled::of(&sandbox.path("run.pmt"));
    sandbox.portmortem(["verify", "run.pmt"]).exits(0);
    assert_eq!(profiled.row("tick/1").calls, 2500);
}

/// A child that goes on after its parent has ended is no thread that could be waited for.
#[test]
fn a_child_goes_on() {
    let program = "
:- use_module(library(unix)).
main :-
    many, fork(Pid),
    (   Pid == child
    ->  repeat, exists_file(go), !, many, halt(0)
    ;   true
    ).
";
    let sandbox = sandbox(program);
    let script =
        "$portmortem record --no-boundary -o run.pmt ends.pl; status=$?; touch go; exit $status";
    sandbox.sh(script).exits(0);
    let profiled = Profiled::of(&sandbox.path("run.pmt"));
    sandbox.portmortem(["verify", "run.pmt"]).exits(0);
    assert_eq!(profiled.row("tick/1").calls, 200_000);
}

/// In the recorded process, after everything that the engine does at its end: waits until the
/// thread has done more.
const AFTER_THE_END: &str = r#"
#include <stdio.h>
#include <unistd.h>
static int worked(int round) {
  char name[32];
  snprintf(name, sizeof name, "rounds/%d", round);
  return access(name, F_OK) == 0;
}
__attribute__((destructor)) static void run_on(void) {
  FILE *file = fopen("pid", "r");
  int pid = 0, round = 0;
  if (!file || fscanf(file, "%d", &pid) != 1 || pid != getpid()) return;
  while (worked(round)) round++;
  while (!worked(round + 100)) usleep(1000);
}
"#;

/// A thread that cannot be aborted runs on while the C library ends the process, and could hold
/// what that needs.
#[test]
fn a_thread_that_runs_on_says_so() {
    let sandbox = sandbox(
        "
main :-
    current_prolog_flag(pid, Pid), setup_call_cleanup(open(pid, write, S), write(S, Pid), close(S)),
    make_directory(rounds),
    thread_create(sig_atomic(rounds(0)), _, [alias(one)]),
    repeat, exists_directory('rounds/100'), !.
rounds(N) :- atom_concat('rounds/', N, Name), round(Name), N1 is N+1, rounds(N1).
round(Name) :- make_directory(Name).
",
    );
    sandbox.write("after.c", AFTER_THE_END);
    let arguments = ["-shared", "-fPIC", "-o", "after.so", "after.c"];
    sandbox.run(Path::new("cc"), arguments).succeeds();
    let mut run = sandbox.command(built::portmortem());
    run.command.env("LD_PRELOAD", sandbox.path("after.so"));
    run.args(["record", "-o", "run.pmt", "ends.pl"])
        .wait()
        .exits(0);
    let rounds = fs::read_dir(sandbox.path("rounds")).unwrap().count() as u64;
    let profiled = Profiled::of(&sandbox.path("run.pmt"));
    let recorded = profiled.row("round/1").calls;
    assert!(
        recorded + 100 <= rounds,
        "{recorded} of {rounds} rounds are recorded"
    );
    // A round is the last call of rounds/1, and the calls and exits of what it calls.
    let lost = profiled.profile.lost_events();
    assert!(
        lost > (rounds - recorded - 1) * 3,
        "{lost} of {} rounds",
        rounds - recorded
    );
    let told = |outcome: Outcome| {
        outcome
            .exits(3)
            .shows("stream 2 (one) ran on after the end of the recording");
    };
    told(sandbox.portmortem(["verify", "run.pmt"]));
    told(sandbox.portmortem(["info", "run.pmt"]));
    told(sandbox.portmortem(["report", "run.pmt"]));
}
