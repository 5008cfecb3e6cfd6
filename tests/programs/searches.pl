% The engine searches its index of libraries for a predicate that is not there.
:- initialization(main, main).

main :-
    forall(between(1, 100, I), \+ has_rule(opt(I))),
    write('none of 100'), nl.

has_rule(Goal) :- predicate_property(Goal, defined).
