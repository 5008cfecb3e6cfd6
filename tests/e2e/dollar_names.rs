//! Predicates whose names begin with `$`: those of the program are recorded like any other.

use std::fs;

use portmortem_tests::{Sandbox, trap};

/// A name that begins with `$` is one of the system's only in modules of the system, or where the
/// engine has added the predicate. What has no box for that is named in the trace.
#[test]
fn names_that_begin_with_a_dollar() {
    let sandbox = Sandbox::new();
    let program = fs::read(trap("dollar_names.pl")).unwrap();
    let file = sandbox.write("dollar.pl", program);
    for options in [&["--no-boundary"][..], &["--no-boundary", "--ports"]] {
        let recording = sandbox.record_file(&file, options);
        let names = [
            "'$d'/1",
            "'$fib'/2",
            "'$member'/1",
            "'$one'/1",
            "'$pm'/1",
            "'$positive'/1",
            "'$step'/2",
            "'$tabled'/3",
            "'$work'/2",
            "'$wrapped'/1",
            "main/0",
        ];
        assert_eq!(recording.names(), names, "{options:?}");
    }
    let recording = sandbox.record_file(&file, &[]);
    let told = "not recorded: system:'$append'/3 (one of the system's own; its time is part of that of its callers)";
    assert_eq!(recording.trace.notes(), [told]);
    sandbox
        .portmortem(["info", "dollar.pmt"])
        .shows("not recorded: system:'$append'/3");
}
