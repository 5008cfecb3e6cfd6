% Attributes of predicates are set after the predicates were called.

:- initialization(main, main).

a(1). a(2).
b(X) :- a(X).
c(X) :- m(X).
d(X) :- c(X).
m(1). m(2).

main :-
    l, '$set_predicate_attribute'(user:a(_), trace, false), noprofile(a/1),
    l, '$hide'(a/1), public(a/1),
    l, '$set_predicate_attribute'(user:a(_), spy, false), module_transparent(a/1),
    l, discontiguous(a/1), multifile(a/1),
    l, catch(assertz(a(3)), error(E, _), ( print(E), nl )),
    l, d(X), !, print(X), nl,
    '$set_predicate_attribute'(user:c(_), det, true),
    catch(( d(Y), print(Y) ), error(E2, _), print(E2)), nl,
    catch(( c(Z), print(Z) ), error(E3, _), print(E3)), nl.

l :-
    findall(X, b(X), L), print(L), nl.
