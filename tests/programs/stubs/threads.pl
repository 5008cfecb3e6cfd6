:- initialization(main, main).
:- dynamic shared/2.
main :-
    numlist(1, 6, Ns),
    concurrent_maplist(work, Ns, Sums), print(Sums), nl,
    thread_create(changer(2000), C), thread_create(reader(2000, 0, _), R),
    thread_join(C, S1), thread_join(R, S2), print(S1-S2), nl.
work(N, Sum) :- numlist(1, 300, L), foldl(add(N), L, 0, Sum).
add(N, X, S0, S) :- fib(8, F), S is S0+N*X+F.
fib(0, 0) :- !.
fib(1, 1) :- !.
fib(N, F) :- A is N-1, B is N-2, fib(A, FA), fib(B, FB), F is FA+FB.
changer(0) :- !.
changer(N) :-
    assertz((shared(N, X) :- fib(3, X))),
    ( shared(N, _) -> true ; true ),
    retractall(shared(N, _)),
    M is N-1, changer(M).
reader(0, S, S) :- !.
reader(N, S0, S) :- ( shared(_, X), X > 5 -> S1 is S0+X ; S1 = S0 ), M is N-1, reader(M, S1, S).
