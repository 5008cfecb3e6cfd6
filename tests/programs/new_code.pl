% Threads that make clauses, run them for the first time, and collect, for ever.
:- initialization(main, main).
:- dynamic made/1.

main :-
    thread_create(work, _),
    thread_create(work, _),
    write(working), nl,
    flush_output,
    work.

work :-
    repeat,
    once(makes(50)),
    catch(runs(50), _, true),
    garbage_collect,
    fail.

makes(0) :- !.
makes(N) :-
    member(X, [1,2]),
    X > 1,
    !,
    assertz((made(N) :- one(N), two(N))),
    N1 is N-1,
    makes(N1).

runs(N) :-
    findall(X, between(1, 5, X), Xs),
    forall(member(X, Xs), one(X)),
    ignore(made(N)),
    retractall(made(_)),
    throw(done).

one(_).
two(_).
