%   Naive reverse of a list of 30 elements, 2,000 times: 992,000 calls of app/3 and nrev/2, the cheapest there are.

nrev30 :- numbers(1, 30, L), between(1, 2000, N), nrev(L, _), N >= 2000, !.

numbers(N, N, [N]) :- !.
numbers(I, N, [I|L]) :- I1 is I+1, numbers(I1, N, L).

nrev([], []).
nrev([H|T], R) :- nrev(T, R0), app(R0, [H], R).

app([], L, L).
app([H|T], L, [H|R]) :- app(T, L, R).
