/*  Naive reverse of lists of 10 to 50 elements, each size in a cost centre:
    for `portmortem predict`.
*/

:- use_module(library(portmortem)).
:- initialization(main, main).

main :- forall(member(N, [10,20,30,40,50]), run(N)).

run(N) :-
    numlist(1, N, List),
    format(atom(Size), 'n=~d', [N]),
    cost_center(Size, nrev(List, _)).

nrev([], []).
nrev([H|T], R) :- nrev(T, RT), app(RT, [H], R).

app([], L, L).
app([H|T], L, [H|R]) :- app(T, L, R).
