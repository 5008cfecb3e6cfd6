% A cyclic module qualification of a meta-argument: the engine raises an error, and crashes if the predicate is wrapped.
:- initialization(main, main).
:- meta_predicate qualified(:).

qualified(_).

main :-
    T = a:T,
    catch(qualified(T), E, true),
    E = error(type_error(Type, _), context(PI, _)),
    print(Type-PI), nl.
