% Predicates that have clauses of their own in each thread: the engine crashes if they are wrapped.
:- initialization(main, main).
:- thread_local p/1.

main :-
    length(Threads, 30),
    concurrent_maplist(work, Threads),
    garbage_collect_atoms,
    garbage_collect_clauses,
    concurrent_maplist(work, Threads),
    garbage_collect_atoms,
    writeln(done).

work(_) :-
    forall(between(1, 100, I), assertz(p(I))),
    p(50),
    !,
    forall(between(1, 90, I), retract(p(I))).
