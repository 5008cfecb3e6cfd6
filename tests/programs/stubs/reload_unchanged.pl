% A file that is loaded again has the same clauses: those that are there stay, without a word, and
% a clause of the file that runs meanwhile goes on.
:- initialization(main, main).

main :-
    tmp_file(again, Base),
    atom_concat(Base, '.pl', File),
    write_file(File,
               [ (:- dynamic(d/1)), (g(X) :- h(X)), (g(X) :- h(X), true, k(X)), h(1), (h(2) :- k(2)),
                 k(_), d(1), (d(2) :- k(1)), (again(F) :- load_files(F, []), h(_), k(went_on)),
                 (never :- h(1), g(_)) ]),
    load_files(File, []),
    forall(member(PI, [g/1, h/1, d/1, again/1, never/0]), prolog_listen(PI, told(PI))),
    findall(C-I, nth_clause(g(_), I, C), Kept),
    answers,
    load_files(File, []),
    answers,
    load_files(File, []),
    answers,
    findall(X, again(File), X),
    length(X, N),
    print(again(N)), nl,
    forall(member(C-I, Kept), ( nth_clause(g(_), I, C) -> print(kept(I)) ; print(lost(I)) )), nl,
    write_file(File,
               [ (:- dynamic(d/1)), (g(X) :- h(X), true, k(X)), h(1), (h(2) :- k(2)), h(3),
                 k(_), (d(2) :- k(1)), (again(F) :- k(F)) ]),
    load_files(File, []),
    answers,
    delete_file(File).

told(PI, Action, _) :-
    print(PI-Action), nl.

answers :-
    findall(X, g(X), Gs),
    findall(X, d(X), Ds),
    print(Gs-Ds), nl.

write_file(File, Clauses) :-
    setup_call_cleanup(open(File, write, Out),
                       forall(member(Clause, Clauses), portray_clause(Out, Clause)),
                       close(Out)).
