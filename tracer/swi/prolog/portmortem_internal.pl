:- module(portmortem_internal,
          [ is_internal/3,              % +Module, +Name, +Arity
            engine_named/2,             % ?Name, ?Arity
            system_named/2              % -Name, -Arity
          ]).

/** <module> Predicates that no program has written

Their names begin with `$`. So may those of the program, which are recorded like any other.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms, [name_arity/3]).

%!  is_internal(+Module, +Name, +Arity) is semidet.
%
%   The predicate is one of the system's own, or the engine has added it to the module.

is_internal(M, Name, Arity) :-
    atom(Name),
    Name \== [],
    sub_atom(Name, 0, _, _, $),
    (   engine_named(Name, Arity)
    ->  true
    ;   sub_atom(Name, 0, _, _, '$wrap$')
    ->  true
    ;   current_module(M),
        module_property(M, class(system))
    ).

%!  engine_named(?Name, ?Arity) is nondet.
%
%   What the engine and its libraries add to modules of programs. Wrappers are named `$wrap$NAME`.

engine_named('$autoload', 3).
engine_named('$derived_source', 3).
engine_named('$exported_op', 3).
engine_named('$mode', 2).
engine_named('$pldoc', 4).
engine_named('$pldoc_link', 2).
engine_named('$pred_option', 4).
engine_named('$table_mode', 3).
engine_named('$table_update', 4).
engine_named('$tabled', 2).

%!  system_named(-Name, -Arity) is nondet.
%
%   Predicates of module `system` with such names.

system_named(Name, Arity) :-
    '$c_current_predicate'(_, system:Head),
    name_arity(Head, Name, Arity),
    sub_atom(Name, 0, _, _, $),
    '$get_predicate_attribute'(system:Head, defined, 1).
