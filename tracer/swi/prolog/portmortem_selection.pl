:- module(portmortem_selection,
          [ note_predefined/0,
            set_scope/1,                % +Options
            module_in_scope/1,          % +Module
            is_instrumented/1,          % +Module
            is_recorded/2,              % +Module, :Head
            selectable/4,               % +Module, +Head, +Name, +Arity
            selected/4,                 % +Module, +Head, +Name, +Arity
            is_thread_local/1,          % :Head
            home/4                      % +Module, +Name, +Arity, -Home
          ]).

/** <module> Which predicates are recorded with ports
*/

:- set_module(class(library)).
:- use_module(portmortem_terms, [name_arity/3]).
:- use_module(portmortem_engine).
:- use_module(portmortem_registry).
:- use_module(portmortem_declared).
:- use_module(portmortem_internal, [is_internal/3]).
:- use_module(portmortem_names, [own_name/1]).
:- use_module(portmortem_boundary).

:- dynamic
    scope/1,            % user, library, system: classes of modules selected
    predefined/3.       % Name, Arity, Module: there before the program

%!  set_scope(+Options) is det.
%
%   The classes of modules whose predicates may be selected.

set_scope(Options) :-
    retractall(scope(_)),
    assertz(scope(user)),
    assertz(scope(test)),
    (   memberchk(libraries(true), Options) -> assertz(scope(library)) ; true ),
    (   memberchk(builtins(true), Options)  -> assertz(scope(system))  ; true ),
    (   memberchk(include(_), Options)      -> assertz(scope(library)),
                                               assertz(scope(system))  ; true ).

%!  module_in_scope(+Module) is semidet.
%
%   Predicates of this module may be selected.

module_in_scope(M) :-
    module_property(M, class(Class)),
    scope(Class),
    \+ own_module(M),
    portmortem:'$selected_in'(M).

%!  is_instrumented(+Module) is semidet.
%
%   Clauses of this module may get ports at their goals.

is_instrumented(M) :-
    mode(goals),
    module_in_scope(M).

%!  is_recorded(+Module, :Head) is semidet.
%
%   Calls of the predicate, defined in this module, get boxes.

is_recorded(M, Head) :-
    name_arity(Head, Name, Arity),
    (   wrapped(Name, Arity, M, _, _, _)
    ->  true
    ;   \+ current_module(M)            % a library that is not loaded yet
    ->  scope(library)
    ;   module_in_scope(M),
        selectable(M, Head, Name, Arity),
        selected(M, Head, Name, Arity)
    ).

%!  selectable(+Module, +Head, +Name, +Arity) is semidet.
%
%   The predicate is the program's, and a wrapper does not break it.

selectable(M, Head, Name, Arity) :-
    \+ '$get_predicate_attribute'(M:Head, imported, _),
    '$get_predicate_attribute'(M:Head, defined, 1),
    \+ is_internal(M, Name, Arity),
    \+ own_name(Name),
    \+ left_out(M, Name, Arity),
    \+ predefined(Name, Arity, M),
    \+ '$get_predicate_attribute'(M:Head, noprofile, 1),
    \+ is_thread_local(M:Head),
    \+ never(M, Head).

%!  is_thread_local(:Head) is semidet.
%
%   A wrapper around such a predicate crashes the engine.

is_thread_local(P) :-
    '$get_predicate_attribute'(P, (thread_local), 1).

%!  selected(+Module, +Head, +Name, +Arity) is semidet.
%
%   The user asked for this predicate, or for none and it is of the program.

selected(M, Head, Name, Arity) :-
    (   system_hook(M, Head)
    ->  Class = library
    ;   module_property(M, class(Class))
    ),
    (   scope_by_default(Class)
    ->  Default = true
    ;   Default = false
    ),
    portmortem:'$selected'(M, Name, Arity, Default).

scope_by_default(user).
scope_by_default(test).
scope_by_default(library) :- scope(library).
scope_by_default(system)  :- scope(system).

%   Built-ins that a wrapper would break: control structures and what looks at
%   the frames or choicepoints of its caller; and those whose module context
%   a wrapper cannot pass on.

never(system, Head) :-
    (   '$get_predicate_attribute'(system:Head, transparent, 1)
    ->  true
    ;   name_arity(Head, Name, _),
        (   frame_sensitive(Name)
        ;   binds_linked(Name)
        )
    ->  true
    ;   '$get_predicate_attribute'(system:Head, (dynamic), 1)
    ->  true
    ;   Head = statistics(_, _)         % which the recorder itself asks
    ->  true
    ;   Head = var(_)                   % which wrappers call in debug mode
    ).
never(pure_input, _).                   % link terms into others with nb_linkarg/3: a wrapper's
never(lazy_lists, _).                   % choicepoint would undo what is bound in them

%   What these bind, a program may link into other terms; see link_hook/0.

binds_linked(put_attr).
binds_linked(put_attrs).
binds_linked(read_pending_codes).
binds_linked(read_pending_chars).

%!  home(+Module, +Name, +Arity, -Home) is semidet.
%
%   The module where a predicate of this name is defined.

home(M, Name, Arity, Home) :-
    name_arity(Head, Name, Arity),
    (   '$get_predicate_attribute'(M:Head, imported, Home0)
    ->  Home = Home0
    ;   '$get_predicate_attribute'(M:Head, defined, 1),
        '$c_current_predicate'(_, M:Head)
    ->  Home = M
    ;   '$get_predicate_attribute'(system:Head, defined, 1)
    ->  Home = system
    ;   '$get_predicate_attribute'(M:'$autoload'(_, _, _), defined, 1)      % which may define it
    ->  fail
    ;   M \== user,
        '$get_predicate_attribute'(user:Head, defined, 1)
    ->  (   '$get_predicate_attribute'(user:Head, imported, Home0)
        ->  Home = Home0
        ;   Home = user
        )
    ;   mode(boundary),
        '$find_library'(M, Name, Arity, Home, _)        % it will be loaded
    ).

%   A predicate of the system in a module that is not its own: the hooks in `user`
%   and `prolog`, such as user:file_search_path/2 and prolog:called_by/4.

system_hook(M, Head) :-
    (   '$get_predicate_attribute'(M:Head, file, File)
    ->  system_file(File)
    ;   M == prolog
    ->  true
    ;   '$get_predicate_attribute'(M:Head, (multifile), 1),
        \+ program_clause(M:Head)
    ).

%   The program has clauses for a hook.

program_clause(P) :-
    nth_clause(P, _, Ref),
    clause_property(Ref, file(File)),
    \+ system_file(File),
    \+ beside_us(File),
    !.

%!  note_predefined is det.
%
%   What exists before the program is loaded and belongs to no file, or to us, is not part of it.

note_predefined :-
    (   current_module(M),
        module_property(M, class(user)),
        '$c_current_predicate'(_, M:Head),
        '$get_predicate_attribute'(M:Head, defined, 1),
        \+ '$get_predicate_attribute'(M:Head, imported, _),
        (   '$get_predicate_attribute'(M:Head, file, File)
        ->  beside_us(File)
        ;   M == user
        ->  '$get_predicate_attribute'(user:Head, (thread_local), 1)
        ;   true
        ),
        name_arity(Head, Name, Arity),
        \+ predefined(Name, Arity, M),
        assertz(predefined(Name, Arity, M)),
        fail
    ;   true
    ).
