/*  Calls predicates of libraries that are not loaded, and hooks of the program run while they are.
*/

:- initialization(main, main).
:- multifile user:term_expansion/2.

user:term_expansion(never, []).

main :-
    twice,
    twice,
    pairs,
    print(done),
    nl.

twice :-
    numlist(1, 5, List),
    sum_list(List, Sum),
    foldl(add, List, 0, Sum),
    partition(big, List, Big, _),
    last(Big, 5).

pairs :-
    list_to_assoc([a-1], One),
    put_assoc(b, One, 2, Two),
    assoc_to_list(Two, [_, _]).

add(X, Y, Z) :- Z is X+Y.

big(X) :- X > 3.
