% Clauses of hundreds of goals: conjunctions, with a cut at the end and without, disjunctions, and conditions.

:- initialization(main, main).

main :-
    numlist(1, 400, Numbers),
    findall(g(N), '$member'(N, Numbers), Goals),
    joined(Goals, ',', Conjunction),
    joined(Goals, ;, Disjunction),
    findall(( h(N) -> g(N) ), '$member'(N, Numbers), Branches),
    joined(Branches, ;, Conditions),
    tmp_file_stream(text, File, Stream),
    forall('$member'(Clause,
                     [ (conjunction :- Conjunction), (committed :- Conjunction, !), (committed :- fail),
                       (disjunction :- Disjunction), (conditions :- Conditions),
                       (g(X) :- X > 0), (h(X) :- X > 399) ]),
           portray_clause(Stream, Clause)),
    close(Stream),
    consult(File),
    count(conjunction),
    count(committed),
    count(disjunction),
    count(conditions).

joined([Goal], _, Goal) :-
    !.
joined([Goal|Goals], Operator, Joined) :-
    Joined =.. [Operator,Goal,Rest],
    joined(Goals, Operator, Rest).

count(Goal) :-
    findall(x, Goal, Solutions),
    length(Solutions, Count),
    writeln(Goal-Count).
