% A server for `make bench-attach`: it answers requests with some work of Prolog.

:- use_module(library(portmortem)).
:- use_module(library(http/thread_httpd)).
:- use_module(library(http/http_dispatch)).

:- http_handler(root(price), price, []).

:- initialization(main, main).

main :-
    pm_listen,
    http_server(http_dispatch, [port(localhost:Port), workers(2), silent(true)]),
    format("~w~n", [Port]),
    flush_output,
    thread_get_message(never).

price(_Request) :-
    numlist(1, 30, Items),
    shuffle(Items, Shuffled),
    sorted(Shuffled, Sorted),
    total(Sorted, 0, Total),
    format("Content-type: text/plain~n~n~w~n", [Total]).

shuffle(Items, Shuffled) :-
    findall(Key-Item, ( member(Item, Items), Key is Item * 7919 mod 31 ), Pairs),
    keysort(Pairs, Sorted),
    values(Sorted, Shuffled).

values([], []).
values([_-Value|Pairs], [Value|Values]) :-
    values(Pairs, Values).

sorted(Items, Sorted) :-
    sorted(Items, [], Sorted).

sorted([], Sorted, Sorted).
sorted([Item|Items], Sorted0, Sorted) :-
    insert(Sorted0, Item, Sorted1),
    sorted(Items, Sorted1, Sorted).

insert([], Item, [Item]).
insert([First|Rest], Item, [Item,First|Rest]) :-
    Item =< First,
    !.
insert([First|Rest], Item, [First|Inserted]) :-
    insert(Rest, Item, Inserted).

total([], Total, Total).
total([Item|Items], Total0, Total) :-
    Total1 is Total0 + Item,
    total(Items, Total1, Total).
