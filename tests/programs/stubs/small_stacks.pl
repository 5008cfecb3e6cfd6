% Threads with little stack for C: the engine leaves some kilobytes of it.
:- initialization(main, main).

main :-
    forall(member(Bytes, [20_480, 24_576, 65_536]),
           ( thread_create(work, Id, [c_stack(Bytes)]),
             thread_join(Id, Status),
             print(Status), nl )).

work :-
    numbers(100, Numbers),
    sum(Numbers, Sum),
    catch(thrown(Sum), thrown(Ball), caught(Ball)),
    ( one_of(X, Numbers), X < 90 -> true ; true ),
    forall(one_of(Y, Numbers), Y > 0),
    findall(Z, one_of(Z, Numbers), Sum, []) -> true ; true.

sum([], 0).
sum([X|Xs], Sum) :-
    sum(Xs, Sum0),
    Sum is Sum0+X.

thrown(Sum) :-
    Sum > 10,
    throw(thrown(Sum)).

caught(Ball) :-
    atom_length(Ball, Length),
    Length > 0.

numbers(0, []) :- !.
numbers(N, [N|Ns]) :-
    M is N-1,
    numbers(M, Ns).

one_of(X, [X|_]).
one_of(X, [_|Xs]) :-
    one_of(X, Xs).
