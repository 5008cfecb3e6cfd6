:- module(portmortem,
          [ pm_record/2,                % :Goal, +Options
            pm_start/2,                 % +File, +Options
            pm_stop/0,
            pm_pause/0,
            pm_resume/0,
            pm_listen/0,
            pm_mark/1,                  % +Text
            pm_keep/0,
            pm_keep/1,                  % +Text
            pm_report/0,
            pm_report/1,                % +Options
            pm_advise/0,
            pm_reset/0,
            portmortem/1,               % :Goal
            portmortem/2,               % :Goal, +Options
            cost_center/2,              % +Name, :Goal
            in_cost_center/2,           % +Name, :PredicateIndicators
            noprofile/1                 % :PredicateIndicators
          ]).

/** <module> Record the execution of a Prolog program

A recording is a file with every call, exit, redo, failure, cut and exception
of the program's predicates and when it happened. The program `portmortem`
answers questions about it: `portmortem report FILE`, or pm_report/0 while the program runs;
`portmortem advise FILE` or pm_advise/0 says what to change.

```
?- portmortem(main).                            % record, and print the report
?- pm_record(main, [output('run.pmt')]).        % record
```

Outside a recording all predicates of this library but portmortem/1,2, pm_record/2 and
pm_start/2 do nothing; reports and advice are on the last recording.

Options of pm_record/2, pm_start/2 and portmortem/2:

  - output(+File)
    The trace. Default of pm_record/2: =|recording.pmt|=. Without it, that of portmortem/2 is
    temporary.
  - force(+Boolean)
    Whether to replace an existing file. Default: `false`.
  - include(+Patterns), exclude(+Patterns)
    Predicates to record, as =|module:name/arity|= with `*` and `?`.
    Default: all predicates of the user's own modules.
  - boundary(+Boolean)
    Give the built-in and library predicates that recorded clauses call directly
    boxes, but not what they call in turn. Default: `true`. There are none with
    byrd(true), symbolic(true) or tail(false).
  - clauses(+Boolean)
    Record which clause of a predicate is entered, too. Default: `false`.
  - arguments(+Patterns)
    Of these predicates, record what each call is made with: a hash of the arguments that are
    ground, and the sizes of the first four. Patterns are those of include(+Patterns).
  - values(+Patterns)
    Of these predicates, record a hash and the size of each argument at calls and exits.
  - libraries(+Boolean), builtins(+Boolean)
    Record library predicates, and built-in ones, as well.
  - tests(+Boolean)
    Give each test of library(plunit) a cost centre of its own: its name, with the unit and the
    line. Default: `false`. Recordings with ports have none.
  - byrd(+Boolean)
    Make every exit re-enterable (the figures of Debray 1988). Default: `false`.
  - symbolic(+Boolean)
    Count symbolic costs (slow). Default: `false`.
  - ports(+Boolean)
    Record with ports in copies of clauses, and not in the engine's own instructions. So are
    recordings in any case where the version of the engine does not allow for those, with
    byrd(true), symbolic(true) and tail(false). Default: `false`.
  - tail(+Boolean)
    Record last calls as such. With `false` every one gets a box of its own,
    and recursion no longer runs in constant space. Default: `true`.
  - directory(+Directory)
    Where the program is: files below it are named relative to it.
    Default: the working directory.
  - max_size(+Bytes), keep(+FirstOrLast)
    Limit the size of the trace; keep its first or its last part.
*/

% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).

:- dynamic
    engine_library/1,           % Path: what was loaded
    without_library/1,          % Error: why that was not
    recording_file/1,           % Path: the trace that is being written, or was written last
    to_report/2,                % Pid, Path: that of portmortem/2, while it goes on
    hooked_at_halt/1,           % Pid
    reset_mark/1.               % Text: where figures begin

%   Not use_foreign_library/1: that would load libraries which the program did not ask for. A saved
%   state has the predicates of this file, and loads the engine library when it starts: from where
%   it is now, else from where it was. Without it nothing can be recorded, and programs run.

load_engine_library :-
    without_library(_),
    !.
load_engine_library :-
    catch(( find_engine_library(Path),
            open_shared_object(Path, Handle),
            call_shared_object_function(Handle, install)
          ), error(Error, _), true),
    (   var(Error)
    ->  retractall(engine_library(_)),
        assertz(engine_library(Path))
    ;   assertz(without_library(Error)),
        forall(stand_in(Head, Indicator, Body),
               ( redefine_system_predicate(Head),
                 dynamic(Indicator),
                 assertz((Head :- Body))
               ))
    ).

%   What programs call of the engine library, where there is none. A state knows these predicates,
%   without what they do.

stand_in('$recording', '$recording'/0, fail).
stand_in('$pause', '$pause'/0, true).
stand_in('$resume', '$resume'/0, true).
stand_in('$stub_in_center'(_, _, _, _), '$stub_in_center'/4, true).
stand_in('$stub_leave_out'(_, _, _), '$stub_leave_out'/3, true).

find_engine_library(Path) :-
    absolute_file_name(foreign(libportmortem_swi), Path,
                       [file_type(executable), access(read), file_errors(fail)]),
    !.
find_engine_library(Path) :-
    engine_library(Path),
    !.
find_engine_library(_) :-
    throw(error(existence_error(library, foreign(libportmortem_swi)), _)).

:- load_engine_library.

%   A state that a recorded program saves has no predicates of the recorder, which `portmortem
%   record` loads: it has set this flag by then.

is_of_program :-
    flag('$portmortem_agc_margin', 0, 0).

:- (   is_of_program
   ->  initialization(load_engine_library, restore_state)
   ;   true
   ).

need_engine_library :-
    without_library(Error),
    !,
    (   Error = shared_object(_, Why)
    ->  true
    ;   Why = 'libportmortem_swi is in no directory of foreign libraries'
    ),
    format(string(Text), 'the recorder cannot be loaded: ~w', [Why]),
    throw(error(portmortem_error(Text), _)).
need_engine_library.

:- use_module(portmortem_engine, [exit/3, as_own/1, load_own/1]).
:- use_module(portmortem_declared).
:- use_module(portmortem_calibrate).
:- use_module(portmortem_listen).
:- use_module(portmortem_report).
:- use_module(portmortem_settings).
:- use_module(portmortem_stubs).
:- use_module(portmortem_temporary).

:- meta_predicate
    pm_record(0, +),
    told(0),
    portmortem(0),
    portmortem(0, +),
    cost_center(+, 0),
    in_cost_center(+, :),
    noprofile(:).

:- set_module(class(library)).

%!  pm_record(:Goal, +Options) is semidet.
%
%   Run Goal once and record it. Succeeds, fails or throws as Goal does.

pm_record(Goal, Options) :-
    (   memberchk(output(File), Options)
    ->  true
    ;   File = 'recording.pmt'
    ),
    in_clause(Goal, InClause),
    setup_call_cleanup(pm_start(File, Options), told(once(InClause)), pm_stop).

%   The goal as one of a clause that call/1 makes: so those of built-in predicates are recorded.

in_clause(M:Goal, M:(Goal, true)) :-
    callable(Goal),
    \+ '$member'(Goal, [(_, _), (_ ; _), (_ -> _), (_ *-> _), \+ _]),
    !.
in_clause(Goal, Goal).

%   A stub sees a failure where control resumes, and an exception where it is caught: before a
%   cleanup handler ends the recording.

told(Goal) :-
    (   catch_with_backtrace(Goal, Error, rethrow(Error))
    *-> true
    ;   fail
    ).

%!  pm_start(+File, +Options) is det.
%
%   Begin to record all threads and engines into File.
%
%   @error portmortem_error(Message) if File cannot be written, a recording
%   is in progress, or the recorder cannot be loaded.

pm_start(File, Options) :-
    need_engine_library,
    absolute_file_name(File, Path),
    settings(Options, Settings),
    current_prolog_flag(version, Version),
    Major is Version // 10000,
    Minor is Version // 100 mod 100,
    Patch is Version mod 100,
    format(string(Engine), 'SWI-Prolog ~d.~d.~d', [Major, Minor, Patch]),
    setting(engine, Engine, EngineSetting),
    setting(output, Path, Output),
    current_prolog_flag(stack_limit, Limit),
    setting(stack_limit, Limit, LimitSetting),
    current_prolog_flag(home, Home),
    setting(home, Home, HomeSetting),
    current_prolog_flag(os_argv, Command),
    command_settings(Options, Command, CommandSettings),
    '$append'([[Output, EngineSetting, LimitSetting, HomeSetting], CommandSettings, Settings], All),
    technique(Options, Technique),
    load_recorder(Technique),
    calibrate(Technique, Options, Settings),
    '$open'(All, Error),
    (   Error == ""
    ->  retractall(recording_file(_)),
        retractall(reset_mark(_)),
        assertz(recording_file(Path)),
        '$recorded_with'(Technique, Settings),
        start_recorder(Technique, Options)
    ;   throw(error(portmortem_error(Error), _))
    ).

%   What ports in copies need is more than all the rest.

load_recorder(stubs).
load_recorder(ports) :-
    load_own(portmortem_hooks),
    portmortem_selection:note_predefined.

start_recorder(stubs, Options) :-
    start_stubs(Options).
start_recorder(ports, Options) :-
    note_without_stubs(Options),
    portmortem_hooks:install_hooks,
    portmortem_wrap:start_wrapping(Options).

ports_are_loaded :-
    module_property(portmortem_wrap, file(_)).

%!  pm_stop is det.
%
%   End the recording, if there is one. The program goes on as if it had not
%   been recorded.

pm_stop :-
    '$recording',
    !,
    sig_atomic(( stop_recorder, '$close' )).
pm_stop.

stop_recorder :-
    (   ports_are_loaded
    ->  portmortem_wrap:stop_wrapping
    ;   true
    ).

%!  pm_pause is det.
%!  pm_resume is det.
%
%   Leave out what the calling thread does in between. Time in between belongs
%   to no predicate.

pm_pause  :- '$pause'.
pm_resume :- '$resume'.

%!  pm_listen is det.
%
%   From now on =|portmortem attach PID|= can record the program while it runs, again and again. The
%   user of the process can, no one else: a socket is opened in a directory of its own below
%   =|XDG_RUNTIME_DIR|= or in that for temporary files. It is removed when the program ends. Until
%   then the program is as fast as without, and has no thread that Prolog knows of.
%
%   A child of fork/1 does not listen until it calls this itself. Where the environment variable
%   =|PORTMORTEM_LISTEN|= is 1, the library calls it when it is loaded.
%
%   @error portmortem_error(Message) if there can be no socket, or the recorder cannot be loaded.

pm_listen :-
    need_engine_library,
    listen.

:- public attached/2.

attached(Settings, Error) :-
    attached(Settings, pm_start, Error).

%!  pm_mark(+Text) is det.
%
%   Put a remark into the recording, at this moment of the calling thread.

pm_mark(Text) :-
    '$recording',
    !,
    format(string(String), '~w', [Text]),
    '$mark'(String).
pm_mark(_).

%!  pm_keep is det.
%!  pm_keep(+Text) is det.
%
%   As pm_mark/1 with the text =keep=, or =|keep: Text|=. Where only figures of a recording are kept
%   and its newest events, the events around it are, too.

pm_keep :-
    pm_mark(keep).

pm_keep(Text) :-
    '$recording',
    !,
    format(string(String), 'keep: ~w', [Text]),
    '$mark'(String).
pm_keep(_).

%!  pm_report is det.
%!  pm_report(+Options) is det.
%
%   Print the report of what was recorded so far, or since pm_reset/0; of the last recording if
%   there is none now. Options is a list of options of `portmortem report`: predicate(PI), top(N),
%   sort(Column), columns(Columns), sites(true), clauses(true), time(Range), hide(Pattern),
%   focus(Pattern), stream(Stream); or one predicate indicator.
%
%   @error portmortem_error(Message) if the program `portmortem` is not found, or an option is none.

pm_report :-
    pm_report([]).

pm_report(Options) :-
    recording_file(File),
    !,
    as_own(report_since(File, Options)).
pm_report(_) :-
    nothing_recorded.

report_since(File, Options0) :-
    (   reset_mark(Mark),
        \+ ( is_list(Options0), memberchk(time(_), Options0) )
    ->  atom_concat(Mark, '..', Range),
        (   is_list(Options0)
        ->  Options = [time(Range)|Options0]
        ;   Options = [time(Range), predicate(Options0)]
        )
    ;   Options = Options0
    ),
    engine_library(Library),
    print_report(Library, File, Options).

%!  pm_advise is det.
%
%   Print what to change, by what was recorded so far or since pm_reset/0; when the recording has
%   ended, by what it has. It is that of pm_start/2, pm_record/2, portmortem/1,2 or
%   `portmortem record`.
%
%   @error portmortem_error(Message) if the program `portmortem` is not found.

pm_advise :-
    recording_file(File),
    !,
    as_own(advice_since(File)).
pm_advise :-
    nothing_recorded.

advice_since(File) :-
    (   reset_mark(Mark)
    ->  atom_concat(Mark, '..', Range),
        Options = [time(Range)]
    ;   Options = []
    ),
    engine_library(Library),
    print_advice(Library, File, Options).

%!  pm_reset is det.
%
%   The next pm_report/0,1 and pm_advise/0 show what comes from now on. The recording stays whole:
%   this moment gets a mark.

pm_reset :-
    '$recording',
    !,
    flag('$portmortem_reset', N0, N0+1),
    N is N0+1,
    atom_concat('pm_reset ', N, Mark),
    '$mark'(Mark),
    retractall(reset_mark(_)),
    assertz(reset_mark(Mark)).
pm_reset :-
    nothing_recorded.

nothing_recorded :-
    print_message(warning, format('nothing has been recorded: begin with pm_start/2, portmortem/1 or `portmortem record`', [])).

%!  portmortem(:Goal) is nondet.
%!  portmortem(:Goal, +Options) is nondet.
%
%   Call Goal, as call/1 does, and record it. When it has no more solutions, fails, throws, is cut
%   or ends the process, its report is printed. pm_report/1 and pm_advise/0 say more of it. The
%   next one replaces the trace, and the end of the process removes it; output(File) keeps it.
%
%   @error portmortem_error(Message) if a recording is in progress, or File exists.

portmortem(Goal) :-
    portmortem(Goal, []).

portmortem(Goal, Options) :-
    (   memberchk(output(File), Options)
    ->  All = Options
    ;   temporary_trace(File),
        All = [force(true)|Options]
    ),
    in_clause(Goal, InClause),
    setup_call_cleanup(start_to_report(File, All), told(InClause), report(File)).

start_to_report(File, Options) :-
    pm_start(File, Options),
    current_prolog_flag(pid, Pid),
    retractall(to_report(_, _)),
    assertz(to_report(Pid, File)),
    (   hooked_at_halt(Pid)
    ->  true
    ;   assertz(hooked_at_halt(Pid)),
        at_halt(portmortem:end_of_process)
    ).

:- public end_of_process/0.

end_of_process :-
    forall(to_report(_, File), report(File)),
    remove_temporary_trace.

%   The end of a process may come here twice, and the child of a fork has nothing to report.

report(File) :-
    current_prolog_flag(pid, Pid),
    retract(to_report(Pid, File)),
    !,
    pm_stop,
    engine_library(Library),
    catch(print_report(Library, File, []), Error, print_message(warning, Error)),
    (   is_temporary_trace(File)
    ->  format('The trace goes with this process, unless the option output(File) keeps it: '),
        format('portmortem tui ~w~n', [File])
    ;   format('The trace is ~w: portmortem tui ~w~n', [File, File])
    ).
report(_).

%   What follows the goal is what follows it in a wrapper.

goal_expansion(end_of_wrapper(Box, Before), Exit) :-
    exit(Box, Before, Exit).

%!  cost_center(+Name, :Goal) is nondet.
%
%   Call Goal, as call/1 does. In a recording, what it costs is attributed to the
%   cost centre Name (an atom, or anything that is written like one): all that runs
%   in it, on backtracking as well, except what runs in another cost centre inside.

cost_center(Name, Goal) :-
    (   '$recording',
        center_text(Name, Text),
        '$center'(Text, Id)
    ->  (   '$stubs_record'
        ->  run_in_center(Id, Goal)
        ;   '$pm_enter'(Id, Box),
            (   var(Box)
            ->  Goal
            ;   prolog_current_choice(Before),
                Goal,
                end_of_wrapper(Box, Before)
            )
        )
    ;   Goal
    ).

%   Stubs open a box of the cost centre when this is called.

run_in_center(_, Goal) :-
    Goal.

center_text(Name, Text) :-
    (   atom(Name)
    ->  Text = Name
    ;   format(string(Text), '~w', [Name])
    ).

%!  in_cost_center(+Name, :PredicateIndicators) is det.
%
%   Every call of these predicates (a Name/Arity, or several in a list or separated by
%   commas) runs in the cost centre Name, wherever it comes from. A predicate that
%   is not recorded has no part in it. As a directive it may stand before or after
%   the clauses.

in_cost_center(Name, M:Specs) :-
    center_text(Name, Text),
    in_cost_center(Specs, M, Text).

in_cost_center([], _, _) :-
    !.
in_cost_center([Spec|Specs], M, Name) :-
    !,
    in_cost_center(Spec, M, Name),
    in_cost_center(Specs, M, Name).
in_cost_center((A,B), M, Name) :-
    !,
    in_cost_center(A, M, Name),
    in_cost_center(B, M, Name).
in_cost_center(Spec, M0, Center) :-
    strip_module(M0:Spec, M, Name/Arity),
    (   declare_center(M, Name, Arity, Center)
    ->  '$stub_in_center'(M, Name, Arity, Center),
        (   ports_are_loaded
        ->  portmortem_wrap:center_declared(M, Name, Arity, Center)
        ;   true
        )
    ;   true
    ).

%!  noprofile(:PredicateIndicators) is det.
%
%   Do not record these predicates (a Name/Arity, or several separated by
%   commas). Their time goes to their callers. Holds from the next recording on.

noprofile(M:(A,B)) :-
    !,
    noprofile(M:A),
    noprofile(M:B).
noprofile(M0:Spec) :-
    strip_module(M0:Spec, M, Name/Arity),
    leave_out(M, Name, Arity),
    '$stub_leave_out'(M, Name, Arity).

:- multifile prolog:error_message//1.

prolog:error_message(portmortem_error(Message)) -->
    [ 'Portmortem: ~w'-[Message] ].

:- (   is_of_program
   ->  listen_if_asked(pm_listen),
       initialization(listen_if_asked(pm_listen), restore_state)
   ;   true
   ).
