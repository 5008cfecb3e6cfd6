/*  Trap: meta-predicates across modules (swi-prolog.md, trap 2).

    meta_mapper exports mappers, meta_client calls them with closures over its
    own private predicates, some of which have namesakes in meta_mapper and
    here.  Recording must not lose the module of a closure.
*/

:- module(meta_modules, []).
:- use_module(meta_mapper).
:- use_module(meta_client).

:- initialization(main, main).

main :-
    run,
    map(helper, [3], L), writeln(L),
    twice(choice),
    meta_mapper:each(meta_client:show, [e]),
    G = meta_mapper:twice(show(f)), call(G),
    @(twice(show(g)), meta_client),
    findall(X, meta_client:choice(X), Xs), writeln(Xs).

helper(X, main(X)).
show(X) :- format("main shows ~w~n", [X]).

choice :- writeln(once_more).

meta_other:helper(X, other(X)).
