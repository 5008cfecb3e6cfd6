/*  Trap: the cut, wherever it can stand.

    Each t/2 clause prints which solutions are left.  Every cut that drops
    exited boxes must be recorded with their exact number.
*/

:- initialization(main, main).

main :-
    findall(Name, clause(t(Name, _), _), Names0),
    sort(Names0, Names),
    forall(member(Name, Names),
           ( findall(X, t(Name, X), Xs), format("~w: ~w~n", [Name, Xs]) )).

t(first, X)        :- first(X).
t(middle, X-Y)     :- middle(X, Y).
t(last, X-Y)       :- last_goal(X, Y).
t(then_fail, X)    :- then_fail(X).
t(in_or, X)        :- in_or(X).
t(in_or_second, X) :- in_or_second(X).
t(in_then, X)      :- in_then(X).
t(in_else, X)      :- in_else(X).
t(in_condition, X) :- in_condition(X).
t(in_soft, X)      :- in_soft(X).
t(after_soft, X)   :- after_soft(X).
t(in_not, X)       :- in_not(X).
t(in_call, X)      :- in_call(X).
t(in_variable, X)  :- in_variable(X).
t(in_findall, X)   :- in_findall(X).
t(in_catch, X)     :- in_catch(X).
t(in_once, X)      :- once(p(X)).
t(two, X-Y-Z)      :- two(X, Y, Z).
t(many, N)         :- many(N).
t(by_caller, X)    :- by_caller(X).
t(deep, X)         :- p(X), deep(X), !.

p(1).
p(2).
p(3).

q(2).
q(3).

first(X) :- !, p(X).
first(0).

middle(X, Y) :- p(X), !, p(Y).
middle(0, 0).

last_goal(X, Y) :- p(X), q(Y), X =:= Y, !.
last_goal(0, 0).

then_fail(X) :- p(X), X >= 2, !, fail.
then_fail(0).

in_or(X) :- ( p(X), X > 1, ! ; X = 9 ).
in_or(0).

in_or_second(X) :- ( p(X), X > 5, ! ; p(X), X > 1, ! ; X = 9 ).
in_or_second(0).

in_then(X) :- ( p(Y), Y > 1 -> !, p(X) ; X = 9 ).
in_then(0).

in_else(X) :- ( q(1) -> X = 9 ; p(X), ! ).
in_else(0).

in_condition(X) :- ( p(Y), !, Y > 1 -> X = 9 ; p(X) ).
in_condition(0).

in_soft(X) :- ( p(X), ! *-> true ; X = 9 ).
in_soft(0).

after_soft(X) :- ( p(X) *-> X > 1, ! ; X = 9 ).
after_soft(0).

in_not(X) :- \+ ( p(Y), !, Y > 1 ), p(X).
in_not(0).

in_call(X) :- call(( p(X), ! )).
in_call(0).

in_variable(X) :- G = !, p(X), G.
in_variable(0).

in_findall(X) :- findall(Y, ( p(Y), ! ), X).
in_findall(0).

in_catch(X) :- catch(( p(X), X > 1, ! ), _, true).
in_catch(0).

two(X, Y, Z) :- p(X), !, q(Y), !, p(Z).
two(0, 0, 0).

%   Twenty boxes with choicepoints are dropped by one cut.

many(N) :- length(L, 20), all_p(L), !, sum_list(L, N).

all_p([]).
all_p([X|Xs]) :- p(X), all_p(Xs).

%   The callee leaves choicepoints, the caller cuts them.

by_caller(X) :- nondet(X), !.

nondet(X) :- p(Y), q(Z), X is Y*Z, X > 5.

deep(X) :- deeper(X), !.
deep(9).

deeper(X) :- q(X), !.
