/*  Trap: predicates made by expansion while loading: term_expansion/2 (a clause
    into several, into none, new predicates, a directive), goal_expansion/2, a
    grammar rule of our own, dicts, conditional compilation, and
    library(apply_macros), which makes auxiliary predicates.
*/

:- use_module(library(apply_macros)).

:- initialization(main, main).

:- op(1200, xfx, --->).

term_expansion(colours(L), Clauses) :-
    findall(colour(C, N), nth1(N, L, C), Clauses).
term_expansion(forget_me, []).
term_expansion(make(Name), [Rule, (:- dynamic(Fact/1))]) :-
    atom_concat(Name, '_count', Fact),
    Head =.. [Name, X],
    G =.. [Fact, X],
    Rule = (Head :- aggregate_all(count, G, X)).
term_expansion((H ---> B), (H :- writeln(rule), B)).

goal_expansion(twice(X, Y), Y is X*2).
goal_expansion(nothing, true).

colours([red, green, blue]).
forget_me.
make(visits).

hello(X) ---> X = hello.

main :-
    forall(colour(C, N), writeln(N-C)),
    twice(21, X), writeln(X),
    nothing,
    visits(V0), assertz(visits_count(a)), visits(V1), writeln(V0-V1),
    hello(H), writeln(H),
    maplist(scaled(10), [1,2,3], L), writeln(L),
    forall(member(Y, [1,2]), even_or_odd(Y)),
    (   catch(forget_me, error(existence_error(_, _), _), fail) -> writeln(kept) ; writeln(forgotten) ),
    conditional(W), writeln(W),
    distance(_{x: 3, y: 4}, D), writeln(D).

scaled(K, X, Y) :- Y is K*X.

even_or_odd(X) :- ( 0 =:= X mod 2 -> writeln(even) ; writeln(odd) ).

:- if(current_prolog_flag(bounded, false)).
conditional(unbounded).
:- else.
conditional(bounded).
:- endif.

distance(P, D) :- D is sqrt(P.x**2+P.y**2).
