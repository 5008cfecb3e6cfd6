//! Whatever signal is sent to `portmortem record` has the effect that it has on the engine, once, and nothing outlives it.

use std::fs;
use std::path::Path;

use portmortem_analyzer::Trace;
use portmortem_tests::patience::wait_until;
use portmortem_tests::sandbox::{Run, Running};
use portmortem_tests::terminal::Terminal;
use portmortem_tests::{Outcome, Sandbox, Status, built};

/// Works until a file `stop` exists, without garbage: the engine may not survive a signal during a collection. An argument is the name of a signal to be handled.
const BUSY: &str = "
:- initialization(main, main).
main :-
    current_prolog_flag(argv, Argv),
    forall(member(Signal, Argv), on_signal(Signal, _, got)),
    writeln(running), flush_output,
    catch(wait, error(signal(Signal, _), _), true),
    (   var(Signal) -> writeln(done), halt(5) ; writeln(caught(Signal)), halt(3) ).
got(Signal) :- writeln(got(Signal)), flush_output.
wait :- numlist(1, 30, L), rounds(200, L), ( exists_file(stop) -> true ; wait ).
rounds(0, _) :- !.
rounds(N, L) :- \\+ \\+ reversed(L, _), N1 is N-1, rounds(N1, L).
reversed([], []).
reversed([H|T], R) :- reversed(T, R0), appended(R0, [H], R).
appended([], L, L).
appended([H|T], L, [H|R]) :- appended(T, L, R).
";

/// Sends itself the signal of a number, and works on.
const FATAL: &str = "
:- initialization(main, main).
main :- current_prolog_flag(argv, [Goal, Signal]), call(Goal, Signal), work.
inside(Signal) :- send(Signal), work.
thread(Signal) :- thread_create(send(Signal), Id), thread_join(Id, _), work.
send(Signal) :-
    current_prolog_flag(pid, Pid),
    format(string(Command), \"kill -~w ~w\", [Signal, Pid]),
    shell(Command).
work :- step(_), work.
step(1).
";

/// The program as the engine runs it, and recorded.
fn both<'s>(sandbox: &'s Sandbox, arguments: &'s [&str]) -> impl Iterator<Item = Run> + 's {
    sandbox.write("busy.pl", BUSY);
    let words: [(&Path, &[&str]); 2] = [
        (Path::new("swipl"), &["busy.pl", "--"]),
        (
            built::portmortem(),
            &["record", "--force", "-o", "run.pmt", "busy.pl", "--"],
        ),
    ];
    words
        .into_iter()
        .map(move |(program, words)| sandbox.command(program).args(words).args(arguments))
}

/// Starts the program, and lets it work for a while.
fn at_work(sandbox: &Sandbox, run: Run) -> Running {
    let _ = fs::remove_file(sandbox.path("stop"));
    let running = run.start();
    running.wait_for_output("running");
    let before = processor_time(running.pid());
    // Not in the predicate that prints: the engine reports a signal at another place then.
    wait_until("it works", || processor_time(running.pid()) >= before + 5);
    running
}

/// In hundredths of a second, as far as the process still is one.
fn processor_time(process: i32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let time = fields.split(' ').nth(11);
    time.map_or(u64::MAX / 2, |time| time.parse().unwrap())
}

fn lets_go(sandbox: &Sandbox) {
    sandbox.write("stop", "");
}

/// The same output and the same end.
fn same(outcomes: &[Outcome]) {
    let [plain, recorded] = outcomes else {
        panic!("two outcomes are compared");
    };
    recorded.is_sound();
    assert!(
        plain.status == recorded.status && plain.out() == recorded.out(),
        "{plain}\n{recorded}"
    );
}

/// Sends a signal for which the program has no handler; `send` to whatever it is for.
fn has_the_same_effect(signal: i32, send: impl Fn(&Running, i32)) {
    let sandbox = Sandbox::new();
    let outcomes = both(&sandbox, &[]).map(|run| {
        let running = at_work(&sandbox, run);
        send(&running, signal);
        lets_go(&sandbox);
        running.wait()
    });
    same(&outcomes.collect::<Vec<_>>());
    leaves_nothing(&sandbox);
}

/// No process works in the sandbox any more, and there are no temporary files.
fn leaves_nothing(sandbox: &Sandbox) {
    let directory = fs::canonicalize(sandbox.directory()).unwrap();
    wait_until("all processes are gone", || {
        let processes = fs::read_dir("/proc").unwrap();
        let mut places = processes.map(|entry| fs::read_link(entry.unwrap().path().join("cwd")));
        !places.any(|place| place.is_ok_and(|place| place == directory))
    });
    let left = fs::read_dir(sandbox.path("home")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "temporary files stay: {left:?}");
}

/// One test for each signal that neither stops the process nor makes the engine throw. It throws in the middle of whatever it
/// does: 9.0.4 then goes on, ends, or fails an assertion, recorded or not. So these have handlers in the test below.
macro_rules! each_signal {
    ($($name:ident $signal:expr;)*) => {$(
        #[test]
        fn $name() {
            has_the_same_effect($signal, Running::signal);
        }
    )*};
}

each_signal! {
    hang_up libc::SIGHUP;
    interrupt libc::SIGINT;
    quit libc::SIGQUIT;
    trap libc::SIGTRAP;
    abort libc::SIGABRT;
    kill libc::SIGKILL;
    user_1 libc::SIGUSR1;
    user_2 libc::SIGUSR2;
    pipe libc::SIGPIPE;
    terminate libc::SIGTERM;
    stack_fault libc::SIGSTKFLT;
    child libc::SIGCHLD;
    go_on libc::SIGCONT;
    urgent libc::SIGURG;
    profiling libc::SIGPROF;
    window libc::SIGWINCH;
    input_output libc::SIGIO;
    power libc::SIGPWR;
    first_real_time libc::SIGRTMIN();
    last_real_time libc::SIGRTMAX();
}

/// The engine prints its stacks, runs its exit hooks and sends the signal again. By chance another
/// thread of it takes that, or it exits with status 4; or the stacks cannot be read, and it dies
/// of that: by a defect or an assertion, or after ten seconds by the alarm that it has set for
/// this case. Some were sent while the recorder held a lock.
#[test]
fn signals_of_defects() {
    for signal in [libc::SIGILL, libc::SIGBUS, libc::SIGSEGV, libc::SIGSYS] {
        let sandbox = Sandbox::new();
        for run in both(&sandbox, &[]) {
            let running = at_work(&sandbox, run);
            running.signal(signal);
            let outcome = running.wait();
            let ends = [signal, libc::SIGSEGV, libc::SIGABRT, libc::SIGALRM];
            let ended = outcome.status == Status::Exit(4)
                || ends.map(Status::Signal).contains(&outcome.status);
            outcome
                .prints("running\n")
                .demand(ended, "the end of a defect");
        }
        leaves_nothing(&sandbox);
    }
}

/// The program sends itself a signal that kills: in a predicate, and in another thread.
#[test]
fn fatal_signals_from_within() {
    for signal in [libc::SIGABRT, libc::SIGTRAP, libc::SIGQUIT, libc::SIGKILL] {
        for goal in ["inside", "thread"] {
            let sandbox = Sandbox::with("fatal.pl", FATAL);
            let arguments = [goal, &signal.to_string()];
            let plain = sandbox.swipl([&["fatal.pl", "--"], &arguments[..]].concat());
            let record = [
                "record",
                "-o",
                "run.pmt",
                "--max-size",
                "50M",
                "fatal.pl",
                "--",
            ];
            let recorded = sandbox.portmortem([&record[..], &arguments[..]].concat());
            assert_eq!(plain.status, Status::Signal(signal), "{plain}");
            same(&[plain, recorded]);
            Trace::open(&sandbox.path("run.pmt")).unwrap();
        }
    }
}

/// As a terminal or a shell does it.
#[test]
fn to_the_whole_group() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGUSR1, libc::SIGKILL] {
        has_the_same_effect(signal, Running::signal_group);
    }
}

/// Each signal arrives once, whether it was sent to the process or to its group.
#[test]
fn a_handler_of_the_program_runs_once() {
    for (name, signal) in [
        ("hup", libc::SIGHUP),
        ("int", libc::SIGINT),
        ("quit", libc::SIGQUIT),
        ("usr1", libc::SIGUSR1),
        ("usr2", libc::SIGUSR2),
        ("alrm", libc::SIGALRM),
        ("term", libc::SIGTERM),
        ("chld", libc::SIGCHLD),
        ("urg", libc::SIGURG),
        ("xcpu", libc::SIGXCPU),
        ("xfsz", libc::SIGXFSZ),
        ("vtalrm", libc::SIGVTALRM),
        ("prof", libc::SIGPROF),
        ("io", libc::SIGIO),
    ] {
        let arguments = &[name];
        for send in [Running::signal, Running::signal_group] {
            let sandbox = Sandbox::new();
            let outcomes = both(&sandbox, arguments).map(|run| {
                let running = at_work(&sandbox, run);
                send(&running, signal);
                running.wait_for_output("got(");
                lets_go(&sandbox);
                running.wait()
            });
            let outcomes: Vec<_> = outcomes.collect();
            same(&outcomes);
            outcomes[1].exits(5);
            outcomes[1].prints(&format!("running\ngot({name})\ndone\n"));
            sandbox.portmortem(["verify", "run.pmt"]).exits(0);
        }
    }
}

/// The system gives a signal to another thread if main holds it back. The thread in which the
/// engine collects atoms takes this one and never handles it. Small blocks: the recorder often
/// takes a lock.
#[test]
fn no_signal_is_given_to_another_thread() {
    let sandbox = Sandbox::with("busy.pl", BUSY);
    let options = ["--max-size", "64K", "--keep", "last"];
    let run = sandbox.command(built::portmortem());
    let run = run.args(["record", "-o", "run.pmt"]).args(options);
    let running = at_work(&sandbox, run.args(["busy.pl", "--", "prof"]));
    let mut told = "running\n".to_owned();
    for _ in 0..300 {
        running.signal(libc::SIGPROF);
        told.push_str("got(prof)\n");
        running.wait_for_output(&told);
    }
    lets_go(&sandbox);
    running.wait().exits(5).prints(&format!("{told}done\n"));
}

/// So there is nothing that a signal could miss, or leave behind.
#[test]
fn the_process_is_the_engine() {
    let sandbox = Sandbox::new();
    let facts = both(&sandbox, &[]).map(|run| {
        let running = at_work(&sandbox, run);
        let of = format!("/proc/{}", running.pid());
        let program = fs::read_link(format!("{of}/exe")).unwrap();
        let children = fs::read_to_string(format!("{of}/task/{}/children", running.pid())).unwrap();
        assert_eq!(children.trim(), "");
        let status = fs::read_to_string(format!("{of}/status")).unwrap();
        let parent = format!("PPid:\t{}\n", std::process::id());
        assert!(status.contains(&parent), "{status}");
        // As the engine set them up; SIGBUS is caught in both. Two are the C library's, once there are threads.
        let of_the_library = 3 << 31;
        let lines = status.lines().filter_map(|line| line.split_once(":\t"));
        let masks = lines.filter(|(name, _)| ["SigBlk", "SigIgn", "SigCgt"].contains(name));
        let masks = masks.map(|(_, mask)| u64::from_str_radix(mask, 16).unwrap());
        let masks: Vec<u64> = masks.map(|mask| mask & !of_the_library).collect();
        lets_go(&sandbox);
        running.wait().exits(5);
        (program, masks)
    });
    let facts: Vec<_> = facts.collect();
    assert_eq!(facts[0], facts[1]);
}

/// Waits until a child has stopped (or goes on again), without waiting for its end.
fn wait_for_state(running: &Running, state: libc::c_int) {
    wait_until("it has stopped or goes on", || {
        // SAFETY: zeros are a valid place for the answer, which is asked about our own child.
        unsafe {
            let mut answer: libc::siginfo_t = std::mem::zeroed();
            let id = running.pid() as libc::id_t;
            let asked = libc::waitid(libc::P_PID, id, &raw mut answer, state | libc::WNOHANG);
            assert_eq!(asked, 0);
            answer.si_signo == libc::SIGCHLD
        }
    });
}

#[test]
fn stopping_and_going_on() {
    for stop in [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU] {
        let sandbox = Sandbox::new();
        let outcomes = both(&sandbox, &[]).map(|run| {
            let running = at_work(&sandbox, run);
            running.signal(stop);
            wait_for_state(&running, libc::WSTOPPED);
            running.signal(libc::SIGCONT);
            wait_for_state(&running, libc::WCONTINUED);
            lets_go(&sandbox);
            running.wait()
        });
        let outcomes: Vec<_> = outcomes.collect();
        same(&outcomes);
        outcomes[1].exits(5);
    }
}

/// An interactive shell, the leader of its session, with the program in a pipeline: Ctrl-Z, `fg`, and the status.
#[test]
fn under_a_shell_with_job_control() {
    let sandbox = Sandbox::new();
    for run in both(&sandbox, &[]) {
        let words = [run.command.get_program()]
            .into_iter()
            .chain(run.command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let _ = fs::remove_file(sandbox.path("stop"));
        let mut shell = sandbox
            .command(Path::new("bash"))
            .args(["--norc", "-i", "-o", "pipefail"]);
        shell.command.env("PS1", "ready> ");
        let mut terminal = Terminal::start(shell);
        terminal.waits_for("ready> ");
        terminal.types(format!("{} | cat\n", words.join(" ")).as_bytes());
        terminal.waits_for("running");
        terminal.types(b"\x1a");
        terminal.waits_for("Stopped");
        lets_go(&sandbox);
        terminal.types(b"fg\n");
        terminal.waits_for("done");
        terminal.types(b"echo status $?\n");
        terminal.waits_for("status 5");
        terminal.types(b"exit\n");
        let (status, screen) = terminal.ends();
        assert_eq!(status, Status::Exit(0), "{screen}");
    }
}

/// Signals that were ignored before stay so, as after `nohup`.
#[test]
fn ignored_signals_stay_ignored() {
    let sandbox = Sandbox::new();
    let outcomes = both(&sandbox, &[]).map(|run| {
        let words = [run.command.get_program()]
            .into_iter()
            .chain(run.command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let script = format!("trap '' USR1 PROF; exec {}", words.join(" "));
        let shell = sandbox.command(Path::new("sh")).args(["-c", &script]);
        let running = at_work(&sandbox, shell);
        running.signal(libc::SIGUSR1);
        running.signal(libc::SIGPROF);
        lets_go(&sandbox);
        running.wait()
    });
    same(&outcomes.collect::<Vec<_>>());
}

/// What follows the program's end can be interrupted like the program itself, and then ends with it.
#[test]
fn the_further_runs_of_a_baseline_end_with_the_process() {
    // Endless from the second time on.
    let program = "
:- initialization(main, main).
main :- exists_file(again), !, open(third, write, S), close(S), spin.
main :- open(again, write, S), close(S), numbers(1000).
numbers(0) :- !.
numbers(N) :- N1 is N-1, numbers(N1).
spin :- spin.
";
    let sandbox = Sandbox::with("twice.pl", program);
    let arguments = ["record", "--baseline", "twice.pl"];
    let running = sandbox.command(built::portmortem()).args(arguments).start();
    wait_until("it runs again", || sandbox.path("third").exists());
    running.signal(libc::SIGTERM);
    let outcome = running.wait();
    outcome.demand(outcome.status == Status::Signal(libc::SIGTERM), "its end");
    leaves_nothing(&sandbox);
    sandbox.portmortem(["report", "twice.pmt"]).exits(0);
}
