/*  Trap: a determinate last-call loop, which must record in constant stack
    space: one CALL, then a TAIL for each iteration.

    Argument: the number of iterations, 10,000,000 if there is none.
*/

:- initialization(main, main).

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [Arg|_] -> atom_number(Arg, N) ; N = 10 000 000 ),
    loop(0, N, Result),
    writeln(Result).

loop(N, N, Result) :- !, Result = N.
loop(I, N, Result) :-
    I1 is I+1,
    loop(I1, N, Result).
