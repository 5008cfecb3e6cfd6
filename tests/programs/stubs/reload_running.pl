% A file is read again, and clauses of it run meanwhile, in this thread and in another one: they
% are what they were.
:- initialization(main, main).

main :-
    tmp_file(running, Base),
    atom_concat(Base, '.pl', File),
    write_file(File,
               [ (:- meanwhile), (g(X) :- h(X)), (g(X) :- h(X), true, k(X)), h(1), (h(2) :- k(2)),
                 k(_), (:- meanwhile), (never :- h(1), g(_)) ]),
    load_files(File, []),
    thread_create(answer_all, Other, []),
    nb_setval(other, Other),
    forall(member(PI, [g/1, h/1, k/1, never/0]), prolog_listen(PI, told(PI))),
    findall(C-I, nth_clause(g(_), I, C), Kept),
    answers(As),
    print(As), nl,
    load_files(File, []),
    forall(member(C-I, Kept), ( nth_clause(g(_), I, C) -> print(kept(I)) ; print(lost(I)) )), nl,
    load_files(File, []),
    answers(Bs),
    print(Bs), nl,
    thread_send_message(Other, stop),
    thread_join(Other),
    delete_file(File).

% Called by the file, before its clauses and behind them.
meanwhile :-
    nb_current(other, Other),
    !,
    answers(Mine),
    thread_self(Me),
    thread_send_message(Other, answer(Me)),
    thread_get_message(answered(Others)),
    print(Mine-Others), nl.
meanwhile.

answer_all :-
    thread_get_message(Message),
    (   Message = answer(Whom)
    ->  answers(As),
        thread_send_message(Whom, answered(As)),
        answer_all
    ;   true
    ).

answers(Gs) :-
    findall(X, g(X), Gs).

told(PI, Action, _) :-
    print(PI-Action), nl.

write_file(File, Clauses) :-
    setup_call_cleanup(open(File, write, Out),
                       forall(member(Clause, Clauses), portray_clause(Out, Clause)),
                       close(Out)).
