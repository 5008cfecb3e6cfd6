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
            continuations_begin/0
          ]).

/** <module> Put a wrapper with the ports around every selected predicate

A static predicate's clauses are copied and the wrapper ends in a last call to
the copy, so that last calls stay last calls. The copies have ports at their goals and call each
other; the wrapper
is what all others call. Where a copy would not be the same
predicate, the wrapper calls the predicate itself through its closure.

What it calls itself is not recorded: its work runs in as_own/1.
*/

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).
:- use_module(portmortem_terms, [name_arity/3]).
:- use_module(portmortem_engine).
:- use_module(portmortem_registry).
:- use_module(portmortem_selection).
:- use_module(portmortem_ways).
:- use_module(portmortem_wrapper).
:- use_module(portmortem_queue).
:- use_module(portmortem_copies).
:- use_module(portmortem_goals).
:- use_module(portmortem_declared).
:- use_module(portmortem_boundary).
:- use_module(portmortem_disguise).

:- dynamic
    active/0,           % new predicates are wrapped
    wrapping/0.         % that is being done

%!  start_wrapping(+Options) is det.
%
%   Wrap all selected predicates, now and whenever wrap_new/1 is called.

start_wrapping(Options) :-
    set_mode(Options),
    (   memberchk(symbolic(true), Options) -> assertz(mode(symbolic)) ; true ),
    set_scope(Options),
    assertz(active),
    wrap_autoloader(Id),
    assertz(wrapped(do_autoload, 3, '$autoload', Id, closure(always), 0)),
    wrap_fillers(Filling),
    forall(( fills_table(M:Head), name_arity(Head, Name, Arity) ),
           assertz(wrapped(Name, Arity, M, Filling, closure(always), 0))),
    wrap_completer(System, Completer, CompleterArity),
    assertz(wrapped(Completer, CompleterArity, System, Filling, closure(always), 0)),
    portmortem:'$all_changed',
    wrap_new(loaded).

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
        name_arity(Head, Name, Arity),
        withdraw(M, Head),
        retract(wrapped(Name, Arity, M, _, _, _)),
        catch(take_off(M:Head), error(_, _), true),
        fail
    ;   catch(retire_withdrawn, error(_, _), true)
    ),
    portmortem:'$wrappers_changed'.

%!  forget_one(:Head) is det.
%
%   The predicate is about to be abolished: it must not live on in its copy. Unwrapping a predicate
%   and
%   abolishing it then can crash the collection of clauses in 9.2.9.

forget_one(M:Head) :-
    name_arity(Head, Name, Arity),
    (   wrapped(Name, Arity, M, _, _, _)
    ->  as_own(sig_atomic(with_mutex('$portmortem',
                                     ( withdraw(M, Head),
                                       retractall(wrapped(Name, Arity, M, _, _, _)),
                                       only_call(M:Head),
                                       retire_withdrawn ))))
    ;   true
    ).

%!  copied(?Module, -Head) is nondet.
%
%   The predicate of Head is called through a copy.

copied(M, Head) :-
    wrapped(Name, Arity, M, _, copy, _),
    name_arity(Head, Name, Arity).

%!  is_as_copied(:Head) is semidet.
%
%   The predicate, which has a copy, has not changed since, as far as the engine tells.

is_as_copied(M:Head) :-
    name_arity(Head, Name, Arity),
    wrapped(Name, Arity, M, _, copy, Generation),
    generation(M:Head, Generation),
    \+ needs_closure(M:Head).

%!  call_itself(:Head, +Why) is det.
%
%   The predicate has changed: from now on it is called itself, and not its copy. Why is `always`,
%   or
%   `loading` if a new copy may be made when its file has been read.

call_itself(M:Head, Why) :-
    name_arity(Head, Name, Arity),
    (   wrapped(Name, Arity, M, _, copy, _)
    ->  name_arity(General, Name, Arity),
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
%   until they are complete, for they must not live on in their copies. Those that begin as they
%   were
%   declared get new wrappers then.

file_changes(File) :-
    of_file(File, Head, portmortem_wrap:read_again(File, Head)).

read_again(File, P) :-
    look_again(File, P),
    through_closure(P, loading).

through_closure(M:Head, Why) :-
    name_arity(Head, Name, Arity),
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

%   In later versions a wrapped predicate begins with what det/1 and meta_predicate/1 said when it
%   was wrapped.

begins_as_declared(P) :-
    '$fetch_vm'(P, 0, _, Instruction),
    name_arity(Instruction, Name, _),
    declaration(Name).

declaration(s_det).
declaration(s_ssu_det).
declaration(s_mqual).
declaration(s_lmqual).

%!  file_goes(+File) is det.
%
%   File is about to be unloaded. After that the engine fails a predicate that has been called, and
%   knows
%   nothing of one that has not.

file_goes(File) :-
    of_file(File, Head, portmortem_wrap:goes(Head)).

goes(M:Head) :-
    name_arity(Head, Name, Arity),
    (   wrapped(Name, Arity, M, Id, copy, Generation),
        copy_was_called(M:Head)
    ->  withdraw(M, Head),
        retractall(wrapped(Name, Arity, M, _, _, _)),
        assertz(wrapped(Name, Arity, M, Id, closure(loading), Generation)),
        name_arity(General, Name, Arity),
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
                                              name_arity(Head, Name, Arity),
                                              wrapped(Name, Arity, M, _, _, _),
                                              source_file(M:Head, File) ),  % not one that another file has redefined
                                            Goal))))
    ;   true
    ).

%!  wrap_new(+When) is det.
%
%   Wrap selected predicates that appeared or changed. When is `loaded`; loaded(File) if File has
%   just been read to its end;
%   or loading(File) while its clauses are still being read.

wrap_new(When) :-
    active,
    something_changed(When),
    !,
    as_own(sig_atomic(with_mutex('$portmortem', wrap_new_(When)))).
wrap_new(_).

%   The engine may load its index of libraries for what a clause calls: that is not the time to
%   begin again.

wrap_new_(_) :-
    wrapping,
    !.
wrap_new_(When) :-
    setup_call_cleanup(
        assertz(wrapping),
        wrap_all_new(When),
        retractall(wrapping)).

wrap_all_new(When) :-
    findall(M-Head, changed(portmortem_selection:module_in_scope, When, M:Head), Changed),
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
    name_arity(Head, Name, Arity),
    name_arity(General, Name, Arity),
    withdraw(M, General),
    retractall(wrapped(Name, Arity, M, _, _, _)),
    (   has_wrapper(M:General, portmortem)
    ->  only_call(M:General)
    ;   true
    ),
    give_up(M, Name, Arity, Error).

%   Whether the predicate is there, selected, and not yet wrapped as it should be;
%   if so, wrap it.

wrap_if_selected(M, Head, When) :-
    portmortem:'$look_at',
    name_arity(Head, Name, Arity),
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

name_predicate(M, Head, Id) :-
    name_arity(Head, Name, Arity),
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

%   Asking for an attribute of a predicate that is not defined could load a library, or tell of an
%   inherited one.

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

                 /*******************************
                 *         WRAPPERS             *
                 *******************************/

wrap_as_fits(M, Head, When, Id) :-
    as_own_size(M, wrap_as_fits_(M, Head, When, Id)).

wrap_as_fits_(M, Head, When, Id) :-
    generation(M:Head, Generation),
    name_arity(Head, Name, Arity),
    name_arity(General, Name, Arity),
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
           (   name_arity(Head, Name, Arity),
               name_arity(Copy, CopyName, Arity),
               same_modes(M:Head, CopyName, []),
               as_own_size(M, wrap_or_give_up(copy, M, Head, Copy, Id))
           )),
    retire_withdrawn.

%   No copy with ports could be made. The predicate is called through its closure, and so is what
%   others already call.

wrap_uncopied(M, Name, Arity, Id, CopyName, Error) :-
    name_arity(Head, Name, Arity),
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
        ;   name_arity(Head, Name, Arity),
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
%   The predicate's wrapper must record its calls: it has their arguments at hand; or what runs the
%   predicate looks at the frames that call it.

records_calls(_, Id) :- keeps_arguments(Id), !.
records_calls(P, _)  :- '$get_predicate_attribute'(P, tabled, _), !.
records_calls(P, _)  :- '$get_predicate_attribute'(P, det, 1), !.

boundary_predicate(M, Name, Arity, Id) :-
    boundary_id(Name, Arity, M, Id),
    !.
boundary_predicate(M, Name, Arity, Id) :-
    name_arity(Head, Name, Arity),
    \+ portmortem:'$excluded'(M, Name, Arity),
    name_predicate(M, Head, Id),
    assertz(boundary_id(Name, Arity, M, Id)).

%   withdraw(+Module, :Head) is det
%
%   If there is a copy that others call, no new clause will, and it calls the predicate after
%   retire_withdrawn/0. That must not be before
%   the predicate's wrapper has ceased to call the copy.

withdraw(M, Head) :-
    name_arity(Head, Name, Arity),
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
           (   name_arity(Head, Name, Arity),
               as_own_size(M, retire_copy(M, Head, CopyName, Id))
           )).

%!  continuations_begin is det.
%
%   A goal is about to be run that may be left by shift/1 and resumed. A clause with ports at its
%   goals could not be:
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
              name_arity(Head, Name, Arity) ),
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
