:- initialization(main, main).
:- thread_local t/2.
main :- numlist(1, 20, L), concurrent_maplist(w, L, R), print(R), nl, w(1, X), print(X), nl.
w(N, S) :- forall(between(1, 50, I), assertz((t(I, X) :- Y is I*N, q(Y, X)))), findall(X, t(_, X), Xs), sum_list(Xs, S), retract((t(1, _) :- _)), retractall(t(_, _)).
q(X, X).
