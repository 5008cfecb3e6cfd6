:- initialization(main, main).
:- det(dd/1).
len([], N) => N = 0.
len([_|T], N) => len(T, M), N is M+1.
mx(X, Y, Z), X >= Y => Z = X.
mx(_, Y, Z) => Z = Y.
ch(X, Y), member(X, [1,2]) ?=> Y = one.
ch(_, Y) => Y = two.
dd(X) :- member(X, [1,2]).
main :- len([a,b,c], N), print(N), nl, mx(1, 2, Z), print(Z), nl, findall(Y, ch(1, Y), L), print(L), nl, catch(len(foo, _), error(E, _), true), print(E), nl, catch(dd(_), error(E2, _), true), print(E2), nl, catch($(member(_, [1,2])), error(E3, _), true), print(E3), nl, s(3).
s(0), ! => true.
s(N) => M is N-1, $, s(M).
