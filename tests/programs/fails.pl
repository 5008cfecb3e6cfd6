/*  Trap: a goal that fails: after backtracking through everything, exit status 1.
*/

:- initialization(main, main).

main :-
    writeln(start),
    choice(X), choice(Y),
    writeln(X-Y),
    X+Y > 10,
    writeln(unreached).

choice(1).
choice(2).
