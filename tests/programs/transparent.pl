/*  Trap: module-transparent predicates (swi-prolog.md, trap 2).  They run in
    the context of their caller: context_module/1, call/1 and assertz/1 in
    their clauses depend on it, as does a chain of them.
*/

:- initialization(main, main).

:- module_transparent where/1, relay/2, note/1, chain/2, choose/1.

main :-
    where(A), writeln(A),
    inner:ask(B), writeln(B),
    @(where(C), other), writeln(C),
    relay(local, D), writeln(D),
    inner:relayed(E), writeln(E),
    note(here), inner:noted,
    findall(X, noted(X), L1), findall(X, inner:noted(X), L2), writeln(L1-L2),
    chain(5, F), writeln(F),
    inner:chained(G), writeln(G),
    findall(X, choose(X), Xs), writeln(Xs),
    inner:chosen(Ys), writeln(Ys).

where(M) :- context_module(M).

%   Calls its argument in the module of the caller.

relay(Name, X) :- G =.. [Name, X], call(G).

local('local of user').

note(X) :- assertz(noted(X)).

chain(0, M) :- !, context_module(M).
chain(N, M) :- N1 is N-1, chain(N1, M).

choose(X) :- context_module(M), ( X = M ; call(local, X) ).

inner:ask(M) :- user:where(M).
inner:relayed(X) :- inner:go(X).
inner:go(X) :- @(user:relay(local, X), inner).
inner:local('local of inner').
inner:noted :- @(user:note(there), inner).
inner:chained(M) :- @(user:chain(5, M), inner).
inner:chosen(L) :- findall(X, @(user:choose(X), inner), L).
