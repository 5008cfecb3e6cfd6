//! Recursive generators and last-call loops: what makes other tracers quadratic must stay linear, and exact.

use std::fs;

use portmortem_tests::{Profiled, Sandbox, trap};

/// `gen(1, N, X)` has exactly N solutions, the k-th out of k boxes: N(N+1)/2 exits.
const EXHAUST: &str = "
main :- current_prolog_flag(argv, [Arg|_]), atom_number(Arg, N), run(N).
run(N) :- gen(1, N, _), fail.
run(_).
gen(I, _, I).
gen(I, N, X) :- I < N, I1 is I+1, gen(I1, N, X).
:- initialization(main, main).
";

fn exhaust(sandbox: &Sandbox, solutions: u64) -> Profiled {
    let solutions = solutions.to_string();
    let file = sandbox.write(&format!("gen{solutions}.pl"), EXHAUST);
    sandbox.record_file(&file, &["--", &solutions])
}

const SOLUTIONS: u64 = 100_000;
/// 1 + 2 + … + 100,000.
const REDOS: u64 = 5_000_050_000;

#[test]
fn a_hundred_thousand_solutions_are_counted_exactly() {
    let sandbox = Sandbox::new();
    let profiled = exhaust(&sandbox, SOLUTIONS);
    let row = profiled.row("gen/3");
    assert_eq!(row.calls, SOLUTIONS);
    assert_eq!(row.tail_calls, SOLUTIONS - 1);
    assert_eq!(row.exits_det + row.exits_nondet, REDOS);
    assert_eq!(row.redos, REDOS);
    assert_eq!(row.fails, SOLUTIONS);
    let report = sandbox.portmortem(["report", "gen100000.pmt"]);
    report.succeeds().shows("5,000,050,000");
    let report = sandbox.portmortem(["report", "gen100000.pmt", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&report.succeeds().out()).unwrap();
    let rows = json["predicates"].as_array().unwrap();
    let row = rows.iter().find(|row| row["predicate"] == "gen/3").unwrap();
    assert_eq!(row["redos"], REDOS);
    assert_eq!(
        row["exits_det"].as_u64().unwrap() + row["exits_nondet"].as_u64().unwrap(),
        REDOS
    );
    let edges = json["edges"].as_array().unwrap();
    let redos = |recursive: bool| -> u64 {
        edges
            .iter()
            .filter(|edge| edge["callee"] == "gen/3" && edge["recursive"] == recursive)
            .map(|edge| edge["redos"].as_u64().unwrap())
            .sum()
    };
    // Every solution is redone once from outside, the rest is recursion.
    assert_eq!(redos(false), SOLUTIONS);
    assert_eq!(redos(true), REDOS - SOLUTIONS);
}

/// Space, not time: a time limit would fail on a busy machine. Three events a solution, whatever their number.
#[test]
fn ten_times_the_solutions_take_ten_times_the_space() {
    let sandbox = Sandbox::new();
    let (small, large) = (exhaust(&sandbox, 10_000), exhaust(&sandbox, 100_000));
    let per_solution =
        |profiled: &Profiled, solutions: u64| profiled.events() as f64 / solutions as f64;
    assert!((per_solution(&small, 10_000) - 3.0).abs() < 0.01);
    assert!((per_solution(&large, 100_000) - 3.0).abs() < 0.01);
    let size = |name: &str| fs::metadata(sandbox.path(name)).unwrap().len() as f64;
    let ratio = size("gen100000.pmt") / size("gen10000.pmt");
    assert!(ratio < 11.0, "{ratio} times the size");
    assert!(size("gen100000.pmt") < 3e6);
}

/// The box of a generator that is not a last call is re-entered physically, at each level.
#[test]
fn a_generator_that_is_no_last_call() {
    let sandbox = Sandbox::new();
    let profiled = sandbox.record_file(&trap("generator_nat.pl"), &["--", "300"]);
    let row = profiled.row("nat/1");
    assert_eq!(row.calls, 300);
    assert_eq!(row.exits_det + row.exits_nondet, 300 * 301 / 2);
}

/// Says how much local stack was in use at most: `stack` of the deepest moment that the engine remembers.
const LOOP: &str = "
:- initialization(main, main).
main :- current_prolog_flag(argv, [Arg|_]), atom_number(Arg, N), loop(N, 0, Peak), writeln(Peak).
loop(0, Peak, Peak) :- !.
loop(N, Peak0, Peak) :-
    (   N mod 1000 =:= 0
    ->  statistics(localused, Used), Peak1 is max(Peak0, Used)
    ;   Peak1 = Peak0
    ),
    N1 is N-1,
    loop(N1, Peak1, Peak).
";

#[test]
fn ten_million_last_calls_need_no_stack() {
    let sandbox = Sandbox::with("loop.pl", LOOP);
    let plain = sandbox.swipl(["loop.pl", "--", "100000"]);
    let plain: u64 = plain.succeeds().out().trim().parse().unwrap();
    let recorded = sandbox.portmortem(["record", "loop.pl", "--", "10000000"]);
    let recorded: u64 = recorded.succeeds().out().trim().parse().unwrap();
    assert!(recorded < 100_000, "{recorded} bytes of local stack");
    assert!(
        recorded < plain + 10_000,
        "{recorded} bytes; {plain} when not recorded"
    );
    let profiled = Profiled::of(&sandbox.path("loop.pmt"));
    assert_eq!(profiled.row("loop/3").calls, 10_000_001);
    assert_eq!(profiled.row("loop/3").tail_calls, 10_000_000);
    assert_eq!(profiled.row("loop/3").exits_det, 10_000_001);
}

/// The same with mutual recursion, and after a cut choicepoint. (Through call/N the engine itself needs stack.)
#[test]
fn other_last_calls_need_no_stack_either() {
    let program = "
:- initialization(main, main).
main :- even(1000000), choose(1000000).
even(0) :- !, peak.
even(N) :- N1 is N-1, odd(N1).
odd(0) :- !, peak.
odd(N) :- N1 is N-1, even(N1).
choose(0) :- !, peak.
choose(N) :- p(X), X > 1, !, N1 is N-1, choose(N1).
p(1). p(2).
peak :- statistics(localused, Used), ( Used < 100000 -> true ; throw(too_much(Used)) ).
";
    let sandbox = Sandbox::new();
    let profiled = sandbox.record("last_calls", program, &[]);
    assert_eq!(
        profiled.row("even/1").calls + profiled.row("odd/1").calls,
        1_000_001
    );
    assert_eq!(profiled.row("choose/1").calls, 1_000_001);
}

/// With `--no-tail` every last call has a box: the same counts, and memory for each.
#[test]
fn no_tail_gives_the_same_counts() {
    let sandbox = Sandbox::with("loop.pl", LOOP);
    let with = sandbox.record_file(&sandbox.path("loop.pl"), &["--no-boundary", "--", "10000"]);
    let without = sandbox.record_file(
        &sandbox.path("loop.pl"),
        &["--no-tail", "--no-boundary", "--", "10000"],
    );
    assert_eq!(with.calls_and_exits(), without.calls_and_exits());
    assert_eq!(with.row("loop/3").tail_calls, 10_000);
    assert_eq!(without.row("loop/3").tail_calls, 0);
    assert!(without.events() > with.events());
}

/// With ports, recursion that is no last call may need more stack than the program alone; then the user is told what to do.
#[test]
fn a_full_stack_is_explained() {
    let program = "
:- initialization(main, main).
main :- down(100000000, _).
down(0, 0) :- !.
down(N, M) :- N1 is N-1, down(N1, M1), M is M1+1.
";
    let sandbox = Sandbox::with("deep.pl", program);
    let outcome = sandbox.portmortem(["record", "--ports", "--stack-limit", "40M", "deep.pl"]);
    outcome
        .exits(2)
        .says("Stack limit (40.0Mb) exceeded")
        .says("--stack-limit");
    sandbox
        .portmortem(["report", "deep.pmt"])
        .shows("--stack-limit");
}
