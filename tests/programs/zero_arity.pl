% Compounds without arguments, as heads, goals, arguments and data. functor/3 and (=..)/2 raise an
% error for them.

:- initialization(main, main).
:- dynamic fact/1.

main :-
    draw(),
    p(f()),
    catch(g(), error(E1, _), ( print(E1), nl )),
    G = h(),
    catch(G, error(E2, _), ( print(E2), nl )),
    call(k()),
    findall(X, member(X, [a(), b()]), Xs),
    print(Xs), nl,
    (   \+ no(), once(k()), forall(k(), k())
    ->  true
    ;   no()
    ),
    assertz(fact(f())),
    assertz((late() :- fact(Y), print(Y), nl)),
    late(),
    maplist(call, [k(), draw()]),
    rule(f()),
    current_predicate(late/0),
    predicate_property(late, dynamic),
    clause(user:late, Body),
    numbervars(Body, 0, _),
    print(Body), nl,
    abolish(late/0).

draw() :- writeln(draw).

p(X) :- print(X), nl.

k() :- writeln(k).

no() :- k(), fail.

rule(f()) => draw().
rule(_) => no().
