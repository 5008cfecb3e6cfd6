% Static predicates become dynamic and are changed while the program runs, after they were called.

:- initialization(main, main).

main :-
    findall(X, p(X), L1), print(L1), nl,
    dynamic(p/1), retract(p(2)),
    findall(X, p(X), L2), print(L2), nl,
    l(through), dynamic([s/1]), l(through), retract(s(1)), l(through), retractall(s(2)), l(through),
    forall(clause(s(_), true, Ref), erase(Ref)), l(through),
    retractall(brand_new(_)), l(brand_new),
    dynamic(a/1), abolish(a/1), l(a),
    catch(thread_local(t/1), error(E, _), ( print(E), nl )), l(t),
    thread_create(l(t), Thread), thread_join(Thread).

l(P) :-
    G =.. [P, X],
    catch(findall(X, G, L), error(E, _), L = E),
    print(P-L), nl.

p(1). p(2). p(3).
s(1). s(2). s(3).
through(X) :- s(X).
a(1). a(2).
t(1).
