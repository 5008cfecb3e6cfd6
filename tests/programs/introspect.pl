/*  Trap: a program that looks at itself: current_predicate/1,2,
    predicate_property/2, clause/2,3, nth_clause/3, clause_property/2, listing/1,
    dynamic procedures, module_property/2, and counting its own predicates.  It
    must see the same as without recording: no helper predicates, no changed
    bodies, no new exports.
*/

:- module(introspect, [visible/1]).
:- use_module(library(listing)).

:- initialization(main, main).

:- dynamic state/1.

state(0).

main :-
    own_predicates,
    properties(visible(_)),
    properties(hidden(_, _)),
    properties(state(_)),
    bodies,
    listings,
    clause_references,
    module_view,
    (   current_predicate(nothing_like_this/_) -> writeln(found) ; writeln('not found') ),
    callees(main).

visible(X) :- hidden(X, Y), Y > 1.
visible(none).

hidden(X, Y) :- ( X = a, Y = 1 ; X = b, Y = 2 ), !.
hidden(c, 3).

own_predicates :-
    findall(Name/Arity,
            ( current_predicate(introspect:Name/Arity),
              functor(H, Name, Arity),
              \+ predicate_property(introspect:H, imported_from(_)) ),
            PIs0),
    sort(PIs0, PIs),
    forall(member(PI, PIs), ( print(PI), nl )).

properties(H) :-
    findall(P, ( property(P), predicate_property(introspect:H, P) ), Ps),
    functor(H, Name, Arity),
    print(Name/Arity-Ps), nl.

property(defined).
property(visible).
property(static).
property(dynamic).
property(exported).
property(foreign).
property(interpreted).
property(transparent).
property(meta_predicate(_)).
property(number_of_clauses(_)).
property(number_of_rules(_)).
property(multifile).
property(tabled).
property(imported_from(_)).
property(line_count(_)).

bodies :-
    forall(clause(visible(X), Body), show_clause(visible(X), Body)),
    forall(clause(hidden(X, Y), Body), show_clause(hidden(X, Y), Body)).

show_clause(H, B) :-
    numbervars(H-B, 0, _),
    print((H :- B)), nl.

listings :-
    with_output_to(string(S1), listing(visible/1)), write(S1),
    with_output_to(string(S2), listing(state/1)), write(S2).

clause_references :-
    nth_clause(visible(_), 2, Ref),
    clause(H, B, Ref), print(H-B), nl,
    (   clause_property(Ref, fact) -> writeln(fact) ; writeln(rule) ),
    clause_property(Ref, line_count(Line)), writeln(line(Line)),
    clause_property(Ref, predicate(PI)), print(PI), nl,
    clause_property(Ref, file(File)), file_base_name(File, Base), writeln(Base).

module_view :-
    module_property(introspect, exports(L)), print(L), nl,
    (   module_property(introspect, exported_operators(Ops)) -> print(Ops) ; print(no_operators) ), nl.

%   What main/0 calls, read from its clause.

callees(Name) :-
    clause(Name, Body),
    findall(F, called(Body, F), Fs0),
    sort(Fs0, Fs),
    print(Fs), nl.

called((A, B), F) :- !, ( called(A, F) ; called(B, F) ).
called((A ; B), F) :- !, ( called(A, F) ; called(B, F) ).
called((A -> B), F) :- !, ( called(A, F) ; called(B, F) ).
called(G, Name/Arity) :- functor(G, Name, Arity).
