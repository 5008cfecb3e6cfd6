:- initialization(main, main).
:- use_module(library(unix)).
main :- p(3, X), print(X), nl, flush_output, fork(Pid), go(Pid).
go(child) :- !, p(5, X), assertz((r(Y) :- p(2, Y))), r(Z), print(child(X, Z)), nl, flush_output, halt(3).
go(Pid) :- wait(Pid, S), p(4, X), print(parent(X, S)), nl.
:- dynamic r/1.
p(0, 0) :- !.
p(N, X) :- M is N-1, p(M, Y), X is Y+N.
