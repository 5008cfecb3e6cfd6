:- initialization(main, main).
:- set_prolog_flag(stack_limit, 20000000).
main :- t(inf(0)), t(grow([])), t(chp(0)), catch(t(catcher(3)), again, (print(again), nl)), print(done), nl.
t(G) :- catch(G, error(resource_error(R), _), ( print(R), nl )), deep(10000, X), print(X), nl.
inf(N) :- M is N+1, inf(M), true.
grow(L) :- grow([L,L|L]).
chp(N) :- M is N+1, ( chp(M) ; true ).
catcher(0) :- inf(0).
catcher(N) :- M is N-1, catch(catcher(M), error(resource_error(_), _), throw(again)), true.
catcher(_) :- print(alt), nl.
deep(0, 0) :- !. deep(N, X) :- M is N-1, deep(M, Y), X is Y+1.
