/*  The ten calibration programs of Mera et al. 2006, table 1, as their descriptions have them; the paper does
    not print them.  Each isolates one aspect of what resolution costs.  The size is the number of rounds, which a
    list counts: arithmetic would cost something of its own.

    input(Name, Size, Goal): a goal that runs the program on generated data.
*/

:- discontiguous input/3.

% Environments creation: clauses of several goals, of which only the last can take its caller's place.

input(environments, N, environments(L)) :- items(N, L).

environments([]).
environments([_|T]) :- branch, environments(T).

branch :- twig, twig.
twig :- leaf, leaf.
leaf.

% Predicates with no arguments: steps and nothing else.

input(no_arguments, N, no_arguments(L)) :- items(N, L).

no_arguments([]).
no_arguments([_|T]) :- steps, no_arguments(T).

steps :- step, step, step, step, step, step, step, step.
step.

% Traverse a list without last call optimization.

input(traverse, N, traverse(L)) :- items(N, L).

traverse([]).
traverse([_|T]) :- traverse(T), leaf.

% Traverse a list with last call optimization.

input(traverse_last, N, traverse_last(L)) :- items(N, L).

traverse_last([]).
traverse_last([_|T]) :- traverse_last(T).

% Program for which I(viunif) is known: variables of the head that take terms.

input(variables_in, N, variables_in(L, A, B, C, D)) :-
    items(N, L), item(A), item(B), item(C), item(D).

variables_in([], _, _, _, _).
variables_in([_|T], A, B, C, D) :- variables_in(T, B, C, D, A).

% Program for which I(vounif) is known: variables of the head that take variables.

input(variables_out, N, variables_out(L)) :- items(N, L).

variables_out([]).
variables_out([_|T]) :- outputs(A, B, C, D), outputs(A, B, C, D), variables_out(T).

outputs(A, A, B, B).

% Program (unifying deep terms) for which I(giunif) is known.

input(deep_in, N, deep_in(T)) :- deep(N, T).

deep_in(end).
deep_in(s(t(s(t(X))))) :- deep_in(X).

% Program (unifying flat terms) for which I(giunif) is known.

input(flat_in, N, flat_in(L)) :- items(N, L0), maplist(point, L0, L).

flat_in([]).
flat_in([point(x, y, z, u, v)|T]) :- flat_in(T).

% Program for which I(gounif) is known: terms of the head that are built because the caller passes a variable.

input(terms_out, N, terms_out(L, _)) :- items(N, L).

terms_out([], []).
terms_out([X|T], [f(X), Y, g(Y, a)|R]) :- terms_out(T, R).

% Predicate with many arguments.

input(many_arguments, N, many_arguments(L, A, B, C, D, E, F, _, _)) :-
    items(N, L), item(A), item(B), item(C), item(D), item(E), item(F).

many_arguments([], _, _, _, _, _, _, end, end).
many_arguments([_|T], A, B, C, D, E, F, G, H) :- many_arguments(T, B, C, D, E, F, A, H, G).

% Generated data.

items(N, L) :- length(L, N), maplist(item, L).

item(X) :- X is random(1000).

point(_, point(x, y, z, u, v)).

deep(0, end) :- !.
deep(N, s(t(s(t(X))))) :- M is N-1, deep(M, X).
