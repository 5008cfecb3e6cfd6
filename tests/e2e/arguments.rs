//! `record --arguments`: what calls are made with, counted by hand for small programs.

use portmortem_analyzer::figures::arguments::{ArgumentFigures, SizeKind};
use portmortem_tests::{Profiled, Sandbox};
use portmortem_tracer::format::Event;

fn record(program: &str, options: &[&str]) -> Profiled {
    Sandbox::new().record("p", program, options)
}

/// Both recorders: stubs, and ports in copies of clauses.
fn both(program: &str, options: &[&str]) -> [Profiled; 2] {
    [&[][..], &["--ports"]].map(|recorder| record(program, &[options, recorder].concat()))
}

fn figures<'p>(profiled: &'p Profiled, predicate: &str) -> &'p ArgumentFigures {
    let all = &profiled.profile.arguments;
    let named = |at: &&u32| profiled.trace.predicate_name(**at) == predicate;
    let at = all.keys().find(named);
    &all[at.unwrap_or_else(|| panic!("no arguments of {predicate}"))]
}

/// Hashed, distinct, most repeated, not ground, too large.
fn counts(profiled: &Profiled, predicate: &str) -> [u64; 5] {
    let of = figures(profiled, predicate);
    assert!(!of.cut_short);
    [
        of.hashed,
        of.distinct,
        of.most_repeated,
        of.not_ground,
        of.too_large,
    ]
}

/// Least and greatest size of an argument, and in how many calls.
fn size(profiled: &Profiled, predicate: &str, argument: u8, kind: SizeKind) -> (i64, i64, u64) {
    let size = figures(profiled, predicate).sizes[&(argument, kind)];
    (size.least, size.greatest, size.calls)
}

const FIB: &str = "\
:- initialization(main, main).
main :- fib(12, _), len([a, b, c], _), len([a, b, c], _), loop(5, []).
fib(0, 1).
fib(1, 1).
fib(N, F) :- N > 1, A is N-1, B is N-2, fib(A, F1), fib(B, F2), F is F1+F2.
len([], 0).
len([_|T], N) :- len(T, M), N is M+1.
loop(0, _) :- !.
loop(N, L) :- M is N-1, loop(M, [N|L]).
";

/// Calls of fib(N) are those of fib(N-1) and fib(N-2), and one more: 465 for 12. Each is made with N and an unbound variable.
#[test]
fn calls_are_counted() {
    for mode in [
        &[][..],
        &["--ports"],
        &["--ports", "--no-tail"],
        &["--no-tail"],
        &["--byrd"],
        &["--wrappers-only"],
        &["--clauses"],
        &["--ports", "--clauses"],
        &["--no-boundary"],
    ] {
        let options = [
            &["--arguments", "fib/2", "--arguments", "user:l*"][..],
            mode,
        ]
        .concat();
        let profiled = record(FIB, &options);
        assert_eq!(counts(&profiled, "fib/2"), [465, 13, 144, 0, 0], "{mode:?}");
        assert_eq!(size(&profiled, "fib/2", 1, SizeKind::Integer), (0, 12, 465));
        assert_eq!(counts(&profiled, "len/2"), [8, 4, 2, 0, 0]);
        assert_eq!(size(&profiled, "len/2", 1, SizeKind::List), (0, 3, 8));
        // By last calls.
        assert_eq!(counts(&profiled, "loop/2"), [6, 6, 1, 0, 0]);
        assert_eq!(size(&profiled, "loop/2", 1, SizeKind::Integer), (0, 5, 6));
        assert_eq!(size(&profiled, "loop/2", 2, SizeKind::List), (0, 5, 6));
        assert_eq!(profiled.profile.arguments.len(), 3);
        assert_eq!(profiled.trace.with_arguments().len(), 3);
        let last_calls = profiled.row("loop/2").tail_calls;
        let is_boxed = mode.contains(&"--no-tail") || mode == ["--byrd"];
        assert_eq!(last_calls, if is_boxed { 0 } else { 5 });
    }
}

/// The ports of a recording with arguments are those of one without, and the program has the same answers.
#[test]
fn ports_are_the_same() {
    let ports = |options: &[&str]| {
        let profiled = record(FIB, options);
        (profiled.calls_and_exits(), profiled.port_events())
    };
    assert_eq!(ports(&[]), ports(&["--arguments", "*"]));
}

/// What is the same, and what is not.
#[test]
fn terms() {
    let program = "\
:- initialization(main, main).
:- set_prolog_flag(rational_syntax, compatibility).
main :- forall(pair(A, B), ( same(A), same(B) )),
    forall(differ(Ts), forall(member(T, Ts), other(T))),
    forall(ground_free(T), unhashed(T)),
    L = [a|L], large(L), numlist(1, 3000, Ns), large(Ns), large(f(Ns)),
    C = f(C, x), large(C), left(500, D), large(D), large(right(Ns)),
    right(1000, R), small(R), small(f(R)), left(150, S), small(S),
    freeze(V, true), unbound(V, _), put_attr(W, here, 1), unbound(x, W),
    unbound(X, X), unbound(X, X), unbound(_, _), unbound(X, Y), unbound(Y, X), unbound(_, a),
    none, none.
pair(f(a, \"text\"), f(a, \"text\")).
pair(\"wide \\u4e16\", B) :- atom_string(A, \"wide \\u4e16\"), atom_string(A, B).
pair(A, B) :- atom_concat(wide_, '\\u4e16', A), B = 'wide_\\u4e16'.
pair(A, B) :- A is 7**100, B is 7**99*7.
pair(A, B) :- A is 1r3, B is 2r6.
pair(A, A) :- A is nan.
pair([1, 2, 3], '[|]'(1, [2, 3])).
pair(A, A) :- stream_property(A, alias(user_input)).
pair(foo(), foo()).
pair(A, B) :- dict_pairs(A, t, [x-1]), dict_pairs(B, t, [x-1]).
differ([a, \"a\", f(a), f(\"a\"), a(), [a], [[a]], a-a]).
differ([[], '[]', \"[]\", '', \"\"]).
differ([A, B, 1, 1.0, \"1\", '1', 1r3]) :- A = 0.0, B is -0.0.
differ([A, B, C]) :- A is 2**64, B is -(2**64), C is 2**63-1.
differ([f(a, g(b, c)), f(a, g(b), c), f(g(a), b, c), f(a, b, g(c))]).
differ([A, B]) :- dict_pairs(A, t, [x-1]), dict_pairs(B, t, [x-2]).
ground_free(f(_)).
ground_free([a|_]).
ground_free(f(X, X)).
ground_free(T) :- freeze(X, true), T = g(a, X).
same(_).
other(_).
unhashed(_).
large(_).
small(_).
unbound(_, _).
none.
left(0, z) :- !.
left(N, s(T, a)) :- M is N-1, left(M, T).
right(0, z) :- !.
right(N, s(a, T)) :- M is N-1, right(M, T).
";
    for profiled in both(program, &["--arguments", "*"]) {
        assert_eq!(counts(&profiled, "same/1"), [20, 10, 2, 0, 0]);
        assert_eq!(counts(&profiled, "other/1"), [29, 29, 1, 0, 0]);
        assert_eq!(counts(&profiled, "unhashed/1"), [0, 0, 0, 4, 0]);
        assert_eq!(counts(&profiled, "large/1"), [0, 0, 0, 0, 6]);
        // The length of a list is known where its hash is not.
        let longest = size(&profiled, "large/1", 1, SizeKind::List);
        assert_eq!(longest, (3000, 3000, 1));
        assert_eq!(counts(&profiled, "small/1"), [3, 3, 1, 0, 0]);
        // Two variables that are the same, twice; two that are not, three times; one and an atom.
        assert_eq!(counts(&profiled, "unbound/2"), [6, 3, 3, 2, 0]);
        assert_eq!(counts(&profiled, "none/0"), [2, 1, 2, 0, 0]);
    }
}

/// An atom that is collected and made again is the same; so is one in another thread.
#[test]
fn atoms_come_and_go() {
    for profiled in both(
        "\
:- initialization(main, main).
main :- repeated(2000), thread_create(repeated(1000), Id, []), thread_join(Id, _).
repeated(N) :-
    forall(between(1, N, I),
           ( J is I mod 500, atom_concat(some_atom_, J, A), p(A),
             ( J =:= 0 -> garbage_collect_atoms ; true ) )).
p(_).
",
        &["--arguments", "p/1"],
    ) {
        assert_eq!(counts(&profiled, "p/1"), [3000, 500, 6, 0, 0]);
    }
}

/// All kinds of predicates, as they are wrapped.
#[test]
fn kinds_of_predicates() {
    for profiled in both(
        "\
:- initialization(main, main).
:- dynamic d/1.
:- table t/1.
:- meta_predicate m(0).
d(1). d(2).
main :- d(1), d(_), assertz(d(3)), d(3), d(1), t(1), t(1), m(true), m(true), m(fail), s(1, _), s(1, _),
    catch(e(1), _, true), catch(e(1), _, true), append([1], [2], _), append(_, _, [1]), pm_paused.
t(1).
m(G) :- ( G -> true ; true ).
s(X, Y), X > 0 => Y = a.
s(_, Y) => Y = b.
e(X) :- throw(X).
pm_paused :- pm_pause, d(1), d(2), pm_resume, d(1), !.
:- use_module(library(portmortem)).
",
        &["--arguments", "*/1", "--arguments", "s", "--arguments", "append/3", "--include", "user", "--include", "lists"],
    ) {
        assert_eq!(counts(&profiled, "d/1"), [5, 3, 3, 0, 0]);
        assert_eq!(counts(&profiled, "m/1"), [3, 2, 2, 0, 0]);
        assert_eq!(counts(&profiled, "s/2"), [2, 1, 2, 0, 0]);
        assert_eq!(counts(&profiled, "e/1"), [2, 1, 2, 0, 0]);
        assert_eq!(counts(&profiled, "t/1"), [2, 1, 2, 0, 0]);
        let append = figures(&profiled, "lists:append/3");
        assert!(append.hashed >= 2, "{append:?}");
    }
}

/// Recursion over a long list takes no quadratic time for its lengths, and constant stack.
#[test]
fn long_lists_and_loops() {
    for profiled in both(
        "\
:- initialization(main, main).
main :- numlist(1, 50000, L), last_of(L, _), count(0).
last_of([X], X) :- !.
last_of([_|T], X) :- last_of(T, X).
count(N) :- N < 300000, !, M is N+1, count(M).
count(_).
",
        &["--arguments", "last_of/2", "--arguments", "count/1"],
    ) {
        let [hashed, distinct, _, _, too_large] = counts(&profiled, "last_of/2");
        // A list of n elements has 2n + 1 cells; the other argument is one, and is compared with the list.
        assert_eq!((hashed, distinct, too_large), (2046, 2046, 47_954));
        let (least, greatest, _) = size(&profiled, "last_of/2", 1, SizeKind::List);
        assert_eq!((least, greatest), (1, 50_000));
        assert_eq!(counts(&profiled, "count/1"), [300_001, 300_001, 1, 0, 0]);
    }
}

/// Hashes have a credit for the whole run, and small terms are always hashed.
#[test]
fn a_term_that_each_call_passes_on() {
    for profiled in both(
        "\
:- initialization(main, main).
main :- numlist(1, 500, L), pass(60000, t(L)), small(60000, t(L)).
pass(0, _) :- !.
pass(N, T) :- M is N-1, pass(M, T).
small(0, _) :- !.
small(N, T) :- M is N-1, of(T, X), same(X), small(M, T).
of(t([X|_]), X).
same(_).
",
        &["--arguments", "pass/2", "--arguments", "same/1"],
    ) {
        let [hashed, distinct, _, _, too_large] = counts(&profiled, "pass/2");
        assert_eq!((hashed, distinct, too_large), (17_849, 17_849, 42_152));
        assert_eq!(counts(&profiled, "same/1"), [60_000, 1, 60_000, 0, 0]);
    }
}

/// A foreign predicate cannot have as many arguments as one of the program.
#[test]
fn many_arguments() {
    let sizes = [64, 65, 100, 300];
    let facts = sizes.map(|size| format!("p({}1).\n", "1, ".repeat(size - 1)));
    let calls = "main :- forall(( member(N, [64, 65, 100, 300]), functor(G, p, N) ), ( G, G )).\n";
    let program = format!(":- initialization(main, main).\n{calls}{}", facts.concat());
    for profiled in both(&program, &["--arguments", "p"]) {
        assert_eq!(counts(&profiled, "p/64"), [2, 2, 1, 0, 0]);
        assert_eq!(figures(&profiled, "p/64").sizes.len(), 4);
        for size in &sizes[1..] {
            let predicate = format!("p/{size}");
            assert_eq!(counts(&profiled, &predicate), [0, 0, 0, 0, 2]);
        }
    }
}

#[test]
fn the_report_and_refusals() {
    let sandbox = Sandbox::with("p.pl", FIB);
    sandbox
        .portmortem(["record", "--arguments", "fib/2", "p.pl"])
        .succeeds();
    let report = sandbox.portmortem(["report", "p.pmt", "--predicate", "fib/2"]);
    report
        .succeeds()
        .shows("465 calls, 13 distinct arguments; the most repeated 144 times")
        .shows("argument 1: an integer, 0 to 12");
    let query = "SELECT predicate, calls, \"distinct\", repeated FROM arguments";
    let query = sandbox.portmortem(["query", "p.pmt", query, "--format", "csv"]);
    query.succeeds().shows("fib/2,465,13,452");
    sandbox.portmortem(["verify", "p.pmt"]).succeeds();
    sandbox.portmortem(["index", "p.pmt"]).succeeds();
    let indexed = sandbox.portmortem(["report", "p.pmt", "--predicate", "fib/2"]);
    assert_eq!(report.out(), indexed.out());
    sandbox
        .portmortem([
            "record",
            "--force",
            "--arguments",
            "fib/2",
            "--symbolic",
            "p.pl",
        ])
        .exits(2)
        .says("--symbolic");
    sandbox
        .portmortem(["record", "--force", "--arguments", "fob/2", "p.pl"])
        .exits(0)
        .says("--arguments fob/2: no predicate that matches was called");
}

/// Without the option there is nothing of it in the trace.
#[test]
fn only_on_request() {
    let profiled = record(FIB, &[]);
    let stream = &profiled.trace.streams()[0];
    let said = profiled.trace.events(stream);
    let said = said.filter(|timed| matches!(timed.event, Event::Arguments(_)));
    assert_eq!(said.count(), 0);
    assert!(profiled.profile.arguments.is_empty());
}
