/*  For tests that kill: works for ever in boxes of every kind (determinate,
    nondeterminate, redone, failed, cut, exceptions), in bounded space.  Prints
    `ready` after a first round, so that a trace has boxes whenever it is killed.
    With an argument N it stops after N rounds more and prints `done`.
*/

:- initialization(main, main).

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [Arg|_] -> atom_number(Arg, Rounds) ; Rounds = inf ),
    round(0),
    writeln(ready), flush_output,
    forall(between(1, Rounds, I), round(I)),
    writeln(done).

round(I) :-
    N is I mod 20+1,
    numlist(1, N, L),
    reversed(L, R), R = [N|_],
    (   picked(X, L), X > N -> true ; true ),
    once(picked(_, R)),
    catch(thrower(N), ball(_), true),
    descend(N).

reversed([], []).
reversed([X|Xs], R) :- reversed(Xs, R0), added(R0, X, R).

added([], X, [X]).
added([Y|Ys], X, [Y|Zs]) :- added(Ys, X, Zs).

picked(X, [X|_]).
picked(X, [_|Xs]) :- picked(X, Xs).

thrower(0) :- throw(ball(0)).
thrower(N) :- N1 is N-1, thrower(N1), true.

descend(0) :- !.
descend(N) :- N1 is N-1, descend(N1).
