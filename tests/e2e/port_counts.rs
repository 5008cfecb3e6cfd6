//! Small programs in which it is hard to see how a box was left: into choicepoints of predicates
//! that have no box, and by cleanup handlers that fail or throw. `--ports` counts them with
//! wrappers; stubs must count the same.

use portmortem_tests::{Profiled, Sandbox};
use portmortem_tracer::format::Event;

/// A program, options of `record`, and of some predicates calls, exits, fails and exceptions.
type Case = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, [u64; 4])],
);

const CASES: &[Case] = &[
    (
        "a failure into choicepoints of a library predicate",
        "main :- ( p4 ; true ), p3.
         p3 :- findall(x, ( prolog_load_context(_, _), p4 ), _).
         p4 :- fail.",
        &[],
        &[("p4/0", [5, 0, 5, 0])],
    ),
    (
        "a failure into choicepoints of an excluded predicate",
        "main :- ( p4 ; true ), p3.
         p3 :- findall(x, ( two(_), p4 ), _).
         two(1).
         two(2).
         p4 :- fail.",
        &["--exclude", "two/1"],
        &[("p4/0", [3, 0, 3, 0])],
    ),
    (
        "a failure into choicepoints of a built-in predicate",
        ":- use_module(library(lists)).
         main :- ( q ; p ).
         q :- ev.
         p :- call(( member(_, [a,b]), ev )).
         p.
         ev :- fail.",
        &["--no-boundary"],
        &[("ev/0", [3, 0, 3, 0]), ("q/0", [1, 0, 1, 0])],
    ),
    (
        "an exception that leaves a cleanup handler",
        "main :- catch(p0, _, e).
         p0 :- setup_call_cleanup(true, true, c), e.
         c :- d(1), e.
         d(_) :- throw(x).
         e.",
        &[],
        &[("d/1", [1, 0, 0, 1]), ("c/0", [1, 0, 0, 1])],
    ),
    (
        "a handler that throws after its goal has failed",
        "main :-
             catch(setup_call_cleanup(true, f(1), throw(x)), _, true),
             catch(setup_call_cleanup(true, g(1), c), _, true),
             ( setup_call_cleanup(true, f(1), true) -> true ; true ).
         f(_) :- h, fail.
         g(_) :- h, k.
         h.
         k :- h, fail.
         c :- throw(x).",
        &[],
        &[
            ("g/1", [1, 0, 1, 0]),
            ("k/0", [1, 0, 1, 0]),
            ("c/0", [1, 0, 0, 1]),
        ],
    ),
    (
        "two handlers that fail",
        "main :- s(1), s(2), !.
         s(X) :- setup_call_cleanup(true, m(_), c(X)).
         m(_).
         m(_).
         c(X) :- e(X), d(X), e(X).
         d(3).
         e(_).",
        &[],
        &[("d/1", [2, 0, 2, 0]), ("c/1", [2, 0, 2, 0])],
    ),
    (
        "handlers that fail and throw while an exception is on its way",
        "main :- catch(s(throws), _, true), catch(s(fails), _, true).
         s(How) :- setup_call_cleanup(true, throw(x), c(How)).
         c(throws) :- throw(y).
         c(fails) :- d.
         d :- fail.",
        &[],
        &[("c/1", [2, 0, 1, 1]), ("d/0", [1, 0, 1, 0])],
    ),
    (
        "an exception that an excluded predicate recovers from, and fails",
        "main :- ( top ; true ), top(1).
         top :- catch(ma(1), _, r).
         top(_) :- catch(ma(1), _, fail).
         top(_).
         r :- fail.
         ma(_) :- throw(x).",
        &["--include", "ma/1"],
        &[("ma/1", [2, 0, 0, 2])],
    ),
    (
        "goals of call/1 with boxes of all built-in predicates",
        "main :- findall(x, p(_), _), q(p(_)).
         q(G) :- call(G), true.
         p(1).
         p(2).",
        &["--builtins"],
        &[("p/1", [2, 3, 0, 0])],
    ),
    (
        "boxes that shift/1 leaves have exited",
        "main :- handle(steps, 1), handle(many, 1).
         handle(G, S) :- reset(G, ask(S), C), ( C == 0 -> true ; T is S+1, handle(C, T) ).
         steps :- get(X), X == 1, get(Y), Y == 2.
         get(X) :- inner(X), done.
         inner(X) :- shift(ask(X)).
         done.
         many :- get(_), get(_).",
        &[],
        &[
            ("inner/1", [4, 4, 0, 0]),
            ("steps/0", [1, 1, 0, 0]),
            ("done/0", [4, 4, 0, 0]),
        ],
    ),
    (
        "a tabled predicate that many things call",
        ":- table a/1.
         main :-
             ( a(_), fail ; true ), ( a(_), fail ; true ),
             findall(X, a(X), _), findall(X, a(X), _),
             forall(a(X), true), aggregate_all(count, a(_), _).
         a(1). a(2). a(3).",
        &[],
        &[("a/1", [6, 18, 0, 0])],
    ),
    (
        "incremental tabling",
        ":- dynamic d/1 as incremental.
         :- table (p/1, q/1) as incremental.
         d(1). d(2).
         p(X) :- q(X), X > 0.
         q(X) :- d(X).
         main :-
             findall(X, p(X), _), assertz(d(3)), findall(X, p(X), _),
             retract(d(1)), forall(p(X), true), forall(q(_), true).",
        &[],
        &[
            ("p/1", [5, 9, 1, 0]),
            ("q/1", [6, 11, 2, 0]),
            ("d/1", [3, 7, 0, 0]),
        ],
    ),
];

/// A predicate with wrappers of the program's is one box of each call, and what the wrappers call
/// is in it. (`--ports` counts some of them twice.)
#[test]
fn wrappers_of_the_program_are_in_the_box_of_the_call() {
    let program = "
        p(1). p(2).
        p(X) :- q(X).
        q(3).
        log(_).
        main :-
            wrap_predicate(p(X), w1, W, ( log(X), W )),
            findall(X, p(X), _), maplist(p, [1,2]), forall(p(_), true),
            wrap_predicate(p(Y), w2, W2, ( log(Y), catch(W2, _, true), log(Y) )),
            findall(Z, p(Z), _), once(p(_)), call(p, 3),
            wrap_predicate(q(A), w3, W3, ( W3 ; W3 )),
            findall(A, q(A), _),
            unwrap_predicate(p/1, w1),
            findall(Z, p(Z), _).";
    let recorded = Sandbox::new().record("run", program, &["-g", "main"]);
    assert_eq!(recorded.row("p/1").calls, 8);
    assert_eq!(recorded.row("q/1").calls, 6);
    assert_eq!(
        recorded.edge("p/1", "log/1").calls,
        recorded.row("log/1").calls
    );
}

/// What was cut is told before the last call that comes after it.
#[test]
fn a_cut_comes_before_a_last_call() {
    let program = "
        :- use_module(library(lists)).
        main :- p(1), q(1), r(1).
        p(X) :- once(( f(X), f(_) )), g(_).
        q(X) :- once(f(X)), g(_).
        r(X) :- ( f(X) -> true ; true ), g(_).
        f(_).
        f(_).
        g(1).
        g(2).";
    let mut told = Vec::new();
    for ports in [&[][..], &["--ports"]] {
        let sandbox = Sandbox::with("program.pl", program);
        let record = [
            "record",
            "-o",
            "run.pmt",
            "-g",
            "main",
            "--no-boundary",
            "program.pl",
        ];
        sandbox.portmortem([&record[..], ports].concat()).succeeds();
        let trace = Profiled::of(&sandbox.path("run.pmt")).trace;
        let events = trace.events(&trace.streams()[0]);
        let ports = events.filter_map(|timed| match timed.event {
            Event::Tail { .. } => Some("tail"),
            Event::Cut { .. } => Some("cut"),
            _ => None,
        });
        told.push(ports.collect::<Vec<_>>());
    }
    assert_eq!(
        told[0],
        ["cut", "tail", "cut", "tail", "cut", "tail", "cut"]
    );
    assert_eq!(told[0], told[1]);
}

#[test]
fn ports_are_what_happened() {
    let mut complaints = Vec::new();
    for &(name, program, options, expected) in CASES {
        for ports in [&[][..], &["--ports"]] {
            let sandbox = Sandbox::with("program.pl", program);
            let record = ["record", "-o", "run.pmt", "-g", "main", "program.pl"];
            sandbox
                .portmortem([&record[..], options, ports].concat())
                .succeeds();
            let recorded = Profiled::of(&sandbox.path("run.pmt"));
            for &(predicate, right) in expected {
                let seen = recorded.find(predicate).map(|row| {
                    let exits = row.exits_det + row.exits_nondet;
                    [row.calls, exits, row.fails, row.exceptions]
                });
                if seen != Some(right) {
                    complaints.push(format!(
                        "{name} {ports:?}: {predicate}: {seen:?}, not {right:?}"
                    ));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
