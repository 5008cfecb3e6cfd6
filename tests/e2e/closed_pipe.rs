//! A reader of our output that has seen enough.

use std::process::Command;

use portmortem_tests::{Sandbox, built, trap};

fn small() -> Sandbox {
    let program = ":- initialization(main, main).
main :- numlist(1, 20, L), forall(member(X, L), known(X)).
known(X) :- X > 0.
";
    let sandbox = Sandbox::with("small.pl", program);
    sandbox.portmortem(["record", "small.pl"]).succeeds();
    sandbox
}

#[test]
fn a_closed_pipe_is_no_error() {
    let sandbox = small();
    sandbox.record_file(&trap("many_streams.pl"), &[]);
    for command in [
        "report small.pmt",
        "report small.pmt --format json",
        "info many_streams.pmt",
        "verify small.pmt",
        "--help",
    ] {
        let script = format!("{{ $portmortem {command}; echo status $? >&2; }} | head -n 1");
        let outcome = sandbox.sh(&script);
        outcome.exits(0).says("status 0");
        assert_eq!(outcome.err(), "status 0\n", "{command}");
        assert_eq!(outcome.out().lines().count(), 1);
        let script = format!("{{ $portmortem {command}; echo status $? >&2; }} | true");
        assert_eq!(sandbox.sh(&script).err(), "status 0\n", "{command}");
    }
}

/// The reader is gone before anything is written.
#[test]
fn a_reader_that_is_gone_is_no_error() {
    let sandbox = small();
    for command in [
        "report small.pmt --format json",
        "info small.pmt --format json",
        "verify small.pmt --format json",
        "advise small.pmt --format json",
        "diff small.pmt small.pmt --format json",
        "events small.pmt --format json",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut run = Command::new(built::portmortem());
        run.args(command.split(' ')).current_dir(sandbox.path(""));
        let done = run.stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{command}");
        assert!(done.status.success(), "{command}");
    }
}

#[test]
fn completions_that_nobody_reads() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.sh("{ $portmortem completions bash; echo status $? >&2; } | true");
    assert_eq!(outcome.err(), "status 0\n");
}
