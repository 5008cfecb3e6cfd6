//! `portmortem attach`: a program that listens is recorded while it runs, and goes on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use portmortem_tests::patience::{ask_until, wait_until};
use portmortem_tests::sandbox::Running;
use portmortem_tests::{Outcome, Profiled, Sandbox, built};

use crate::library::{calls, whole, with_pack};

/// It waits for files that a test writes, and says when it has done what they ask for. Three
/// threads do so: in a loop of last calls, in one that fails back, and deep in calls that are still
/// open.
const SERVER: &str = "
:- initialization(main, main).
main :-
    pm_listen,
    thread_create(looping(1), A), thread_create(failing, B), thread_create(deep(1000), C),
    writeln(ready), flush_output,
    forall(member(T, [A,B,C]), thread_join(T, true)),
    writeln(bye).
looping(K) :- waits(a, K), job(a, K), following(K, K1), looping(K1).
looping(_).
failing :- between(1, inf, K), ( \\+ waits(b, K) ; job(b, K), fail ), !.
deep(0) :- findall(K, ( between(1, inf, K), ( \\+ waits(c, K), ! ; job(c, K), fail ) ), _).
deep(N) :- N > 0, M is N-1, deep(M), after.
after.
following(K, K1) :- K1 is K+1.
% Fails at the end.
waits(_, _) :- exists_file(end), !, fail.
waits(T, K) :- atomic_list_concat([T, K], F), exists_file(F), !.
waits(T, K) :- sleep(0.005), waits(T, K).
job(T, K) :- count(50), findall(N, below(N), _), format('~w~w~n', [T, K]), flush_output.
below(N) :- between(1, 3, N).
count(0) :- !.
count(N) :- odd(N), !, M is N-1, count(M).
count(N) :- M is N-1, count(M).
odd(N) :- N mod 2 =:= 1.
";

fn serve(sandbox: &Sandbox) -> Running {
    let server = start(sandbox, &[]);
    server.wait_for_output("ready");
    server
}

fn start(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Running {
    let mut run = sandbox.command(Path::new("swipl"));
    run.command.env_remove("XDG_RUNTIME_DIR");
    run.command.envs(variables.iter().copied());
    run.args(["program.pl"]).start()
}

/// Has the three threads do their work of that number.
fn work(sandbox: &Sandbox, server: &Running, number: u32) {
    for thread in ["a", "b", "c"] {
        sandbox.write(&format!("{thread}{number}"), "");
        server.wait_for_output(&format!("{thread}{number}\n"));
    }
}

fn attach(sandbox: &Sandbox, process: &Running, options: &[&str]) -> Running {
    let mut run = sandbox.command(built::portmortem());
    run.command.env_remove("XDG_RUNTIME_DIR");
    let pid = process.pid().to_string();
    run.args(["attach", &pid]).args(options).start()
}

/// One that records by now.
fn attached(sandbox: &Sandbox, process: &Running, options: &[&str]) -> Running {
    let attach = attach(sandbox, process, options);
    attach.wait_for_error("recording process");
    attach
}

fn interrupt(attach: Running) -> Outcome {
    attach.signal(libc::SIGINT);
    attach.wait()
}

fn end(sandbox: &Sandbox, server: Running) {
    sandbox.write("end", "");
    server.wait().succeeds().shows("bye\n");
}

/// What one job of each thread calls.
fn has_jobs(profiled: &Profiled, jobs: u64) {
    let of = |name| calls(profiled, name);
    assert_eq!(
        [of("job/2"), of("count/1"), of("odd/1")],
        [3 * jobs, 3 * 51 * jobs, 3 * 50 * jobs]
    );
    assert_eq!(profiled.row("odd/1").fails, 75 * jobs);
}

fn socket(sandbox: &Sandbox, process: &Running) -> PathBuf {
    // SAFETY: a system call that cannot fail.
    let user = unsafe { libc::geteuid() };
    let directory = sandbox.path(&format!("home/portmortem-{user}"));
    directory.join(format!("{}.sock", process.pid()))
}

/// Threads that run on before, in between and afterwards: each recording has what was done in it.
#[test]
fn each_recording_has_what_was_done_in_it() {
    let sandbox = with_pack(SERVER);
    let server = serve(&sandbox);
    work(&sandbox, &server, 1);
    for (trace, first, jobs) in [("x.pmt", 2, 1), ("y.pmt", 4, 2), ("z.pmt", 7, 3)] {
        let attach = attached(&sandbox, &server, &["-o", trace, "--include", "user:*"]);
        for number in first..first + jobs {
            work(&sandbox, &server, number);
        }
        interrupt(attach).exits(0).says("; now: portmortem advise");
        // It is in no recording.
        work(&sandbox, &server, first + jobs);
        let profiled = whole(&sandbox, trace);
        has_jobs(&profiled, jobs.into());
        let jobs = profiled.edge("job/2", "count/1").calls;
        assert_eq!(jobs, calls(&profiled, "job/2"), "{trace}");
    }
    end(&sandbox, server);
}

/// The goals of clauses that ran in an earlier recording are named in a later one, too.
#[test]
fn a_later_recording_names_sites() {
    let sandbox = with_pack(SERVER);
    let server = serve(&sandbox);
    let mut reports = Vec::new();
    for (trace, number) in [("x.pmt", 1), ("y.pmt", 2)] {
        let attach = attached(&sandbox, &server, &["-o", trace, "--clauses"]);
        work(&sandbox, &server, number);
        interrupt(attach).exits(0);
        has_jobs(&whole(&sandbox, trace), 1);
        let arguments = [
            "query",
            trace,
            "select line, goal, callee, calls from sites where caller in ('count/1', 'job/2') and line > 0 order by line, goal",
        ];
        let sites = sandbox.portmortem(arguments);
        sites.exits(0);
        reports.push(sites.out());
    }
    assert_eq!(reports[0], reports[1]);
    assert!(reports[0].lines().count() > 3, "{}", reports[0]);
    end(&sandbox, server);
}

/// Recordings that follow on each other at once leave no thread and no file behind.
#[test]
fn recordings_leave_nothing_behind() {
    let sandbox = with_pack(SERVER);
    let server = serve(&sandbox);
    let directory = PathBuf::from(format!("/proc/{}", server.pid()));
    let sockets = || {
        let files = fs::read_dir(directory.join("fd")).unwrap().flatten();
        let targets = files.filter_map(|file| fs::read_link(file.path()).ok());
        targets
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count()
    };
    let left = || {
        // The command may end before the program has closed its end of the connection.
        wait_until("only the listening socket is open", || sockets() == 1);
        let count = |name| fs::read_dir(directory.join(name)).unwrap().count();
        (count("fd"), count("task"))
    };
    let record = || {
        let attach = attached(&sandbox, &server, &["-o", "x.pmt"]);
        interrupt(attach).exits(0);
    };
    record();
    let before = left();
    for _ in 0..20 {
        record();
    }
    assert_eq!(left(), before);
    work(&sandbox, &server, 1);
    end(&sandbox, server);
}

/// The program ends the recording when the one who asked for it is gone.
#[test]
fn the_attacher_is_killed() {
    let sandbox = with_pack(SERVER);
    let server = serve(&sandbox);
    let attach = attached(&sandbox, &server, &["-o", "x.pmt"]);
    work(&sandbox, &server, 1);
    attach.signal(libc::SIGKILL);
    let _ = attach.wait();
    ask_until(|| {
        let verified = sandbox.portmortem(["verify", "x.pmt"]);
        let is_closed = verified.status == portmortem_tests::Status::Exit(0);
        is_closed.then_some(()).ok_or_else(|| verified.out())
    });
    has_jobs(&whole(&sandbox, "x.pmt"), 1);
    work(&sandbox, &server, 2);
    let attach = attached(&sandbox, &server, &["-o", "y.pmt"]);
    work(&sandbox, &server, 3);
    interrupt(attach).exits(0);
    has_jobs(&whole(&sandbox, "y.pmt"), 1);
    end(&sandbox, server);
}

#[test]
fn the_program_ends_while_it_is_recorded() {
    let sandbox = with_pack(SERVER);
    let server = serve(&sandbox);
    let socket = socket(&sandbox, &server);
    assert!(socket.exists());
    let attach = attached(&sandbox, &server, &["-o", "x.pmt"]);
    work(&sandbox, &server, 1);
    end(&sandbox, server);
    attach
        .wait()
        .exits(0)
        .says("has ended, and the recording with it");
    has_jobs(&whole(&sandbox, "x.pmt"), 1);
    assert!(!socket.exists(), "it is removed at the end");
}

/// What was recorded can be read; its socket is removed by the next program that listens.
#[test]
fn the_program_is_killed_while_it_is_recorded() {
    let sandbox = with_pack(SERVER);
    let server = serve(&sandbox);
    let left = socket(&sandbox, &server);
    let attach = attached(&sandbox, &server, &["-o", "x.pmt"]);
    work(&sandbox, &server, 1);
    server.signal(libc::SIGKILL);
    let _ = server.wait();
    attach
        .wait()
        .exits(3)
        .says("has ended, and the recording with it");
    has_jobs(&Profiled::of(&sandbox.path("x.pmt")), 1);
    assert!(left.exists());
    let server = serve(&sandbox);
    wait_until("the socket is removed", || !left.exists());
    end(&sandbox, server);
}

/// A child of `fork/1` keeps neither the socket nor the connection.
#[test]
fn a_child_of_a_fork_has_no_part_in_it() {
    let program = "
:- initialization(main, main).
main :- pm_listen, writeln(ready), flush_output, waits(go), fork(P), goes_on(P).
goes_on(child) :- !, waits(end).
goes_on(_) :- writeln(forked), flush_output, waits(over).
waits(F) :- exists_file(F), !.
waits(F) :- sleep(0.005), waits(F).
";
    let sandbox = with_pack(program);
    let server = start(&sandbox, &[]);
    server.wait_for_output("ready");
    let attach = attached(&sandbox, &server, &["-o", "x.pmt"]);
    sandbox.write("go", "");
    server.wait_for_output("forked");
    sandbox.write("over", "");
    server.wait().succeeds();
    // The child still runs.
    attach.wait().exits(0).says("has ended");
    sandbox.write("end", "");
    whole(&sandbox, "x.pmt");
}

#[test]
fn only_its_user_can_enter() {
    let sandbox = with_pack(SERVER);
    let server = serve(&sandbox);
    let socket = socket(&sandbox, &server);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    end(&sandbox, server);
}

/// A directory that others can enter is not used.
#[test]
fn a_directory_that_others_can_enter() {
    let sandbox = with_pack(
        "
:- initialization(main, main).
main :- pm_listen, writeln(listening), halt.
",
    );
    let run = sandbox.path("run");
    fs::create_dir_all(run.join("portmortem")).unwrap();
    fs::set_permissions(run.join("portmortem"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = run.to_str().unwrap();
    let (server, sockets) = (
        start(&sandbox, &[("XDG_RUNTIME_DIR", run)]),
        "run/portmortem",
    );
    server.wait().succeeds().prints("listening\n");
    assert_eq!(fs::read_dir(sandbox.path(sockets)).unwrap().count(), 0);
}

#[test]
fn errors_say_what_to_do() {
    let sandbox = with_pack(SERVER);
    let server = serve(&sandbox);
    sandbox
        .portmortem(["attach", "4194305"])
        .exits(1)
        .says("there is no process 4194305");
    sandbox.portmortem(["attach", "0"]).exits(2);
    sandbox.portmortem(["attach", "1x"]).exits(2);
    let deaf = sandbox.command(Path::new("sleep")).args(["1000"]).start();
    attach(&sandbox, &deaf, &[])
        .wait()
        .exits(1)
        .says("does not listen: have the program load library(portmortem)");
    deaf.signal(libc::SIGKILL);
    let _ = deaf.wait();
    sandbox.write("there.pmt", "something else");
    attach(&sandbox, &server, &["-o", "there.pmt"])
        .wait()
        .exits(1)
        .says("exists; replace it with --force");
    attach(&sandbox, &server, &["-o", "no/where.pmt"])
        .wait()
        .exits(1)
        .says("is not recorded: cannot create");
    attach(&sandbox, &server, &["--for", "soon"])
        .wait()
        .exits(2)
        .says("not a time");
    let first = attached(&sandbox, &server, &["-o", "x.pmt"]);
    attach(&sandbox, &server, &["-o", "y.pmt"])
        .wait()
        .exits(1)
        .says("another `portmortem attach`");
    attach(&sandbox, &server, &["-o", "x.pmt"])
        .wait()
        .exits(1)
        .says("another recording still writes");
    assert!(!sandbox.path("y.pmt").exists());
    work(&sandbox, &server, 1);
    interrupt(first).exits(0);
    has_jobs(&whole(&sandbox, "x.pmt"), 1);
    end(&sandbox, server);
}

/// A recording of the program's own is not disturbed, and one that the program ends is over.
#[test]
fn the_program_records_itself() {
    let program = "
:- initialization(main, main).
main :- pm_listen, pm_start('own.pmt', []), writeln(ready), flush_output,
    waits(stop), pm_stop, writeln(stopped), flush_output,
    waits(again), pm_stop, pm_start('other.pmt', []), writeln(other), flush_output, waits(end), pm_stop.
waits(F) :- exists_file(F), !.
waits(F) :- sleep(0.005), waits(F).
";
    let sandbox = with_pack(program);
    let server = start(&sandbox, &[]);
    server.wait_for_output("ready");
    attach(&sandbox, &server, &["-o", "x.pmt"])
        .wait()
        .exits(1)
        .says("is being recorded already");
    sandbox.write("stop", "");
    server.wait_for_output("stopped");
    let attach = attached(&sandbox, &server, &["-o", "x.pmt"]);
    sandbox.write("again", "");
    server.wait_for_output("other");
    attach
        .wait()
        .exits(0)
        .says("the program has ended the recording");
    sandbox.write("end", "");
    server.wait().succeeds();
    for trace in ["own.pmt", "x.pmt", "other.pmt"] {
        whole(&sandbox, trace);
    }
}

/// The program is what it is without: its threads, its output, its status. The engine may start its
/// thread `gc` at any time.
#[test]
fn listening_changes_nothing() {
    let program = "
:- initialization(main, main).
main :- ( getenv(listens, yes) -> pm_listen, pm_listen ; true ),
    findall(T, (thread_property(T, status(_)), \\+ thread_property(T, alias(gc))), Ts), length(Ts, N),
    thread_create(true, T), thread_join(T, true), thread_self(Me), print(N-Me), nl, halt(7).
";
    let sandbox = with_pack(program);
    let run = |variables: &[(&str, &str)]| {
        let outcome = start(&sandbox, variables).wait();
        outcome.exits(7);
        (outcome.out(), outcome.err())
    };
    let plain = run(&[]);
    assert_eq!(run(&[("listens", "yes")]), plain);
    assert_eq!(run(&[("PORTMORTEM_LISTEN", "1")]), plain);
}
