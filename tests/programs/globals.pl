/*  Trap: global variables and destructive assignment: state that is undone by
    backtracking (b_setval/2, setarg/3) and state that is not (nb_setval/2,
    nb_setarg/3, flag/3).  A recorder that copied, or that kept terms, would
    show here.
*/

:- initialization(main, main).

main :-
    backtrackable, destructive, arguments, flags, accumulate, shared_list.

backtrackable :-
    b_setval(v, 1),
    (   b_setval(v, 2), b_getval(v, X), writeln(X), no
    ;   b_getval(v, Y), writeln(Y)
    ),
    set_both(3),
    b_getval(v, Z), writeln(Z).

set_both(X) :- b_setval(v, 0), choice(Y), b_setval(v, Y), Y >= X.

choice(1).
choice(2).
choice(3).
choice(4).

no :- fail.

destructive :-
    nb_setval(count, 0),
    (   choice(_), bump, fail ; true ),
    nb_getval(count, N), writeln(N).

bump :- nb_getval(count, N), N1 is N+1, nb_setval(count, N1).

arguments :-
    T = t(a, b),
    (   setarg(1, T, x), writeln(T), no ; writeln(T) ),
    nb_setarg(2, T, y), writeln(T),
    (   nb_setarg(1, T, z), no ; writeln(T) ).

flags :-
    flag(trap_globals, _, 0),
    forall(choice(X), flag(trap_globals, N, N+X)),
    flag(trap_globals, Sum, 0), writeln(Sum).

accumulate :-
    Acc = acc([]),
    (   choice(X), push(X, Acc), fail ; true ),
    arg(1, Acc, L), writeln(L).

push(X, Acc) :- arg(1, Acc, L), nb_setarg(1, Acc, [X|L]).

%   A global variable that holds an open list, extended in place.

shared_list :-
    b_setval(open, L),
    extend([a, b, c]),
    L = [A|_], writeln(A),
    copy_closed(L, Closed), writeln(Closed).

extend([]).
extend([X|Xs]) :- b_getval(open, L), put_last(L, X), extend(Xs).

put_last(L, X) :- var(L), !, L = [X|_].
put_last([_|T], X) :- put_last(T, X).

copy_closed(L, []) :- var(L), !.
copy_closed([X|Xs], [X|Ys]) :- copy_closed(Xs, Ys).
