/*  Trap: deep recursion that is not a last call (swi-prolog.md, traps 1 and 4):
    no cost that grows with the depth of the stack, and a bounded number of
    bytes for an open box.

    Argument: the depth, 100,000 if there is none.
*/

:- initialization(main, main).

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [Arg|_] -> atom_number(Arg, N) ; N = 100 000 ),
    numlist(1, N, L),
    len(L, Length),
    writeln(Length),
    total(L, Total),
    writeln(Total),
    down_and_up(N, Ups),
    writeln(Ups).

len([], 0).
len([_|T], N) :-
    len(T, N0),
    N is N0+1.

total([], 0).
total([X|Xs], Sum) :-
    total(Xs, Sum0),
    Sum is Sum0+X.

%   Two predicates on the way down, a third on the way up.

down_and_up(0, 0) :- !.
down_and_up(N, Ups) :-
    N1 is N-1,
    other(N1, Ups0),
    up(Ups0, Ups).

other(N, Ups) :-
    down_and_up(N, Ups0),
    up(Ups0, Ups1),
    Ups is Ups1.

up(N0, N) :- N is N0+1.
