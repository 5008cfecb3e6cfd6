/*  Trap: the message system: print_message/2 with our own prolog:message//1,
    user:message_hook/3, assertion/1 and debug/3.  The engine
    calls our grammar and our hook by itself.
*/

:- initialization(main, main).
:- use_module(library(debug)).

:- multifile prolog:message//1, user:message_hook/3.
:- dynamic seen/2.

prolog:message(trap(N)) --> [ 'trap number ~d'-[N], nl, 'second line' ].
prolog:message(lines(L)) --> lines(L).

lines([]) --> [].
lines([H|T]) --> [ 'line ~w'-[H], nl ], lines(T).

user:message_hook(Term, Kind, Lines) :-
    ours(Term),
    assertz(seen(Kind, Lines)),
    fail.

ours(trap(_)).
ours(lines(_)).
ours(format(_, _)).

main :-
    print_message(error, trap(1)),
    print_message(informational, trap(2)),
    print_message(warning, lines([a, b])),
    print_message(silent, trap(3)),
    print_message(error, format("a ~w message", [formatted])),
    message_text(trap(4)),
    debug(trap), debug(trap, "debugging ~w", [on]), nodebug(trap), debug(trap, "unseen", []),
    assertion(small(2)), writeln(asserted),
    aggregate_all(count, seen(_, _), Count), writeln(Count),
    forall(seen(Kind, Lines), ( print(Kind-Lines), nl )).

message_text(Term) :-
    phrase(prolog:message(Term), Lines),
    with_output_to(string(S), print_message_lines(current_output, 'p> ', Lines)),
    write(S).

small(X) :- X < 10.
