:- module(portmortem_calibrate, [calibrate/2]).    % +Options, +Settings

/** <module> Measure what recording costs

Small programs run unrecorded, then recorded into a file of our own: see
`calibrate.rs`. All of it takes some 100 ms, once in a process.
*/

:- use_module(portmortem_wrap).
:- use_module(portmortem_trials).

:- set_module(class(library)).

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
    sig_atomic(( measure(Options, Settings) -> true ; true )).

measure(Options, Settings) :-
    rounds(Rounds),
    Half is Rounds//2,
    findall(Goal-Ticks, unrecorded(Half, Goal, Ticks), Before),
    findall(Head, part(Head), Heads),
    portmortem:'$open_calibration'(Settings),
    ignore(catch(recorded(Heads, Options, Rounds), _, true)),
    stop_wrapping,
    findall(Goal-Ticks, unrecorded(Half, Goal, Ticks), After),
    '$append'(Before, After, Samples),
    quartile(true, Samples, Empty),
    findall(Quartile, ( trial(_, Goal), quartile(Goal, Samples, Quartile) ), Untraced),
    portmortem:'$close_calibration'(Empty, Untraced).

%   The programs take turns, and none runs long enough for the processor to know it by heart: what recording costs
%   in a loop of a few predicates is less than what it costs in a program.

unrecorded(Rounds, Goal, Ticks) :-
    between(1, Rounds, _),
    (   trial(N, Goal)
    ;   trial(N, portmortem_trials:nothing),
        Goal = true
    ),
    portmortem:'$ticks'(Before),
    run(N, Goal),
    portmortem:'$ticks'(After),
    Ticks is After-Before.

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
