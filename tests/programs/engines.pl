/*  Trap: engines (swi-prolog.md, trap 7).  Several live in one thread and take
    turns; each is a stream of its own, with its own choice stack.

    Interleaved answers, engine_yield/1, engine_post/2, an engine that fails,
    one that throws, one that is destroyed with choicepoints left, engines
    called from inside an engine, and an engine that makes deep recursion wait.
*/

:- initialization(main, main).

main :-
    interleaved,
    yielding,
    posting,
    failing,
    throwing,
    destroyed,
    nested,
    suspended_deep.

interleaved :-
    engine_create(X, choice(X), A),
    engine_create(X, gen(10, 12, X), B),
    take([A, B, A, B, A, B], Answers),
    writeln(Answers),
    engine_destroy(A),
    engine_destroy(B).

take([], []).
take([E|Es], [X|Xs]) :-
    engine_next(E, X),
    take(Es, Xs).

choice(a).
choice(b).
choice(c).

gen(I, _, I).
gen(I, N, X) :- I < N, I1 is I+1, gen(I1, N, X).

yielding :-
    engine_create(end, produce(1, 3), E),
    drain(E, Xs),
    writeln(Xs).

produce(I, N) :- I > N, !.
produce(I, N) :-
    engine_yield(item(I)),
    I1 is I+1,
    produce(I1, N).

drain(E, [X|Xs]) :-
    engine_next(E, X), !,
    drain(E, Xs).
drain(_, []).

posting :-
    engine_create(S, accumulate(0, S), E),
    feed([1,2,3,4], E, Sums),
    writeln(Sums),
    engine_destroy(E).

accumulate(Sum0, Sum) :-
    engine_fetch(X),
    Sum1 is Sum0+X,
    (   Sum = Sum1
    ;   accumulate(Sum1, Sum)
    ).

feed([], _, []).
feed([X|Xs], E, [S|Ss]) :-
    engine_post(E, X, S),
    feed(Xs, E, Ss).

failing :-
    engine_create(X, ( choice(X), X == d ), E),
    (   engine_next(E, _) -> writeln(unexpected) ; writeln('no answer') ).

throwing :-
    engine_create(X, thrower(X), E),
    engine_next(E, First),
    catch(engine_next(E, _), Ball, true),
    writeln(First-Ball).

thrower(first).
thrower(_) :- throw(thrown).

destroyed :-
    engine_create(X, choice(X), E),
    engine_next(E, X1),
    engine_destroy(E),
    writeln(X1).

nested :-
    engine_create(X-Y, outer(X, Y), E),
    drain(E, Pairs),
    writeln(Pairs).

outer(X, Y) :-
    choice(X),
    engine_create(Z, choice(Z), Inner),
    engine_next(Inner, _),
    engine_next(Inner, Y),
    engine_destroy(Inner).

%   The engine waits a hundred boxes deep while the main engine goes on.

suspended_deep :-
    engine_create(N, deep(100, N), E),
    engine_next(E, middle),
    gen(1, 5, X), X >= 5, !,
    engine_next(E, N),
    writeln(N).

deep(0, 0) :- !, engine_yield(middle).
deep(N, D) :- N1 is N-1, deep(N1, D0), D is D0+1.
