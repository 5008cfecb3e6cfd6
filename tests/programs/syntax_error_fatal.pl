/*  Trap: a file whose main/0 itself does not parse: there is nothing to run. */

:- initialization(main, main).

main :-
    writeln(start)
    helper.

helper.
