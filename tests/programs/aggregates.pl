/*  Trap: findall/3,4, bagof/3 and setof/3 with ^ and free variables, forall/2,
    aggregate_all/3,4, findnsols/4, limit/2, order_by/2; some of
    them end their goal early, which is a CUT.
*/

:- initialization(main, main).

main :-
    findall(X-Y, age(X, Y), L1), writeln(L1),
    findall(X, age(X, _), L2, [end]), writeln(L2),
    forall(bagof(X, age(X, A), L3), writeln(A-L3)),
    bagof(X, B^age(X, B), L4), writeln(L4),
    (   setof(A1-X1, age(X1, A1), L5) -> writeln(L5) ; true ),
    (   setof(X2, A2^( age(X2, A2), A2 > 6 ), L6) -> writeln(L6) ; writeln(none) ),
    (   setof(X3, A3^( age(X3, A3), A3 > 99 ), L7) -> writeln(L7) ; writeln(none) ),
    setof(K-Vs, setof(V, age(V, K), Vs), L8), writeln(L8),
    (   forall(age(_, A4), A4 > 3) -> writeln(all) ; writeln('not all') ),
    (   forall(age(_, A5), A5 > 5) -> writeln(all) ; writeln('not all') ),
    aggregate_all(count, age(_, _), Count), writeln(Count),
    aggregate_all(sum(A6), age(_, A6), Sum), writeln(Sum),
    aggregate_all(max(A7, X7), age(X7, A7), Max), writeln(Max),
    aggregate_all(bag(X8), age(X8, 7), Bag), writeln(Bag),
    aggregate(count, X9^age(X9, A9), N9), writeln(A9-N9),
    findnsols(2, X10, age(X10, _), L10), !, writeln(L10),
    findall(X11, limit(3, age(X11, _)), L11), writeln(L11),
    findall(X12, order_by([desc(A12)], age(X12, A12)), L12), writeln(L12),
    findall(X13, distinct(X13, age(_, X13)), L13), writeln(L13),
    nested(L14), writeln(L14).

age(peter, 7).
age(ann, 11).
age(pat, 8).
age(tom, 5).
age(mike, 11).

nested(L) :-
    findall(X-Ys, ( age(X, A), older(A, Ys) ), L).

older(A, Ys) :- findall(Y, ( age(Y, B), B > A ), Ys).
