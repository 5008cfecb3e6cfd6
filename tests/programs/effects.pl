% A loop of effects, each a shift/1 that is handled and resumed: it is deterministic and runs in constant space.
:- initialization(main, main).

main :-
    current_prolog_flag(argv, Arguments),
    ( Arguments = [Atom] -> atom_number(Atom, N) ; N = 200000 ),
    loop(N),
    statistics(localused, Used),
    ( Used < 5000000 -> writeln(constant) ; writeln(grows) ).

loop(0) :- !.
loop(N) :- handle(N), N1 is N-1, loop(N1).

handle(N) :- reset(effect(N), get(X), Continuation), X = N, call(Continuation).
effect(N) :- shift(get(X)), X == N, true.
