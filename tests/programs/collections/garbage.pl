/*  Most of the work is garbage. Says at the end what the engine counted of it since main/0 began, in microseconds of
    processor time: collections and stack shifts.
*/

:- initialization(main, main).

main :-
    counted(Collected0, Shifted0),
    build(150000, List),
    waste(150000),
    length(List, Length),
    counted(Collected, Shifted),
    Garbage is round((Collected-Collected0)*1000000),
    Shifts is round((Shifted-Shifted0)*1000000),
    format("~d ~d ~d~n", [Length, Garbage, Shifts]).

counted(Collected, Shifted) :-
    statistics(gctime, Collected),
    statistics(shift_time, Shifted).

%   No last call: the local stack grows, and with it the list.

build(0, []) :- !.
build(N, [f(N,_)|List]) :- N1 is N-1, build(N1, List), true.

waste(0) :- !.
waste(N) :- length(_, 50), N1 is N-1, waste(N1).
