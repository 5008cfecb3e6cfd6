/*  Trap: tabled predicates (swi-prolog.md, the table machinery calls and
    resumes them): left recursion over a graph with cycles, Fibonacci, mutual
    recursion, answer subsumption, a tabled predicate that calls one that is
    not, and abolish_all_tables/0.
*/

:- initialization(main, main).

:- table path/2, fib/2, even/1, odd/1.
:- table shortest(_, _, min).

main :-
    findall(Y, path(a, Y), Ys0), sort(Ys0, Ys), writeln(Ys),
    (   path(c, a) -> writeln(yes) ; writeln(no) ),
    (   path(e, a) -> writeln(yes) ; writeln(no) ),
    fib(40, F), writeln(F),
    (   even(20) -> writeln(even) ; writeln(odd) ),
    findall(Z-N, shortest(a, Z, N), Ds0), sort(Ds0, Ds), writeln(Ds),
    abolish_all_tables,
    fib(20, G), writeln(G),
    catch(path_or_throw(a), Ball, true), writeln(Ball).

edge(a, b).
edge(b, c).
edge(c, a).
edge(c, d).
edge(d, b).
edge(d, e).

path(X, Y) :- path(X, Z), edge(Z, Y).
path(X, Y) :- edge(X, Y).

fib(0, 0).
fib(1, 1).
fib(N, F) :-
    N > 1,
    A is N-1, fib(A, FA),
    B is N-2, fib(B, FB),
    F is FA+FB.

even(0).
even(N) :- N > 0, N1 is N-1, odd(N1).

odd(N) :- N > 0, N1 is N-1, even(N1).

shortest(X, Y, 1) :- edge(X, Y).
shortest(X, Y, N) :- shortest(X, Z, M), edge(Z, Y), N is M+1.

path_or_throw(X) :- path(X, e), throw(found).
