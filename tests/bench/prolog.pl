%   Prints how long reading a trace takes: prolog.pl PACKS TRACE.

:- initialization(main, main).

main([Packs, File]) :-
    attach_packs(Packs, []),
    use_module(library(portmortem/trace)),
    timed('pm_open', pm_open(File, Trace)),
    timed('figures', forall(pm_row(Trace, predicates, _), true)),
    timed('pm_event: failures of the first 1,000 events', forall(pm_event(Trace, 'port = fail and event < 1000', _, _), true)),
    timed('foldt: all events', foldt(count, Trace, 0, Count)),
    format("~D events~n", [Count]).

:- meta_predicate timed(+, 0).

timed(What, Goal) :-
    get_time(Begin),
    call(Goal),
    get_time(End),
    Time is End-Begin,
    format("~w ~t~3f s~50|~n", [What, Time]).

count(_, N0, N) :-
    N is N0+1.
