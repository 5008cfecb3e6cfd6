/*  How often the engine's own debugger reports that a clause's head unified, for
    each predicate of module user: the clauses entered.

    swipl -g main -t halt unify_counter.pl -- FILE GOAL

    Prints a line `Name/Arity Count` for each predicate. What FILE runs on loading is not counted.
*/

:- dynamic seen/1.

user:prolog_trace_interception(Port, Frame, _, continue) :-
    (   Port == unify,
        prolog_frame_attribute(Frame, predicate_indicator, PI),
        ( PI = user:Name/Arity -> true ; PI = Name/Arity )
    ->  format(atom(Key), '~w/~w', [Name, Arity]),
        flag(Key, Count, Count+1),
        (   Count == 0
        ->  assertz(seen(Key))
        ;   true
        )
    ;   true
    ).

main :-
    current_prolog_flag(argv, Words),
    '$append'(_, [File, Text], Words),
    !,
    load_files(user:File, [silent(true)]),
    term_to_atom(Goal, Text),
    visible([+call, +exit, +fail, +redo, +unify, +exception]),
    leash(-all),
    (   catch(( trace, user:Goal ), _, true)
    ->  true
    ;   true
    ),
    nodebug,
    forall(seen(Key),
           ( flag(Key, Count, Count),
             format("~nentered ~w ~d~n", [Key, Count]) )).
