/*  Trap: a goal that throws.  Every open box gets an EXCEPTION, the message goes
    to standard error, and the exit status is the one of an unhandled exception
    (2 for initialization(main, main) in 9.0.4).
*/

:- initialization(main, main).

main :-
    writeln(start),
    one(1),
    writeln(unreached).

one(X) :- choice(X), two(X).
two(X) :- three(X), writeln(unreached).
three(X) :- throw(out_of_main(X)).

choice(1).
choice(2).
