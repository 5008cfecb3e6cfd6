//! Where `library(portmortem)` finds the recorder: in a saved state, and where there is none.

use std::fs;

use super::library::{calls, run, whole, with_pack};

/// A program that marks and records, as a saved state.
const STATE: &str = "
main :- pm_mark(begin), cost_center(all, one(X)), writeln(X),
    catch(( pm_record(next(X, Y), [output('next.pmt'), force(true)]), writeln(Y) ),
          error(portmortem_error(Text), _), ( sub_string(Text, 0, 29, _, Begin), writeln(Begin) )).
";

/// It is where it was, or not; and where the state is recorded, its own is not in the way.
#[test]
fn a_saved_state_finds_the_recorder() {
    let sandbox = with_pack(STATE);
    let compile = [
        "-o",
        "state",
        "-g",
        "main",
        "-t",
        "halt",
        "-c",
        "program.pl",
    ];
    sandbox.swipl(compile).exits(0);
    sandbox.sh("./state").exits(0).prints("2\n3\n");
    assert_eq!(calls(&whole(&sandbox, "next.pmt"), "next/2"), 1);
    fs::rename(sandbox.path("packs"), sandbox.path("gone")).unwrap();
    let without = "2\nthe recorder cannot be loaded\n";
    sandbox.sh("./state").exits(0).prints(without);
    fs::rename(sandbox.path("gone"), sandbox.path("packs")).unwrap();
    let recorded = sandbox.portmortem(["record", "--", "./state"]);
    recorded
        .exits(0)
        .prints("2\na recording is in progress; e\n");
    let profiled = whole(&sandbox, "state.pmt");
    assert_eq!(calls(&profiled, "one/1"), 1);
    assert_eq!(calls(&profiled, "cost_center(all)"), 1);
}

/// A program runs where the recorder cannot be loaded, and only recording is an error.
#[test]
fn a_pack_without_the_recorder() {
    let sandbox = with_pack(STATE);
    sandbox.sh("rm -r packs/portmortem/lib").exits(0);
    run(&sandbox, "main")
        .succeeds()
        .prints("2\nthe recorder cannot be loaded\n");
    run(
        &sandbox,
        "pm_stop, pm_pause, pm_resume, noprofile((a/1, b/2)), in_cost_center(c, one/1), one(X), writeln(X)",
    )
    .succeeds()
    .prints("2\n");
}
