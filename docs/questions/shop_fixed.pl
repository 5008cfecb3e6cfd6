% shop_fixed.pl - shop.pl with each item priced once.
%   swipl shop_fixed.pl [Orders]

:- initialization(main, main).
:- use_module(library(lists)).
:- use_module(library(error)).

main(Argv) :-
    (   Argv = [A] -> atom_number(A, N) ; N = 1000 ),
    numlist(1, N, Orders),
    findall(Price, ( between(0, 7, Item), price(Item, Price) ), List),
    Prices =.. [prices|List],
    handle(Orders, Prices, [], Customers),
    length(Customers, Known),
    bargains(Bargains),
    length(Bargains, Some),
    thread_create(deliver, Id),
    thread_join(Id),
    format("~w customers, ~w bargains~n", [Known, Some]).

handle([], _, Customers, Customers).
handle([Order|Orders], Prices, Customers0, Customers) :-
    customer(Order, Name),
    known(Name, Customers0, Customers1),
    Item is Order mod 8 + 1,
    arg(Item, Prices, _),
    handle(Orders, Prices, Customers1, Customers).

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
