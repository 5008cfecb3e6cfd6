/*  Trap: deep recursion, not a last call, of meta-predicates and of a
    module-transparent predicate (swi-prolog.md, traps 1 and 2).  Finding the
    context module of each call must not walk over the whole stack.

    Argument: the depth, 3,000 if there is none.
*/

:- initialization(main, main).

:- meta_predicate map(2, ?, ?).
:- meta_predicate nest(+, 1, -).
:- module_transparent sink/2.

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [Arg|_] -> atom_number(Arg, N) ; N = 3 000 ),
    numlist(1, N, L),
    map(add_one, L, L1),
    last(L1, Last),
    writeln(Last),
    nest(N, positive, Count),
    writeln(Count),
    sink(N, Depth),
    writeln(Depth).

%   Not a last call: the element is checked after the rest.

map(_, [], []).
map(G, [X|Xs], [Y|Ys]) :-
    map(G, Xs, Ys),
    call(G, X, Y).

add_one(X, Y) :- Y is X+1.

nest(0, _, 0) :- !.
nest(N, G, Count) :-
    N1 is N-1,
    nest(N1, G, Count0),
    (   call(G, N) -> Count is Count0+1 ; Count = Count0 ).

positive(N) :- N > 0.

sink(0, 0) :- !.
sink(N, Depth) :-
    N1 is N-1,
    sink(N1, Depth0),
    context_module(user),
    Depth is Depth0+1.
