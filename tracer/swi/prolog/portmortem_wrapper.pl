:- module(portmortem_wrapper,
          [ wrap/5,                     % +How, +Module, +Head, +Copy, +Id
            wrap_autoloader/1,          % -Id
            wrap_fillers/1,             % -Id
            wrap_completer/3,           % -Module, -Name, -Arity
            take_off/1,                 % :Head
            unwrap/1,                   % :Head
            only_call/1                 % :Head
          ]).

/** <module> One wrapper: its body with the ports, put on and taken off
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_engine).
:- use_module(portmortem_registry).
:- use_module(portmortem_disguise).
:- use_module(portmortem_symbolic).

%!  wrap(+How, +Module, +Head, +Copy, +Id) is det.
%
%   Put the wrapper on. How is `copy`, and then it calls Copy; or closure(Why), and it calls the
%   predicate itself.

wrap(How, M, Head, Copy, Id) :-
    name_arguments(Head, _, Arguments),
    (   How == copy,
        Copy = counted(Set, CopyName)
    ->  (   mode(byrd)
        ->  Exits = byrd
        ;   Exits = plain
        ),
        counted_body(Head, Id, Set, CopyName, Exits, Body)
    ;   (   How == copy
        ->  name_arguments(Copy, _, Arguments),
            Target = Copy
        ;   Target = Wrapped
        ),
        body(M:Head, Id, Target, Body)
    ),
    wrap_in_place(M:Head, portmortem, Wrapped, Body),
    (   wrapper_of_program(M:Head, _)  % which the attribute would change
    ->  true
    ;   opaque_wrapper(M:Head)
    ),
    portmortem:'$wrappers_changed'.

%!  wrap_autoloader(-Id) is det.
%
%   Loading a library is no work of the predicate that is the first to call it. To search for one
%   is: a program may ask again and again for what no library has.

wrap_autoloader(Id) :-
    P = '$autoload':do_autoload(_, _, _),
    portmortem:'$predicate'(system, autoload, 0, '', 0, Id),
    body(P, Id, Wrapped, Body),
    wrap_in_place(P, portmortem, Wrapped, Body).

%!  wrap_fillers(-Id) is det.
%
%   Filling a table is noted where it begins, in the box of the goal that needs it.

wrap_fillers(Id) :-
    portmortem:'$predicate'(system, fill_table, 0, '', 0, Id),
    forall(fills_table(P),
           (   wrap_in_place(P, portmortem, Wrapped, ( '$pm_fills'(Id), Wrapped )),
               opaque_wrapper(P)
           )).

%!  wrap_completer(-Module, -Name, -Arity) is det.
%
%   What tables have is noted before the predicate runs by which the engine completes them.

wrap_completer(M, Name, Arity) :-
    completes_tables(M:Head),
    name_arity(Head, Name, Arity),
    arg(1, Head, Component),
    wrap_in_place(M:Head, portmortem, Wrapped, ( portmortem_wrapper:note_tables(Component), Wrapped )),
    opaque_wrapper(M:Head).

:- public note_tables/1.

note_tables(Component) :-
    noting(note_tables_(Component)).

note_tables_(Component) :-
    '$tbl_scc_data'(Component, scc(_, _, active, _, Worklists)),
    '$member'(Worklist, Worklists),
    '$tbl_wkl_table'(Worklist, Trie),
    '$tbl_table_status'(Trie, _, M:Variant, _),
    once(M:'$table_mode'(Head, Variant, _)),
    name_arity(Head, Name, Arity),
    wrapped(Name, Arity, M, Id, _, _),
    '$trie_property'(Trie, value_count(Answers)),
    '$trie_property'(Trie, node_count(Nodes)),
    '$pm_table'(Id, Answers, Nodes),
    fail.
note_tables_(_).

%   What the predicate is called with is recorded behind '$pm_enter', if that was asked for.
%
%   '$pm_enter' leaves Box unbound where there is to be no box: a last call. The body is resolved in
%   the predicate's module; what is not the predicate's copy is in module system, and
%   found without a module qualification, which would cost time at every call. No port is the last
%   goal: an error on determinism would name it.

body(P, Id, Target, Body) :-
    (   mode(byrd),
        \+ '$get_predicate_attribute'(P, det, 1)           % which an exit that can be redone would break
    ->  Boxed = ( Target, '$pm_exit_nondet'(Box), true )
    ;   Boxed = ( prolog_current_choice(Before),
                  Target,
                  Exit ),
        exit(Box, Before, Exit)
    ),
    (   keeps_arguments(Id)
    ->  arguments_port(P, Port),
        Body0 = ( '$pm_enter'(Id, Box), Port, ( var(Box) -> Target ; Boxed ) )
    ;   var(Target),                    % the predicate itself
        mode(goals)
    ->  Body0 = ( '$pm_enter_original'(Id, Box),
                  (   var(Box)
                  ->  Target
                  ;   Box == 0          % a goal has opened the box: last calls of the predicate are told by our frame
                  ->  Target, true
                  ;   Boxed
                  ) )
    ;   Body0 = ( '$pm_enter'(Id, Box), ( var(Box) -> Target ; Boxed ) )
    ),
    qualified_arguments(P, Qualified),
    unless_cyclic(Qualified, P, Body0, Body).

%   A foreign predicate cannot have a hundred arguments.

arguments_port(_:Head, Port) :-
    name_arity(Head, _, Arity),
    (   Arity =< 64
    ->  portmortem:'$arguments_port'(Arity),
        name_arguments(Head, _, Arguments),
        name_arguments(Port, '$pm_arguments', Arguments)
    ;   Port = '$pm_many_arguments'
    ).

%   The arguments that the engine qualifies with a module. It does so twice if the predicate is
%   wrapped, and crashes the second time if the qualification is cyclic: then its error is raised
%   here.

qualified_arguments(P, Arguments) :-
    '$get_predicate_attribute'(P, meta_predicate, Spec),
    !,
    P = _:Head,
    findall(I, ( arg(I, Spec, Kind), is_qualified(Kind) ), Places),
    nth_arguments(Places, Head, Arguments).
qualified_arguments(_, []).

nth_arguments([], _, []).
nth_arguments([Place|Places], Term, [Argument|Arguments]) :-
    arg(Place, Term, Argument),
    nth_arguments(Places, Term, Arguments).

is_qualified(Kind) :- integer(Kind), !.
is_qualified(:).
is_qualified(^).
is_qualified(//).

unless_cyclic([], _, Body, Body).
unless_cyclic([Argument|Arguments], P, Body0, Body) :-
    P = M:Head,
    name_arity(Head, Name, Arity),
    (   M == user
    ->  PI = Name/Arity
    ;   PI = M:Name/Arity
    ),
    Body = (   '$pm_cyclic'(Argument)
           ->  throw(error(type_error(acyclic_term, Argument), context(PI, _)))
           ;   Body1
           ),
    unless_cyclic(Arguments, P, Body0, Body1).

%!  take_off(:Head) is det.
%
%   Take the wrapper off. Unwrapping a predicate while another thread runs it can crash 9.0.4.
%   Changing a
%   wrapper cannot, so then one that only calls the predicate takes its place. Before 9.3.25,
%   unwrapping
%   gives up the wrapper's references to its closure and its name twice, so they get one more.

take_off(M:Head) :-
    statistics(threads, Threads),
    (   Threads =< 2                    % this one and the garbage collector
    ->  unwrap(M:Head)
    ;   only_call(M:Head)
    ).

%!  unwrap(:Head) is det.
%
%   As take_off/1, of a predicate that no other thread runs.

unwrap(M:Head) :-
    name_arity(Head, Name, Arity),
    only_call(M:Head, Closure),
    portmortem:'$keep_atom'(Closure),
    portmortem:'$keep_atom'(portmortem),
    as_own_size(M, unwrap_predicate(M:Name/Arity, portmortem)).

%!  only_call(:Head) is det.
%
%   The wrapper stays, and only calls the predicate.

only_call(P) :-
    only_call(P, _).

only_call(M:Head, Closure) :-
    as_own_size(M, wrap_in_place(M:Head, portmortem, Closure, Wrapped, Wrapped)).
