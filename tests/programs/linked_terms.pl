% A term that is linked into another one stays as it was when the engine backtracks, if nothing but our
% choicepoint would have made the engine note its bindings.
:- initialization(main, main).

main :-
    in_argument(S), print(S), nl,
    in_global, nb_getval(key, V), print(V), nl.

in_argument(S) :- S = s(_), ( set(S), fail ; true ).
set(S) :- L = [1|T], bind(T), nb_linkarg(1, S, L).

in_global :- ( L = [1|T], bind(T), nb_linkval(key, L), fail ; true ).

bind([2]).
