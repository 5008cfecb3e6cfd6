//! `portmortem advise` says nothing that is untrue: programs with which a finding would be one.

use portmortem_tests::Sandbox;
use portmortem_tracer::format::Event;
use serde_json::Value;

use super::advise::{causes, finding, findings, findings_on, says};

/// The findings on a program, recorded with more options.
fn findings_with(sandbox: &Sandbox, options: &[&str], program: &str) -> Vec<Value> {
    sandbox.write("program.pl", program);
    let command = ["record", "program.pl", "--force", "-o", "run.pmt"];
    sandbox
        .portmortem(command.iter().chain(options).copied())
        .exits(0);
    findings(sandbox)
}

fn of_cause<'f>(findings: &'f [Value], cause: &str) -> Vec<&'f Value> {
    let all = findings.iter();
    all.filter(|one| one["cause"] == cause).collect()
}

/// A goal in an argument is called by the goal that has it, and not after that; a condition, a
/// negated goal and an alternative may fail, and the clause goes on.
#[test]
fn what_fails_is_no_step_after_what_has_worked() {
    let sandbox = Sandbox::new();
    let program = "
        :- initialization(main, main).
        :- use_module(library(when)).
        main :- forall(between(1, 300, I), forall(member(G, [once, catch, maplist, when, condition, negated, either]), ( run(G, I) -> true ; true ))),
            forall(between(1, 300, I), ( late(I) -> true ; true )).
        run(once, A) :-
            once(
                check(A)),
            true.
        run(catch, A) :-
            catch(
                check(A), _, true),
            true.
        run(maplist, A) :-
            maplist(
                check, [A]),
            true.
        run(when, A) :-
            when(( nonvar(A), nonvar(A) ),
                check(A)).
        run(condition, A) :-
            A mod 2 =:= 0,
            work(A),
            ( memberchk(cut, [a, b]) -> true ; true ).
        run(negated, A) :-
            A mod 2 =:= 0,
            work(A),
            \\+ memberchk(cut, [a, b]).
        run(either, A) :-
            A mod 2 =:= 0,
            work(A),
            ( memberchk(cut, [a, b]) ; true ).
        late(A) :-
            work(A),
            ( A > 0 -> rejects(A) ; true ).
        rejects(A) :- memberchk(A, [1, 2, 3]).
        check(A) :- work(A), A mod 2 =:= 0.
        work(_) :- w(200).
        w(0) :- !.
        w(N) :- N1 is N-1, w(N1).
        ";
    for options in [&[][..], &["--ports"]] {
        let found = findings_with(&sandbox, options, program);
        let late = of_cause(&found, "failing-late");
        let titles: Vec<_> = late.iter().map(|one| &one["title"]).collect();
        // What is said is true.
        assert_eq!(
            titles,
            ["rejects/1 fails after work/1 has worked"],
            "{options:?}"
        );
    }
}

/// What writes by a library, by what a library calls, or to a global variable, and what reads
/// clauses that change meanwhile, may not be tabled; what reads clauses that were made before, or
/// makes a text, may be.
#[test]
fn what_depends_on_more_than_its_arguments_repeats_nothing() {
    let sandbox = Sandbox::new();
    let program = "
        :- initialization(main, main).
        :- dynamic([item/1, fixed/1]).
        main :- assertz(item(1)), assertz(fixed(1)), run(1100).
        run(0) :- !.
        run(N) :-
            shows(N), reads(N), computes(N), stores(N), counts(N), texts(N), retract(item(X)), Y is X+1, assertz(item(Y)),
            M is N-1,
            run(M).
        shows(_) :- w(1000), listing(fixed/1).
        stores(N) :- w(1000), maplist(note, [N]).
        note(N) :- assertz(noted(N)).
        counts(N) :- w(1000), nb_setval(last, N).
        texts(N) :- w(4000), list_to_assoc([open-N], All), get_assoc(open, All, M), format(atom(_), 'read ~w', [M]).
        reads(_) :- item(_), w(1000).
        computes(_) :- fixed(_), w(5000).
        w(0) :- !.
        w(N) :- M is N-1, w(M).
        ";
    let found = findings_on(&sandbox, program);
    let may = of_cause(&found, "may-repeat");
    let named = may[0]["evidence"].as_str().unwrap();
    assert!(named.contains("computes/1 (1,100 calls"), "{named}");
    assert!(named.contains("texts/1 (1,100 calls"), "{named}");
    for other in ["shows/1", "reads/1", "stores/1", "counts/1"] {
        assert!(!named.contains(other), "{named}");
    }
    let all = [
        "shows/1",
        "reads/1",
        "computes/1",
        "stores/1",
        "counts/1",
        "texts/1",
    ];
    let options: Vec<&str> = all.iter().flat_map(|of| ["--arguments", of]).collect();
    // Each call has another number.
    let same = program.replace(
        "shows(N), reads(N), computes(N), stores(N), counts(N), texts(N)",
        "shows(a), reads(a), computes(a), stores(a), counts(a), texts(a)",
    );
    let found = findings_with(&sandbox, &options, &same);
    let repeated = of_cause(&found, "repeated-calls");
    let mut of: Vec<_> = repeated
        .iter()
        .map(|one| one["predicate"].as_str().unwrap())
        .collect();
    of.sort_unstable();
    assert_eq!(of, ["computes/1", "texts/1"]);
}

/// The time of a recursion is that of all its calls, and each call of it counts.
#[test]
fn a_recursion_has_all_its_calls_and_is_a_tree_only_if_it_branches() {
    let sandbox = Sandbox::new();
    let tree = findings_on(
        &sandbox,
        "
        :- initialization(main, main).
        main :- fib(16, F), print(F), nl.
        fib(0, 0) :- !.
        fib(1, 1) :- !.
        fib(N, F) :- A is N-1, B is N-2, fib(A, FA), fib(B, FB), F is FA+FB.
        ",
    );
    let hottest = finding(&tree, "hottest", "main/0", 3);
    says(&hottest, "in 3,193 calls, 3,192 of them recursive");
    let remedy = hottest["remedy"].as_str().unwrap();
    assert!(remedy.contains("fib/2 calls itself in a tree"), "{remedy}");
    for body in ["walk(I, M), tick(M)", "tick(M), walk(I, M)"] {
        let line = findings_on(
            &sandbox,
            &format!(
                "
                :- initialization(main, main).
                main :- forall(between(1, 200, I), walk(I, 500)).
                walk(_, 0) :- !.
                walk(I, N) :- M is N-1, {body}.
                tick(_).
                "
            ),
        );
        let hottest = of_cause(&line, "hottest")[0];
        assert!(!hottest.to_string().contains("in a tree"), "{hottest}");
    }
}

/// A goal that has run out of solutions rejects nothing; what fails in one place rejects nothing of
/// what the same predicate gives in another one; and what has one solution generates nothing.
#[test]
fn running_out_of_solutions_is_no_rejection() {
    let sandbox = Sandbox::new();
    let found = findings_on(
        &sandbox,
        "
        :- initialization(main, main).
        main :- ( between(1, 3000, X), inner(X), fail ; true ),
            ( between(1, 3000, X), \\+ one(X), fail ; true ),
            nb_setval(n, 0),
            repeat, nb_getval(n, N), M is N+1, nb_setval(n, M), M > 3000, !.
        inner(_) :-
            between(1, 2, Y),
            first(Y).
        first(1).
        one(X) :-
            value(X, V),
            V > 5000.
        value(X, X).
        value(X, 0) :- X > 4000.
        ",
    );
    assert!(!causes(&found).contains(&"generator"), "{found:#?}");
}

/// The clause is not to blame that calls what leaves choicepoints.
#[test]
fn choicepoints_are_of_what_leaves_them() {
    let sandbox = Sandbox::new();
    let program = "
        :- initialization(main, main).
        main :- numlist(1, 200000, L), walk(L, 0, S), print(S), nl.
        walk([], S, S).
        walk([X|Xs], S0, S) :-
            K is X mod 5,
            member(K-W, [0-1, 1-2, 2-3, 3-4, 4-5]),
            S1 is S0+W,
            walk(Xs, S1, S).
        ";
    for options in [&[][..], &["--clauses"]] {
        let found = findings_with(&sandbox, options, program);
        let unused = finding(&found, "unused-choicepoints", "walk/3", 7);
        assert_eq!(
            unused["title"],
            "choicepoints that lists:member/2 at line 7 of walk/3 leaves are never used"
        );
        says(
            &unused,
            "lists:member/2 left a choicepoint of its own at 160,000 of 200,000 exits; 160,000 of them (100 %)",
        );
        let said = unused.to_string();
        assert!(
            !said.contains("So did walk/3") && !said.contains("clause"),
            "{said}"
        );
    }
}

/// What runs directives of the files that it reads loads a program: another file each time.
#[test]
fn what_loads_parts_of_the_program_reads_nothing_again() {
    let sandbox = Sandbox::new();
    let found = findings_on(
        &sandbox,
        "
        :- initialization(main, main).
        main :- forall(between(1, 30, I), part(I)).
        part(I) :-
            atom_concat(part, I, Name),
            atom_concat(Name, '.pl', File),
            setup_call_cleanup(open(File, write, Out), format(Out, ':- work(~d).~n', [I]), close(Out)),
            consult(File).
        work(I) :- numlist(1, 2000, L), foldl([X,A,B]>>(B is A+X), L, I, _).
        ",
    );
    assert!(!causes(&found).contains(&"read-again"), "{found:#?}");
}

/// Each branch of a loop that ends in `fail` asks for the next solution, and rejects none.
#[test]
fn a_loop_with_branches_rejects_nothing() {
    let sandbox = Sandbox::new();
    let program = "
        :- initialization(main, main).
        :- dynamic([item/1, odd/1, even/1]).
        main :- forall(between(1, 3000, I), assertz(item(I))), sorts.
        sorts :-
            retract(item(I)),
            ( I mod 2 =:= 1 -> work(I), assertz(odd(I)) ; I mod 4 =:= 2 -> assertz(even(I)) ; assertz(even(0)) ),
            fail.
        sorts.
        work(_) :- w(50).
        w(0) :- !.
        w(N) :- M is N-1, w(M).
        ";
    for options in [&[][..], &["--ports"]] {
        let found = findings_with(&sandbox, options, program);
        assert!(
            !causes(&found).contains(&"generator"),
            "{options:?} {found:#?}"
        );
    }
}

/// To look at arguments takes long where they are large: it is no work.
#[test]
fn time_of_hashing_belongs_to_no_box() {
    let program = "
        :- initialization(main, main).
        main :- numlist(1, 900, L), forall(between(1, 50, _), f(L)).
        f(_).
        ";
    for recorder in [&[][..], &["--ports"]] {
        let options = [&["--arguments", "f/1"][..], recorder].concat();
        let profiled = Sandbox::new().record("p", program, &options);
        let stream = &profiled.trace.streams()[0];
        // Where the processor was taken away, a box of that may stand between.
        let events = profiled.trace.events(stream).map(|one| one.event);
        let is_of_it =
            |one: &Event| matches!(one, Event::Pause | Event::Resume | Event::Arguments(_));
        let events: Vec<Event> = events.filter(is_of_it).collect();
        let is_left_out =
            |steps: &&[Event]| matches!(steps, [Event::Pause, Event::Resume, Event::Arguments(_)]);
        let calls = events.windows(3).filter(is_left_out);
        assert_eq!(calls.count(), 50, "{recorder:?}");
        assert!(profiled.profile.streams[0].paused_ticks > 0);
    }
}

/// What a library does is seen with `--libraries`; after that no finding asks for it again.
#[test]
fn libraries_that_are_recorded_are_not_asked_for() {
    let sandbox = Sandbox::new();
    let program = "
        :- use_module(library(clpfd)).
        :- initialization(main, main).
        main :- findall(Qs, queens(6, Qs), _).
        queens(N, Qs) :- length(Qs, N), Qs ins 1..N, safe(Qs), label(Qs).
        safe([]).
        safe([Q|Qs]) :- no_attack(Q, Qs, 1), safe(Qs).
        no_attack(_, [], _).
        no_attack(Q, [P|Ps], D) :-
            Q #\\= P, abs(Q - P) #\\= D, D1 is D+1, no_attack(Q, Ps, D1).
        ";
    for (options, asks) in [(&[][..], true), (&["--libraries"], false)] {
        let found = findings_with(&sandbox, options, program);
        let mut remedies = found.iter().filter_map(|one| one["remedy"].as_str());
        let says = remedies.any(|remedy| remedy.contains("record again with --libraries"));
        assert_eq!(says, asks, "{options:?}: {found:?}");
    }
}
