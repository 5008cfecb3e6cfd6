//! What the recorder does to a program while that runs is a row of its own, and no work of the
//! program.

use portmortem_tests::{Profiled, Sandbox};

const INSTRUMENT: &str = "portmortem:instrument/0";

/// Each clause that runs gets its stubs once, however often
/// it runs.
fn boxes(rounds: u32) -> u64 {
    let text = format!(
        ":- initialization(main, main).
         main :- forall(between(1, {rounds}, N), p(N)).
         p(N) :- q(N), r(N).
         q(N) :- integer(N).
         r(N) :- q(N).
        "
    );
    let sandbox = Sandbox::with("p.pl", &text);
    sandbox.portmortem(["record", "p.pl"]).exits(0).prints("");
    sandbox.portmortem(["verify", "p.pmt"]).succeeds();
    let profiled = Profiled::of(&sandbox.path("p.pmt"));
    let row = profiled.find(INSTRUMENT).unwrap();
    assert_eq!(row.exits_det, row.calls);
    assert!(row.self_ns > 0);
    // All of it is recording.
    assert_eq!(row.self_comp_ns, Some(0));
    let calls = |name| profiled.find(name).map(|row| row.calls);
    let rounds = u64::from(rounds);
    assert_eq!(calls("p/1"), Some(rounds));
    assert_eq!(calls("q/1"), Some(2 * rounds));
    row.calls
}

#[test]
fn set_up_is_a_row_in_proportion_to_the_clauses() {
    let few = boxes(3);
    assert!(few >= 4, "{few}: four clauses run");
    assert_eq!(boxes(300), few);
}

/// Ports set up the program in pauses.
#[test]
fn ports_have_no_such_row() {
    let sandbox = Sandbox::with("p.pl", ":- initialization(main, main).\nmain.\n");
    sandbox
        .portmortem(["record", "--ports", "p.pl"])
        .exits(0)
        .prints("");
    let profiled = Profiled::of(&sandbox.path("p.pmt"));
    assert!(profiled.find(INSTRUMENT).is_none());
}
