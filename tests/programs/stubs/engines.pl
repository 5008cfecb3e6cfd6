:- initialization(main, main).
main :-
    engine_create(X, gen(X), E, [alias(gen)]),
    engine_next(E, A), engine_next(E, B), print(A-B), nl,
    thread_create(move(E), T), thread_join(T),
    engine_next(E, D), print(D), nl,
    engine_destroy(E),
    engine_create(S, sum(0, S), E2), engine_post(E2, 1, S1), engine_post(E2, 2, S2), print(S1-S2), nl, engine_destroy(E2),
    engine_create(Y, (member(Y, [1,2]), Y > 5), E3), ( engine_next(E3, Z) -> print(Z) ; print(none) ), nl,
    engine_create(_, throw(oops), E4), catch(engine_next(E4, _), Err, (print(Err), nl)),
    forall(between(1, 50, I), ( engine_create(Q, gen(Q), En), engine_next(En, _), ( I mod 2 =:= 0 -> engine_destroy(En) ; true ))),
    garbage_collect, garbage_collect_atoms, print(done), nl.
move(E) :- engine_next(E, X), print(moved(X)), nl.
gen(X) :- between(1, inf, I), sq(I, X).
sq(I, X) :- X is I*I.
sum(S0, S) :- engine_fetch(X), S1 is S0+X, ( S = S1 ; sum(S1, S) ).
