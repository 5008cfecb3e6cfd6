/*  Workers on a queue, and exceptions that are caught, that cross several
    boxes, and that end a thread.

    Three workers take jobs from one queue and put the outcomes into another.
    Most jobs are fine; some raise an exception.  A worker catches what it
    knows (problems in the data) and answers with it, and dies of what it does
    not know: a job `poison` throws past perform/2, serve/2, handle/2 and
    worker/2, and ends its thread.  The main thread collects the outcomes in
    order of job number and then joins the workers, one of which reports the
    exception.

    Each thread is a stream of its own in the trace.  Which worker does which
    job differs from run to run; what is printed does not, nor do the totals of
    each predicate over all streams.

    Run:  swipl threads_exceptions.pl
*/

:- initialization(main, main).

main :-
    message_queue_create(Jobs),
    message_queue_create(Outcomes),
    length(Workers, 3),
    start(Workers, Jobs, Outcomes),
    findall(N-Job, job(N, Job), All),
    hand_out(All, Jobs),
    length(All, Count),
    collect(Count, Outcomes, Collected),
    keysort(Collected, Sorted),
    forall(member(N-Outcome, Sorted), format("job ~d: ~w~n", [N, Outcome])),
    finish(Workers, Jobs, Statuses),
    msort(Statuses, Ordered),
    forall(member(Status, Ordered), format("worker: ~w~n", [Status])),
    message_queue_destroy(Jobs),
    message_queue_destroy(Outcomes).

%!  job(?Number, ?Job)

job(1, fibonacci(15)).
job(2, sum([1,2,3,4])).
job(3, sum([1,two,3])).
job(4, fibonacci(-1)).
job(5, primes(50)).
job(6, sum(no_list)).
job(7, fibonacci(12)).
job(8, primes(many)).
job(9, nested(20)).

start([], _, _).
start([Id|Ids], Jobs, Outcomes) :-
    thread_create(worker(Jobs, Outcomes), Id, []),
    start(Ids, Jobs, Outcomes).

hand_out([], _).
hand_out([N-Job|Rest], Jobs) :-
    thread_send_message(Jobs, do(N, Job)),
    hand_out(Rest, Jobs).

collect(0, _, []) :- !.
collect(Count, Outcomes, [N-Outcome|Rest]) :-
    thread_get_message(Outcomes, N-Outcome),
    Left is Count-1,
    collect(Left, Outcomes, Rest).

%!  finish(+Workers, +Jobs, -Statuses)
%
%   One worker is poisoned, the others are told to stop.

finish(Workers, Jobs, Statuses) :-
    Workers = [_|Others],
    thread_send_message(Jobs, do(0, poison)),
    forall(member(_, Others), thread_send_message(Jobs, stop)),
    findall(Status, ( member(Id, Workers), thread_join(Id, Status) ), Statuses).

                /*******************************
                *           WORKERS            *
                *******************************/

%!  worker(+Jobs, +Outcomes)
%
%   Failure-driven, so that the counts do not depend on who does what.

worker(Jobs, Outcomes) :-
    repeat,
    thread_get_message(Jobs, Message),
    handle(Message, Outcomes),
    !.

handle(stop, _).
handle(do(N, Job), Outcomes) :-
    serve(Job, Outcome),
    thread_send_message(Outcomes, N-Outcome),
    fail.

%!  serve(+Job, -Outcome)
%
%   Do Job.  Errors in the data become an outcome; anything else goes on.

serve(Job, Outcome) :-
    catch(( perform(Job, Result), Outcome = done(Result) ),
          error(Formal, _),
          Outcome = failed(Formal)).

perform(fibonacci(N), F) :- fibonacci(N, F).
perform(sum(List), Sum)  :- sum(List, Sum).
perform(primes(N), Ps)   :- primes(N, Ps).
perform(nested(N), R)    :- nested(N, R).
perform(poison, _)       :- throw(poisoned).

fibonacci(N, _) :- N < 0, !, domain_error(not_less_than_zero, N).
fibonacci(0, 0) :- !.
fibonacci(1, 1) :- !.
fibonacci(N, F) :-
    A is N-1, fibonacci(A, FA),
    B is N-2, fibonacci(B, FB),
    F is FA+FB.

sum(List, _) :- \+ is_list(List), !, type_error(list, List).
sum([], 0).
sum([X|Xs], Sum) :-
    number(X), !,
    sum(Xs, Sum0),
    Sum is Sum0+X.
sum([X|_], _) :- type_error(number, X).

primes(Limit, Primes) :-
    must_be(integer, Limit),
    numlist(2, Limit, Numbers),
    sieve(Numbers, Primes).

sieve([], []).
sieve([P|Numbers], [P|Primes]) :-
    strike_out(Numbers, P, Left),
    sieve(Left, Primes).

strike_out([], _, []).
strike_out([N|Numbers], P, Left) :-
    (   N mod P =:= 0
    ->  Left = Left1
    ;   Left = [N|Left1]
    ),
    strike_out(Numbers, P, Left1).

%!  nested(+Depth, -Caught)
%
%   Throw from Depth boxes down; every fifth box on the way catches the ball,
%   counts itself, and throws it again.

nested(Depth, Caught) :-
    catch(descend(Depth), ball(Caught), true).

descend(0) :- throw(ball(0)).
descend(N) :-
    N > 0,
    N1 is N-1,
    (   N mod 5 =:= 0
    ->  catch(descend(N1), ball(K), ( K1 is K+1, throw(ball(K1)) ))
    ;   descend(N1),
        true
    ).
