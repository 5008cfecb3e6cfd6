/*  Libraries link terms and change them later: a copy would not change. */

:- initialization(main, main).
:- use_module(library(intercept)).
:- use_module(library(lazy_lists)).

main :-
    nb_intercept_all(X, numbers(1, 5), send(X), All),
    print(All), nl,
    State = count(0),
    lazy_list(next(State), List),
    length(Prefix, 5),
    append(Prefix, _, List),
    print(Prefix-State), nl,
    (   length(Longer, 7), append(Longer, _, List), print(Longer-State), nl, fail
    ;   print(State), nl
    ).

numbers(I, N) :- I > N, !.
numbers(I, N) :- send_signal(send(I)), I1 is I+1, numbers(I1, N).

next(State, [N|Tail], Tail) :-
    arg(1, State, N0),
    N is N0+1,
    nb_setarg(1, State, N).
