% A left-recursive predicate is tabled while the program runs; without its table it would not end.

:- initialization(main, main).

e(a, b). e(b, c). e(c, a).

r(X, Y) :- e(X, Y).
r(X, Y) :- r(X, Z), e(Z, Y).

main :-
    once(r(a, First)), print(First), nl,
    table(r/2),
    findall(Y, r(a, Y), L), sort(L, S), print(S), nl,
    untable(r/2),
    once(r(b, Again)), print(Again), nl.
