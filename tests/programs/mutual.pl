/*  Trap: last calls between different predicates.  A physical box departs into
    another predicate and back, a million times; a cycle of three; a cycle that
    leaves by failing, and one that leaves by an exception.

    Argument: the number of steps, 300,000 if there is none.
*/

:- initialization(main, main).

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [Arg|_] -> atom_number(Arg, N) ; N = 300 000 ),
    (   even(N) -> writeln(even) ; writeln(odd) ),
    (   even(7) -> writeln(even) ; writeln(odd) ),
    red(N, Colour),
    writeln(Colour),
    catch(falling(1 000), Ball, true),
    writeln(Ball),
    findall(C, red_nondet(6, C), Cs),
    writeln(Cs).

even(0) :- !.
even(N) :- N1 is N-1, odd(N1).

odd(N) :- N > 0, N1 is N-1, even(N1).

red(0, Colour) :- !, Colour = red.
red(N, Colour) :- N1 is N-1, green(N1, Colour).

green(0, Colour) :- !, Colour = green.
green(N, Colour) :- N1 is N-1, blue(N1, Colour).

blue(0, Colour) :- !, Colour = blue.
blue(N, Colour) :- N1 is N-1, red(N1, Colour).

falling(0) :- throw(landed).
falling(N) :- N > 0, N1 is N-1, rising(N1).

rising(N) :- falling(N).

%   The same cycle with a choicepoint left on each level.

red_nondet(_, red).
red_nondet(N, Colour) :- N > 0, N1 is N-1, green_nondet(N1, Colour).

green_nondet(_, green).
green_nondet(N, Colour) :- N > 0, N1 is N-1, red_nondet(N1, Colour).
