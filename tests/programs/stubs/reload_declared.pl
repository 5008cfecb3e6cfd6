% Files are read again while clauses of theirs run, with dynamic, tabled and multifile predicates
% and a listener.

:- initialization(main, main).

main :-
    write_file('part.pl',
               [ ":- dynamic d/1.", ":- table tb/1.", "d(1). d(2) :- true. d(X) :- e(X).", "e(3).",
                 "tb(X) :- d(X), writeln(eval(X)).", "p(X) :- d(X), again(X).",
                 "again(X) :- ( X == 2 -> user:load_part ; true ).",
                 ":- multifile mf/1.", "mf(X) :- e(X).", "mf(a) :- true." ]),
    write_file('part2.pl', [":- multifile mf/1.", "mf(b) :- true.", "mf(X) :- d(X)."]),
    load_files([part, part2], []),
    all(mf),
    prolog_listen(d/1, heard),
    assertz(d(4)),
    all(p),
    all(tb),
    load_part,
    all(tb),
    all(mf),
    all(d),
    load_files(part2, []),
    load_part,
    all(mf),
    forall(nth_clause(mf(_), N, Ref),
           ( clause_property(Ref, line_count(Line)), clause_property(Ref, file(File)),
             file_base_name(File, Base), print(N-Base-Line), nl )),
    delete_file('part.pl'),
    delete_file('part2.pl').

load_part :-
    load_files(part, []).

all(Name) :-
    findall(X, call(Name, X), Xs),
    print(Name-Xs), nl.

heard(Action, Ref) :-
    (   catch(clause(Head, Body, Ref), _, fail)
    ->  print(Action-Head-Body), nl
    ;   print(Action), nl
    ).

write_file(File, Lines) :-
    setup_call_cleanup(open(File, write, Out),
                       forall(member(Line, Lines), writeln(Out, Line)),
                       close(Out)).
