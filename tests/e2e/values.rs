//! `record --values`: what arguments are at calls and at exits, counted by hand for small programs.

use portmortem_analyzer::figures::values::{PairFigures, ValueFigures};
use portmortem_tests::{Profiled, Sandbox};
use portmortem_tracer::format::{ArgumentValue, Event, ValueKind};

fn record(program: &str, options: &[&str]) -> Profiled {
    Sandbox::new().record("p", program, options)
}

fn figures(profiled: &Profiled, predicate: &str) -> ValueFigures {
    let all = &profiled.profile.values.goals;
    let named = |(of, _): &&(u32, _)| profiled.trace.predicate_name(*of) == predicate;
    let at = all.keys().find(named);
    let (of, _) = at.unwrap_or_else(|| panic!("no values of {predicate}"));
    profiled.profile.values.of(*of).unwrap()
}

/// Calls, exits, and exits that are not known.
fn counts(profiled: &Profiled, predicate: &str) -> [u64; 3] {
    let of = figures(profiled, predicate);
    [of.calls, of.exits, of.unknown_exits]
}

/// What one predicate made, what gave that back, and how often.
fn undone(profiled: &Profiled) -> Vec<(&str, &str, u64)> {
    let name = |of: u32| profiled.trace.predicate_name(of);
    let all = profiled.profile.values.to_and_fro.iter();
    all.map(|(&(one, other), &times)| (name(one), name(other), times))
        .collect()
}

const GROWING: &str = "\
:- initialization(main, main).
:- set_prolog_flag(gc, false).
main :- grow(100, state{}, _), order(100, [], _), cell(f(_, a)).
grow(0, S, S) :- !.
grow(N, S0, S) :- step(N, S0, S1), N1 is N-1, grow(N1, S1, S).
step(N, S0, S) :- put_dict(N, S0, v, S).
order(0, S, S) :- !.
order(N, S0, S) :- ord_union(S0, [N], S1), N1 is N-1, order(N1, S1, S).
cell(f(X, _)) :- ( X = a ; X = b ), X == b.
";

/// The frames of `step/3`, of `put_dict/4` and of `ord_union/3` are used again before they exit.
#[test]
fn a_result_is_known_after_last_calls() {
    let profiled = record(GROWING, &["--values", "*"]);
    for predicate in ["step/3", "system:put_dict/4", "ordsets:ord_union/3"] {
        assert_eq!(counts(&profiled, predicate), [100, 100, 0], "{predicate}");
    }
    // A box has the values of its first call and its last one. The sizes of the dict are those with
    // 0 and 99 keys.
    assert_eq!(counts(&profiled, "grow/3"), [101, 2, 0]);
    let step = figures(&profiled, "step/3");
    let [number, given, result] = step.arguments[..] else {
        panic!("{step:?}");
    };
    assert_eq!((number.bound_in, number.distinct_in), (100, 100));
    assert_eq!((given.bound_in, given.distinct_in), (100, 100));
    assert_eq!((result.bound_in, result.bound_out), (0, 100));
    assert_eq!(given.greatest_in - given.least_in, 2 * 99);
    assert_eq!(result.cells_out - given.cells_in, 2 * 100);
    let pair = step.pairs[&(2, 3)];
    assert_eq!((pair.exits, pair.handed_on), (100, 99));
    let union = figures(&profiled, "ordsets:ord_union/3");
    assert_eq!(union.pairs[&(1, 3)].handed_on, 99);
    assert_eq!(union.pairs[&(2, 3)].handed_on, 0);
    // An argument with a variable in it has a size, and has it again when that is bound.
    let cell = figures(&profiled, "cell/1").arguments[0];
    assert_eq!((cell.bound_in, cell.bound_out, cell.distinct_in), (1, 1, 0));
    assert_eq!((cell.cells_in, cell.cells_out), (4, 4));
}

/// The pair of arguments of a predicate that a program hands on in so many rounds.
fn handed_on(rounds: u64, first: &str, step: &str, predicate: &str, of: (u8, u8)) -> PairFigures {
    let program = format!(
        "\
:- initialization(main, main).
:- set_prolog_flag(gc, false).
:- use_module(library(assoc)).
main :- grow({rounds}, {first}).
grow(0, _) :- !.
grow(N, S0) :- {step}, N1 is N-1, grow(N1, S).
keep(L0, N, L) :- append(L0, [f(N)], L).
"
    );
    let name = predicate.rsplit(':').next().unwrap();
    let profiled = record(&program, &["--values", name]);
    let pair = figures(&profiled, predicate).pairs[&of];
    assert_eq!(pair.handed_on, rounds - 1, "{predicate}");
    pair
}

/// A dict and a list are made anew; an AVL tree shares what does not change. What has made the
/// result is known, too.
#[test]
fn what_is_made_anew() {
    let dict = handed_on(
        300,
        "state{}",
        "put_dict(N, S0, v, S)",
        "system:put_dict/4",
        (2, 4),
    );
    // Those with 127 keys or more, of two cells each.
    assert_eq!(dict.copied, 173);
    // The list of n elements has three words each, and the last element two more.
    let list = handed_on(200, "[]", "keep(S0, N, S)", "keep/3", (1, 3));
    assert_eq!(list.made, (1..=200).map(|n| 3 * n + 2).sum::<u64>());
    // Those of 64 elements or more, of four cells each.
    assert_eq!(list.copied, 136);
    let tree = handed_on(
        120,
        "t",
        "put_assoc(N, S0, v, S)",
        "assoc:put_assoc/4",
        (2, 4),
    );
    assert_eq!(tree.copied, 0);
    let text = handed_on(
        100,
        "\"\"",
        "string_concat(S0, \"some text\", S)",
        "system:string_concat/3",
        (1, 3),
    );
    assert!(text.made > text.exits * 50, "{text:?}");
}

/// What came out is the same as what another call says of it.
#[test]
fn an_exit_says_what_the_next_call_is_given() {
    let profiled = record(
        "\
:- initialization(main, main).
:- set_prolog_flag(gc, false).
main :- forall(term(T), same(T)), forall(term(T), ( T = _, same(T) )), two(X), same(X), fail.
main.
term(T) :- member(T, [a, 1, \"text\", f(x, [y]), 1.5, [1, 2, 3], 'a long atom of some words']).
two(f(a)).
two(X) :- atom_length(abc, X).
same(X) :- last(X, Z), Z == X, last(X, Y), Y == X.
last(X, X).
",
        &["--values", "last/2", "--values", "two/1"],
    );
    assert_eq!(counts(&profiled, "last/2"), [32, 32, 0]);
    let mut given = Vec::new();
    let mut result = Vec::new();
    for timed in profiled.trace.events(&profiled.trace.streams()[0]) {
        if let Event::Value(ArgumentValue {
            when,
            argument,
            kind: ValueKind::Ground,
            size,
            hash,
        }) = timed.event
        {
            match (when, argument) {
                (0, 1) => given.push((size, hash)),
                (1, 2) => result.push((size, hash)),
                _ => {}
            }
        }
    }
    assert_eq!(given, result);
    assert_eq!(counts(&profiled, "two/1"), [1, 2, 0]);
}

/// Where garbage was collected between a call and its exit, what its arguments were is not known.
#[test]
fn a_collection_hides_results() {
    let profiled = record(
        "\
:- initialization(main, main).
main :- forall(between(1, 20, N), ( p(N, X), q(N, Y), X == Y )), forall(between(1, 5, N), ( p(N, f(Z, N)), Z == N )).
p(N, f(N, N)) :- ( N mod 4 =:= 0 -> garbage_collect ; true ).
q(N, f(N, N)) :- garbage.
garbage.
",
        &["--values", "p/2", "--values", "q/2"],
    );
    assert_eq!(counts(&profiled, "p/2"), [25, 19, 6]);
    assert_eq!(counts(&profiled, "q/2"), [20, 20, 0]);
    let p = figures(&profiled, "p/2");
    // The second time the result is given in part.
    assert_eq!(p.arguments[1].bound_in, 5);
    assert_eq!((p.again, p.same), (0, 0));
}

/// Results of calls that were made before, and arguments that make no difference.
#[test]
fn results_are_compared() {
    let profiled = record(
        "\
:- initialization(main, main).
:- dynamic n/1.
n(0).
main :- forall(between(1, 40, N), ( M is N mod 8, ignore(square(M, _)), ignore(square(M, _)), price(N, M, _), count(M, _) )).
square(N, S) :- N < 6, S is N*N.
price(_Day, M, P) :- P is M*3.
count(_, N) :- retract(n(N0)), N is N0+1, assertz(n(N)).
",
        &["--values", "user:*"],
    );
    let square = figures(&profiled, "square/2");
    assert_eq!((square.calls, square.exits), (80, 60));
    // 30 numbers of two goals, and those that fail.
    assert_eq!((square.again, square.same), (72, 72));
    let price = figures(&profiled, "price/3");
    assert_eq!((price.again, price.same), (0, 0));
    let [day, number, _] = price.arguments[..] else {
        panic!("{price:?}");
    };
    assert_eq!((day.varied, day.varied_same), (32, 32));
    assert_eq!((number.varied, number.varied_same), (0, 0));
    let count = figures(&profiled, "count/2");
    assert_eq!((count.again, count.same), (32, 0));
}

/// Solutions of one call are compared with each other, and with those of a later call.
#[test]
fn solutions_are_compared() {
    let profiled = record(
        "\
:- initialization(main, main).
main :- forall(between(1, 10, _), forall(p(a, _), true)), forall(q(_), true).
p(a, X) :- member(X, [1, 1, 2, 1]).
q(X) :- member(X, [1, f(_), f(_), 2]).
",
        &["--values", "user:*"],
    );
    let p = figures(&profiled, "p/2");
    assert_eq!((p.further, p.repeated), (30, 20));
    assert_eq!((p.again, p.same), (9, 9));
    assert_eq!((p.again_later, p.same_later), (27, 27));
    // What is not ground is not compared.
    let q = figures(&profiled, "q/1");
    assert_eq!((q.further, q.repeated), (1, 0));
}

/// Calls with variables in their arguments are variants of each other. A result with variables in
/// it is another one each time.
#[test]
fn variants_are_compared() {
    let profiled = record(
        "\
:- initialization(main, main).
main :- forall(between(1, 20, N), ( M is N mod 4, closed(k(M, _), _), open(k(M, _), _), other(k(M, _), N, _) )).
closed(k(M, _), [M, M]).
open(k(M, _), f(M, _)).
other(k(M, _), N, S) :- S is M*N.
",
        &["--values", "user:*"],
    );
    let variants = |name| {
        let figures = figures(&profiled, name);
        (
            figures.variants,
            figures.variants_known,
            figures.variants_same,
        )
    };
    assert_eq!(variants("closed/2"), (16, 16, 16));
    assert_eq!(variants("open/2"), (0, 0, 0));
    assert_eq!(variants("other/3"), (0, 0, 0));
}

/// Each of two conversions undoes the other.
#[test]
fn to_and_fro() {
    let profiled = record(
        "\
:- initialization(main, main).
main :- atom_codes(abcdefghijkl, Codes), loop(50, Codes).
loop(0, _) :- !.
loop(N, Codes) :- text(Codes, Text), codes(Text, Again), M is N-1, loop(M, Again).
text(Codes, t(Text)) :- atom_codes(Text, Codes).
codes(t(Text), Codes) :- atom_codes(Text, Codes).
",
        &["--values", "user:*"],
    );
    assert_eq!(
        undone(&profiled),
        [("text/2", "codes/2", 50), ("codes/2", "text/2", 49)]
    );
}

/// A name around a variable is a place for a result, of which the text is told.
#[test]
fn a_result_stands_inside_a_name() {
    let profiled = record(
        "\
:- initialization(main, main).
main :- loop(60, \"2024-01-01T00:00:00\").
loop(0, _) :- !.
loop(N, Time0) :- later(Time0, Time), M is N-1, loop(M, Time).
later(Time0, Time) :- parse_time(Time0, Stamp0), Stamp is Stamp0+60, format_time(string(Time), \"%FT%T\", Stamp).
",
        &["--values", "parse_time/2", "--values", "format_time/3"],
    );
    let format = figures(&profiled, "system:format_time/3");
    assert_eq!((format.calls, format.exits), (60, 60));
    let [place, text, stamp] = format.arguments[..] else {
        panic!("{format:?}");
    };
    assert_eq!((place.bound_in, place.bound_out), (0, 60));
    assert_eq!((text.distinct_in, stamp.distinct_in), (1, 60));
    // Each text but the last is parsed, which gives the stamp that it was made of.
    assert_eq!(
        undone(&profiled),
        [("system:format_time/3", "date:parse_time/2", 59)]
    );
}

/// The first calls of a goal are looked at, then some that follow one another.
#[test]
fn of_many_calls_some_are_looked_at() {
    let profiled = record(
        "\
:- initialization(main, main).
:- set_prolog_flag(gc, false).
main :- count(0), deep(40000, _).
count(N) :- N < 40000, !, one(N, _), M is N+1, count(M).
count(_).
one(N, N).
deep(0, 0) :- !.
deep(N, M) :- N1 is N-1, deep(N1, M1), M is M1+1.
",
        &["--values", "one/2", "--values", "deep/2"],
    );
    // 2048 calls, and 64 of each 4096 after that.
    let looked_at = 2048 + 9 * 64;
    assert_eq!(counts(&profiled, "one/2"), [looked_at, looked_at, 0]);
    let deep = [looked_at + 1, looked_at + 1, 0];
    assert_eq!(counts(&profiled, "deep/2"), deep);
}

/// The ports of a recording with values are those of one without.
#[test]
fn ports_are_the_same() {
    let ports = |options: &[&str]| {
        let profiled = record(GROWING, options);
        (profiled.calls_and_exits(), profiled.port_events())
    };
    assert_eq!(ports(&[]), ports(&["--values", "*"]));
}

#[test]
fn the_tables_and_refusals() {
    let sandbox = Sandbox::with("p.pl", GROWING);
    sandbox
        .portmortem(["record", "--values", "step/3", "p.pl"])
        .succeeds();
    let query = |query: &str| sandbox.portmortem(["query", "p.pmt", query, "--format", "csv"]);
    let query_values =
        "SELECT predicate, caller, line, argument, calls, bound_in, bound_out FROM argument_values";
    query(query_values)
        .succeeds()
        .shows("step/3,grow/3,5,3,100,0,100");
    query("SELECT predicate, given, result, handed_on FROM value_pairs")
        .succeeds()
        .shows("step/3,2,3,99");
    sandbox.portmortem(["verify", "p.pmt"]).succeeds();
    let report = ["report", "p.pmt", "--predicate", "step/3"];
    let report = sandbox.portmortem(report);
    report.succeeds().shows(
        "what comes out as argument 3 goes in as argument 2 of the next call: 99 of 100 times",
    );
    sandbox.portmortem(["index", "p.pmt"]).succeeds();
    let indexed = sandbox.portmortem(["report", "p.pmt", "--predicate", "step/3"]);
    assert_eq!(report.out(), indexed.out());
    sandbox
        .portmortem(["record", "--force", "--values", "*", "--ports", "p.pl"])
        .exits(2)
        .says("--ports");
    sandbox
        .portmortem(["record", "--force", "--values", "stop/3", "p.pl"])
        .exits(0)
        .says("--values stop/3: no predicate that matches was called");
}
