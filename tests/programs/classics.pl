/*  Small classic programs to be run by a goal (there is no main/0 and nothing
    runs on loading): recorded with --goal, and with --all for those with many
    solutions.
*/

%!  nrev_times(+Length, +Times)
%
%   Naive reverse of a list of Length, Times times over.

nrev_times(Length, Times) :-
    numlist(1, Length, List),
    (   between(1, Times, _), nrev(List, _), fail
    ;   true
    ).

nrev([], []).
nrev([X|Xs], R) :- nrev(Xs, R0), app(R0, [X], R).

app([], L, L).
app([X|Xs], Ys, [X|Zs]) :- app(Xs, Ys, Zs).

%!  queens(+N, -Rows) is nondet.

queens(N, Rows) :- numlist(1, N, All), place(All, [], Rows).

place([], Rows, Rows).
place(Free, Placed, Rows) :-
    sel(Row, Free, Rest),
    \+ attack(Row, 1, Placed),
    place(Rest, [Row|Placed], Rows).

sel(X, [X|Xs], Xs).
sel(X, [Y|Ys], [Y|Zs]) :- sel(X, Ys, Zs).

attack(Row, Distance, [Other|_]) :- Row =:= Other+Distance.
attack(Row, Distance, [Other|_]) :- Row =:= Other-Distance.
attack(Row, Distance, [_|Others]) :- Distance1 is Distance+1, attack(Row, Distance1, Others).

%!  hanoi(+Discs, -Moves)

hanoi(Discs, Moves) :- hanoi(Discs, a, b, c, Moves, []).

hanoi(0, _, _, _, Moves, Moves) :- !.
hanoi(N, From, To, Via, Moves0, Moves) :-
    N1 is N-1,
    hanoi(N1, From, Via, To, Moves0, [From-To|Moves1]),
    hanoi(N1, Via, To, From, Moves1, Moves).

%!  tak(+X, +Y, +Z, -A)

tak(X, Y, Z, A) :- X =< Y, !, Z = A.
tak(X, Y, Z, A) :-
    X1 is X-1, Y1 is Y-1, Z1 is Z-1,
    tak(X1, Y, Z, A1),
    tak(Y1, Z, X, A2),
    tak(Z1, X, Y, A3),
    tak(A1, A2, A3, A).

%!  perm(+List, -Permutation) is nondet.

perm([], []).
perm(L, [X|Xs]) :- sel(X, L, Rest), perm(Rest, Xs).

%!  slow_sort(+List, -Sorted) is nondet.

slow_sort(L, S) :- perm(L, S), ordered(S).

ordered([]).
ordered([_]).
ordered([X,Y|Zs]) :- X =< Y, ordered([Y|Zs]).

%!  color(-Colours) is nondet.
%
%   Colour a map of six regions with three colours.

color([A,B,C,D,E,F]) :-
    next_to(A, B), next_to(A, C), next_to(A, D),
    next_to(B, C), next_to(C, D), next_to(D, E),
    next_to(E, F), next_to(F, B).

next_to(red, green).
next_to(red, blue).
next_to(green, red).
next_to(green, blue).
next_to(blue, red).
next_to(blue, green).

%!  ackermann(+M, +N, -A)

ackermann(0, N, A) :- !, A is N+1.
ackermann(M, 0, A) :- !, M1 is M-1, ackermann(M1, 1, A).
ackermann(M, N, A) :-
    M1 is M-1, N1 is N-1,
    ackermann(M, N1, A1),
    ackermann(M1, A1, A).

%!  derivative(+Expression, -Derivative)
%
%   Symbolic, for x.

derivative(x, 1) :- !.
derivative(N, 0) :- number(N), !.
derivative(U+V, DU+DV) :- derivative(U, DU), derivative(V, DV).
derivative(U*V, U*DV+V*DU) :- derivative(U, DU), derivative(V, DV).
derivative(U^N, N*U^M*DU) :- number(N), M is N-1, derivative(U, DU).

derive_times(N) :-
    (   between(1, N, _), derivative((x+1)*(x^2+2)*(x^3+3), _), fail
    ;   true
    ).
