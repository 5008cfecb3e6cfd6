% shop.pl - the orders of a little shop, with the faults that docs/questions.md looks for.
%   swipl shop.pl [Orders]

:- initialization(main, main).
:- use_module(library(lists)).
:- use_module(library(error)).

main(Argv) :-
    (   Argv = [A] -> atom_number(A, N) ; N = 1000 ),
    numlist(1, N, Orders),
    handle(Orders, [], Customers),
    length(Customers, Known),
    bargains(Bargains),
    length(Bargains, Some),
    thread_create(deliver, Id),
    thread_join(Id),
    format("~w customers, ~w bargains~n", [Known, Some]).

handle([], Customers, Customers).
handle([Order|Orders], Customers0, Customers) :-
    customer(Order, Name),
    known(Name, Customers0, Customers1),
    Item is Order mod 8,
    price(Item, _),
    handle(Orders, Customers1, Customers).

customer(Order, customer(N)) :-
    N is (Order * 31) mod 997.

known(Name, Customers, Customers) :-
    memberchk(Name, Customers),
    !.
known(Name, Customers0, Customers) :-
    append(Customers0, [Name], Customers).

price(Item, Price) :-
    Size is 2000 + Item,
    numlist(1, Size, Parts),
    sum_list(Parts, Price).

bargains(Pairs) :-
    numlist(1, 40, Items),
    findall(A-B, ( member(A, Items), member(B, Items), bargain(A, B) ), Pairs).

bargain(A, B) :-
    A < B,
    B mod A =:= 3.

deliver :-
    sleep(0.02).
