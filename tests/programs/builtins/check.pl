% Prints what is wrong with effects.pl: built-ins of the engine at hand that it does not name, names that are none, and built-ins that
% change predicates and are called nowhere in changing_builtins.pl. Fails if there is any; other versions than 9.0.4 may have other built-ins.
% Run:  swipl check.pl

:- initialization(main, main).
:- op(1150, fx, tries).

main :-
    terms('effects.pl', Effects),
    terms('changing_builtins.pl', Program),
    findall(Name/Arity, ( predicate_property(system:Head, built_in), functor(Head, Name, Arity) ), There),
    findall(PI, member(effect(PI, _, _), Effects), Named),
    (   current_prolog_flag(version, 90004)
    ->  complain("not in the list", There, Named),
        complain("not in the engine", Named, There)
    ;   true
    ),
    findall(PI, ( member(effect(PI, Effect, _), Effects), to_be_tried(Effect, PI) ), Changing),
    findall(PI, ( member((:- tries(PIs, _, _)), Program), member(PI, PIs) ), Tried),
    complain("not tried", Changing, Tried),
    \+ nb_current(complained, true).

complain(What, Some0, Others) :-
    sort(Some0, Some),
    forall(( member(PI, Some), \+ memberchk(PI, Others) ), ( format("~w: ~q~n", [What, PI]), nb_setval(complained, true) )).

terms(File, Terms) :-
    setup_call_cleanup(open(File, read, In), read_all(In, Terms), close(In)).

read_all(In, Terms) :-
    read(In, Term),
    (   Term == end_of_file
    ->  Terms = []
    ;   Terms = [Term|Terms1],
        read_all(In, Terms1)
    ).

%   Of internal predicates, all that are watched; the others are called by those that are not internal.

to_be_tried(watched, PI) :-
    \+ untried(PI, _).
to_be_tried(Effect, Name/Arity) :-
    member(Effect, [via(_), restores, resolves, dynamic]),
    \+ sub_atom(Name, 0, _, _, $),
    \+ untried(Name/Arity, _).

untried('$vm_assert'/3, "adds instructions of the engine's machine, which differ between versions").
untried('$break_at'/3, "starts the debugger when the clause runs").
untried('$predefine_foreign'/1, "a predicate with clauses crashes the engine then").
untried(call_shared_object_function/2, "needs a library of machine code that redefines a predicate").
untried(use_foreign_library/1, "likewise").
untried(use_foreign_library/2, "likewise").
untried(initialize/0, "initializes the engine").
