:- initialization(main, main).
:- use_module(library(dif)). :- use_module(library(when)).
w(X) :- print(woken(X)), nl.
fw(X) :- X > 2.
main :-
  freeze(X, w(X)), X = 1,
  ( freeze(Y, fw(Y)), member(Y, [1,2,3,4]), print(Y), nl, fail ; true ),
  findall(A-B, ( dif(A, B), member(A, [1,2]), member(B, [1,2]) ), L), print(L), nl,
  when((nonvar(P), nonvar(Q)), ( w(P), w(Q) )), P = 1, Q = 2,
  h(Z), Z = 5, frozen(Z, G), print(G), nl,
  freeze(V, throw(woke(V))), catch(V = 3, E, ( print(E), nl )),
  freeze(V2, ( w(V2) ; w(alt(V2)) )), V2 = 7, u(V2), !.
h(Z) :- freeze(Z, k(Z)).
k(5) :- w(k).
u(7) :- true.
u(_).
