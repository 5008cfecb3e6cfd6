% An exception from so many levels below, each of which is a construct of control.
:- initialization(main, main).
:- set_prolog_flag(stack_limit, 8 000 000 000).

main([Construct, Text]) :-
    atom_number(Text, Depth),
    statistics(process_cputime, Before),
    catch(down(Construct, Depth), bottom, true),
    statistics(process_cputime, After),
    Seconds is After-Before,
    print(Seconds), nl.

down(_, 0) :- throw(bottom).
down(Construct, N) :- N > 0, M is N-1, through(Construct, M).

through(clause, N) :- down(clause, N), true.
through(catch, N) :- catch(down(catch, N), other, true), true.
through(findall, N) :- findall(x, down(findall, N), _), true.
through(cleanup, N) :- setup_call_cleanup(true, down(cleanup, N), true), true.
through(not, N) :- \+ down(not, N), true.
through(forall, N) :- forall(down(forall, N), true), true.
through(call, N) :- call(down, call, N), true.
through(freeze, N) :- freeze(X, down(freeze, N)), X = a, true.
