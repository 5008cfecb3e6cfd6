% An error on determinism names the program's predicates.
:- initialization(main, main).
:- det(p/1).
:- det(r/1).

p(X) :- q(X).
q(1).
q(2).
r(X) :- s(X).
s(1) :- fail.

main :-
    forall(member(G, [p(_), r(_)]),
           ( catch(G, error(E, _), true), print(E), nl )).
