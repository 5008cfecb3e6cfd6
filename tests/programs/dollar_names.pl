% Predicates of the program whose names begin with `$`, as those of the system do: static, dynamic,
% tabled, called by libraries, and some that look like names of the engine or the recorder.

:- initialization(main, main).
:- dynamic '$d'/1.
:- table '$fib'/2.

main :-
    '$work'(20, R), writeln(R),
    '$fib'(10, F), writeln(F),
    assertz('$d'(1)), assertz('$d'(2)),
    forall('$d'(X), writeln(X)),
    maplist('$positive', [1,2]),
    findall(Y, '$member'(Y), Ys), print(Ys), nl,
    catch('$undefined', error(E, _), ( print(E), nl )),
    '$wrapped'(a),
    '$pm'(b),
    '$tabled'(c, d, e),
    \+ '$append'([1], [2], [3]).

'$work'(0, 0) :- !.
'$work'(N, R) :- '$step'(N, N1), '$work'(N1, R).

'$step'(N, N1) :- N1 is N-1.

'$fib'(0, 0).
'$fib'(1, 1).
'$fib'(N, F) :- N > 1, N1 is N-1, N2 is N-2, '$fib'(N1, A), '$fib'(N2, B), F is A+B.

'$positive'(X) :- X > 0.

'$member'(X) :- '$one'(X).
'$member'(3).

'$one'(1).
'$one'(2).

'$wrapped'(X) :- writeln(X).
'$pm'(X) :- writeln(X).
'$tabled'(X, Y, Z) :- writeln(X-Y-Z).
