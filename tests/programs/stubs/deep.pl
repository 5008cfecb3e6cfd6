:- initialization(main, main).
main :- len(1000000, L), sum(L, S), print(S), nl, rev(L, [], R), R = [F|_], print(F), nl, nondet(200000), garbage_collect, trim_stacks, sum(R, S2), print(S2), nl.
len(0, []) :- !. len(N, [N|T]) :- M is N-1, len(M, T).
sum([], 0). sum([X|T], S) :- sum(T, S0), S is S0+X.
rev([], A, A). rev([X|T], A, R) :- rev(T, [X|A], R).
nondet(0). nondet(N) :- ( N > 0 ; fail ), M is N-1, alt(M), nondet(M), !.
alt(_). alt(_) :- fail.
