/*  Programs whose symbolic costs are known by hand: see tracer/swi/tests/costs.rs. Each goal is recorded on its own. */

:- use_module(library(portmortem)).

% lists

app([], L, L).
app([H|T], L, [H|R]) :- app(T, L, R).

nrev([], []).
nrev([H|T], R) :- nrev(T, RT), app(RT, [H], R).

forwards  :- app([1,2,3], [4], [1,2,3,4]).
appended  :- app([1,2,3], [4], _).
backwards :- app(_, _, [1,2]), fail.
backwards.
reversed  :- nrev([1,2,3,4,5,6,7,8,9,10], _).

mem(X, [X|_]).
mem(X, [_|T]) :- mem(X, T).

% what clauses are tried, and which choicepoints are left

s(a, 1).
s(b, 2).
s(a, 3).

no_head      :- \+ s(a, 4).
no_candidate :- \+ s(_, 9).
all_of_a     :- s(a, _), fail.
all_of_a.
first_of_a   :- s(a, _), !.

over(X, yes) :- X > 1, !.
over(_, no).

cuts :- over(2, A), over(0, B), A-B == yes-no.

r(1) :- throw(ball).
r(2).

thrown :- catch(r(_), ball, true).

alias(A, A).
aliased :- alias(_, _).

last_call(0).
last_call(N) :- N > 0, M is N-1, last_call(M).
loop :- last_call(3), !.

% control and built-ins

timed(X, Y) :- cost_center(timed, ( once(mem(X, [1,2,3])), Y is X+1 )).
center :- timed(_, _).

larger(X, Y, Z) :- ( X >= Y -> Z = X ; Z = Y ).
chosen :- larger(3, 5, Z), Z == 5.

absent(X, L) :- \+ mem(X, L).
negated :- absent(4, [1,2,3]).

squares(L) :- findall(X-Y, ( mem(X, [1,2,3]), Y is X*X ), L).
collected :- squares(L), length(L, 3).

poly(X, Y) :- Y is X*X*X + 2*X - max(X, 1).
arithmetic :- poly(3, Y), Y =:= 30.

wrapped(X) :- E = X+X, Y is E*2, Y > 0.
in_variables :- wrapped(4).

built(Y) :- Y = f(X, g(X)).
built_later(Y) :- atom(a), Y = f(X, g(X)).
matched_later(Y) :- atom(a), Y = f(_, g(_)).
unified :- built(_), built_later(Y), matched_later(Y).
