:- module(portmortem_engine,
          [ wrap_in_place/4,            % :Head, +Name, -Wrapped, +Body
            wrap_in_place/5,            % :Head, +Name, -Closure, -Wrapped, +Body
            opaque_wrapper/1,           % :Head
            has_wrapper/2,              % :Head, +Name
            wrapper_of_program/2,       % :Head, ?Name
            own_wrapper/1,              % ?Name
            fills_table/1,              % -Head
            completes_tables/1,         % -Head
            exit/3,                     % ?Box, ?Before, -Goal
            only_guards/2,              % +Choice, +Before
            as_own/1,                   % :Goal
            noting/1,                   % :Goal
            own_module/1,               % ?Module
            system_file/1,              % +File
            beside_us/1,                % +File
            load_own/1,                 % +Name
            rules_can_be_wrapped/0
          ]).

/** <module> Wrapping, and what differs between versions of SWI-Prolog
*/

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).
:- use_module(portmortem_terms, [name_arity/3]).

%!  wrap_in_place(:Head, +Name, -Wrapped, +Body) is det.
%!  wrap_in_place(:Head, +Name, -Closure, -Wrapped, +Body) is det.
%
%   As wrap_predicate/4, with Body resolved in the module of the predicate. In
%   9.0 and 9.2 that is so anyhow, and a qualified Body would make a frame of each call
%   through the closure. In later versions Body belongs to the module it is qualified with, and
%   a transparent predicate called through it would lose the module of *its* caller.
%
%   Closure is what Wrapped calls, for a body that calls it with other arguments.
%
%   library(prolog_wrap) is not loaded: a program that did not load it would see
%   it, as a property of predicates, and as two files when it disables autoloading.

wrap_in_place(P, Name, Wrapped, Body) :-
    wrap_in_place(P, Name, _, Wrapped, Body).

:- if(predicate_property(system:'$wrap_predicate'(_, _, _, _, _), meta_predicate('$wrap_predicate'(_, _, _, _, 0)))).
wrap_in_place(M:Head, Name, Closure, Wrapped, Body) :-
    '$wrap_predicate'(M:Head, Name, Closure, Wrapped, M:Body).
:- else.
wrap_in_place(M:Head, Name, Closure, Wrapped, Body) :-
    '$wrap_predicate'(M:Head, Name, Closure, Wrapped, Body).
:- endif.

%!  opaque_wrapper(:Head) is det.
%
%   A transparent wrapper looks for its module through all its callers: quadratic in the depth. That
%   of a predicate
%   which is not transparent need not be.

opaque_wrapper(M:Head) :-
    (   '$get_predicate_attribute'(M:Head, transparent, 1)
    ->  true
    ;   name_arity(Head, Name, Arity),
        atom_concat('$wrap$', Name, WrapperName),
        name_arity(Wrapper, WrapperName, Arity),
        '$set_predicate_attribute'(M:Wrapper, transparent, false)
    ).

%!  has_wrapper(:Head, +Name) is semidet.
%
%   The predicate has a wrapper of this name. Loading a predicate again while it runs takes its
%   wrappers off.

has_wrapper(P, Name) :-
    wrapper_of(P, Name),
    !.

%!  wrapper_of_program(:Head, ?Name) is nondet.
%
%   The program, or the engine for a tabled predicate, has put a wrapper of this name around the
%   predicate. The newest is the first.

wrapper_of_program(P, Name) :-
    wrapper_of(P, Name),
    \+ own_wrapper(Name).

wrapper_of(P, Name) :-
    (   '$wrapped_predicate'(P, all(Pairs))     % see portmortem_disguise:wrappers/2
    ->  true
    ;   '$wrapped_predicate'(P, Pairs)
    ),
    '$member'(Name-_, Pairs).

%!  own_wrapper(?Name) is nondet.
%
%   Names of wrappers of this library.

own_wrapper(portmortem).
own_wrapper(portmortem_hook).
own_wrapper(portmortem_change).
own_wrapper(portmortem_disguise).
own_wrapper(portmortem_queue).

%!  fills_table(-Head) is nondet.
%
%   The engine calls this predicate to fill a table, and once for each.

fills_table('$tabling':run_leader(_, _, _, _, _)).
fills_table('$tabling':moded_run_leader(_, _, _, _, _)).

%!  completes_tables(-Head) is det.
%
%   The engine calls this predicate with a component, whose tables are complete with it.

completes_tables(system:'$tbl_table_complete_all'(_, _, _)).

%!  exit(?Box, ?Before, -Goal) is det.
%
%   Goal ends the body of a wrapper whose box is Box. Before is the newest choicepoint when the
%   predicate was
%   called. No port is the last goal: an error on determinism would name it.

exit(Box, Before,
     ( prolog_current_choice(After),
       (   Before == After,
           '$pm_exit_det'(Box)
       ->  !
       ;   Before == After
       ->  portmortem_engine:exit_resumed(Box, Before)
       ;   '$pm_exit_nondet'(Box), true
       ) )).

:- public exit_resumed/2.

%   A continuation has resumed the body in another frame, of which the guard is not a part: a cut
%   does not
%   remove it. It would stay where the goal that shift/1 left has no choicepoint any more.

exit_resumed(Box, Guard) :-
    (   '$pm_resumed'(Box),
        prolog_choice_attribute(Guard, parent, Before),
        only_guards(Guard, Before)
    ->  prolog_cut_to(Before)
    ;   true
    ).

%!  only_guards(+Choice, +Before) is semidet.
%
%   All choicepoints from Choice on that are newer than Before are guards of boxes.

only_guards(Choice, Choice) :-
    !.
only_guards(Choice, Before) :-
    prolog_choice_attribute(Choice, type, foreign),
    prolog_choice_attribute(Choice, frame, Frame),
    prolog_frame_attribute(Frame, predicate_indicator, system:Guard/2),
    is_guard(Guard),
    prolog_choice_attribute(Choice, parent, Parent),
    only_guards(Parent, Before).

is_guard('$pm_enter').
is_guard('$pm_enter_original').

:- meta_predicate as_own(0).

%!  as_own(:Goal) is semidet.
%
%   Run Goal once, unrecorded: our own use of predicates that are recorded is not
%   part of the program, nor is the time it takes.

as_own(Goal) :-
    portmortem:'$own_begin',
    (   catch(Goal, Error, true)
    ->  portmortem:'$own_end',
        (   var(Error)
        ->  true
        ;   throw(Error)
        )
    ;   portmortem:'$own_end',
        fail
    ).

:- meta_predicate noting(0).
:- dynamic noted_error/1.               % Indicator: of an error that the trace has a note on

%!  noting(:Goal) is det.
%
%   Run Goal, with which the recorder notes something of the program in the middle of the program's
%   own work. That goes on whatever Goal does: if it fails, and if there is an error in it, on which
%   the trace gets a note. Signals wait, so that none of the program's own is taken for an error.
%   What is thrown and is no error is a limit of the program's.

noting(Goal) :-
    sig_atomic(catch(ignore(Goal), error(Formal, Context), failed_to_note(Formal, Context))).

%   One note for each kind of error.

failed_to_note(Formal, Context) :-
    catch(note_error(Formal, Context),
          error(_, _),
          portmortem:'$note'("an error of the recorder: not all is recorded")).

note_error(Formal, _) :-
    name_arity(Formal, Name, Arity),
    noted_error(Name/Arity),
    !.
note_error(Formal, Context) :-
    name_arity(Formal, Name, Arity),
    assertz(noted_error(Name/Arity)),
    (   source_location(File, Line)
    ->  format(string(Place), ' of ~w:~d', [File, Line])
    ;   Place = ""
    ),
    (   nonvar(Context),
        Context = context(PI, _),
        nonvar(PI)
    ->  format(string(In), ' in ~q', [PI])
    ;   In = ""
    ),
    format(string(Text), 'an error of the recorder: not all~w is recorded: ~W~w',
           [Place, Formal, [quoted(true), max_depth(10)], In]),
    portmortem:'$note'(Text).

%!  own_module(?Module) is nondet.
%
%   The modules of this library.

own_module(portmortem).
own_module(portmortem_wrap).
own_module(portmortem_registry).
own_module(portmortem_selection).
own_module(portmortem_ways).
own_module(portmortem_wrapper).
own_module(portmortem_names).
own_module(portmortem_terms).
own_module(portmortem_hooks).
own_module(portmortem_queue).
own_module(portmortem_changes).
own_module(portmortem_engine).
own_module(portmortem_copies).
own_module(portmortem_goals).
own_module(portmortem_lines).
own_module(portmortem_walk).
own_module(portmortem_meta).
own_module(portmortem_drivers).
own_module(portmortem_boundary).
own_module(portmortem_disguise).
own_module(portmortem_symbolic).
own_module(portmortem_calibrate).
own_module(portmortem_trials).
own_module(portmortem_report).
own_module(portmortem_settings).
own_module(portmortem_start).
own_module(portmortem_boot).
own_module(portmortem_stubs).
own_module(portmortem_temporary).
own_module(portmortem_arguments).
own_module(portmortem_layout).
own_module(portmortem_loaded).
own_module(portmortem_rules).
own_module(portmortem_declared).
own_module(portmortem_internal).
own_module(portmortem_listen).

%!  system_file(+File) is semidet.
%
%   File is one of the engine's.

system_file(File) :-
    current_prolog_flag(home, Home),
    sub_atom(File, 0, _, _, Home).

%!  beside_us(+File) is semidet.
%
%   File is one of this library's, or the script beside it with which `portmortem record` starts the
%   engine.

beside_us(File) :-
    module_property(portmortem_engine, file(Own)),
    file_directory_name(Own, Directory),
    file_directory_name(File, Directory).

%!  load_own(+Name) is det.
%
%   Load a file of this library that only some recordings need. Its predicates are called with
%   their module.

load_own(Name) :-
    module_property(portmortem, file(Own)),
    file_directory_name(Own, Directory),
    atomic_list_concat([Directory, /, Name], File),
    load_files(portmortem:File, [if(not_loaded), imports([]), silent(true)]).

%!  rules_can_be_wrapped is semidet.
%
%   A predicate of rules (`=>`) whose rule fails still fails if it is wrapped. In
%   10.1.14 it raises an error: the wrapper's frame is taken for one in which no rule
%   matched.

:- dynamic
    rules_wrap/1,               % Boolean: what was found out
    probe/1.

rules_can_be_wrapped :-
    rules_wrap(Answer),
    !,
    Answer == true.
rules_can_be_wrapped :-
    retractall(probe(_)),
    assertz((probe(_) => fail)),
    compile_predicates([probe/1]),
    wrap_in_place(portmortem_engine:probe(_), portmortem, Wrapped, ( true, Wrapped, true )),
    (   catch(\+ probe(1), _, fail)
    ->  assertz(rules_wrap(true))
    ;   assertz(rules_wrap(false)),
        fail
    ).
