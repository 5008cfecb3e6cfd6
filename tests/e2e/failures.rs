//! What can go wrong around a recording: each does what a user expects, and none leaves a broken trace.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;
use std::time::Duration;

use portmortem_tests::terminal::Terminal;
use portmortem_tests::{Outcome, Profiled, Sandbox, Status, built, trap};

const HELLO: &str = "
:- initialization(main, main).
main :- p(X), X > 1, !, format('hello ~w~n', [X]).
p(1). p(2).
";

fn record(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    sandbox.portmortem(["record"].iter().chain(arguments))
}

/// Verified: whole, but for what the caller expects.
fn whole(sandbox: &Sandbox, trace: &str) -> Profiled {
    sandbox.portmortem(["verify", trace]).exits(0);
    Profiled::of(&sandbox.path(trace))
}

#[test]
fn a_program_that_is_not_there() {
    let sandbox = Sandbox::new();
    record(&sandbox, &["nothing.pl"]).refuses("nothing.pl: no such Prolog file");
    record(&sandbox, &["."]).refuses("no such Prolog file");
    assert!(!sandbox.path("nothing.pmt").exists());
}

#[test]
fn no_swipl() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    record(&sandbox, &["--swipl", "/no/such/swipl", "hello.pl"]).refuses("--swipl");
    let mut run = sandbox
        .command(built::portmortem())
        .args(["record", "hello.pl"]);
    run.command.env("PATH", "/nowhere");
    run.wait()
        .refuses("no SWI-Prolog: `swipl` was not found; install it");
    let not_executable = sandbox.write("data", "");
    fs::set_permissions(&not_executable, fs::Permissions::from_mode(0o644)).unwrap();
    record(&sandbox, &["--swipl", "./data", "hello.pl"]).refuses("cannot run ./data");
    assert!(!sandbox.path("hello.pmt").exists());
}

#[test]
fn a_path_that_cannot_be_written() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    sandbox.write("file", "");
    for (path, why) in [
        ("no/such/directory/x.pmt", "No such file or directory"),
        ("file/x.pmt", "Not a directory"),
        ("/proc/x.pmt", "cannot create /proc/x.pmt"),
    ] {
        // The program does not run: nobody wants an hour of work that is not recorded.
        record(&sandbox, &["-o", path, "hello.pl"]).refuses(why);
    }
    record(&sandbox, &["--force", "-o", ".", "hello.pl"]).refuses("not a regular file");
    record(&sandbox, &["--force", "-o", "/dev/full", "hello.pl"]).refuses("not a regular file");
}

#[test]
fn an_existing_file_is_kept_unless_told_otherwise() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    sandbox.write("hello.pmt", "precious");
    record(&sandbox, &["hello.pl"]).refuses("--force");
    assert_eq!(fs::read(sandbox.path("hello.pmt")).unwrap(), b"precious");
    record(&sandbox, &["--force", "hello.pl"])
        .succeeds()
        .prints("hello 2\n");
    assert_eq!(whole(&sandbox, "hello.pmt").row("p/1").redos, 1);
}

/// Whatever the program is called there, and whatever is asked for.
#[test]
fn the_program_itself_is_never_replaced() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    sandbox
        .sh("ln -s hello.pl link.pl; ln hello.pl other.pl; mkdir sub; ln -s .. sub/up; cp hello.pl x.pmt")
        .exits(0);
    let before = fs::read_dir(sandbox.directory()).unwrap().count();
    for (output, program) in [
        ("hello.pl", "hello.pl"),
        ("./sub/../hello.pl", "hello.pl"),
        ("sub/up/hello.pl", "hello.pl"),
        ("link.pl", "hello.pl"),
        ("hello.pl", "link.pl"),
        ("other.pl", "hello.pl"),
        ("x.pmt", "x.pmt"),
    ] {
        for force in [&[][..], &["--force"]] {
            let arguments = [force, &["-o", output, program]].concat();
            record(&sandbox, &arguments)
                .refuses(" is the program itself; name another file with -o");
        }
    }
    record(&sandbox, &["--force", "x.pmt"]).refuses("x.pmt is the program itself");
    assert_eq!(fs::read_to_string(sandbox.path("hello.pl")).unwrap(), HELLO);
    assert_eq!(fs::read_to_string(sandbox.path("x.pmt")).unwrap(), HELLO);
    assert_eq!(fs::read_dir(sandbox.directory()).unwrap().count(), before);
    record(&sandbox, &["-o", "sub/hello.pl", "hello.pl"]).succeeds();
}

/// Whoever records again wants the new trace. The old one stays until there is one.
#[test]
fn an_older_trace_is_replaced_when_the_recording_begins() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    record(&sandbox, &["hello.pl"]).succeeds();
    let old = fs::read(sandbox.path("hello.pmt")).unwrap();
    record(&sandbox, &["-o", "hello.pmt", "nothing.pl"]).refuses("no such Prolog file");
    record(&sandbox, &["--swipl", "/no/such/swipl", "hello.pl"]).refuses("--swipl");
    record(&sandbox, &["--max-size", "1K", "hello.pl"]).refuses("too small");
    assert_eq!(fs::read(sandbox.path("hello.pmt")).unwrap(), old);
    sandbox.write("hello.pl", HELLO.replace("p(2)", "p(2). p(3)"));
    record(&sandbox, &["-g", "(p(X), X > 2)", "hello.pl"]).succeeds();
    assert_eq!(whole(&sandbox, "hello.pmt").row("p/1").redos, 3);
    // One that was cut off is a trace as well, but not if it is as short as that.
    fs::write(sandbox.path("hello.pmt"), &old[..16]).unwrap();
    record(&sandbox, &["hello.pl"]).succeeds();
    fs::write(sandbox.path("hello.pmt"), &old[..7]).unwrap();
    record(&sandbox, &["hello.pl"]).refuses("--force");
    assert_eq!(fs::read(sandbox.path("hello.pmt")).unwrap(), old[..7]);
}

/// A slip in a pattern leaves an empty trace: it is said, and the exit status stays that of the program.
#[test]
fn an_include_that_matches_nothing() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    let options = [
        "--include",
        "p/1",
        "--include",
        "q/1",
        "-g",
        "p(_), halt(7)",
        "hello.pl",
    ];
    let outcome = record(&sandbox, &options);
    outcome
        .exits(7)
        .says("--include q/1: no predicate that matches was called");
    assert!(!outcome.err().contains("--include p/1"), "{outcome:?}");
    let outcome = record(&sandbox, &["--include", "p", "hello.pl"]);
    outcome.succeeds().prints("hello 2\n");
    assert!(!outcome.err().contains("--include"), "{outcome:?}");
}

/// Somebody made the link to have the trace elsewhere.
#[test]
fn a_link_is_written_through() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    sandbox.write("elsewhere.pmt", "old");
    symlink("elsewhere.pmt", sandbox.path("hello.pmt")).unwrap();
    record(&sandbox, &["hello.pl"]).refuses("--force");
    assert_eq!(fs::read(sandbox.path("elsewhere.pmt")).unwrap(), b"old");
    record(&sandbox, &["--force", "hello.pl"]).succeeds();
    assert!(sandbox.path("hello.pmt").is_symlink());
    whole(&sandbox, "elsewhere.pmt");
    // One that leads nowhere.
    fs::remove_file(sandbox.path("elsewhere.pmt")).unwrap();
    record(&sandbox, &["--force", "hello.pl"]).refuses("hello.pmt");
    assert!(sandbox.path("hello.pmt").is_symlink());
}

#[test]
fn usage_errors() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    for arguments in [
        &["record"][..],
        &["record", "--no-such-option", "hello.pl"],
        &["record", "--all", "hello.pl"],
        &["record", "--keep", "last", "hello.pl"],
        &["record", "--max-size", "much", "hello.pl"],
        &["report"],
        &["report", "x.pmt", "--sort", "colour"],
        &["report", "x.pmt", "--top", "-1"],
        &["report", "x.pmt", "--format", "xml"],
        &["export", "x.pmt"],
        &["export", "x.pmt", "--to", "y", "--tables", "chairs"],
        &["completions", "cmd.exe"],
        &["frobnicate"],
        &[],
    ] {
        let outcome = sandbox.portmortem(arguments);
        outcome
            .exits(2)
            .demand(outcome.stdout.is_empty(), "nothing on standard output");
    }
    assert!(!sandbox.path("hello.pmt").exists());
}

#[test]
fn a_limit_that_is_too_small() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    record(&sandbox, &["--max-size", "1K", "hello.pl"]).refuses("too small");
}

/// A file system of its own, in a name space that ends with the test.
fn on_small_disk(sandbox: &Sandbox, kilobytes: u32, script: &str) -> Outcome {
    fs::create_dir(sandbox.path("disk")).unwrap();
    let mount = format!("mount -t tmpfs -o size={kilobytes}k tmpfs disk");
    sandbox.run(
        Path::new("unshare"),
        [
            "--mount",
            "sh",
            "-c",
            &format!("{mount} || exit 99; {script}"),
        ],
    )
}

#[test]
fn a_disk_that_fills_up() {
    let sandbox = Sandbox::new();
    let program = trap("loop.pl");
    let outcome = on_small_disk(
        &sandbox,
        600,
        &format!(
            "$portmortem record -o disk/run.pmt {} -- 1000000; echo status $?; cp disk/run.pmt .",
            program.display()
        ),
    );
    if outcome.status == Status::Exit(99) {
        return; // Mounting is not allowed here; the limit below shows the same.
    }
    // The program does not notice; the user is told.
    outcome
        .exits(0)
        .prints("1000000\nstatus 0\n")
        .says("portmortem: recording stopped: No space left on device");
    beginning_of_the_loop(&sandbox);
}

#[test]
fn a_limit_on_the_size_of_files() {
    let sandbox = Sandbox::new();
    let script = format!(
        "ulimit -f 1000; $portmortem record -o run.pmt {} -- 1000000",
        trap("loop.pl").display()
    );
    sandbox
        .sh(&script)
        .exits(0)
        .prints("1000000\n")
        .says("portmortem: recording stopped: File too large");
    beginning_of_the_loop(&sandbox);
}

/// What fitted is there. That something is missing is said; how much is not known, because the program ran unrecorded
/// from there on.
fn beginning_of_the_loop(sandbox: &Sandbox) {
    sandbox
        .portmortem(["report", "run.pmt"])
        .exits(3)
        .shows(" lost; figures of what ran meanwhile are missing")
        .shows("recording stopped")
        .shows("exit status 0");
    let profiled = Profiled::of(&sandbox.path("run.pmt"));
    assert!(profiled.profile.lost_events() > 0);
    assert!(profiled.row("loop/3").tail_calls > 50_000);
}

#[test]
fn a_disk_that_is_full_already() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    let outcome = on_small_disk(
        &sandbox,
        64,
        "dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null; $portmortem record -o disk/run.pmt hello.pl; \
         echo status $?; ls disk",
    );
    if outcome.status == Status::Exit(99) {
        return;
    }
    outcome
        .prints("status 1\nfill\n")
        .says("error: cannot write")
        .says("No space left on device");
}

#[test]
fn export_to_a_full_disk() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    record(&sandbox, &["hello.pl"]).succeeds();
    let outcome = on_small_disk(
        &sandbox,
        64,
        "dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null; $portmortem export hello.pmt --to disk; \
         echo status $?; ls disk",
    );
    if outcome.status != Status::Exit(99) {
        outcome
            .prints("status 1\nfill\n")
            .says("No space left on device");
    }
    if Path::new("/dev/full").exists() {
        sandbox
            .sh("$portmortem report hello.pmt > /dev/full")
            .refuses("No space left on device");
    }
}

#[test]
fn a_file_with_a_syntax_error() {
    let sandbox = Sandbox::with(
        "broken.pl",
        ":- initialization(main, main).\nmain :- p(X), writeln(X).\np(1 :- .\np(2).\n",
    );
    let outcome = record(&sandbox, &["broken.pl"]);
    outcome
        .exits(0)
        .prints("2\n")
        .says("broken.pl:3:")
        .says("Syntax error");
    assert_eq!(whole(&sandbox, "broken.pmt").row("p/1").calls, 1);
    let outcome = record(&sandbox, &["--force", "-g", "p(", "broken.pl"]);
    outcome.exits(2).says("Syntax error");
    whole(&sandbox, "broken.pmt");
}

#[test]
fn a_goal_that_throws() {
    let sandbox = Sandbox::with("p.pl", "p :- q, true.\nq :- throw(oops).\n");
    let outcome = record(&sandbox, &["-g", "p", "p.pl"]);
    outcome.exits(2).says("oops");
    let profiled = whole(&sandbox, "p.pmt");
    assert_eq!(
        (
            profiled.row("p/0").exceptions,
            profiled.row("q/0").exceptions
        ),
        (1, 1)
    );
    sandbox
        .portmortem(["report", "p.pmt"])
        .exits(0)
        .shows("exit status 2")
        .shows("1 left by exception");
}

#[test]
fn a_goal_that_fails() {
    let sandbox = Sandbox::with("p.pl", "p :- q(2).\nq(1).\n");
    record(&sandbox, &["-g", "p", "p.pl"])
        .exits(1)
        .says("false");
    let profiled = whole(&sandbox, "p.pmt");
    assert_eq!(
        (profiled.row("p/0").fails, profiled.row("q/1").fails),
        (1, 1)
    );
}

#[test]
fn a_goal_that_is_not_defined() {
    let sandbox = Sandbox::with("p.pl", "p.\n");
    record(&sandbox, &["-g", "undefined_here", "p.pl"])
        .exits(2)
        .says("undefined_here");
    whole(&sandbox, "p.pmt");
}

#[test]
fn halt_in_the_middle() {
    let sandbox = Sandbox::new();
    let program = trap("halt.pl");
    let outcome = sandbox.portmortem([
        "record".as_ref(),
        "-o".as_ref(),
        "h.pmt".as_ref(),
        program.as_os_str(),
    ]);
    outcome.exits(3).prints("start\nhalting\nat halt\n");
    let profiled = whole(&sandbox, "h.pmt");
    assert_eq!(profiled.row("two/2").open, 1);
    assert_eq!(profiled.row("main/0").open, 1);
    sandbox
        .portmortem(["report", "h.pmt"])
        .exits(0)
        .shows("exit status 3");
}

#[test]
fn a_program_that_reads_standard_input() {
    let sandbox = Sandbox::with(
        "cat.pl",
        ":- initialization(main, main).\nmain :- read_line_to_string(user_input, L), go(L).\n\
         go(end_of_file) :- !.\ngo(L) :- writeln(L), main.\n",
    );
    let outcome = sandbox
        .command(built::portmortem())
        .args(["record", "cat.pl"])
        .stdin("one\ntwo\nno newline")
        .wait();
    outcome.succeeds().prints("one\ntwo\nno newline\n");
    assert_eq!(whole(&sandbox, "cat.pmt").row("main/0").calls, 4);
}

/// As a shell sees it: a program that a signal ended has 128 and the signal's number.
fn shell_status(status: Status) -> i32 {
    match status {
        Status::Exit(code) => code,
        Status::Signal(signal) => 128 + signal,
        Status::TimedOut => panic!("it never ended"),
    }
}

/// The last line that `record` adds for a person at a terminal.
fn without_what_record_adds(screen: &str) -> String {
    let (before, _) = screen
        .split_once("recorded run.pmt (")
        .unwrap_or((screen, ""));
    before.to_owned()
}

/// Does the same at two terminals, one with the program recorded, and compares screens and endings.
fn same_at_a_terminal(sandbox: &Sandbox, program: &[&str], session: impl Fn(&mut Terminal)) -> i32 {
    let mut plain = Terminal::start(sandbox.command(Path::new("swipl")).args(program));
    session(&mut plain);
    let (status, screen) = plain.ends();
    let goal = program.iter().filter(|word| !["-t", "halt"].contains(word));
    let arguments = ["record", "--force", "-o", "run.pmt"].iter().chain(goal);
    let mut recorded = Terminal::start(sandbox.command(built::portmortem()).args(arguments));
    session(&mut recorded);
    let (recorded_status, recorded_screen) = recorded.ends();
    assert_eq!(without_what_record_adds(&recorded_screen), screen);
    // A process that a signal ends at once leaves its terminal to its caller.
    assert!(
        recorded_screen.contains("now: portmortem advise run.pmt")
            || matches!(status, Status::Signal(_)),
        "{recorded_screen}"
    );
    assert_eq!(recorded_status, status, "{recorded_screen}");
    shell_status(status)
}

#[test]
fn ctrl_c_ends_a_program() {
    let sandbox = Sandbox::new();
    let program = trap("endless.pl").display().to_string();
    let status = same_at_a_terminal(&sandbox, &[&program], |terminal| {
        terminal.waits_for("ready");
        thread::sleep(Duration::from_millis(100));
        terminal.types(b"\x03");
    });
    assert_eq!(status, 130);
    // The engine lets the signal end the process, so nothing says how the run ended.
    sandbox
        .portmortem(["report", "run.pmt"])
        .exits(3)
        .shows("the run did not end")
        .shows("round/1");
    assert_eq!(Profiled::of(&sandbox.path("run.pmt")).profile.damage, []);
}

const SPIN: &str = "p :- writeln(ready), flush_output, q.\nq :- r, q.\nr.\n";

#[test]
fn ctrl_c_at_the_toplevel_asks_what_to_do() {
    let sandbox = Sandbox::with("spin.pl", SPIN);
    let status = same_at_a_terminal(&sandbox, &["spin.pl"], |terminal| {
        terminal.waits_for("1 ?- ");
        terminal.types(b"p.\n");
        terminal.waits_for("ready");
        terminal.types(b"\x03");
        terminal.waits_for("Action (h for help) ?");
        terminal.types(b"a");
        terminal.waits_for("2 ?- ");
        terminal.types(b"r.\n");
        terminal.waits_for("3 ?- ");
        terminal.types(b"halt.\n");
    });
    assert_eq!(status, 0);
    let profiled = whole(&sandbox, "run.pmt");
    assert_eq!(profiled.row("p/0").exceptions, 1);
}

#[test]
fn ctrl_backslash() {
    // No garbage: the engine says so if the signal comes during a collection.
    let program =
        ":- initialization(main, main).\nmain :- writeln(ready), wait.\nwait :- sleep(1), wait.\n";
    let sandbox = Sandbox::with("wait.pl", program);
    let status = same_at_a_terminal(&sandbox, &["wait.pl"], |terminal| {
        terminal.waits_for("ready");
        terminal.types(b"\x1c");
    });
    assert_eq!(status, 128 + libc::SIGQUIT);
    let report = sandbox.portmortem(["report", "run.pmt"]);
    assert!(
        [Status::Exit(0), Status::Exit(3)].contains(&report.status),
        "{report}"
    );
}

#[test]
fn nothing_is_left_behind() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    fs::create_dir(sandbox.path("tmp")).unwrap();
    let mut run = sandbox
        .command(built::portmortem())
        .args(["record", "hello.pl"]);
    run.command.env("TMPDIR", sandbox.path("tmp"));
    run.wait().succeeds();
    assert_eq!(fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0);
}
