% A wrapper is taken off while it runs, and calls what it was around.
:- initialization(main, main).

main :-
    wrap_predicate(q(_), first, First, ( take_off(first), First )),
    answers,
    answers,
    wrap_predicate(q(Y), inner, Inner, ( print(inner(Y)), nl, Inner )),
    wrap_predicate(q(_), outer, Outer, ( take_off(inner), Outer )),
    answers,
    answers.

take_off(Name) :-
    (   unwrap_predicate(q/1, Name)
    ->  print(off(Name))
    ;   print(still(Name))
    ),
    nl.

answers :-
    findall(X, p(X), Xs),
    print(Xs), nl.

p(X) :-
    q(X).

q(1).
q(2) :-
    r.

r.
