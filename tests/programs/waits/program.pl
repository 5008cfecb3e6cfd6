% Threads that wait for one another: whoever is awaited goes on only once the other is asleep.

:- initialization(main, main).

main :-
    mutex_create(_, [alias(gate)]),
    message_queue_create(_, [alias(jobs)]),
    thread_create(holder, _, [alias(bee)]),
    thread_get_message(has),
    with_mutex(gate, entered),
    thread_join(bee),
    thread_create(locker, _, [alias(wasp)]),
    thread_get_message(has),
    mutex_lock(gate),
    mutex_unlock(gate),
    thread_join(wasp),
    thread_create(sender, Ant),
    thread_get_message(jobs, job),
    thread_join(Ant),
    writeln(done).

entered.

holder :-
    with_mutex(gate, hold).

hold :-
    asleep(main),
    thread_send_message(main, has),
    asleep(main).

locker :-
    mutex_lock(gate),
    hold,
    mutex_unlock(gate).

sender :-
    asleep(main),
    thread_send_message(jobs, job),
    asleep(main).

% The thread has been asleep for a while.
asleep(Thread) :-
    thread_property(Thread, system_thread_id(Id)),
    format(atom(File), '/proc/self/task/~w/stat', [Id]),
    asleep(20, File).

asleep(0, _) :- !.
asleep(N, File) :-
    sleep(0.001),
    setup_call_cleanup(open(File, read, In), read_string(In, _, Text), close(In)),
    (   sub_string(Text, _, _, _, ") S ")
    ->  M is N-1
    ;   M = 20
    ),
    asleep(M, File).
