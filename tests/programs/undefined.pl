/*  Trap: undefined predicates: called and caught, called through call/N, in
    another module, called with unknown set to fail, defined just in time, and
    at last not caught.
*/

:- initialization(main, main).

main :-
    try(nowhere(1)),
    try(call(nowhere, 1, 2)),
    try(other:nowhere),
    try(maplist(nowhere, [1])),
    try(forgiving),
    later(X), writeln(X),
    deep(3).

try(G) :-
    catch(( G -> writeln(true) ; writeln(false) ),
          error(existence_error(What, PI), _),
          ( print(What-PI), nl )).

forgiving :- lenient:go.

:- set_prolog_flag(lenient:unknown, fail).
lenient:go :- lenient:nowhere.

later(X) :- assertz(made(just_in_time)), made(X).

deep(0) :- nowhere_at_all.
deep(N) :- N > 0, N1 is N-1, deep(N1).
