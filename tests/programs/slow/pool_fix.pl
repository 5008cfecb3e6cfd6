% pool.pl - a pool of worker threads that counts words of documents
% swipl pool.pl [Workers [Jobs]]
:- initialization(main, main).
:- dynamic total/2.

main(Argv) :-
    (   Argv = [A, B|_] -> atom_number(A, W), atom_number(B, J)
    ;   Argv = [A] -> atom_number(A, W), J = 400
    ;   W = 4, J = 400 ),
    mutex_create(_, [alias(totals)]),
    message_queue_create(jobs, [max_size(2)]),
    message_queue_create(done),
    start_workers(W, Ids),
    submit(1, J),
    wait_done(J),
    stop_workers(W, Ids),
    forall(between(1, 5, K), ( total(K, N) -> format("~w: ~w~n", [K, N]) ; true )).

start_workers(0, []) :- !.
start_workers(N, [Id|Ids]) :-
    thread_create(worker, Id),
    N1 is N-1,
    start_workers(N1, Ids).

stop_workers(W, Ids) :-
    forall(between(1, W, _), thread_send_message(jobs, stop)),
    maplist(thread_join, Ids).

submit(I, J) :- I > J, !.
submit(I, J) :-
    document(I, Doc),
    thread_send_message(jobs, job(I, Doc)),
    I1 is I+1,
    submit(I1, J).

wait_done(0) :- !.
wait_done(N) :-
    thread_get_message(done, finished(_)),
    N1 is N-1,
    wait_done(N1).

document(I, Doc) :-
    findall(W, ( between(1, 200, K), W is (I*K*7919) mod 97 ), Doc).

% ----------------------------------------------------------- workers

worker :-
    thread_get_message(jobs, Msg),
    (   Msg = job(I, Doc)
    ->  handle(I, Doc),
        thread_send_message(done, finished(I)),
        worker
    ;   true
    ).

handle(_, Doc) :-
    maplist(hash, Doc, Ks),
    with_mutex(totals, maplist(add, Ks)).

hash(W, K) :- hash(20, W, K).
hash(0, W, K) :- !, K is W mod 97.
hash(N, W, K) :- W1 is (W*31 + 17) mod 1009, N1 is N-1, hash(N1, W1, K).

add(K) :-
    (   retract(total(K, N)) -> true ; N = 0 ),
    N1 is N+1,
    assertz(total(K, N1)).
