/*  statistics/2 runs code of the program: what the recorder's question to the engine may run, made certain. After a stretch that is
    armed: with `calls` the question calls asked/0, with `throws` it throws, with `stops` it ends the recording.
*/

:- initialization(main, main).
:- use_module(library(prolog_wrap)).
:- use_module(library(portmortem)).

main :-
    current_prolog_flag(argv, [What]),
    nb_setval(what, What),
    nb_setval(armed, false),
    wrap_predicate(system:statistics(_, _), question, Wrapped, ( user:hook, Wrapped )),
    forall(port(Port), at(Port)).

at(Port) :-
    catch(( ends(Port) -> Result = true ; Result = false ), asked, Result = asked),
    writeln(Port-Result).

port(call).
port(exit_det).
port(exit_nondet).
port(redo).
port(fail).

%   The long stretch is in the box that the port leaves, or in the caller's.

ends(call) :- nb_setval(armed, true), sleep(0.0002), called, true.
ends(exit_det) :- exits, true.
ends(exit_nondet) :- leaves_one(_), true.
ends(redo) :- redone(X), nb_setval(armed, true), sleep(0.0002), X == two.
ends(fail) :- fails.

called.

exits :- nb_setval(armed, true), sleep(0.0002).

leaves_one(one) :- nb_setval(armed, true), sleep(0.0002).
leaves_one(two).

redone(one).
redone(two).

fails :- nb_setval(armed, true), sleep(0.0002), fail.

%   Not recorded: for the recorder a call from a wrapper is the end of a wrapped predicate.

:- noprofile(hook/0).

hook :- question, true.

question :-
    nb_getval(armed, true),
    !,
    nb_setval(armed, false),
    nb_getval(what, What),
    question(What).
question.

question(calls) :- asked.
question(throws) :- throw(asked).
question(stops) :- pm_stop.

asked.
