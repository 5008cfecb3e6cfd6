//! `kill -9` at random moments: every trace is readable, says that the run did not end, and at most one event of
//! each stream is missing.
//!
//! A signal that ends the program in order, in the middle of anything, does so recorded as well.
//!
//! `PORTMORTEM_ROUNDS=10` makes ten times as many attempts of each kind. `PORTMORTEM_SEED` is what
//! a failure has printed.
//!
//! To know how many events there must be, the programs leave a byte in a file after each round of events. The
//! write goes to the system at once, so the bytes outlive the kill and count what certainly happened before it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use portmortem_tests::patience::wait_until;
use portmortem_tests::{Outcome, Profiled, Random, Sandbox, Status, built, trap};
use portmortem_tracer::format::Event;

/// Every round is three events: the last call of work/1, the call and the exit of tick/1.
const EVENTS_PER_ROUND: u64 = 3;

const ONE_THREAD: &str = "
:- initialization(main, main).
main :- open('main.bytes', write, S, [type(binary), buffer(false)]), work(S).
work(S) :- tick(X), put_byte(S, X), work(S).
tick(1).
";

const THREADS: &str = "
:- initialization(main, main).
main :-
    forall(member(Name, [one, two, three]), thread_create(worker(Name), _, [alias(Name)])),
    worker(main).
worker(Name) :-
    atom_concat(Name, '.bytes', File),
    open(File, write, S, [type(binary), buffer(false)]),
    work(S).
work(S) :- tick(X), put_byte(S, X), work(S).
tick(1).
";

/// Events of a stream before the first round.
fn before_rounds(program: &str, stream: &str) -> u64 {
    match (program == THREADS, stream) {
        (false, _) => 1,     // main/0
        (true, "main") => 2, // main/0, worker/1
        (true, _) => 1,      // worker/1
    }
}

/// So many attempts, times `PORTMORTEM_ROUNDS`.
fn attempts(times: u64) -> std::ops::Range<u64> {
    let factor = portmortem_tests::rounds();
    0..times * factor
}

#[test]
fn fifty_times_with_one_thread() {
    kill_again_and_again(50, ONE_THREAD);
}

#[test]
fn thirty_times_with_four_threads() {
    kill_again_and_again(30, THREADS);
}

fn kill_again_and_again(times: u64, program: &str) {
    let random = Random::new();
    for time in attempts(times) {
        // Half of them at work: how long it takes to begin is the machine's affair.
        let at_work = time % 2 == 0;
        let rounds = kill_and_look(&random, program, at_work.then_some("main.bytes"));
        assert!(rounds > 0 || !at_work);
    }
}

/// Returns how many rounds had been worked.
fn kill_and_look(random: &Random, program: &str, after: Option<&str>) -> u64 {
    let sandbox = Sandbox::with("rounds.pl", program);
    let arguments = ["record", "--no-boundary", "-o", "run.pmt", "rounds.pl"];
    let killed = record_and_kill(random, &sandbox, &arguments, after);
    if recorded_nothing(&sandbox) {
        // Killed before the recording began: then nothing of the program can have run.
        assert!(!sandbox.path("main.bytes").exists(), "{killed}");
        return 0;
    }
    let profiled = readable_and_unfinished(&sandbox);
    assert_eq!(profiled.profile.damage, [], "{killed}");
    let events = profiled.port_events();
    let mut all_rounds = 0;
    for name in ["main", "one", "two", "three"] {
        let rounds =
            fs::metadata(sandbox.path(&format!("{name}.bytes"))).map_or(0, |file| file.len());
        if rounds == 0 {
            continue;
        }
        all_rounds += rounds;
        let certain = before_rounds(program, name) + rounds * EVENTS_PER_ROUND;
        let recorded = events.get(name).copied().unwrap_or(0);
        assert!(
            recorded + 1 >= certain,
            "{name}: {rounds} rounds are {certain} events, and {recorded} are recorded"
        );
        assert!(
            recorded <= certain + EVENTS_PER_ROUND,
            "{name}: {rounds} rounds are {certain} events, and as many as {recorded} are recorded"
        );
    }
    all_rounds
}

/// Boxes of every kind, threads with choicepoints and exceptions, engines.
#[test]
fn twenty_times_in_boxes_of_every_kind() {
    let random = Random::new();
    for round in attempts(20) {
        let sandbox = Sandbox::new();
        let program = trap(["endless.pl", "many_streams.pl"][round as usize % 2]);
        let arguments = [
            "record".as_ref(),
            "--no-boundary".as_ref(),
            "-o".as_ref(),
            "run.pmt".as_ref(),
            program.as_os_str(),
        ];
        let after = (round % 4 < 2).then_some("run.pmt");
        record_and_kill(&random, &sandbox, &arguments, after);
        if !recorded_nothing(&sandbox) {
            readable_and_unfinished(&sandbox);
        }
    }
}

/// Events of [`ONE_THREAD`] before main/0 that are no ports: pauses for the recorder's own work.
fn pauses_while_loading() -> u64 {
    let idle = ONE_THREAD.replace("buffer(false)]), work(S).", "buffer(false)]), close(S).");
    let profiled = Sandbox::new().record("idle", &idle, &[]);
    let stream = &profiled.trace.streams()[0];
    let before = profiled
        .trace
        .events(stream)
        .take_while(|timed| !matches!(timed.event, Event::Call { .. }));
    before.count() as u64
}

#[test]
fn the_end_of_a_flight_recording_is_there() {
    let pauses = pauses_while_loading();
    let random = Random::new();
    for time in attempts(10) {
        let sandbox = Sandbox::with("rounds.pl", ONE_THREAD);
        let options = [
            "record",
            "--no-boundary",
            "--max-size",
            "256K",
            "--keep",
            "last",
            "-o",
            "run.pmt",
            "rounds.pl",
        ];
        let after = (time % 2 == 0).then_some("main.bytes");
        record_and_kill(&random, &sandbox, &options, after);
        if recorded_nothing(&sandbox) {
            continue;
        }
        let profiled = readable_and_unfinished(&sandbox);
        let rounds = fs::metadata(sandbox.path("main.bytes")).map_or(0, |file| file.len());
        let seen = profiled.events_with_lost();
        if rounds > 0 {
            let certain = pauses + 1 + rounds * EVENTS_PER_ROUND;
            assert!(
                seen.end() + 1 >= certain && *seen.start() <= certain + EVENTS_PER_ROUND,
                "{rounds} rounds are {certain} events; recorded and lost are {seen:?}"
            );
        }
    }
}

/// The engine ends the process from within the signal's handler, whatever was interrupted: a port, the opening of a
/// block, the counting of symbolic costs, another thread.
#[test]
fn a_signal_ends_every_kind_of_recording_in_order() {
    let kinds: [(&str, &[&str]); 5] = [
        (ONE_THREAD, &[]),
        (THREADS, &[]),
        (ONE_THREAD, &["--max-size", "256K", "--keep", "last"]),
        (ONE_THREAD, &["--symbolic"]),
        (ONE_THREAD, &["--byrd"]),
    ];
    let random = Random::new();
    for time in attempts(20) {
        let (program, options) = kinds[time as usize % kinds.len()];
        let sandbox = Sandbox::with("rounds.pl", program);
        let recording = sandbox
            .command(built::portmortem())
            .args(["record", "--no-boundary", "-o", "run.pmt"])
            .args(options)
            .args(["rounds.pl"])
            .start();
        wait_for(&sandbox, "main.bytes");
        random.nap(Duration::from_millis(100));
        recording.signal(libc::SIGTERM);
        let outcome = recording.wait();
        outcome.demand(
            outcome.status == Status::Signal(libc::SIGTERM),
            "death by the signal",
        );
        let told = outcome.err();
        assert!(!told.contains("internal error"), "{options:?}: {told}");
        let profiled = Profiled::of(&sandbox.path("run.pmt"));
        let lost = profiled.profile.lost_events() > 0;
        let status = if lost { 3 } else { 0 };
        sandbox.portmortem(["verify", "run.pmt"]).exits(status);
        let keeps_all = !options.contains(&"--keep");
        assert!(!(lost && keeps_all), "{options:?} {told}");
        assert!(profiled.trace.end().is_some(), "{options:?} {told}");
        if keeps_all {
            let rounds = fs::metadata(sandbox.path("main.bytes")).unwrap().len();
            assert!(profiled.events() >= rounds, "{options:?}");
        }
    }
}

/// Sends the program a signal in the middle of a `free()` of the recorder's, once it has written
/// something. The process ends with status 9 if the recorder takes or frees memory then. (The
/// engine frees what it has noted of the recorder's hook.)
const SIGNAL_IN_FREE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static __thread int inside;
static int recorder_calls(void *caller) {
  Dl_info from;
  return dladdr(caller, &from) && strstr(from.dli_fname, "portmortem");
}
static int is_due(void) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, 0, &mask);
  return !sigismember(&mask, SIGTERM) && access("main.bytes", F_OK) == 0;
}
#define BEGIN(name) \
  static __typeof__(name) *real; \
  if (!real) real = dlsym(RTLD_NEXT, #name); \
  if (inside && recorder_calls(__builtin_return_address(0))) _exit(9)
void *malloc(size_t size) {
  BEGIN(malloc);
  return real(size);
}
void *realloc(void *memory, size_t size) {
  BEGIN(realloc);
  return real(memory, size);
}
void free(void *memory) {
  BEGIN(free);
  if (!inside && recorder_calls(__builtin_return_address(0)) && is_due()) {
    inside = 1;
    raise(SIGTERM);
    inside = 0;
  }
  real(memory);
}
"#;

#[test]
fn a_signal_in_the_middle_of_free_ends_the_recording_in_order() {
    let sandbox = Sandbox::with("rounds.pl", ONE_THREAD);
    sandbox.write("in_free.c", SIGNAL_IN_FREE);
    let arguments = ["-shared", "-fPIC", "-o", "in_free.so", "in_free.c"];
    sandbox.run(Path::new("cc"), arguments).succeeds();
    let mut run = sandbox.command(built::portmortem());
    run.command.env("LD_PRELOAD", sandbox.path("in_free.so"));
    let arguments = [
        "record",
        "--no-boundary",
        "--symbolic",
        "-o",
        "run.pmt",
        "rounds.pl",
    ];
    let outcome = run.args(arguments).wait();
    outcome.demand(
        outcome.status == Status::Signal(libc::SIGTERM),
        "death by the signal",
    );
    sandbox.portmortem(["verify", "run.pmt"]).exits(0);
    let profiled = Profiled::of(&sandbox.path("run.pmt"));
    assert!(profiled.trace.end().is_some());
    assert!(profiled.row("work/1").calls > 0);
}

#[test]
fn the_program_alone_is_killed() {
    let sandbox = Sandbox::new();
    let program = trap("endless.pl");
    let recording = sandbox
        .command(built::portmortem())
        .args([
            "record".as_ref(),
            "--no-boundary".as_ref(),
            "-o".as_ref(),
            "run.pmt".as_ref(),
            program.as_os_str(),
        ])
        .start();
    recording.wait_for_output("ready");
    recording.signal(libc::SIGKILL);
    let outcome = recording.wait();
    outcome.demand(
        outcome.status == Status::Signal(libc::SIGKILL),
        "death by the signal",
    );
    readable_and_unfinished(&sandbox);
    wait_until("temporary files are gone", || {
        fs::read_dir(sandbox.path("home")).unwrap().next().is_none()
    });
}

/// Kills it some time after it began, or after something stands in a file.
fn record_and_kill<A: AsRef<std::ffi::OsStr>>(
    random: &Random,
    sandbox: &Sandbox,
    arguments: &[A],
    after: Option<&str>,
) -> Outcome {
    let recording = sandbox.command(built::portmortem()).args(arguments).start();
    if let Some(file) = after {
        wait_for(sandbox, file);
    }
    random.nap(Duration::from_millis(300));
    recording.signal_group(libc::SIGKILL);
    let outcome = recording.wait();
    let over = [Status::Exit(0), Status::Signal(libc::SIGKILL)];
    outcome.demand(
        over.contains(&outcome.status),
        "to be killed, or an end before that",
    );
    outcome
}

/// Waits until something stands in the file.
fn wait_for(sandbox: &Sandbox, file: &str) {
    wait_until(&format!("something stands in {file}"), || {
        !is_empty(sandbox, file)
    });
}

/// Whether there is no trace yet, or an empty file.
fn recorded_nothing(sandbox: &Sandbox) -> bool {
    is_empty(sandbox, "run.pmt")
}

fn is_empty(sandbox: &Sandbox, file: &str) -> bool {
    fs::metadata(sandbox.path(file)).map_or(true, |file| file.len() == 0)
}

/// The report has a table (or nothing had run), says that the run did not end, and ends with status 3.
fn readable_and_unfinished(sandbox: &Sandbox) -> Profiled {
    let report = sandbox.portmortem(["report", "run.pmt"]);
    let profiled = Profiled::of(&sandbox.path("run.pmt"));
    if profiled.trace.end().is_some() {
        // A program that ends was faster than the kill.
        report.exits(0);
        return profiled;
    }
    report
        .exits(3)
        .shows("the run did not end")
        .shows("self ")
        .shows("calls");
    sandbox.portmortem(["verify", "run.pmt"]).exits(3);
    sandbox
        .portmortem(["info", "run.pmt"])
        .exits(3)
        .shows("the run did not end");
    profiled
}
