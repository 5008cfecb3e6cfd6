:- module(m28, []).
:- initialization(main, main).
:- use_module(library(lists)).
:- meta_predicate mp(0), mp2(1, ?).
mp(G) :- call(G).
mp2(G, X) :- call(G, X), true.
t :- a:as(_), @(ctx, b28), b28:ctx.
:- module_transparent ctx/0.
ctx :- context_module(M), print(M), nl.
main :- assertz(a:as(1)), assertz((a:as(X) :- lists:member(X, [2,3]))), t, findall(X, a:as(X), L), print(L), nl, mp(a:as(Y)), print(Y), nl, mp2(a:as, Z), print(Z), nl, add_import_module(b28, m28, start), b28:h(1), '$set_source_module'(Old, Old), print(Old), nl.
h(X) :- print(h(X)), nl.
