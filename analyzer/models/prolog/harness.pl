/*  Runs programs on generated data: timed, or counted under `portmortem record --symbolic`.

    swipl harness.pl -- PROGRAMS.pl time REQUESTS.pl
    portmortem record --symbolic harness.pl -- PROGRAMS.pl count REQUESTS.pl

    PROGRAMS.pl has input(Program, Size, Goal). REQUESTS.pl has facts request(Program, Size, Seed) and, for
    timing, rounds(N). A line of output is PROGRAM SIZE SEED NANOSECONDS, for each request of each round. What else
    the machine does meanwhile costs no processor time of ours, and what it disturbs is spread over all requests.
*/

:- module(pm_harness, [main/0]).

:- use_module(library(lists)).

:- dynamic([rounds/1, request/3, runs/2]).

%   A measurement takes so many nanoseconds at least: long for the clock, short for the next process that
%   wants the processor.

long_enough(500_000).

main :-
    current_prolog_flag(argv, Arguments),
    append(_, [Programs, Mode, Requests], Arguments),
    load_files(user:Programs, []),
    load_files(pm_harness:Requests, []),
    call(Mode).

:- initialization(main, main).

:- public time/0, count/0.

time :-
    rounds(Rounds),
    forall(between(1, Rounds, _),
           forall(request(Program, Size, Seed),
                  ( goal(Program, Size, Seed, Goal),
                    nanoseconds(Program-Size, Goal, Time),
                    format("~w ~d ~d ~4f~n", [Program, Size, Seed, Time]) ))).

goal(Program, Size, Seed, user:Goal) :-
    set_random(seed(Seed)),
    once(user:input(Program, Size, Goal)).

%   The first run of all is not measured: it finds nothing in the caches.

nanoseconds(Key, Goal, Time) :-
    repetitions(Key, Goal, Runs),
    average(1, Goal, _),
    average(Runs, true, Empty),
    average(Runs, Goal, Full),
    Time is max(0, Full-Empty).

repetitions(Key, _, Runs) :-
    runs(Key, Runs),
    !.
repetitions(Key, Goal, Runs) :-
    average(10, Goal, Once),
    long_enough(Long),
    Runs is max(1, ceiling(Long/max(10, Once))),
    assertz(runs(Key, Runs)).

average(Runs, Goal, Time) :-
    statistics(process_cputime, T0),
    (   between(1, Runs, _), call(Goal), fail
    ;   true
    ),
    statistics(process_cputime, T1),
    Time is (T1-T0)*1.0e9/Runs.

%   Each request once, in a cost centre called PROGRAM SIZE SEED.

count :-
    forall(request(Program, Size, Seed),
           ( goal(Program, Size, Seed, Goal),
             format(atom(Center), '~w ~d ~d', [Program, Size, Seed]),
             portmortem:cost_center(Center, Goal) )).
