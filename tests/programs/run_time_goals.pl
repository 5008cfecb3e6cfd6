% Goals that are known at run time only: a cut or a condition in an argument means what it means when the argument is called.

:- initialization(main, main).

main :-
    first(true, A), print(A), nl,
    number(!, B), print(B), nl,
    t(alternative((true->fail), true, _)),
    t(alternative((!,fail), true, _)),
    t(alternative(fail, !, _)),
    t(alternative((fail*->true), true, _)),
    t(collected((true->fail), _)),
    t(collected(!, _)),
    t(collected((fail->true), _)),
    t(collected((true*->true), _)),
    t(every(!)),
    t(every((true->fail))),
    t(one(_, !)),
    t(one(_, user:!)),
    t(maybe(_, (fail->true))),
    t(nested(!, _)),
    t(negated(!, _)),
    t(in_module(user, !, _)),
    t(sorted(!, _)),
    t(caught(!, _)).

t(Goal) :-
    (   catch(Goal, error(Error, _), true)
    ->  \+ \+ ( numbervars(Goal-Error, 0, _), print(Goal-Error) )
    ;   \+ \+ ( numbervars(Goal, 0, _), print(no(Goal)) )
    ),
    nl.

m(1). m(2). m(3).

first(Test, X)       :- findall(Y, (m(Y), Test), [X|_]).
number(Test, N)      :- aggregate_all(count, (m(_), Test), N).
alternative(G, H, L) :- findall(X, (m(X), (G;H)), L).
collected(G, L)      :- findall(X, (G;m(X)), L).
every(G)             :- forall((m(X), G), X == 1).
one(X, G)            :- once((m(X), G, X > 1)).
maybe(X, G)          :- ignore((G;m(X))).
nested(G, L)         :- findall(X, (m(X), once((m(Y), G, Y >= X))), L).
negated(G, L)        :- findall(X, (m(X), \+ (m(Y), G, Y > X)), L).
in_module(M, G, L)   :- findall(X, (m(X), M:G), L).
sorted(G, L)         :- setof(X-Y, (m(X), m(Y), G), L).
caught(G, L)         :- findall(X, catch((m(X), G), _, true), L).
