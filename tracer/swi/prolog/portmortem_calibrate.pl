:- module(portmortem_calibrate, [calibrate/3]).    % +Technique, +Options, +Settings

/** <module> Measure what recording costs

Small programs run unrecorded, then recorded into a file of our own: see
`calibrate.rs`. All of it takes some 100 ms, once for a machine and its versions.
*/

:- use_module(portmortem_engine, [load_own/1]).
:- use_module(portmortem_stubs).

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).

%!  calibrate(+Technique, +Options, +Settings) is det.
%
%   Measure what a recording with these options costs, made by `ports` or `stubs`, unless that is
%   known.
%   If it cannot be measured, it stays unknown.

calibrate(_, Options, _) :-
    memberchk(symbolic(true), Options),     % nothing is known of its wrappers
    !.
calibrate(Technique, _, Settings) :-
    portmortem:'$calibrated'(Technique, Settings),
    !.
calibrate(_, _, _) :-
    portmortem:'$recording',
    !.
calibrate(Technique, _, Settings) :-
    findall(pace-Ticks, ( between(1, 100, _), stretch(steps(200), Ticks) ), Samples),
    quartile(pace, Samples, Pace),      % where the thread waited, as little as 0 is left of one
    portmortem:'$kept_trials'(Technique, Settings, Pace),
    !.
calibrate(Technique, Options, Settings) :-
    load_own(portmortem_trials),
    catch(setup_call_cleanup(
              engine_create(true, measure(Technique, Options, Settings), Engine),
              (   engine_next(Engine, _)
              ->  true
              ;   true
              ),
              engine_destroy(Engine)),
          error(_, _),
          true).

%   A loop that tells how fast the machine is now.

steps(0) :- !.
steps(N) :-
    N1 is N-1,
    steps(N1).

%   In an engine of its own, because loading a file is `sig_atomic/1`, and whoever calls may be it,
%   too: then a garbage
%   collection that the engine asks itself for waits like any other signal, every call looks at it,
%   and recording seems to
%   cost a quarter more than it does.

%   The unrecorded runs come first: stubs stay where they are.

measure(Technique, Options, Settings) :-
    rounds(Rounds),
    findall(Name-Ticks, unrecorded(Rounds, Name, Ticks), Samples),
    quartile(empty, Samples, Empty),
    findall(Quartile, ( portmortem_trials:trial(Name, _), quartile(Name, Samples, Quartile) ), Untraced),
    setup_call_cleanup(
        portmortem:'$open_calibration'(Technique, Settings),
        (   ignore(recorded(Technique, Options, Rounds)),
            stop(Technique),
            portmortem:'$close_calibration'(Empty, Untraced)
        ),
        abandon(Technique)).

stop(ports) :- portmortem_wrap:stop_wrapping.
stop(stubs).

%   Ends it if it has not ended: the handler of a signal may have thrown.

abandon(Technique) :-
    portmortem:'$calibrating',
    stop(Technique),
    portmortem:'$close_calibration'(0, []),
    !.
abandon(_).

%   The programs take turns, and none runs long enough for the processor to know it by heart: what
%   recording costs
%   in a loop of a few predicates is less than what it costs in a program. What the thread waits is
%   no time of theirs, recorded or not.

unrecorded(Rounds, Name, Ticks) :-
    between(1, Rounds, _),
    (   portmortem_trials:trial(Name, Goal)
    ;   portmortem_trials:empty(Goal),
        Name = empty
    ),
    stretch(Goal, Ticks).

stretch(Goal, Ticks) :-
    portmortem:'$stretch_begins',
    run(Goal),
    portmortem:'$stretch_ends'(Ticks).

recorded(Technique, Options, Rounds) :-
    findall(Head, portmortem_trials:part(Head), Heads),
    start(Technique, Heads, Options),
    (   between(1, Rounds, _),
        portmortem_trials:trial(_, Goal),
        portmortem:'$mark'(""),
        run(Goal),
        portmortem:'$mark'(""),
        fail
    ;   true
    ).

start(ports, Heads, Options) :-
    module_property(portmortem_trials, file(File)),
    portmortem_wrap:file_loaded(File),                  % or they would not be called through copies
    portmortem_wrap:wrap_these(portmortem_trials:Heads, Options).
start(stubs, Heads, _) :-
    start_stubs_of(portmortem_trials:Heads).

rounds(20).

%   The first quartile of the ticks that a program took. Others that use the machine make some
%   rounds longer, and none shorter.

quartile(Name, Samples, Quartile) :-
    findall(Ticks, '$member'(Name-Ticks, Samples), All),
    msort(All, Sorted),
    length(Sorted, Length),
    Quarter is Length//4,
    length(Lower, Quarter),
    '$append'(Lower, [Quartile|_], Sorted).

run(Goal) :-
    (   call(Goal),
        fail
    ;   true
    ).
