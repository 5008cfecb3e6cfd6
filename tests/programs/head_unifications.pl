% The compiler moves unifications at the beginning of a body into the head. A copy of such a clause must
% still share the argument, not lose it; loops over a structure must run in constant space.
:- initialization(main, main).

main :-
    a(f(1), A), print(A), nl,
    b(f(1), B), print(B), nl,
    c(f(1), C), print(C), nl,
    d(f(1), D), print(D), nl,
    phrase(sign(S), `-`), print(S), nl,
    shared(g(_), Same), print(Same), nl,
    current_prolog_flag(argv, Arguments),
    ( Arguments = [Atom] -> atom_number(Atom, N) ; N = 100000 ),
    walk(s(N, 0)).

a(O, S) :- O = f(P), ( P == 2 -> S = 1 ; S = O ).
b(O, S) :- O = f(P), ( P == 1 -> S = O ; S = O ).
c(O, S) :- O = f(P), P == 1, S = O.
d(O, S) :- O = f(P), P == 1, !, e(O, S).
e(O, O).

sign(minus) --> "-".
sign(plus) --> "+".

%   Not only equal but the same term.
shared(T, Same) :- T = g(X), X = 1, setarg(1, T, 2), ( arg(1, T, 2) -> Same = yes ; Same = no ).

walk(State) :- State = s(0, Sum), !, statistics(localused, Used),
    ( Used < 1000000 -> Space = constant ; Space = grows ), print(Sum-Space), nl.
walk(State) :- State = s(N, Sum), N1 is N-1, Sum1 is Sum+N, walk(s(N1, Sum1)).
