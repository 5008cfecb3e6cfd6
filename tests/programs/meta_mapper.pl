/*  A module of meta-predicates, for meta_modules.pl. */

:- module(meta_mapper, [map/3, each/2, twice/1, fold/4, both/2, count_solutions/2, parse/2]).

:- meta_predicate
    map(2, ?, ?),
    each(1, +),
    twice(0),
    fold(3, +, +, -),
    both(0, 0),
    count_solutions(0, -),
    parse(//, +).

map(_, [], []).
map(G, [X|Xs], [Y|Ys]) :- call(G, X, Y), map(G, Xs, Ys).

each(G, L) :- forall(member(X, L), call(G, X)).

twice(G) :- call(G), call(G).

fold(_, [], A, A).
fold(G, [X|Xs], A0, A) :- call(G, X, A0, A1), fold(G, Xs, A1, A).

both(A, B) :- A, B.

count_solutions(G, N) :- aggregate_all(count, G, N).

parse(Body, Codes) :- phrase(Body, Codes).

%   Private, and the same names as in meta_client: must not be mixed up.

helper(X, mapper(X)).
show(X) :- format("mapper shows ~w~n", [X]).
