:- module(portmortem_wrap,
          [ start_wrapping/1,           % +Options
            wrap_these/2,               % :Heads, +Options
            stop_wrapping/0,
            wrap_new/1,                 % +When
            wrap_one/1,                 % :Head
            forget_one/1,               % :Head
            call_itself/2,              % :Head, +Why
            copied/2,                   % ?Module, -Head
            is_as_copied/1,             % :Head
            file_loaded/1,              % +File
            file_changes/1,             % +File
            file_goes/1,                % +File
            center_declared/4,          % +Module, +Name, +Arity, +Center
            is_recorded/2,              % +Module, :Head
            is_instrumented/1,          % +Module
            continuations_begin/0
          ]).

/** <module> Put a wrapper with the ports around every selected predicate

A static predicate's clauses are copied and the wrapper ends in a last call to
the copy, so that last calls stay last calls. The copies have ports at their goals and call each other; the wrapper
is what all others call. Where a copy would not be the same
predicate, the wrapper calls the predicate itself through its closure.

What it calls itself is not recorded: its work runs in as_own/1.
*/

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).
:- use_module(portmortem_engine).
:- use_module(portmortem_queue).
:- use_module(portmortem_copies).
:- use_module(portmortem_goals).
:- use_module(portmortem_layout).
:- use_module(portmortem_declared).
:- use_module(portmortem_boundary).
:- use_module(portmortem_lines, [control/1, nth_arguments/3]).
:- use_module(portmortem_disguise).
:- use_module(portmortem_symbolic).

:- dynamic
    wrapped/6,          % Name, Arity, Module, Id, How, Generation
    instrumented/4,     % Name, Arity, Module, CopyName: a copy with ports at its goals, which others call
    boundary_id/4,      % Name, Arity, Module, Id: of a predicate that is not recorded, but whose calls are
    withdrawn/5,        % Name, Arity, Module, Id, CopyName: a copy that others call no longer
    keeps_arguments/1,  % Id: what calls of it are made with is recorded
    prepared/5,         % Name, Arity, Module, Id, Copy: to be wrapped; Copy is to_instrument(...) or made(CopyName)
    loaded_file/1,      % File
    mode/1,             % byrd, symbolic, goals, boundary, clauses: how wrappers and copies are made
    scope/1,            % user, library, system: classes of modules selected
    predefined/3,       % Name, Arity, Module: there before the program
    active/0,           % new predicates are wrapped
    wrapping/0.         % that is being done

%!  start_wrapping(+Options) is det.
%
%   Wrap all selected predicates, now and whenever wrap_new/1 is called.

start_wrapping(Options) :-
    set_mode(Options),
    retractall(scope(_)),
    assertz(scope(user)),
    assertz(scope(test)),
    (   memberchk(symbolic(true), Options)  -> assertz(mode(symbolic)) ; true ),
    (   memberchk(libraries(true), Options) -> assertz(scope(library)) ; true ),
    (   memberchk(builtins(true), Options)  -> assertz(scope(system))  ; true ),
    (   memberchk(include(_), Options)      -> assertz(scope(library)),
                                               assertz(scope(system))  ; true ),
    assertz(active),
    record_autoloading,
    portmortem:'$all_changed',
    wrap_new(loaded).

%   Loading a library is no work of the predicate that is the first to call it.

record_autoloading :-
    P = '$autoload':'$autoload'(_),
    portmortem:'$predicate'(system, autoload, 0, '', 0, Id),
    body(P, Id, Wrapped, Body),
    wrap_in_place(P, portmortem, Wrapped, Body),
    assertz(wrapped('$autoload', 1, '$autoload', Id, closure(always), 0)).

set_mode(Options) :-
    retractall(mode(_)),
    retractall(boundary_id(_, _, _, _)),
    retractall(keeps_arguments(_)),
    (   memberchk(byrd(true), Options)
    ->  assertz(mode(byrd))
    ;   '$member'(Other, [tail(false), symbolic(true), goal_ports(false)]),
        memberchk(Other, Options)
    ->  true
    ;   goal_ports_work
    ->  assertz(mode(goals)),
        (   memberchk(boundary(false), Options)
        ->  true
        ;   assertz(mode(boundary))
        )
    ;   true
    ),
    (   \+ memberchk(clauses(true), Options)
    ->  true
    ;   \+ memberchk(byrd(true), Options),
        \+ memberchk(symbolic(true), Options),
        goal_ports_work                 % so the port of a clause does
    ->  assertz(mode(clauses))
    ;   portmortem:'$note'("clauses that were entered are not recorded: they have no ports in this mode, or in this version of SWI-Prolog")
    ).

%!  wrap_these(:Heads, +Options) is det.
%
%   Wrap some predicates, selected or not, and no others.

wrap_these(M:Heads, Options) :-
    set_mode([boundary(false)|Options]),
    (   '$member'(Head, Heads),
        name_predicate(M, Head, Id),
        wrap_as_fits(M, Head, loaded, Id),
        fail
    ;   wrap_prepared
    ).

%!  stop_wrapping is det.
%
%   Take all wrappers off.

stop_wrapping :-
    sig_atomic(stop_wrapping_).

stop_wrapping_ :-
    retractall(active),
    (   wrapped(Name, Arity, M, _, _, _),
        functor(Head, Name, Arity),
        withdraw(M, Head),
        retract(wrapped(Name, Arity, M, _, _, _)),
        catch(take_off(M:Head), error(_, _), true),
        fail
    ;   catch(retire_withdrawn, error(_, _), true)
    ),
    portmortem:'$wrappers_changed'.

%   Unwrapping a predicate while another thread runs it can crash 9.0.4. Changing a
%   wrapper cannot, so then one that only calls the predicate takes its place. Before 9.3.25, unwrapping
%   gives up the wrapper's references to its closure and its name twice, so they get one more.

take_off(M:Head) :-
    statistics(threads, Threads),
    (   Threads =< 2                    % this one and the garbage collector
    ->  unwrap(M:Head)
    ;   only_call(M:Head, _)
    ).

unwrap(M:Head) :-
    functor(Head, Name, Arity),
    only_call(M:Head, Closure),
    portmortem:'$keep_atom'(Closure),
    portmortem:'$keep_atom'(portmortem),
    as_own_size(M, unwrap_predicate(M:Name/Arity, portmortem)).

only_call(M:Head, Closure) :-
    as_own_size(M, wrap_in_place(M:Head, portmortem, Closure, Wrapped, Wrapped)).

%!  forget_one(:Head) is det.
%
%   The predicate is about to be abolished: it must not live on in its copy. Unwrapping a predicate and
%   abolishing it then can crash the collection of clauses in 9.2.9.

forget_one(M:Head) :-
    functor(Head, Name, Arity),
    (   wrapped(Name, Arity, M, _, _, _)
    ->  as_own(sig_atomic(with_mutex('$portmortem',
                                     ( withdraw(M, Head),
                                       retractall(wrapped(Name, Arity, M, _, _, _)),
                                       only_call(M:Head, _),
                                       retire_withdrawn ))))
    ;   true
    ).

%!  copied(?Module, -Head) is nondet.
%
%   The predicate of Head is called through a copy.

copied(M, Head) :-
    wrapped(Name, Arity, M, _, copy, _),
    functor(Head, Name, Arity).

%!  is_as_copied(:Head) is semidet.
%
%   The predicate, which has a copy, has not changed since, as far as the engine tells.

is_as_copied(M:Head) :-
    functor(Head, Name, Arity),
    wrapped(Name, Arity, M, _, copy, Generation),
    generation(M:Head, Generation),
    \+ needs_closure(M:Head).

%!  call_itself(:Head, +Why) is det.
%
%   The predicate has changed: from now on it is called itself, and not its copy. Why is `always`, or
%   `loading` if a new copy may be made when its file has been read.

call_itself(M:Head, Why) :-
    functor(Head, Name, Arity),
    (   wrapped(Name, Arity, M, _, copy, _)
    ->  functor(General, Name, Arity),
        as_own(sig_atomic(with_mutex('$portmortem', through_closure(M:General, Why))))
    ;   true
    ).

%!  center_declared(+Module, +Name, +Arity, +Center) is det.
%
%   The program has declared this now.

center_declared(M, Name, Arity, Center) :-
    (   wrapped(Name, Arity, M, Id, _, _)
    ->  portmortem:'$in_center'(Id, Center)
    ;   true
    ).

%!  file_loaded(+File) is det.
%
%   File has been read to its end: its predicates are complete.

file_loaded(File) :-
    (   var(File)
    ->  true
    ;   loaded_file(File)
    ->  true
    ;   assertz(loaded_file(File))
    ).

%!  file_changes(+File) is det.
%
%   File is about to be read again: its predicates are called through their closures
%   until they are complete, for they must not live on in their copies. Those that begin as they were
%   declared get new wrappers then.

file_changes(File) :-
    of_file(File, Head, portmortem_wrap:read_again(File, Head)).

read_again(File, P) :-
    look_again(File, P),
    through_closure(P, loading).

through_closure(M:Head, Why) :-
    functor(Head, Name, Arity),
    (   wrapped(Name, Arity, M, Id, copy, Generation)
    ->  withdraw(M, Head),
        retractall(wrapped(Name, Arity, M, _, _, _)),
        (   is_thread_local(M:Head)     % the engine has taken the wrapper off
        ->  true
        ;   assertz(wrapped(Name, Arity, M, Id, closure(Why), Generation)),
            portmortem:'$changed'(M, Head),
            wrap_or_give_up(closure(Why), M, Head, _, Id)
        ),
        retire_withdrawn
    ;   begins_as_declared(M:Head),
        retract(wrapped(Name, Arity, M, Id, closure(always), Generation))
    ->  assertz(wrapped(Name, Arity, M, Id, closure(loading), Generation))
    ;   true
    ).

%   In later versions a wrapped predicate begins with what det/1 and meta_predicate/1 said when it was wrapped.

begins_as_declared(P) :-
    '$fetch_vm'(P, 0, _, Instruction),
    functor(Instruction, Name, _),
    declaration(Name).

declaration(s_det).
declaration(s_ssu_det).
declaration(s_mqual).
declaration(s_lmqual).

%!  file_goes(+File) is det.
%
%   File is about to be unloaded. After that the engine fails a predicate that has been called, and knows
%   nothing of one that has not.

file_goes(File) :-
    of_file(File, Head, portmortem_wrap:goes(Head)).

goes(M:Head) :-
    functor(Head, Name, Arity),
    (   wrapped(Name, Arity, M, Id, copy, Generation),
        copy_was_called(M:Head)
    ->  withdraw(M, Head),
        retractall(wrapped(Name, Arity, M, _, _, _)),
        assertz(wrapped(Name, Arity, M, Id, closure(loading), Generation)),
        functor(General, Name, Arity),
        wrap_in_place(M:General, portmortem, _, fail),
        retire_withdrawn
    ;   forget_one(M:Head)
    ).

:- meta_predicate of_file(+, -, 0).

of_file(File, M:Head, Goal) :-
    (   loaded_file(File)
    ->  as_own(sig_atomic(with_mutex('$portmortem',
                                     forall(( '$source_file_predicates'(File, Heads),
                                              '$member'(M:Head, Heads),
                                              functor(Head, Name, Arity),
                                              wrapped(Name, Arity, M, _, _, _),
                                              source_file(M:Head, File) ),  % not one that another file has redefined
                                            Goal))))
    ;   true
    ).

%!  wrap_new(+When) is det.
%
%   Wrap selected predicates that appeared or changed. When is `loaded`; loaded(File) if File has just been read to its end;
%   or loading(File) while its clauses are still being read.

wrap_new(When) :-
    active,
    something_changed(When),
    !,
    as_own(sig_atomic(with_mutex('$portmortem', wrap_new_(When)))).
wrap_new(_).

%   The engine may load its index of libraries for what a clause calls: that is not the time to begin again.

wrap_new_(_) :-
    wrapping,
    !.
wrap_new_(When) :-
    setup_call_cleanup(
        assertz(wrapping),
        wrap_all_new(When),
        retractall(wrapping)).

wrap_all_new(When) :-
    findall(M-Head, changed(portmortem_wrap:module_in_scope, When, M:Head), Changed),
    findall(M, '$member'(M-_, Changed), Modules0),
    sort(Modules0, Modules),
    as_own_sizes(Modules, wrap_all(Changed, When)).

wrap_all(Changed, When) :-
    (   '$member'(M-Head, Changed),
        wrap_or_note(M, Head, When),
        fail
    ;   wrap_prepared
    ).

%!  wrap_one(:Head) is det.
%
%   Wrap the predicate of Head if it is selected and new.

wrap_one(M:Head) :-
    (   active,
        module_in_scope(M)
    ->  as_own(sig_atomic(with_mutex('$portmortem',
                                     wrap_one_(M, Head))))
    ;   true
    ).

wrap_one_(_, _) :-
    wrapping,
    !.
wrap_one_(M, Head) :-
    (   wrap_or_note(M, Head, loaded)
    ->  wrap_prepared
    ;   true
    ).

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

%   wrap_or_note(+Module, +Head, +When) is semidet
%
%   As wrap_if_selected/3. An error is none of the program's: the predicate is not recorded.

wrap_or_note(M, Head, When) :-
    catch(wrap_if_selected(M, Head, When), Error, true),
    (   var(Error)
    ->  true
    ;   unrecorded(M, Head, Error)
    ).

%   An earlier wrapper would call a copy that others call no longer.

unrecorded(M, Head, Error) :-
    functor(Head, Name, Arity),
    functor(General, Name, Arity),
    withdraw(M, General),
    retractall(wrapped(Name, Arity, M, _, _, _)),
    (   has_wrapper(M:General, portmortem)
    ->  only_call(M:General, _)
    ;   true
    ),
    give_up(M, Name, Arity, Error).

%   Whether the predicate is there, selected, and not yet wrapped as it should be;
%   if so, wrap it.

wrap_if_selected(M, Head, When) :-
    portmortem:'$look_at',
    functor(Head, Name, Arity),
    (   wrapped(Name, Arity, M, Id, How, Generation)
    ->  refresh(M, Head, When, Id, How, Generation)
    ;   selectable(M, Head, Name, Arity),
        selected(M, Head, Name, Arity)
    ->  (   '$get_predicate_attribute'(M:Head, ssu, 1),
            \+ rules_can_be_wrapped
        ->  give_up(M, Name, Arity, 'this version of SWI-Prolog cannot wrap rules that may fail')
        ;   name_predicate(M, Head, Id),
            wrap_as_fits(M, Head, When, Id)
        )
    ).

%!  is_recorded(+Module, :Head) is semidet.
%
%   Calls of the predicate, defined in this module, get boxes.

is_recorded(M, Head) :-
    functor(Head, Name, Arity),
    (   wrapped(Name, Arity, M, _, _, _)
    ->  true
    ;   \+ current_module(M)            % a library that is not loaded yet
    ->  scope(library)
    ;   module_in_scope(M),
        selectable(M, Head, Name, Arity),
        selected(M, Head, Name, Arity)
    ).

selectable(M, Head, Name, Arity) :-
    \+ '$get_predicate_attribute'(M:Head, imported, _),
    '$get_predicate_attribute'(M:Head, defined, 1),
    \+ own_or_system_name(Name),
    \+ left_out(M, Name, Arity),
    \+ predefined(Name, Arity, M),
    \+ '$get_predicate_attribute'(M:Head, noprofile, 1),
    \+ is_thread_local(M:Head),
    \+ never(M, Head).

%   A wrapper around one crashes the engine.

is_thread_local(P) :-
    '$get_predicate_attribute'(P, (thread_local), 1).

own_or_system_name(Name) :-
    atom(Name),
    Name \== [],
    sub_atom(Name, 0, _, _, $).

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
    ;   functor(Head, Name, _),
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

name_predicate(M, Head, Id) :-
    functor(Head, Name, Arity),
    (   is_defined(M:Head),
        '$get_predicate_attribute'(M:Head, file, File)
    ->  true
    ;   File = ''
    ),
    (   File \== '',
        '$get_predicate_attribute'(M:Head, line_count, Line)
    ->  true
    ;   Line = 0
    ),
    portmortem:'$predicate'(M, Name, Arity, File, Line, Id),
    (   declared_center(M, Name, Arity, Center)
    ->  portmortem:'$in_center'(Id, Center)
    ;   true
    ).

%   Asking for an attribute of a predicate that is not defined could load a library, or tell of an inherited one.

is_defined(M:Head) :-
    '$c_current_predicate'(_, M:Head),
    '$get_predicate_attribute'(M:Head, defined, 1).

%   A wrapped predicate that was changed by loading gets a new copy; one that
%   is being loaded again is called through its closure meanwhile.

refresh(M, Head, When, Id, How, Generation) :-
    \+ is_thread_local(M:Head),
    (   \+ has_wrapper(M:Head, portmortem)     % reloaded while it ran
    ->  true
    ;   How == copy
    ->  generation(M:Head, Now),
        Now \== Generation
    ;   How == closure(loading),
        complete(M:Head, When),
        (   begins_as_declared(M:Head)
        ->  unwrap(M:Head)
        ;   true
        )
    ),
    wrap_as_fits(M, Head, When, Id).

generation(P, Generation) :-
    (   '$get_predicate_attribute'(P, last_modified_generation, Generation0)
    ->  Generation = Generation0
    ;   Generation = 0
    ).

%   The file that the predicate belongs to (not one that it includes) is not being read.

complete(P, When) :-
    (   source_file(P, File)
    ->  loaded_file(File),
        When \== loading(File)
    ;   true
    ).

                 /*******************************
                 *         WRAPPERS             *
                 *******************************/

wrap_as_fits(M, Head, When, Id) :-
    as_own_size(M, wrap_as_fits_(M, Head, When, Id)).

wrap_as_fits_(M, Head, When, Id) :-
    generation(M:Head, Generation),
    functor(Head, Name, Arity),
    functor(General, Name, Arity),
    withdraw(M, General),
    note_arguments(M, Name, Arity, Id),
    how(M, General, When, Id, How, Copy),
    retractall(wrapped(Name, Arity, M, _, _, _)),
    assertz(wrapped(Name, Arity, M, Id, How, Generation)),
    (   How == copy,
        Copy = to_instrument(CopyName, _, _, _)
    ->  (   mode(goals),
            \+ keeps_arguments(Id)      % only wrappers have them at hand
        ->  assertz(instrumented(Name, Arity, M, CopyName))
        ;   true
        ),
        assertz(prepared(Name, Arity, M, Id, Copy))
    ;   wrap_or_give_up(How, M, General, Copy, Id)
    ).

%   Its wrapper is to say what it is called with, if that was asked for.

note_arguments(M, Name, Arity, Id) :-
    (   keeps_arguments(Id)
    ->  true
    ;   \+ mode(symbolic),
        portmortem:'$keeps_arguments'(M, Name, Arity, Id)
    ->  assertz(keeps_arguments(Id))
    ;   true
    ).

%   A foreign predicate cannot have a hundred arguments.

arguments_port(_:Head, Port) :-
    functor(Head, _, Arity),
    (   Arity =< 64
    ->  portmortem:'$arguments_port'(Arity),
        Head =.. [_|Arguments],
        Port =.. ['$pm_arguments'|Arguments]
    ;   Port = '$pm_many_arguments'
    ).

wrap_or_give_up(How, M, Head, Copy, Id) :-
    catch(wrap(How, M, Head, Copy, Id), Error, true),
    (   var(Error)
    ->  true
    ;   unrecorded(M, Head, Error)
    ).

%   Copies call each other, so all that are new are made before the first is called.

wrap_prepared :-
    (   retract(mode(continuations))
    ->  continuations_begin_
    ;   true
    ),
    (   mode(clauses)
    ->  Entries = true
    ;   Entries = false
    ),
    forall(retract(prepared(Name, Arity, M, Id, to_instrument(CopyName, Refs, Clauses, Flag))),
           (   catch(as_own_size(M, with_flag(Flag, instrument(M, CopyName, Id, Refs, Clauses, Entries, portmortem_wrap:callee))),
                     Error,
                     true)
           ->  (   var(Error)
               ->  assertz(prepared(Name, Arity, M, Id, made(CopyName)))
               ;   wrap_uncopied(M, Name, Arity, Id, CopyName, Error)
               )
           ;   wrap_uncopied(M, Name, Arity, Id, CopyName, failed)
           )),
    forall(retract(prepared(Name, Arity, M, Id, made(CopyName))),
           (   functor(Head, Name, Arity),
               functor(Copy, CopyName, Arity),
               same_modes(M:Head, CopyName, []),
               as_own_size(M, wrap_or_give_up(copy, M, Head, Copy, Id))
           )),
    retire_withdrawn.

%   No copy with ports could be made. The predicate is called through its closure, and so is what others already call.

wrap_uncopied(M, Name, Arity, Id, CopyName, Error) :-
    functor(Head, Name, Arity),
    remove_copy(M:Head, CopyName),
    withdraw(M, Head),
    (   retract(wrapped(Name, Arity, M, Id, _, Generation))
    ->  assertz(wrapped(Name, Arity, M, Id, closure(always), Generation)),
        note('not copied', M, Name, Arity, Error),
        as_own_size(M, wrap_or_give_up(closure(always), M, Head, _, Id))
    ;   true
    ).

:- public callee/5.

%   callee(+Module, +Name, +Arity, -Id, -How) is semidet
%
%   How a clause with ports at its goals calls the predicate: see instrument/5.

callee(M, Name, Arity, Id, How) :-
    mode(goals),
    home(M, Name, Arity, Home),
    (   wrapped(Name, Arity, Home, Id0, _, _)
    ->  Id = Id0,
        (   Home == M,                  % else M may import another predicate while the clause runs
            instrumented(Name, Arity, Home, CopyName)
        ->  How = copy(Home, CopyName)
        ;   functor(Head, Name, Arity),
            records_calls(Home:Head, Id)
        ->  How = wrapper
        ;   How = inside
        )
    ;   mode(boundary),
        is_boundary(Home, Name, Arity),
        \+ left_out(Home, Name, Arity),
        boundary_predicate(Home, Name, Arity, Id),
        How = itself
    ).

%   records_calls(:Head, +Id) is semidet
%
%   The predicate's wrapper must record its calls: it has their arguments at hand; or what runs the predicate looks at the frames that call it.

records_calls(_, Id) :- keeps_arguments(Id), !.
records_calls(P, _)  :- '$get_predicate_attribute'(P, tabled, _), !.
records_calls(P, _)  :- '$get_predicate_attribute'(P, det, 1), !.

boundary_predicate(M, Name, Arity, Id) :-
    boundary_id(Name, Arity, M, Id),
    !.
boundary_predicate(M, Name, Arity, Id) :-
    functor(Head, Name, Arity),
    \+ portmortem:'$excluded'(M, Name, Arity),
    name_predicate(M, Head, Id),
    assertz(boundary_id(Name, Arity, M, Id)).

%   The module where a predicate of this name is defined.

home(M, Name, Arity, Home) :-
    functor(Head, Name, Arity),
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

%   withdraw(+Module, :Head) is det
%
%   If there is a copy that others call, no new clause will, and it calls the predicate after retire_withdrawn/0. That must not be before
%   the predicate's wrapper has ceased to call the copy.

withdraw(M, Head) :-
    functor(Head, Name, Arity),
    (   retract(instrumented(Name, Arity, M, CopyName))
    ->  (   retract(prepared(Name, Arity, M, _, _))
        ->  true                        % never made
        ;   wrapped(Name, Arity, M, Id, _, _),
            assertz(withdrawn(Name, Arity, M, Id, CopyName))
        )
    ;   retractall(prepared(Name, Arity, M, _, _))
    ).

retire_withdrawn :-
    forall(retract(withdrawn(Name, Arity, M, Id, CopyName)),
           (   functor(Head, Name, Arity),
               as_own_size(M, retire_copy(M, Head, CopyName, Id))
           )).

%!  continuations_begin is det.
%
%   A goal is about to be run that may be left by shift/1 and resumed. A clause with ports at its goals could not be:
%   copies have none from now on.

continuations_begin :-
    mode(goals),
    !,
    as_own(sig_atomic(with_mutex('$portmortem', continuations_begin_))).
continuations_begin.

continuations_begin_ :-
    retractall(mode(goals)),
    findall(M:Head-Id,
            ( instrumented(Name, Arity, M, _),
              wrapped(Name, Arity, M, Id, _, _),
              functor(Head, Name, Arity) ),
            All),
    forall('$member'(M:Head-Id, All),
           wrap_as_fits(M, Head, loaded, Id)),
    wrap_prepared.

%   A predicate that is not recorded although it is selected: its time goes to its callers.

give_up(M, Name, Arity, Reason) :-
    leave_out(M, Name, Arity),
    note('not recorded', M, Name, Arity, Reason).

note(What, M, Name, Arity, Reason0) :-
    (   nonvar(Reason0),
        Reason0 = error(Reason, _)
    ->  true
    ;   Reason = Reason0
    ),
    format(string(Text), '~w: ~q (~W)', [What, M:Name/Arity, Reason, [max_depth(10), numbervars(true)]]),
    portmortem:'$note'(Text).

%   How a predicate is to be wrapped: `copy`, or closure(Why).

how(M, Head, When, Id, How, Copy) :-
    (   needs_closure(M:Head)
    ->  How = closure(always)
    ;   \+ complete(M:Head, When)
    ->  How = closure(loading)
    ;   catch(( may_be_copied(M:Head),
                make_copy(M, Head, Id, Copy) ), error(_, _), fail)
    ->  How = copy
    ;   How = closure(always)
    ).

needs_closure(P) :- '$get_predicate_attribute'(P, (dynamic), 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, foreign, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, transparent, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, system, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, (multifile), 1), !.   % any file may add clauses
needs_closure(P) :- '$get_predicate_attribute'(P, tabled, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, det, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, spy, 1), !.
needs_closure(P) :- wrapper_of_program(P, _), !.

%   A copy of the predicate's clauses does the same as they do. A large table of facts has
%   no last calls to keep: a copy would only cost memory.

may_be_copied(M:Head) :-
    '$get_predicate_attribute'(M:Head, number_of_clauses, Count),
    Count < 10000,
    \+ ( clause(M:Head, Body),
         uncopyable(Body) ).

uncopyable(Body) :- var(Body), !, fail.
uncopyable(_:_) :- !.
uncopyable(Body) :-
    compound(Body),
    !,
    (   functor(Body, Name, _),
        looks_at_frames(Name)
    ->  true
    ;   arg(_, Body, Part),
        nonvar(Part),
        uncopyable_goal(Part)
    ->  true
    ).
uncopyable(Body) :- looks_at_frames(Body).

uncopyable_goal(Goal) :-
    callable(Goal),
    functor(Goal, Name, _),
    looks_at_frames(Name),
    !.
uncopyable_goal(Goal) :-
    control(Goal),
    arg(_, Goal, Part),
    nonvar(Part),
    uncopyable_goal(Part),
    !.

looks_at_frames($).
looks_at_frames(prolog_current_frame).
looks_at_frames(prolog_current_choice).
looks_at_frames(prolog_frame_attribute).
looks_at_frames(deterministic).
looks_at_frames(context_module).
looks_at_frames(get_prolog_backtrace).

make_copy(M, Head, Id, Copy) :-
    copy_predicate(M:Head, CopyName, Refs, Clauses, Flag),
    functor(Head, _, Arity),
    (   mode(symbolic),
        can_be_counted(Clauses)
    ->  remove_copy(M:Head, CopyName),
        new_copy_name(M, Head, counted_name, CountedName),
        counted_copy(M, CountedName, Id, Clauses, Set),
        (   source_location(_, _)       % the file that is being read would own the copy
        ->  true
        ;   same_modes(M:Head, CountedName, [?,?])
        ),
        Copy = counted(Set, CountedName)
    ;   Clauses \== [],
        note_continuations(Clauses),
        has_ports
    ->  remove_copy(M:Head, CopyName),
        new_copy_name(M, Head, copy_name, InstrumentedName),
        Copy = to_instrument(InstrumentedName, Refs, Clauses, Flag)
    ;   same_modes(M:Head, CopyName, []),
        functor(Copy, CopyName, Arity)
    ).

%   A program with delimited continuations gets no ports at goals, not even before the first reset/3: a clause that runs
%   then may resume one. The engine takes a condition that ends in a continuation back to where its choicepoint once was, and with it those of the ports.

note_continuations(Clauses) :-
    mode(goals),
    '$member'(Clause, Clauses),
    arg(2, Clause, Body),
    mentions_continuations(Body),
    !,
    retractall(mode(goals)),
    assertz(mode(continuations)).
note_continuations(_).

mentions_continuations(Term) :-
    compound(Term),
    (   delimits(Term)
    ->  true
    ;   arg(_, Term, Part),
        mentions_continuations(Part)
    ->  true
    ).

delimits(reset(_, _, _)).
delimits(shift(_)).
delimits(shift_for_copy(_)).

%   Copies have ports: at their goals, or only where a clause is entered.

has_ports :- mode(goals), !.
has_ports :- mode(clauses).

wrap(How, M, Head, Copy, Id) :-
    Head =.. [_|Arguments],
    (   How == copy,
        Copy = counted(Set, CopyName)
    ->  (   mode(byrd)
        ->  Exits = byrd
        ;   Exits = plain
        ),
        counted_body(Head, Id, Set, CopyName, Exits, Body)
    ;   (   How == copy
        ->  Copy =.. [_|Arguments],
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

%   The arguments that the engine qualifies with a module. It does so twice if the predicate is
%   wrapped, and crashes the second time if the qualification is cyclic: then its error is raised here.

qualified_arguments(P, Arguments) :-
    '$get_predicate_attribute'(P, meta_predicate, Spec),
    !,
    P = _:Head,
    findall(I, ( arg(I, Spec, Kind), is_qualified(Kind) ), Places),
    nth_arguments(Places, Head, Arguments).
qualified_arguments(_, []).

is_qualified(Kind) :- integer(Kind), !.
is_qualified(:).
is_qualified(^).
is_qualified(//).

unless_cyclic([], _, Body, Body).
unless_cyclic([Argument|Arguments], P, Body0, Body) :-
    P = M:Head,
    functor(Head, Name, Arity),
    (   M == user
    ->  PI = Name/Arity
    ;   PI = M:Name/Arity
    ),
    Body = (   '$pm_cyclic'(Argument)
           ->  throw(error(type_error(acyclic_term, Argument), context(PI, _)))
           ;   Body1
           ),
    unless_cyclic(Arguments, P, Body0, Body1).

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

system_file(File) :-
    current_prolog_flag(home, Home),
    sub_atom(File, 0, _, _, Home).

%   `portmortem record` starts the engine with a script beside this file.

beside_us(File) :-
    module_property(portmortem_wrap, file(Own)),
    file_directory_name(Own, Directory),
    file_directory_name(File, Directory).

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
        functor(Head, Name, Arity),
        \+ predefined(Name, Arity, M),
        assertz(predefined(Name, Arity, M)),
        fail
    ;   true
    ).

:- initialization(note_predefined).
