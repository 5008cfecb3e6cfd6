% An association list: each lookup goes through all that was entered before. The naive reverses beside it do the
% same work again and again.
%     portmortem record scan.pl

:- initialization(main).

main :-
    numlist(1, 500, Keys),
    enter(Keys, [], _),
    numlist(1, 12, List),
    forall(between(1, 60, _), reverses(List)),
    halt.

enter([], Table, Table).
enter([Key|Keys], Table0, Table) :-
    (   lookup(Key, Table0)
    ->  Table1 = Table0
    ;   Value is Key * Key mod 7,
        Table1 = [Key-Value|Table0]
    ),
    enter(Keys, Table1, Table).

lookup(Key, Table) :-
    memberchk(Key-_, Table),
    !.

reverses(List) :-
    nrev(List, _).

nrev([], []).
nrev([X|Xs], Ys) :-
    nrev(Xs, Zs),
    app(Zs, [X], Ys).

app([], Ys, Ys).
app([X|Xs], Ys, [X|Zs]) :-
    app(Xs, Ys, Zs).
