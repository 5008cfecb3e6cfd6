/*  Trap: threads (swi-prolog.md, trap 7).  Each is a stream of its own, with
    its own active box and choice stack.

    thread_create/3 and thread_join/2 with each way to end; message queues;
    concurrent_maplist/3; thread-local predicates; a mutex; a thread that
    creates a thread; choicepoints left open in two threads at once.  What is
    printed, and the totals over all threads, do not depend on scheduling.
*/

:- initialization(main, main).

:- thread_local mark/1.
:- dynamic total/1.

main :-
    endings,
    queues,
    concurrent_maplist(square, [1,2,3,4,5,6,7,8], Squares),
    writeln(Squares),
    locals,
    mutex,
    grandchild,
    interleaved.

%   How a thread can end.

endings :-
    forall(member(Goal, [succeeds, fails, throws, exits]),
           ( thread_create(Goal, Id, []),
             thread_join(Id, Status),
             format("~w: ~w~n", [Goal, Status]) )).

succeeds :- helper(_).
fails :- helper(X), X > 5.
throws :- helper(X), throw(ball(X)).
exits :- helper(X), thread_exit(X).

helper(1).
helper(2).

%   Two producers, one consumer.

queues :-
    message_queue_create(Queue),
    thread_create(produce(1, 5, Queue), A, []),
    thread_create(produce(6, 10, Queue), B, []),
    thread_create(consume(10, Queue, 0), C, []),
    maplist(thread_join, [A, B]),
    thread_join(C, Status),
    writeln(Status),
    message_queue_destroy(Queue).

produce(I, Last, _) :- I > Last, !.
produce(I, Last, Queue) :-
    thread_send_message(Queue, item(I)),
    I1 is I+1,
    produce(I1, Last, Queue).

consume(0, _, Sum) :- !, thread_exit(sum(Sum)).
consume(N, Queue, Sum0) :-
    thread_get_message(Queue, item(I)),
    Sum is Sum0+I,
    N1 is N-1,
    consume(N1, Queue, Sum).

square(X, Y) :- Y is X*X.

%   A thread does not see the facts of another.

locals :-
    assertz(mark(main)),
    thread_create(note(child), Id, []),
    thread_join(Id, Status),
    findall(X, mark(X), Marks),
    writeln(Status-Marks).

note(Name) :-
    assertz(mark(Name)),
    findall(X, mark(X), Marks),
    Marks == [Name].

mutex :-
    retractall(total(_)),
    assertz(total(0)),
    length(Ids, 4),
    maplist(adder, Ids),
    maplist(thread_join, Ids),
    total(Total),
    writeln(Total).

adder(Id) :- thread_create(forall(between(1, 25, _), with_mutex(total, increment)), Id, []).

increment :-
    retract(total(N)),
    N1 is N+1,
    assertz(total(N1)).

grandchild :-
    thread_create(parent, Id, []),
    thread_join(Id, Status),
    writeln(Status).

parent :-
    thread_create(square(12, _), Id, []),
    thread_join(Id, Status),
    Status == true.

%   Ping-pong between two threads that both have choicepoints open.

interleaved :-
    thread_self(Me),
    thread_create(pong(Me), Pong, []),
    findall(X-Y, ( factor(X), ask(Pong, X, Y) ), Answers),
    thread_send_message(Pong, stop),
    thread_join(Pong, Status),
    writeln(Answers-Status).

factor(1).
factor(2).
factor(3).

ask(Pong, X, Y) :-
    thread_send_message(Pong, ask(X)),
    thread_get_message(answer(Y)).

pong(Client) :-
    factor(K),
    repeat,
    thread_get_message(Message),
    (   Message = ask(X)
    ->  Y is X*K,
        thread_send_message(Client, answer(Y)),
        fail
    ;   !
    ).
