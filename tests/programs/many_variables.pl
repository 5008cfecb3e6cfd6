% Goals of more variables than a predicate has arguments: as an argument of findall/3, and as the condition of a soft cut.

:- initialization(main, main).

main :-
    length(Variables, 1100),
    Goal =.. [f|Variables],
    tmp_file_stream(text, File, Stream),
    portray_clause(Stream,
                   ( collected(L) :-
                         findall(Variables, ( member(X, [1,2]), Goal = G, nonvar(X), accepts(G) ), L) )),
    portray_clause(Stream,
                   ( chosen(Answer) :- ( picks(Variables, Goal) *-> Answer = yes ; Answer = no ) )),
    portray_clause(Stream, accepts(_)),
    portray_clause(Stream, picks(_, _)),
    close(Stream),
    consult(File),
    collected(All),
    length(All, Count),
    print(Count), nl,
    chosen(Answer),
    print(Answer), nl.
