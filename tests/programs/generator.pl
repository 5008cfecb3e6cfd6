/*  Trap: a recursive generator (swi-prolog.md, trap 3).

    The k-th solution of gen/3 comes out of k boxes, each of which is redone
    for the next: n solutions are n(n+1)/2 exits and as many redos.  The
    recursive call is a last call but leaves the choicepoint of its clause
    behind.  Time and space of the recording must be linear in the solutions,
    and the report must have the exact counts: 5,000,050,000 redos for
    100,000 solutions.

    Argument: the number of solutions, 1,000 if there is none.
*/

:- initialization(main, main).

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [Arg|_] -> atom_number(Arg, N) ; N = 1 000 ),
    aggregate_all(count, gen(1, N, _), Count),
    writeln(Count),
    Half is N//2,
    once(( gen(1, N, X), X >= Half )),
    writeln(X).

%!  gen(+I, +N, -X)
%
%   X is I, or a later integer up to N.  The last solution leaves a
%   choicepoint too, which fails when it is tried.

gen(I, _, I).
gen(I, N, X) :-
    I < N,
    I1 is I+1,
    gen(I1, N, X).
