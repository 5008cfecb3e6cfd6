/*  Trap: halt/1 in the middle, five boxes deep, with choicepoints open, a
    pending cleanup and an at_halt/1 hook.  The trace must be complete up to
    there, and the exit status must be the program's.
*/

:- initialization(main, main).

main :-
    at_halt(writeln('at halt')),
    writeln(start),
    choice(X),
    setup_call_cleanup(true, one(X), writeln('cleanup is not run')),
    writeln(unreached).

choice(1).
choice(2).

one(X) :- choice(Y), two(X, Y), writeln(unreached).
two(X, Y) :- X+Y =:= 3, !, writeln(halting), halt(3).
two(_, _) :- three.
three :- choice(X), X > 1, fail.
