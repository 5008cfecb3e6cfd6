/*  Waits of 50 ms each, at every kind of port, and work of 50 ms.
*/

:- initialization(main, main).

main :-
    nap,
    message,
    joined,
    piped,
    cut_late,
    catch(thrown, late, true),
    \+ failing,
    redone,
    statistics(cputime, Now),
    busy(Now).

nap :- sleep(0.05).

message :-
    thread_self(Me),
    thread_create(( sleep(0.05), thread_send_message(Me, go) ), Id),
    thread_get_message(go),
    thread_join(Id).

joined :-
    thread_create(sleep(0.05), Id),
    thread_join(Id).

piped :-
    open(pipe('sleep 0.05; echo word.'), read, Stream),
    read(Stream, word),
    close(Stream).

%   The port after the wait is a cut: nothing may be asked of Prolog there.

cut_late :-
    two(_),
    sleep(0.05),
    !.

two(1).
two(2).

thrown :-
    sleep(0.05),
    throw(late).

failing :-
    sleep(0.05),
    fail.

redone :-
    two(X),
    sleep(0.05),
    X == 2.

busy(Begin) :-
    repeat,
    statistics(cputime, Now),
    Now >= Begin+0.05,
    !.
