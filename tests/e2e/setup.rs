//! Preparing a program for its recording with ports: work in proportion to what is new, and no
//! error of the program's.

use portmortem_tests::Sandbox;

/// Records the programs that `program` makes for several sizes. Each predicate is looked at a few times, however many directives there are.
fn is_linear(program: impl Fn(u32) -> String) {
    for size in [200, 800] {
        let text = format!(
            ":- initialization(main, main).\nmain :- portmortem:'$looked_at'(N), print(N), nl.\n{}",
            program(size)
        );
        let sandbox = Sandbox::with("p.pl", &text);
        let outcome = sandbox.portmortem(["record", "--ports", "p.pl"]);
        outcome.exits(0);
        let looked_at: u32 = outcome.out().trim().parse().unwrap();
        assert!(
            (size..20 * size + 1000).contains(&looked_at),
            "{looked_at} predicates looked at for {size}"
        );
    }
}

fn lines(size: u32, line: impl Fn(u32) -> String) -> String {
    (0..size).map(line).collect()
}

#[test]
fn directives_look_at_what_is_new() {
    is_linear(|size| lines(size, |n| format!("p{n}(a).\n:- p{n}(a).\n")));
}

#[test]
fn grammar_rules_look_at_what_is_new() {
    is_linear(|size| lines(size, |n| format!("p{n} --> [a].\n")));
}

#[test]
fn declarations_look_at_what_is_new() {
    is_linear(|size| {
        lines(size, |n| {
            format!(
                ":- dynamic p{n}/1.\n:- assertz(p{n}(a)).\n:- discontiguous q{n}/1.\nq{n}(a).\n"
            )
        })
    });
}

#[test]
fn files_that_the_program_loads_look_at_what_is_new() {
    is_linear(|size| {
        format!(
            ":- initialization(load).
             load :- forall(between(1, {size}, N), load(N)).
             load(N) :- format(atom(Id), 'file~w', [N]), format(string(Text), 'p~w(a).~n', [N]),
                        setup_call_cleanup(open_string(Text, S), load_files(Id, [stream(S)]), close(S)).\n"
        )
    });
}

/// Predicates that come up in all ways that there are, each called once as soon as it can be.
#[test]
fn predicates_of_all_ways_are_recorded() {
    let sandbox = Sandbox::with(
        "p.pl",
        ":- initialization(main, main).
         loaded(a).
         :- loaded(a).
         :- dynamic declared/1.
         :- \\+ declared(a).
         :- assertz(asserted(a)), asserted(a).
         :- assertz((rule(X) :- X == a)), rule(a).
         :- include(part).
         :- included(a).
         :- load_files(compiled, [qcompile(always)]).
         :- compiled(a).
         :- dynamic copied/1.
         :- copy_predicate_clauses(loaded/1, copied/1).
         :- copied(a).
         :- dynamic fixed/1.
         fixed(a).
         :- compile_predicates([fixed/1]), fixed(a).
         term_expansion(make(P), P).
         make(expanded(a)).
         :- expanded(a).
         :- compile_aux_clauses([auxiliary(a)]).
         :- auxiliary(a).
         other:qualified(a).
         :- other:qualified(a).
         main :- last(a), consult(late), late(a), open_string(\"streamed(a).\", S), load_files(streamed, [stream(S)]), streamed(a).
         last(a).
        ",
    );
    sandbox.write("part.pl", "included(a).\n");
    sandbox.write("compiled.pl", "compiled(a).\n");
    sandbox.write("late.pl", "late(a).\n");
    sandbox
        .portmortem(["record", "--ports", "p.pl"])
        .exits(0)
        .prints("");
    let profiled = portmortem_tests::Profiled::of(&sandbox.path("p.pmt"));
    for name in [
        "loaded",
        "declared",
        "asserted",
        "rule",
        "included",
        "compiled",
        "copied",
        "fixed",
        "expanded",
        "auxiliary",
        "other:qualified",
        "last",
        "late",
        "streamed",
    ] {
        let row = profiled.find(&format!("{name}/1"));
        assert_eq!(row.map(|row| row.calls), Some(1), "{name}/1");
    }
}

/// The program itself makes the recorder fail, at the copy of one predicate.
#[test]
fn an_error_of_the_recorder_is_a_note() {
    let sandbox = Sandbox::with(
        "p.pl",
        ":- initialization(main, main).
         :- use_module(library(prolog_wrap)).
         :- wrap_predicate(portmortem_copies:store_clause(_, Clause, _, _), test, Wrapped,
                           ( arg(1, Clause, Head), functor(Head, kind, _) -> throw(injected) ; Wrapped )).
         main :- kinds(3, Ks), print(Ks), nl, kind(4, K), print(K), nl, findall(Any, kind(1, Any), L), print(L), nl.
         kinds(0, []) :- !.
         kinds(N, [K|Ks]) :- kind(N, K), N1 is N-1, kinds(N1, Ks).
         kind(N, K) :- even(N), K = even.
         kind(N, K) :- odd(N), K = odd.
         kind(_, unknown).
         even(N) :- 0 is N mod 2.
         odd(N) :- 1 is N mod 2.
        ",
    );
    let unrecorded = sandbox.swipl(["p.pl"]);
    unrecorded
        .exits(0)
        .prints("[odd,even,odd]\neven\n[odd,unknown]\n");
    let outcome = sandbox.portmortem(["record", "--ports", "p.pl"]);
    outcome
        .exits(0)
        .prints(&unrecorded.out())
        .says("not copied: user:kind/2 (injected)");
    sandbox.portmortem(["verify", "p.pmt"]).exits(0);
    let profiled = portmortem_tests::Profiled::of(&sandbox.path("p.pmt"));
    let calls = ["kinds/2", "kind/2", "even/1", "odd/1"].map(|name| profiled.row(name).calls);
    assert_eq!(calls, [4, 5, 5, 3]);
}

/// The same while the wrapper of a predicate is changed, because its file is loaded again: no old copy answers.
#[test]
fn an_error_when_a_file_is_loaded_again_is_a_note() {
    let sandbox = Sandbox::with(
        "p.pl",
        ":- initialization(main, main).
         :- use_module(library(prolog_wrap)).
         :- dynamic fails/0.
         :- wrap_predicate(portmortem_engine:wrap_in_place(Head, Name, _, _), test, Wrapped,
                           ( Name == portmortem, Head = _:kind(_), fails -> throw(injected) ; Wrapped )).
         text(Text) :- setup_call_cleanup(open_string(Text, S), load_files(kinds, [stream(S)]), close(S)).
         main :- kind(1), assertz(fails), text(\"kind(2). kind(3).\"), \\+ kind(1), kind(2),
                 text(\"kind(3).\"), \\+ kind(2), kind(3), writeln(ok).
         :- text(\"kind(1). kind(2).\").
        ",
    );
    sandbox.swipl(["p.pl"]).exits(0).prints("ok\n");
    sandbox
        .portmortem(["record", "--ports", "p.pl"])
        .exits(0)
        .prints("ok\n");
    sandbox.portmortem(["verify", "p.pmt"]).exits(0);
    sandbox
        .portmortem(["info", "p.pmt"])
        .exits(0)
        .shows("not recorded: user:kind/1 (injected)");
}
