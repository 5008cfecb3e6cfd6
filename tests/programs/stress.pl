% Threads that call, load, collect, assert and retract while other threads' code gets its stubs.
:- initialization(main, main).
:- dynamic fact/2, rule/1.

main :-
    numlist(1, 6, Ns),
    findall(Id, ( member(N, Ns), thread_create(work(N), Id, []) ), Ids),
    collect(30),
    maplist(joined, Ids),
    % Not among the threads: 9.0.4 sometimes loses a thread then, also unrecorded.
    forall(between(1, 12, Round), engine(1, Round)),
    aggregate_all(count, fact(_, _), Count),
    print(facts(Count)), nl.

joined(Id) :-
    thread_join(Id, Status),
    (   Status == true
    ->  true
    ;   print(Status), nl
    ).

collect(0) :- !.
collect(N) :-
    garbage_collect, garbage_collect_atoms, garbage_collect_clauses,
    N1 is N-1,
    collect(N1).

work(N) :- forall(between(1, 12, Round), round(N, Round)).

round(N, Round) :-
    atomic_list_concat([gen, N, '_', Round], Name),
    forall(clause_of(Name, Clause), assertz(Clause)),
    Goal =.. [Name, 15, S],
    call(Goal),
    S > 0,
    load(N, Round),
    assertz(fact(N, Round)),
    churn(100),
    garbage_collect,
    catch(raises(Round), _, true),
    (   Round mod 3 =:= 0
    ->  garbage_collect_clauses, garbage_collect_atoms
    ;   true
    ),
    functor(Generated, Name, 2),
    retractall(Generated).

clause_of(Name, (Head :- X > 0, member(_, [a,b]), X1 is X-1, Goal, S is S1+1)) :-
    Head =.. [Name, X, S],
    Goal =.. [Name, X1, S1].
clause_of(Name, Head) :-
    Head =.. [Name, 0, 0].

load(N, Round) :-
    atomic_list_concat([mod, N], M),
    format(string(Text), ":- module(~w, []).~np(X) :- q(X), \\+ r(X).~nq(~w).~nq(b).~nr(c).~n", [M, Round]),
    setup_call_cleanup(open_string(Text, In), load_files(M, [stream(In), silent(true)]), close(In)),
    findall(X, M:p(X), Xs),
    length(Xs, 2).

churn(0) :- !.
churn(N) :-
    assertz(rule(N)),
    (   rule(N), true
    ->  ignore(retract(rule(N)))
    ;   true
    ),
    N1 is N-1,
    churn(N1).

raises(N) :- N mod 2 =:= 0, !, throw(even).
raises(_) :- atom_length(abc, _).

engine(N, Round) :-
    engine_create(X, fact(N, X), E),
    findall(_, ( between(1, Round, _), engine_next(E, _) ), Found),
    length(Found, Round),
    engine_destroy(E).
