:- initialization(main, main).
:- dynamic c/1, q/1, self/1.
self(0) :- retract((self(0) :- _)), print(gone), nl, more(3).
self(1).
more(0) :- !. more(N) :- M is N-1, more(M), true.
c(0).
cnt :- retract(c(N)), !, M is N+1, assertz(c(M)).
body(I, (q(I) :- I > 0, more(2), self(1))).
main :- self(_), ( self(0) -> print(yes) ; print(no) ), nl,
  forall(between(1, 20000, _), cnt), c(X), print(X), nl,
  forall(between(1, 30000, I), ( body(I, B), assertz(B, R), ( q(I) -> true ; print(bad), nl ), erase(R) )),
  predicate_property(q(_), number_of_clauses(N)), print(N), nl,
  assertz((q(Y) :- assertz((q(Z) :- Z = Y, more(1))), more(1))), assertz(q(2)), findall(A, q(A), L), length(L, Len), print(Len), nl,
  forall(clause(q(_), true, Ref), erase(Ref)), garbage_collect_clauses, findall(A, q(A), L2), length(L2, Len2), print(Len2), nl.
