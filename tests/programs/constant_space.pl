% Loops by last calls through predicates that have no copies: user-defined meta-predicates, dynamic, multifile, transparent and `det` ones.

:- initialization(main, main).
:- meta_predicate times(+, 0).
:- dynamic changing/1.
:- multifile open/1.
:- module_transparent transparent/1.
:- det(certain/1).

times(0, _) :- !.
times(N, Goal) :- call(Goal), N1 is N-1, times(N1, Goal).

changing(0) :- !.
changing(N) :- N1 is N-1, changing(N1).

open(0) :- !.
open(N) :- N1 is N-1, open(N1).

transparent(0) :- !.
transparent(N) :- N1 is N-1, transparent(N1).

certain(0) :- !.
certain(N) :- N1 is N-1, certain(N1).

main :-
    current_prolog_flag(argv, Arguments),
    ( Arguments = [Text|_] -> atom_number(Text, N) ; N = 10000 ),
    times(N, true), print(times), nl,
    changing(N), print(changing), nl,
    open(N), print(open), nl,
    transparent(N), print(transparent), nl,
    certain(N), print(certain), nl.
