/*  The six programs that Mera et al. 2006 predict (section 6); the paper names them and does not print them.
    None of them is used for calibration.  The data are random; the size is always the same.

    input(Name, Size, Goal): a goal that runs the program on generated data.
*/

:- discontiguous input/3.

% The value of a polynomial at a point, by Horner's rule. Values stay below 2^60: integers of any size are another cost.

input(evpol, N, evpol(Cs, X, _)) :- items(N, Cs), X is random(3)+1.

evpol([], _, 0).
evpol([C|Cs], X, V) :- evpol(Cs, X, V0), V is V0*X+C.

% The moves of the towers of Hanoi.

input(hanoi, N, hanoi(N, A, B, C, _)) :- random_permutation([a, b, c], [A, B, C]).

hanoi(1, A, _, C, [move(A, C)]) :- !.
hanoi(N, A, B, C, Moves) :-
    N1 is N-1,
    hanoi(N1, A, C, B, First),
    hanoi(N1, B, A, C, Last),
    append_(First, [move(A, C)|Last], Moves).

% Naive reverse.

input(nrev, N, nrev(L, _)) :- items(N, L).

nrev([], []).
nrev([X|T], R) :- nrev(T, R0), append_(R0, [X], R).

% A palindrome that begins with the list.

input(palind, N, palind(L, _)) :- items(N, L).

palind([], []).
palind([X|T], [X|P]) :- palind(T, P0), append_(P0, [X], P).

% All sublists of a list.

input(powset, N, powset(L, _)) :- items(N, L).

powset([], [[]]).
powset([X|T], P) :- powset(T, P0), extend(P0, X, P).

extend([], _, []).
extend([S|Ss], X, [S, [X|S]|R]) :- extend(Ss, X, R).

input(append, N, append_(A, B, _)) :- items(N, A), items(N, B).

append_([], L, L).
append_([X|T], L, [X|R]) :- append_(T, L, R).

items(N, L) :- length(L, N), maplist(item, L).

item(X) :- X is random(1000).
