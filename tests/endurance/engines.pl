% Threads and engines that come and go.

round :-
    engine_create(X, part(1, 30, X), Engine),
    drained(Engine, 0, _),
    thread_create(worked(40), Id),
    thread_join(Id).

% 64 threads at the same time.
crowd :-
    findall(Id, (between(1, 64, _), thread_create(worked(60), Id)), Ids),
    forall(member(Id, Ids), thread_join(Id)).

drained(Engine, Sum0, Sum) :-
    (   engine_next(Engine, X)
    ->  Sum1 is Sum0+X,
        drained(Engine, Sum1, Sum)
    ;   Sum = Sum0
    ).

part(Low, High, Low) :- Low =< High.
part(Low, High, X) :- Low < High, Next is Low+1, part(Next, High, X).

worked(0) :- !.
worked(N) :- findall(X, part(1, 20, X), _), M is N-1, worked(M).
