:- initialization(main, main).
p(X) :- q(X). q(1). q(2) :- r.
r.
:- dynamic cnt/1. cnt(0).
main :- findall(X, p(X), L0), print(L0), nl, wrap_predicate(q(X), w, W, ( retract(cnt(N)), M is N+1, assertz(cnt(M)), W )), findall(Y, p(Y), L1), print(L1), nl, cnt(C), print(C), nl,
  wrap_predicate(q(X), v, W2, ( print(before), W2, print(after(X)), nl )), findall(Y, p(Y), L2), print(L2), nl, unwrap_predicate(q/1, w), findall(Y, p(Y), L3), print(L3), nl, unwrap_predicate(q/1, v), findall(Y, p(Y), L4), print(L4), nl, cnt(C2), print(C2), nl,
  assertz(q(3)) -> true ; true.
