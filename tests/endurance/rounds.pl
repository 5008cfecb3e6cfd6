% Rounds of the same work for some seconds: naive reverse, all solutions of six queens, an exception
% through twenty levels.

:- initialization(main, main).

main :-
    current_prolog_flag(argv, [Text]),
    atom_number(Text, Seconds),
    get_time(Begin),
    End is Begin + Seconds,
    rounds(End, 0, Rounds),
    format("~d~n", [Rounds]).

% At least one.
rounds(End, N0, N) :-
    round,
    N1 is N0 + 1,
    get_time(Now),
    (   Now < End
    ->  rounds(End, N1, N)
    ;   N = N1
    ).

round :-
    numlist(1, 200, List),
    forall(between(1, 40, _), nrev(List, _)),
    forall(queens(6, _), true),
    forall(between(1, 50, _), risky).

nrev([], []).
nrev([H|T], R) :- nrev(T, S), app(S, [H], R).

app([], L, L).
app([H|T], L, [H|R]) :- app(T, L, R).

queens(N, Qs) :- numlist(1, N, Ns), perm(Ns, Qs), safe(Qs).

perm([], []).
perm(L, [H|T]) :- sel(H, L, R), perm(R, T).

sel(X, [X|T], T).
sel(X, [H|T], [H|R]) :- sel(X, T, R).

safe([]).
safe([Q|Qs]) :- no_attack(Q, 1, Qs), safe(Qs).

no_attack(_, _, []).
no_attack(Q, D, [R|Rs]) :-
    Q =\= R + D,
    Q =\= R - D,
    D1 is D + 1,
    no_attack(Q, D1, Rs).

risky :- catch(deep(20), stop, true).

deep(0) :- throw(stop).
deep(N) :- M is N - 1, deep(M), true.
