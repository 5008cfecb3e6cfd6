/*  Trap: many streams: 300 short threads one after the other, 20 at once, 500
    engines made and left to the garbage collector or destroyed, and threads
    that are still there when the program halts, one blocked on its queue in the
    middle of its boxes.
*/

:- initialization(main, main).

main :-
    one_after_the_other(300, 0, Sum), writeln(Sum),
    at_once(20, Total), writeln(Total),
    engines(500, Answers), writeln(Answers),
    left_running,
    halt(0).

one_after_the_other(0, Sum, Sum) :- !.
one_after_the_other(N, Sum0, Sum) :-
    thread_self(Me),
    thread_create(answer(N, Me), Id, []),
    thread_get_message(result(N, R)),
    thread_join(Id, true),
    Sum1 is Sum0+R,
    N1 is N-1,
    one_after_the_other(N1, Sum1, Sum).

answer(N, Client) :- work(N, R), thread_send_message(Client, result(N, R)).

work(N, R) :- R is N mod 7.

at_once(N, Total) :-
    thread_self(Me),
    findall(Id, ( between(1, N, I), thread_create(answer(I, Me), Id, []) ), Ids),
    findall(R, ( between(1, N, I), thread_get_message(result(I, R)) ), Rs),
    maplist(join, Ids),
    sum_list(Rs, Total).

join(Id) :- thread_join(Id, _).

engines(0, 0) :- !.
engines(N, Answers) :-
    engine_create(X, number_from(1, X), E),
    engine_next(E, _),
    engine_next(E, Y),
    (   N mod 2 =:= 0 -> engine_destroy(E) ; true ),
    N1 is N-1,
    engines(N1, Answers0),
    Answers is Answers0+Y.

number_from(N, N).
number_from(N, M) :- N1 is N+1, number_from(N1, M).

left_running :-
    thread_self(Me),
    thread_create(blocked(Me, 5), _, [detached(true)]),
    thread_create(blocked(Me, 3), _, []),
    thread_get_message(ready(5)),
    thread_get_message(ready(3)),
    writeln('two left running').

blocked(Client, N) :- waits(Client, N, N), true.

waits(Client, N, 0) :- !, thread_send_message(Client, ready(N)), thread_get_message(never).
waits(Client, N, I) :- I1 is I-1, waits(Client, N, I1), true.
