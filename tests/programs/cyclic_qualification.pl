% A cyclic module qualification of a meta-argument: the engine raises an error, except that it crashes after the
% first call of the predicate. What is qualified may be cyclic, also if it is qualified twice.
:- initialization(main, main).
:- meta_predicate qualified(:), goal(0).

qualified(_).

goal(_:Goal) :- functor(Goal, Name, _), print(Name), nl.

main :-
    T = a:T,
    catch(qualified(T), E, true),
    E = error(type_error(Type, _), context(PI, _)),
    print(Type-PI), nl,
    G = g(G),
    goal(G),
    goal(a:b:G).
