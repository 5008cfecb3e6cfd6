//! Two recordings into one file at once: the second is refused, as long as the first is written.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use portmortem_tests::patience::wait_until;
use portmortem_tests::{Profiled, Sandbox, built};
use portmortem_tracer::Recorder;

const REFUSED: &str = ": wait until it ends, or record into another file";

/// Says that it has begun, and does not end.
const ENDLESS: &str = "
:- initialization(main, main).
main :- begin(begun), work.
begin(File) :- open(File, write, S), close(S).
work :- sleep(0.001), work.
";

const HELLO: &str = "
:- initialization(main, main).
main :- hello(X), writeln(X).
hello(world).
";

/// A child that lives until there is the file `go`.
const CHILD: &str = "
:- initialization(main, main).
:- use_module(library(unix)).
main :- fork(Pid), ( Pid == child -> file(begun), wait_for(go), file(gone), halt ; wait_for(begun) ).
file(File) :- open(File, write, S), close(S).
wait_for(File) :- exists_file(File), !.
wait_for(File) :- sleep(0.001), wait_for(File).
";

fn says_hello(sandbox: &Sandbox, trace: &str) {
    let arguments = ["record", "-o", trace, "hello.pl"];
    sandbox.portmortem(arguments).exits(0).prints("world\n");
    sandbox.portmortem(["verify", trace]).exits(0);
    assert!(Profiled::of(&sandbox.path(trace)).find("hello/1").is_some());
}

#[test]
fn what_is_still_recorded_is_not_replaced() {
    let sandbox = Sandbox::with("endless.pl", ENDLESS);
    sandbox.write("hello.pl", HELLO);
    let first = sandbox
        .command(built::portmortem())
        .args(["record", "-o", "run.pmt", "endless.pl"])
        .start();
    wait_until("it has begun", || sandbox.path("begun").exists());
    symlink("run.pmt", sandbox.path("link.pmt")).unwrap();
    let inode = || fs::metadata(sandbox.path("run.pmt")).unwrap().ino();
    let before = inode();
    for option in ["--clauses", "--force", "--baseline"] {
        for trace in ["run.pmt", "link.pmt"] {
            let arguments = ["record", option, "-o", trace, "hello.pl"];
            let text = format!("another recording still writes {trace}{REFUSED}");
            sandbox.portmortem(arguments).refuses(&text);
        }
    }
    assert_eq!(inode(), before);
    // Who only reads is not refused: 3 says that the run has not ended.
    sandbox.portmortem(["report", "run.pmt"]).exits(3);
    // Other files are not in use.
    says_hello(&sandbox, "other.pmt");
    first.signal_group(libc::SIGKILL);
    let _ = first.wait();
    let trace = sandbox.path("run.pmt");
    wait_until("the engine has ended, too", || {
        Recorder::check_unused(&trace).is_ok()
    });
    assert!(Profiled::of(&trace).find("work/0").is_some());
    for _ in 0..2 {
        says_hello(&sandbox, "link.pmt");
    }
    assert!(Path::new(&sandbox.path("link.pmt")).is_symlink());
}

#[test]
fn a_child_that_outlives_the_recording_does_not_hinder_the_next() {
    let sandbox = Sandbox::with("child.pl", CHILD);
    sandbox.write("hello.pl", HELLO);
    let arguments = ["record", "-o", "run.pmt", "child.pl"];
    sandbox.portmortem(arguments).exits(0);
    says_hello(&sandbox, "run.pmt");
    assert!(!sandbox.path("gone").exists());
    sandbox.write("go", "");
    wait_until("the child lived until now", || {
        sandbox.path("gone").exists()
    });
    sandbox.portmortem(["verify", "run.pmt"]).exits(0);
}
