/*  Trap: one predicate in several files and places: multifile, discontiguous,
    include/1, clauses for another module, a hook that a library calls
    (portray/1), and predicates reexported from a module.
*/

:- initialization(main, main).

:- multifile part/1.
:- discontiguous piece/1.
:- dynamic extra/1.

:- include(multifile_part).
:- use_module(multifile_module).

part(main).
piece(1).

main :-
    findall(X, part(X), Xs0), msort(Xs0, Xs), writeln(Xs),
    findall(X, piece(X), Ys), writeln(Ys),
    included(I), writeln(I),
    from_module(M), writeln(M),
    multifile_module:private(P), writeln(P),
    findall(X, multifile_module:extended(X), Es), writeln(Es),
    print([secret(1), shown(2)]), nl,
    reexported(3, R), writeln(R).

piece(2).

multifile_module:extended(by_main).

:- multifile user:portray/1.
:- dynamic user:portray/1.

user:portray(secret(_)) :- write('***').
