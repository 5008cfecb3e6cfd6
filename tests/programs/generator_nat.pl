/*  Trap: the other recursive generator, which is not a last call.  Each
    solution goes through a new box, and all older ones exit again: there is
    no short cut, n solutions are n(n+1)/2 exits that really happen.

    Argument: the number of solutions, 300 if there is none.
*/

:- initialization(main, main).

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [Arg|_] -> atom_number(Arg, N) ; N = 300 ),
    Last is N-1,
    nat(X), X >= Last, !,
    writeln(X).

nat(0).
nat(N) :-
    nat(M),
    N is M+1.
