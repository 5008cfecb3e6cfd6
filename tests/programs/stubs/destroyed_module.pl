% Clauses go on whose module has been destroyed; and so does a body of call/1.
:- initialization(main, main).
main :-
    make(tmp1, M1), assertz((M1:p(X) :- q(X), '$destroy_module'(M1), user:q(X), user:q(X))),
    assertz((M1:q(X) :- print(X), nl)),
    @(M1:p(1), M1), print(here), nl,
    make(tmp2, M2),
    @(('$destroy_module'(M2), user:q(2), (user:q(3);true), user:q(4), user:q(6)), M2),
    print(end), nl.
make(A, M) :- atom_concat(A, x, M), set_module(M:class(temporary)).
q(X) :- print(X), nl.
