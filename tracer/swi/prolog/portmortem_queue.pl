:- module(portmortem_queue,
          [ install_change_hooks/0,
            note_clause_change/1,       % +Clause
            something_changed/1,        % +When
            changed/3,                  % :InScope, +When, -P
            look_again/2                % +File, :Head
          ]).

/** <module> Which predicates to look at

After each directive, the predicates are looked at that have changed since the directive before. So
the time it takes to load
a program grows with the program, not with its square.

Predicates change in few ways: a clause is loaded or asserted, or an attribute is set, as by
dynamic/1. The library keeps a queue
of those (`changes.rs`). When the engine reads a file to its end, all predicates of the file are
looked at, for some
files are loaded without reading clauses. Where foreign code may have defined predicates,
and where they were copied, all predicates are looked at.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms, [name_arity/3]).
:- use_module(portmortem_engine).
:- use_module(portmortem_names, [own_name/1]).

:- dynamic
    again/4,                    % File, Name, Arity, Module: see look_again/2
    counted/1.                  % N: predicates of the engine when all were looked at

%!  install_change_hooks is det.
%
%   Notice changes that are no clauses.

install_change_hooks :-
    wrap_in_place(system:'$set_predicate_attribute'(P, _, _), portmortem_queue, Wrapped,
                  ( Wrapped,
                    strip_module(P, M, Head),
                    portmortem_engine:noting(portmortem_queue:attribute_change(M, Head)) )),
    wrap_in_place(system:set_module(Spec), portmortem_queue, WrappedSet,
                  ( WrappedSet,
                    strip_module(Spec, M2, Property),
                    portmortem_engine:noting(portmortem_queue:module_change(M2, Property)) )),
    forall(( '$member'(Head, ['$qlf_load'(_, _), call_shared_object_function(_, _), copy_predicate_clauses(_, _)]),
             '$c_current_predicate'(_, system:Head) ),
           wrap_in_place(system:Head, portmortem_queue, WrappedHead,
                         ( WrappedHead, portmortem:'$all_changed' ))).

:- public attribute_change/2, module_change/2.

attribute_change(M, Head) :-
    (   callable(Head),
        name_arity(Head, Name, _),
        own_name(Name)
    ->  true
    ;   portmortem:'$changed'(M, Head)
    ).

%   Predicates of a module that gets into another class may be selected now.

module_change(M, Property) :-
    (   nonvar(Property),
        Property = class(_)
    ->  forall('$c_current_predicate'(_, M:Head),
               portmortem:'$changed'(M, Head))
    ;   true
    ).

%!  note_clause_change(+Clause) is det.
%
%   A clause of the file that is being read is about to be stored.

note_clause_change(Clause) :-
    '$current_source_module'(M),
    portmortem:'$changed'(M, Clause).

%!  look_again(+File, :Head) is det.
%
%   The predicate is to be looked at when File has been read to its end, also if the file does not
%   define it any more.

look_again(File, M:Head) :-
    name_arity(Head, Name, Arity),
    assertz(again(File, Name, Arity, M)).

%!  something_changed(+When) is semidet.
%
%   changed/3 has something to look at.

something_changed(loaded(_)) :- !.
something_changed(_) :- portmortem:'$has_changes'.

%!  changed(:InScope, +When, -P) is nondet.
%
%   P is to be looked at: it is new, or it may have changed. It is in a module that call(InScope,
%   Module) is true of. When is `loaded`;
%   loaded(File) if File has been read to its end; or loading(File) if it is being read.

:- meta_predicate changed(1, +, -).

changed(InScope, When, M:Head) :-
    (   grown_much(When)
    ->  portmortem:'$all_changed'
    ;   true
    ),
    (   portmortem:'$take_all_changed'
    ->  all(InScope, M, Head)
    ;   of_queue(M, Head),
        call(InScope, M)
    ;   When = loaded(File),
        of_file(File, M, Head),
        call(InScope, M)
    ).

all(InScope, M, Head) :-
    statistics(predicates, N),
    retractall(counted(_)),
    assertz(counted(N)),
    retractall(again(_, _, _, _)),
    current_module(M),
    call(InScope, M),
    '$c_current_predicate'(_, M:Head).

%   There may be ways for predicates to come up that no hook tells of. A program that has been
%   loaded is looked at as a whole, but
%   not each time that it loads a little more.

grown_much(loaded(_)) :-
    \+ prolog_load_context(source, _),
    statistics(predicates, Now),
    counted(Before),
    Now > Before + Before // 8.

of_queue(M, Head) :-
    repeat,
    (   portmortem:'$next_changed'(M0, Head0)
    ->  M = M0,
        Head = Head0
    ;   !,
        fail
    ).

of_file(File, M, Head) :-
    nonvar(File),
    (   '$source_file_predicates'(File, Heads),
        '$member'(M:Head, Heads)
    ;   retract(again(File, Name, Arity, M)),
        name_arity(Head, Name, Arity)
    ).
