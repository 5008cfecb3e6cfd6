/*  Trap: signals that come at any moment, so also while the recorder asks the engine what it has collected, as it does at most
    ports here. Half of the handlers call, half throw to a `catch/3` around.
*/

:- initialization(main, main).
:- dynamic handled/1.

main :-
    thread_self(Main),
    thread_create(send(Main, 1000), Sender, []),
    work(1000, Sender, 0, Caught),
    thread_join(Sender),
    aggregate_all(count, handled(_), Called),
    format("~d called, ~d caught~n", [Called, Caught]).

send(_, 0) :- !.
send(Main, N) :-
    thread_get_message(ready(N)),
    (   N mod 2 =:= 0
    ->  Goal = throw(stop(N))
    ;   Goal = handle(N)
    ),
    thread_signal(Main, user:Goal),
    N1 is N-1,
    send(Main, N1).

work(0, _, Caught, Caught) :- !.
work(N, Sender, Caught0, Caught) :-
    catch(( thread_send_message(Sender, ready(N)),
            until_handled(N),
            Caught1 = Caught0
          ),
          stop(N),
          Caught1 is Caught0+1),
    N1 is N-1,
    work(N1, Sender, Caught1, Caught).

until_handled(N) :- handled(N), !.
until_handled(N) :- step, until_handled(N).

step :- long(X), X == done, !.
step.

%   Some 30 us in a built-in, and then an exit, a redo, a failure.

long(more) :- length(List, 3000), length(List, _).
long(last) :- length(List, 3000), length(List, _), fail.

handle(N) :- assertz(handled(N)).
