:- module(portmortem_calibrate, [calibrate/2]).    % +Options, +Settings

/** <module> Measure what recording costs

Small programs run unrecorded, then recorded into a file of our own: see
`calibrate.rs`. All of it takes some 100 ms, once in a process.
*/

:- use_module(portmortem_wrap).
:- use_module(portmortem_trials).

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).

%!  calibrate(+Options, +Settings) is det.
%
%   Measure what a recording with these options costs, unless that is known.
%   If it cannot be measured, it stays unknown.

calibrate(_, Settings) :-
    portmortem:'$calibrated'(Settings),
    !.
calibrate(_, _) :-
    portmortem:'$recording',
    !.
calibrate(Options, Settings) :-
    catch(setup_call_cleanup(
              engine_create(true, measure(Options, Settings), Engine),
              (   engine_next(Engine, _)
              ->  true
              ;   true
              ),
              engine_destroy(Engine)),
          error(_, _),
          true).

%   In an engine of its own, because loading a file is `sig_atomic/1`, and whoever calls may be it, too: then a garbage
%   collection that the engine asks itself for waits like any other signal, every call looks at it, and recording seems to
%   cost a quarter more than it does.

measure(Options, Settings) :-
    rounds(Rounds),
    Half is Rounds//2,
    findall(Goal-Ticks, unrecorded(Half, Goal, Ticks), Before),
    setup_call_cleanup(
        portmortem:'$open_calibration'(Settings),
        measure(Options, Rounds, Before),
        abandon).

measure(Options, Rounds, Before) :-
    Half is Rounds//2,
    findall(Head, part(Head), Heads),
    (   recorded(Heads, Options, Rounds)
    ->  true
    ;   true
    ),
    stop_wrapping,
    findall(Goal-Ticks, unrecorded(Half, Goal, Ticks), After),
    '$append'(Before, After, Samples),
    quartile(true, Samples, Empty),
    findall(Quartile, ( trial(_, Goal), quartile(Goal, Samples, Quartile) ), Untraced),
    portmortem:'$close_calibration'(Empty, Untraced).

%   Ends it if it has not ended: the handler of a signal may have thrown.

abandon :-
    portmortem:'$calibrating',
    stop_wrapping,
    portmortem:'$close_calibration'("", []),
    !.
abandon.

%   The programs take turns, and none runs long enough for the processor to know it by heart: what recording costs
%   in a loop of a few predicates is less than what it costs in a program. What the thread waits is no time of theirs, recorded or not.

unrecorded(Rounds, Goal, Ticks) :-
    between(1, Rounds, _),
    (   trial(N, Goal)
    ;   trial(N, portmortem_trials:nothing),
        Goal = true
    ),
    portmortem:'$stretch_begins',
    run(N, Goal),
    portmortem:'$stretch_ends'(Ticks).

recorded(Heads, Options, Rounds) :-
    module_property(portmortem_trials, file(File)),
    file_loaded(File),                  % or they would not be called through copies
    wrap_these(portmortem_trials:Heads, Options),
    (   between(1, Rounds, _),
        trial(N, Goal),
        portmortem:'$mark'(""),
        run(N, Goal),
        portmortem:'$mark'(""),
        fail
    ;   true
    ).

rounds(10).

%   The first quartile of the ticks that a program took, as text. Others that use the machine make some
%   rounds longer, and none shorter.

quartile(Goal, Samples, Text) :-
    findall(One, ( '$member'(Sample-One, Samples), Sample =@= Goal ), All),
    msort(All, Sorted),
    length(Sorted, Length),
    Quarter is Length//4,
    length(Lower, Quarter),
    '$append'(Lower, [Ticks|_], Sorted),
    format(string(Text), '~d', [Ticks]).

run(N, Goal) :-
    (   between(1, N, _),
        call(Goal),
        fail
    ;   true
    ).
