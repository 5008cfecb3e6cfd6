//! `record --clauses`: which clause boxes enter, counted by hand for small programs.

use portmortem_analyzer::Tables;
use portmortem_analyzer::tables::ClauseRow;
use portmortem_tests::{Profiled, Sandbox, sample};
use portmortem_tracer::format::Event;

/// Both recorders: ports in copies of clauses, and stubs.
const RECORDERS: [&[&str]; 2] = [&["--clauses", "--ports"], &["--clauses"]];

fn record(program: &str) -> [Profiled; 2] {
    RECORDERS.map(|options| Sandbox::new().record("p", program, options))
}

fn rows(profiled: &Profiled) -> Vec<ClauseRow<'_>> {
    Tables::new("p", &profiled.trace, &profiled.profile)
        .clauses()
        .collect()
}

/// Entered, exits, redos, failed, exhausted of a clause; of a predicate's boxes without one if the
/// number is 0.
fn counts(profiled: &Profiled, predicate: &str, clause: u32) -> [u64; 5] {
    let row = row(profiled, predicate, clause);
    [row.entered, row.exits, row.redos, row.failed, row.exhausted]
}

/// Choicepoints of its own that a clause left: in all, re-entered, cut, pending.
fn left(profiled: &Profiled, predicate: &str, clause: u32) -> [u64; 4] {
    let row = row(profiled, predicate, clause);
    [row.left, row.left_redos, row.left_cuts, row.left_pending]
}

fn row<'p>(profiled: &'p Profiled, predicate: &str, clause: u32) -> ClauseRow<'p> {
    let number = Some(clause).filter(|&clause| clause > 0);
    let mut rows = rows(profiled).into_iter();
    rows.find(|row| row.predicate == predicate && row.clause == number)
        .unwrap_or_else(|| panic!("no clause {clause} of {predicate}"))
}

#[test]
fn clauses_are_counted() {
    for profiled in record(
        "\
:- initialization(main, main).
main :- forall(d(X), ( p(X, Y) -> writeln(Y) ; true )), \\+ p(9, _), catch(e, _, true).
d(1). d(2). d(3).
p(1, a) :- q(no).
p(1, b).
p(2, c) :- q(X), q(X), fail.
p(2, d) :- q(_).
q(one).
q(two).
e :- throw(oops).
e.
",
    ) {
        // X = 1: the first clause fails, the second exits. X = 2: the third fails, the fourth exits
        // and leaves what q(_) left. X = 3 and 9: no clause.
        assert_eq!(counts(&profiled, "p/2", 0), [2, 0, 0, 2, 0]);
        assert_eq!(counts(&profiled, "p/2", 1), [1, 0, 0, 1, 0]);
        assert_eq!(counts(&profiled, "p/2", 2), [1, 1, 0, 0, 0]);
        assert_eq!(counts(&profiled, "p/2", 3), [1, 0, 0, 1, 0]);
        assert_eq!(counts(&profiled, "p/2", 4), [1, 1, 0, 0, 0]);
        assert_eq!(left(&profiled, "p/2", 4), [0; 4]);
        // q(X) twice one after the other, the second time bound; q(_); and q(no), which fits
        // neither.
        assert_eq!(counts(&profiled, "q/1", 0), [1, 0, 0, 1, 0]);
        assert_eq!(counts(&profiled, "q/1", 1), [3, 3, 1, 0, 1]);
        assert_eq!(left(&profiled, "q/1", 1), [2, 1, 1, 0]);
        assert_eq!(counts(&profiled, "q/1", 2), [2, 2, 0, 0, 0]);
        let thrown = row(&profiled, "e/0", 1);
        assert_eq!((thrown.entered, thrown.exceptions), (1, 1));
        assert!(
            !rows(&profiled)
                .iter()
                .any(|row| row.predicate == "e/0" && row.clause == Some(2))
        );
    }
}

#[test]
fn a_clause_has_its_line() {
    for profiled in record(":- initialization(main, main).\nmain :-\n    p(b).\n\np(a).\np(b).\n") {
        let second = row(&profiled, "p/1", 2);
        assert_eq!((second.file, second.line), (Some("p.pl"), Some(6)));
    }
}

/// A chain of last calls: each box stays in the clause that it departed from.
#[test]
fn last_calls_are_left_by_their_clauses() {
    for profiled in record(
        ":- initialization(main, main).\nmain :- count(1000), \\+ down(100).\n\
         count(0) :- !.\ncount(N) :- N1 is N-1, count(N1).\n\
         down(0) :- fail.\ndown(N) :- N > 0, N1 is N-1, down(N1).\n",
    ) {
        assert_eq!(counts(&profiled, "count/1", 1), [1, 1, 0, 0, 0]);
        assert_eq!(counts(&profiled, "count/1", 2), [1000, 1000, 0, 0, 0]);
        // The box of down(0) goes on with its second clause.
        assert_eq!(counts(&profiled, "down/1", 1), [1, 0, 0, 1, 0]);
        assert_eq!(counts(&profiled, "down/1", 2), [101, 0, 0, 101, 0]);
        let failed = row(&profiled, "down/1", 2);
        assert!(failed.failed_ns <= failed.inclusive_ns);
    }
}

/// Unifications at the beginning of a body may be part of the head for the compiler, and of its
/// index: the port comes after them.
#[test]
fn a_clause_is_entered_after_its_first_unifications() {
    for profiled in record(
        ":- initialization(main, main).\nmain :- v(h(1), f(2)), v(h(1), g(2)), r(2).\n\
         v(X, Y) :- Y = f(Z), X = h(W), W < Z.\nv(_, _).\n\
         r(X), X > 1 => true.\nr(_) => fail.\n",
    ) {
        assert_eq!(counts(&profiled, "v/2", 1), [1, 1, 0, 0, 0]);
        assert_eq!(counts(&profiled, "v/2", 2), [1, 1, 0, 0, 0]);
        assert_eq!(counts(&profiled, "r/1", 1), [1, 1, 0, 0, 0]);
    }
}

/// Where no clause can be known, that is said: dynamic predicates are not copied. Stubs know all
/// clauses.
#[test]
fn dynamic_predicates() {
    let [profiled, stubs] = record(
        ":- initialization(main, main).\n:- dynamic f/1.\nf(1).\nf(2).\nmain :- f(X), X > 1, !.\n",
    );
    assert_eq!(counts(&stubs, "f/1", 1), [1, 1, 1, 0, 1]);
    assert_eq!(counts(&stubs, "f/1", 2), [1, 1, 0, 0, 0]);
    assert!(!rows(&profiled).iter().any(|row| row.predicate == "f/1"));
    assert_eq!(counts(&profiled, "main/0", 1), [1, 1, 0, 0, 0]);
}

/// Clauses of all kinds of predicates. Those of dynamic ones have the numbers that they were loaded
/// with; clauses that come and go have none.
#[test]
fn clauses_of_all_kinds() {
    let profiled = Sandbox::new().record(
        "p",
        "\
:- initialization(main, main).
:- dynamic count/1.
:- multifile hook/1.
:- table t/1.
:- det(d/1).
:- discontiguous s/1.
count(0).
hook(1). hook(2).
t(X) :- member(X, [1, 2]).
d(1). d(2) :- true.
s(1).
main :- next(100), forall(hook(_), true), forall(t(_), true), d(1), d(2), s(2), m:x(1), assertz(late(7)), late(7),
    forall(late(X), true), X = 1, asserta(late(6)), forall(late(_), true).
next(0) :- !.
next(N) :- count(C), C1 is C+1, retract(count(C)), assertz(count(C1)), M is N-1, next(M).
s(2) :- s(1).
m:x(1) :- true.
:- dynamic late/1.
",
        &["--clauses"],
    );
    assert_eq!(counts(&profiled, "count/1", 1)[..2], [1, 1]);
    assert_eq!(counts(&profiled, "count/1", 0)[0], 99);
    assert_eq!(counts(&profiled, "next/1", 2), [100, 100, 0, 0, 0]);
    assert_eq!(row(&profiled, "hook/1", 2).line, Some(8));
    assert_eq!(row(&profiled, "t/1", 1).entered, 1);
    assert_eq!(counts(&profiled, "d/1", 1)[..2], [1, 1]);
    assert_eq!(counts(&profiled, "d/1", 2)[..2], [1, 1]);
    assert_eq!(counts(&profiled, "s/1", 1)[..2], [1, 1]);
    assert_eq!(row(&profiled, "s/1", 2).line, Some(16));
    assert_eq!(row(&profiled, "m:x/1", 1).line, Some(17));
    let mut all = rows(&profiled).into_iter();
    assert!(!all.any(|row| row.predicate == "late/1" && row.clause.is_some()));
}

/// What waits for a variable of the head runs before the clause is entered; with stubs, after a
/// fact.
#[test]
fn clauses_and_wakeups() {
    let orders = [
        ["main/0", "a/1", "p/1", "a/1", "a/1", "q/1"],
        ["main/0", "a/1", "p/1", "a/1", "q/1", "a/1"],
    ];
    let recorded = record(
        "\
:- initialization(main, main).
main :- freeze(X, a(X)), p(X), ( freeze(Y, fail), p(Y) -> true ; true ), freeze(Z, a(Z)), q(Z).
p(1) :- a(2).
q(1).
a(_).
",
    );
    for (profiled, order) in recorded.iter().zip(orders) {
        let stream = &profiled.trace.streams()[0];
        let entered = profiled.trace.events(stream).filter_map(|timed| {
            let Event::Clause { clause } = timed.event else {
                return None;
            };
            let clause = &profiled.trace.clauses()[profiled.trace.clause_index(clause)? as usize];
            Some(profiled.trace.predicate_name(clause.predicate).to_owned())
        });
        let entered: Vec<_> = entered.collect();
        assert_eq!(entered, order);
    }
}

/// What happens in a pause is not recorded; boxes stay in the clauses that they were in.
#[test]
fn a_pause() {
    for profiled in record(
        ":- use_module(library(portmortem)).\n:- initialization(main, main).\nmain :- p(3), p(0).\n\
         p(0).\np(3) :- pm_pause, p(2).\np(2) :- p(1).\np(1) :- pm_resume, p(0).\n",
    ) {
        assert_eq!(counts(&profiled, "p/1", 2), [1, 1, 0, 0, 0]);
        let entered: u64 = rows(&profiled)
            .iter()
            .filter(|row| row.predicate == "p/1" && row.clause.is_some())
            .map(|row| row.entered)
            .sum();
        let calls = profiled.row("p/1").calls;
        assert_eq!(entered, calls);
    }
}

/// The events of a recording with clauses, but for the entries, are those of one without.
#[test]
fn other_events_are_the_same() {
    let program = std::fs::read_to_string(sample("queens.pl")).unwrap();
    let entries = |options: &[&str]| {
        let profiled = Sandbox::new().record("queens", &program, options);
        let events = profiled.trace.events(&profiled.trace.streams()[0]);
        let entries = events.filter(|timed| matches!(timed.event, Event::Clause { .. }));
        (entries.count(), profiled.calls_and_exits())
    };
    let (none, without) = entries(&[]);
    let (entries, with) = entries(&["--clauses"]);
    assert_eq!((none, without), (0, with));
    assert!(entries > 10_000, "{entries}");
}

#[test]
fn the_report() {
    let sandbox = Sandbox::with(
        "p.pl",
        ":- initialization(main, main).\nmain :- p(X), X > 1, !.\np(1).\np(2).\n",
    );
    sandbox
        .portmortem(["record", "--clauses", "p.pl"])
        .succeeds();
    let csv = "predicate,clause,entered,left,left_redos";
    let report = sandbox.portmortem(["report", "p.pmt", "--clauses", "--sort", "left"]);
    report.succeeds().shows("entered").shows("p/1 #1");
    let json = sandbox.portmortem(["report", "p.pmt", "--clauses", "--format", "json"]);
    json.succeeds().shows("\"left_redos\": 1");
    let table = sandbox.portmortem(["report", "p.pmt", "--clauses", "--format", "csv"]);
    for column in csv.split(',') {
        table.shows(column);
    }
    let one = sandbox.portmortem(["report", "p.pmt", "--clauses", "--predicate", "main"]);
    assert!(!one.succeeds().out().contains("p/1"));
    sandbox
        .portmortem(["report", "p.pmt", "--clauses", "--sort", "calls"])
        .exits(1)
        .says("clauses have no column calls");
    sandbox
        .portmortem(["report", "p.pmt", "--sort", "left"])
        .exits(1)
        .says("predicates have no column left");
    sandbox.portmortem(["record", "-o", "q.pmt", "p.pl"]);
    sandbox
        .portmortem(["report", "q.pmt", "--clauses"])
        .succeeds()
        .shows("record it with --clauses");
    for mode in ["--byrd", "--symbolic"] {
        sandbox
            .portmortem(["record", "--clauses", mode, "p.pl"])
            .exits(2);
    }
}

/// Clauses have no ports at their goals then; those that tell which is entered stay.
#[test]
fn continuations() {
    for profiled in record(
        "\
:- initialization(main, main).
main :- p(3), reset(p(2), ball, Continuation), call(Continuation), p(1).
p(1).
p(2) :- shift(ball), p(1).
p(3) :- p(1).
",
    ) {
        assert_eq!(counts(&profiled, "p/1", 1), [3, 3, 0, 0, 0]);
        assert_eq!(counts(&profiled, "p/1", 3), [1, 1, 0, 0, 0]);
        assert_eq!(row(&profiled, "p/1", 2).entered, 1);
    }
}
