//! `library(portmortem)`, installed as a pack and used from a program of its own.

use std::fs;

use portmortem_analyzer::figures::StreamFigures;
use portmortem_tests::patience::wait_until;
use portmortem_tests::{Outcome, Profiled, Sandbox, built, repository};
use portmortem_tracer::format::Event;

/// Puts the pack where `attach_packs/2` finds it, and a program that uses it.
pub(crate) fn with_pack(program: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    install_pack(&sandbox, "packs/portmortem");
    sandbox.write(
        "program.pl",
        format!(":- attach_packs(packs, []).\n:- use_module(library(portmortem)).\n{program}\n{PREDICATES}"),
    );
    sandbox
}

/// Puts the pack there as `make install` and `make pack` do.
pub(crate) fn install_pack(sandbox: &Sandbox, directory: &str) {
    let mut install = sandbox.command(&repository("tools/install-pack"));
    install.command.arg(built::engine_library());
    install.command.arg(sandbox.path(directory));
    install.wait().succeeds();
}

/// What is recorded. `one/1` has a choicepoint left, `next/2` has not.
const PREDICATES: &str = "
num(1). num(2). num(3).
one(X) :- num(X), X >= 2.
next(X, Y) :- Y is X+1.
thrower :- throw(ball).
";

pub(crate) fn run(sandbox: &Sandbox, goal: &str) -> Outcome {
    sandbox.swipl(["-g", goal, "-t", "halt", "program.pl"])
}

/// The trace, which must be whole.
pub(crate) fn whole(sandbox: &Sandbox, trace: &str) -> Profiled {
    sandbox.portmortem(["verify", trace]).succeeds();
    Profiled::of(&sandbox.path(trace))
}

pub(crate) fn calls(profiled: &Profiled, predicate: &str) -> u64 {
    profiled.find(predicate).map_or(0, |row| row.calls)
}

#[test]
fn the_pack_describes_itself() {
    let sandbox = with_pack("");
    let goal = "forall(pack_property(portmortem, version(V)), writeln(V))";
    let outcome = sandbox.swipl([
        "-g",
        "attach_packs(packs, []), use_module(library(prolog_pack))",
        "-g",
        goal,
        "-t",
        "halt",
    ]);
    outcome
        .succeeds()
        .prints(concat!(env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn loading_it_changes_nothing() {
    let sandbox = with_pack("");
    run(&sandbox, "findall(X, one(X), Xs), print(Xs), nl")
        .succeeds()
        .prints("[2,3]\n");
    let left: Vec<_> = fs::read_dir(sandbox.directory()).unwrap().collect();
    assert_eq!(left.len(), 3, "packs, home, program.pl: {left:?}");
}

#[test]
fn outside_a_recording_everything_is_harmless() {
    let sandbox = with_pack("");
    run(
        &sandbox,
        "pm_stop, pm_pause, pm_resume, pm_resume, pm_mark(hello), pm_mark(f(_)), noprofile(nothing/0), \
         noprofile((a/1, b/2)), one(X), pm_pause, pm_stop, writeln(X)",
    )
    .succeeds()
    .prints("2\n");
}

#[test]
fn pm_record_is_once() {
    let sandbox = with_pack("");
    run(
        &sandbox,
        "forall(pm_record(one(X), [output('a.pmt')]), writeln(X))",
    )
    .succeeds()
    .prints("2\n");
    let profiled = whole(&sandbox, "a.pmt");
    let row = profiled.row("one/1");
    assert_eq!(
        (row.calls, row.exits_nondet, row.cuts, row.pending),
        (1, 1, 1, 0)
    );
    let row = profiled.row("num/1");
    assert_eq!(
        (row.calls, row.exits_nondet, row.redos, row.cuts),
        (1, 2, 1, 1)
    );
    assert_eq!(profiled.names(), ["num/1", "one/1"]);
    sandbox
        .portmortem(["report", "a.pmt"])
        .succeeds()
        .shows("stopped by the program");
}

#[test]
fn pm_record_fails_and_throws_as_its_goal_does() {
    let sandbox = with_pack("");
    run(
        &sandbox,
        "\\+ pm_record(num(9), [output('fails.pmt')]), num(9)",
    )
    .exits(1);
    assert_eq!(whole(&sandbox, "fails.pmt").row("num/1").fails, 1);
    run(
        &sandbox,
        "catch(pm_record(thrower, [output('throws.pmt')]), Ball, true), writeln(Ball)",
    )
    .succeeds()
    .prints("ball\n");
    assert_eq!(whole(&sandbox, "throws.pmt").row("thrower/0").exceptions, 1);
    run(&sandbox, "pm_record(halt(5), [output('halts.pmt')])").exits(5);
    whole(&sandbox, "halts.pmt");
}

#[test]
fn the_default_output_is_recording_pmt() {
    let sandbox = with_pack("");
    run(&sandbox, "pm_record(one(_), [])").succeeds();
    assert_eq!(calls(&whole(&sandbox, "recording.pmt"), "one/1"), 1);
}

fn is_replaced_by_force(sandbox: &Sandbox) {
    run(
        sandbox,
        "pm_record(writeln(ran), [output('a.pmt'), force(true)])",
    )
    .succeeds()
    .prints("ran\n");
    whole(sandbox, "a.pmt");
}

#[test]
fn an_existing_file_is_an_error_and_the_goal_does_not_run() {
    let sandbox = with_pack("");
    sandbox.write("a.pmt", "precious");
    let outcome = run(&sandbox, "pm_record(writeln(ran), [output('a.pmt')])");
    outcome.exits(2).prints("").says("a.pmt");
    assert_eq!(fs::read(sandbox.path("a.pmt")).unwrap(), b"precious");
    is_replaced_by_force(&sandbox);
    run(&sandbox, "pm_record(true, [output('no/such/dir/a.pmt')])")
        .exits(2)
        .says("Portmortem: cannot create");
}

#[test]
fn a_file_that_is_still_recorded_is_an_error_even_by_force() {
    let sandbox = with_pack("");
    sandbox.write(
        "wait.pl",
        "main :- shell('touch begun; read Line; true').\n",
    );
    let mut other = sandbox
        .command(built::portmortem())
        .args(["record", "-g", "main", "-o", "a.pmt", "wait.pl"]);
    let (until_then, end) = std::io::pipe().unwrap();
    other.command.stdin(until_then);
    let other = other.start();
    wait_until("it has begun", || sandbox.path("begun").exists());
    for goal in [
        "pm_record(writeln(ran), [output('a.pmt'), force(true)])",
        "pm_start('a.pmt', [force(true)]), writeln(ran)",
    ] {
        run(&sandbox, goal)
            .exits(2)
            .prints("")
            .says("Portmortem: another recording still writes")
            .says("a.pmt: wait until it ends, or record into another file");
    }
    drop(end);
    other.wait().exits(0);
    is_replaced_by_force(&sandbox);
}

#[test]
fn a_second_recording_at_once_is_an_error_and_the_first_goes_on() {
    let sandbox = with_pack("");
    run(
        &sandbox,
        "pm_start('a.pmt', []), catch(pm_start('b.pmt', []), E, true), print_message(error, E), \
         catch(pm_record(one(_), [output('c.pmt')]), _, true), next(1, _), pm_stop",
    )
    .says("a recording is in progress");
    let profiled = whole(&sandbox, "a.pmt");
    assert_eq!(
        (calls(&profiled, "next/2"), calls(&profiled, "one/1")),
        (1, 0)
    );
    assert!(!sandbox.path("b.pmt").exists() && !sandbox.path("c.pmt").exists());
}

#[test]
fn a_pause_leaves_out_what_is_called_in_it_and_nothing_else() {
    for options in ["[]", "[byrd(true)]", "[tail(false)]"] {
        let program = "
t :- next(1, _), inside, next(3, _), pm_stop.
inside :- pm_pause, paused, pm_resume, next(2, _).
paused :- next(10, _), next(11, _), one(X), X > 2, sleep(0.03).
";
        let sandbox = with_pack(program);
        run(&sandbox, &format!("pm_start('a.pmt', {options}), t")).succeeds();
        let profiled = whole(&sandbox, "a.pmt");
        assert_eq!(calls(&profiled, "next/2"), 3, "{options}");
        assert_eq!(calls(&profiled, "inside/0"), 1);
        assert_eq!(profiled.find("paused/0"), None, "{options}");
        assert_eq!(profiled.find("one/1"), None, "{options}");
        let figures: &StreamFigures = &profiled.profile.streams[0];
        // Half of what it slept: clocks differ by far less.
        let paused = profiled.trace.clock().duration_ns(figures.paused_ticks);
        assert!(paused >= 15_000_000, "{paused} ns");
        assert_eq!(figures.paused_ticks, ticks_of_pauses(&profiled));
        // Time in between belongs to no predicate.
        let stream = figures.last_tick - figures.first_tick;
        let rest = profiled
            .trace
            .clock()
            .duration_ns(stream - figures.paused_ticks);
        let outermost = profiled.row("t/0").inclusive_ns;
        assert!(outermost <= rest, "{outermost} of {rest} ns");
    }
}

/// From each pause in the first stream to what resumes it.
fn ticks_of_pauses(profiled: &Profiled) -> u64 {
    let stream = &profiled.trace.streams()[0];
    let mut since = None;
    let mut paused = 0;
    for timed in profiled.trace.events(stream) {
        match timed.event {
            Event::Pause => since = since.or(Some(timed.tick)),
            Event::Resume => paused += since.take().map_or(0, |since| timed.tick - since),
            _ => {}
        }
    }
    paused
}

/// A choicepoint of before the pause is re-entered in it, one made in it is re-entered after it.
#[test]
fn backtracking_across_a_pause() {
    let program = "
t :- num(X), flip(X), one(_), X >= 3, !, next(X, _), pm_stop.
flip(X) :- ( X =:= 1 -> pm_pause ; X =:= 3 -> pm_resume ; true ).
";
    let sandbox = with_pack(program);
    run(&sandbox, "pm_start('a.pmt', []), t").succeeds();
    let profiled = whole(&sandbox, "a.pmt");
    let edge = profiled.edge("t/0", "num/1");
    assert_eq!(
        (edge.calls, edge.exits, edge.redos, edge.fails),
        (1, 3, 2, 0)
    );
    assert_eq!(calls(&profiled, "one/1"), 1);
    // Two of its three calls came while recording was paused.
    assert_eq!(
        (calls(&profiled, "flip/1"), calls(&profiled, "next/2")),
        (1, 1)
    );
}

#[test]
fn a_pause_is_of_one_thread() {
    let program = "
t :- pm_pause, thread_create(worker, Id, [alias(worker)]), thread_join(Id), next(1, _), pm_resume.
worker :- next(2, _), next(3, _).
";
    let sandbox = with_pack(program);
    run(&sandbox, "pm_start('a.pmt', []), t, pm_stop").succeeds();
    let profiled = whole(&sandbox, "a.pmt");
    assert_eq!(calls(&profiled, "next/2"), 2);
}

#[test]
fn marks_are_in_the_stream_where_they_were_made() {
    let sandbox = with_pack("");
    run(
        &sandbox,
        "pm_start('a.pmt', []), next(1, _), pm_mark('first \\u00e9'), next(2, _), pm_mark(f(\"x\", 'Y')), pm_stop",
    )
    .succeeds();
    let profiled = whole(&sandbox, "a.pmt");
    let stream = &profiled.trace.streams()[0];
    // Not waiting for a processor.
    let is_of_program = |called: u32| {
        let info = &profiled.trace.predicates()[called as usize];
        info.declared.module == "user"
    };
    let mut seen = Vec::new();
    for event in profiled.trace.events(stream) {
        match event.event {
            Event::Call { predicate } if is_of_program(predicate) => seen.push("call".to_owned()),
            Event::Mark { text } => seen.push(profiled.trace.text(text).unwrap().to_owned()),
            _ => {}
        }
    }
    assert_eq!(seen, ["call", "first é", "call", "f(x,Y)"]);
}

#[test]
fn noprofile_leaves_predicates_out() {
    let sandbox = with_pack("m:quiet :- m:loud.\nm:loud.\n");
    run(
        &sandbox,
        "noprofile((num/1, next/2)), noprofile(m:quiet/0), \
         pm_record(( one(X), next(X, _), m:quiet ), [output('a.pmt')])",
    )
    .succeeds();
    assert_eq!(whole(&sandbox, "a.pmt").names(), ["m:loud/0", "one/1"]);
}

#[test]
fn noprofile_as_a_directive() {
    let sandbox = with_pack(":- noprofile((num/1, next/2)).");
    run(
        &sandbox,
        "pm_record(( one(X), next(X, _) ), [output('a.pmt')])",
    )
    .succeeds();
    assert_eq!(whole(&sandbox, "a.pmt").names(), ["one/1"]);
}

#[test]
fn several_recordings_one_after_the_other() {
    let sandbox = with_pack("");
    run(
        &sandbox,
        "forall(member(N, [1,2,3,4]),
                ( format(atom(File), '~d.pmt', [N]),
                  pm_record(forall(between(1, N, I), next(I, _)), [output(File)]),
                  next(0, _) ))",
    )
    .succeeds();
    for count in 1..=4 {
        let profiled = whole(&sandbox, &format!("{count}.pmt"));
        assert_eq!(calls(&profiled, "next/2"), count);
        assert_eq!(
            profiled.names(),
            ["'$apply':forall/2", "next/2", "system:between/3"]
        );
    }
}

#[test]
fn options_of_one_recording_do_not_leak_into_the_next() {
    let sandbox = with_pack("");
    run(
        &sandbox,
        "pm_record(one(_), [output('1.pmt'), include(['num/1'])]), pm_record(one(_), [output('2.pmt')]), \
         pm_record(one(_), [output('3.pmt'), exclude('num/1'), byrd(true)]), pm_record(one(_), [output('4.pmt')])",
    )
    .succeeds();
    let names = |trace: &str| whole(&sandbox, trace).names();
    assert_eq!(names("1.pmt"), ["num/1"]);
    assert_eq!(names("2.pmt"), ["num/1", "one/1"]);
    assert_eq!(names("3.pmt"), ["one/1"]);
    assert_eq!(names("4.pmt"), ["num/1", "one/1"]);
    assert!(whole(&sandbox, "3.pmt").trace.header().mode.byrd);
    assert!(!whole(&sandbox, "4.pmt").trace.header().mode.byrd);
}

/// Boxes and choicepoints of before the recording are open while it begins, and those of the recording while it
/// ends; backtracking then goes through all of them, twice, with a second recording in between.
#[test]
fn recordings_in_the_middle_of_a_running_goal() {
    let program = "
t(X) :- outer(X).
outer(X) :- num(X), middle(X, Y), Y >= 0.
middle(X, Y) :- num(Y), control(X, Y), inner.
inner. inner.
control(X, Y) :- command(X-Y, Goal), !, call(Goal).
control(_, _).
command(1-2, pm_start('a.pmt', [])).
command(2-1, pm_stop).
command(2-3, pm_start('b.pmt', [])).
command(3-2, pm_stop).
";
    let sandbox = with_pack(program);
    run(&sandbox, "findall(X, t(X), Xs), print(Xs), nl")
        .succeeds()
        .prints("[1,1,1,1,1,1,2,2,2,2,2,2,3,3,3,3,3,3]\n");
    for trace in ["a.pmt", "b.pmt"] {
        let profiled = whole(&sandbox, trace);
        // 1-2, 1-3 of the first, 2-3, 3-1 of the second; the call that ends it is open.
        let inner = profiled.row("inner/0");
        assert_eq!(
            (inner.calls, inner.exits_det + inner.exits_nondet),
            (2, 4),
            "{trace}"
        );
        assert_eq!(profiled.row("control/2").open, 1, "{trace}");
        assert_eq!(profiled.row("middle/2").calls, 1, "{trace}");
        assert_eq!(profiled.find("outer/1"), None, "{trace}");
    }
}

#[test]
fn a_recording_begun_and_ended_by_different_threads() {
    let program = "
t :- thread_create(pm_start('a.pmt', []), A, []), thread_join(A), next(1, _),
     thread_create(( next(2, _), pm_stop ), B, []), thread_join(B), next(3, _).
";
    let sandbox = with_pack(program);
    run(&sandbox, "t").succeeds();
    let profiled = whole(&sandbox, "a.pmt");
    assert_eq!(calls(&profiled, "next/2"), 2);
}

/// A thread is in the middle of its work when the recording ends, and when the next one begins.
#[test]
fn a_thread_that_outlives_recordings() {
    let program = "
t :- thread_self(Me),
     pm_start('a.pmt', []), thread_create(worker(Me), W, [alias(worker)]),
     handshake(W), pm_stop, handshake(W),
     pm_start('b.pmt', []), handshake(W), pm_stop,
     thread_send_message(W, stop), thread_join(W).
handshake(W) :- thread_send_message(W, go), thread_get_message(done).
worker(Me) :- num(_), serve(Me).
serve(Me) :- thread_get_message(M), ( M == stop -> true ; next(1, _), thread_send_message(Me, done), serve(Me) ).
";
    let sandbox = with_pack(program);
    run(&sandbox, "t").succeeds();
    for trace in ["a.pmt", "b.pmt"] {
        let profiled = whole(&sandbox, trace);
        assert_eq!(calls(&profiled, "next/2"), 1, "{trace}");
    }
}

/// All solutions of all wrapped predicates are the same after the recording as before.
#[test]
fn nothing_stays_wrapped() {
    let program = "
t :- findall(P, wrapped(P), Before), pm_record(one(_), [output('a.pmt')]), findall(P, wrapped(P), After),
     print(Before-After), nl.
wrapped(P) :- member(P, [num(_), one(_), next(_,_)]), predicate_property(P, wrapped(_)).
";
    let sandbox = with_pack(program);
    run(&sandbox, "t").succeeds().prints("[]-[]\n");
}

#[test]
fn a_bad_option_is_an_error() {
    let sandbox = with_pack("");
    run(
        &sandbox,
        "pm_record(true, [output('a.pmt'), max_size(lots)])",
    )
    .exits(2)
    .says("max_size: not a size: lots");
    run(&sandbox, "pm_record(true, [output('a.pmt'), max_size(10)])")
        .exits(2)
        .says("too small");
    assert!(!sandbox.path("a.pmt").exists());
}
