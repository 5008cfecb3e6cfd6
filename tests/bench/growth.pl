% Programs whose counts are known functions of the size of their input.

% Not loaded when it is first called, which would be timed.
:- use_module(library(lists)).
:- use_module(library(random)).

run(Name, Size, Seed) :-
    set_random(seed(Seed)),
    input(Name, Size, Goal),
    call(Goal).

input(nrev, N, nrev(L, _)) :- numlist(1, N, L).
input(quicksort, N, qsort(L, _, [])) :- findall(X, (between(1, N, _), X is random(1000000000)), L).
input(hanoi, N, hanoi(N, a, b, c)).
input(fib, N, fib(N, _)).

nrev([], []).
nrev([X|T], R) :- nrev(T, R0), app(R0, [X], R).

app([], L, L).
app([X|T], L, [X|R]) :- app(T, L, R).

qsort([], L, L).
qsort([X|T], L, L0) :-
    part(T, X, Small, Large),
    qsort(Large, L1, L0),
    qsort(Small, L, [X|L1]).

part([], _, [], []).
part([X|T], Y, Small, Large) :-
    (   X < Y
    ->  Small = [X|Small1],
        part(T, Y, Small1, Large)
    ;   Large = [X|Large1],
        part(T, Y, Small, Large1)
    ).

hanoi(0, _, _, _) :- !.
hanoi(N, A, B, C) :-
    N1 is N-1,
    hanoi(N1, A, C, B),
    hanoi(N1, C, B, A).

fib(0, 0) :- !.
fib(1, 1) :- !.
fib(N, F) :-
    N1 is N-1, N2 is N-2,
    fib(N1, F1), fib(N2, F2),
    F is F1+F2.
