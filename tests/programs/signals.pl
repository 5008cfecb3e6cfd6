/*  Trap: handlers that run between two goals of whatever is active: alarms
    (alarm/4, call_with_time_limit/2) and a signal sent to ourselves.  Their
    calls have whatever was active as parent, an exception out of them leaves
    boxes at a place where no goal is called.
*/

:- initialization(main, main).
:- use_module(library(time)).

:- dynamic ticked/1.

main :-
    on_signal(usr1, Old, on_usr1), writeln(Old),
    send(usr1),
    on_signal(usr1, _, default),
    alarm(0.02, tick(one), _, [remove(true)]),
    wait_for(one), writeln(ticked),
    catch(call_with_time_limit(0.05, spin), time_limit_exceeded, writeln('out of time')),
    call_with_time_limit(10, quick(X)), writeln(X),
    (   catch(call_with_time_limit(10, fail), _, true) -> writeln(true) ; writeln(false) ),
    alarm(100, never, Id, []), remove_alarm(Id), writeln(removed).

on_usr1(Signal) :- format("got ~w~n", [Signal]).

send(Signal) :-
    current_prolog_flag(pid, Pid),
    signal_number(Signal, Number),
    format(atom(Command), "kill -~d ~d", [Number, Pid]),
    shell(Command),
    settle(100).

signal_number(usr1, 10).

%   Give a pending signal a few calls to be handled in.

settle(0) :- !.
settle(N) :- N1 is N-1, settle(N1).

tick(What) :- assertz(ticked(What)).

wait_for(What) :- ticked(What), !.
wait_for(What) :- sleep(0.005), wait_for(What).

spin :- spin.

quick(done).

never :- writeln(never).
