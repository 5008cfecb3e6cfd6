% The program puts wrappers of its own around predicates, at load time and later, and takes them off.

:- use_module(library(prolog_wrap)).
:- initialization(main, main).

p(X) :- q(X).
q(1).
q(2).

early(X) :- q(X).
:- wrap_predicate(early(X), load_time, W, ( W, X > 1 )).

again(X) :- early(X), true.

count(0) :- !.
count(N) :- N1 is N-1, count(N1).

main :-
    all(p(X), X),
    wrap_predicate(q(A), mine, W, ( print(before), nl, W, print(after(A)), nl )),
    all(p(X), X),
    wrap_predicate(q(A2), other, W2, ( W2, A2 =:= 2 )),
    all(p(X), X),
    unwrap_predicate(q/1, mine), all(p(X), X),
    unwrap_predicate(q/1, Name), print(Name), nl, all(p(X), X),
    ( unwrap_predicate(q/1, More) -> print(More) ; print(none) ), nl,
    all(again(X), X),
    nb_setval(count, 0),
    count(10),
    wrap_predicate(count(_), counts, W3, ( nb_getval(count, C0), C is C0+1, nb_setval(count, C), W3 )),
    count(10), nb_getval(count, C1), print(C1), nl.

all(Goal, X) :-
    findall(X, Goal, L), print(L), nl.
