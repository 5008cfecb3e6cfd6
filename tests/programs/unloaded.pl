% A file that is unloaded takes its predicates with it, and one that is loaded again changes them.
:- initialization(main, main).

main :-
    tmp_file_stream(File, Stream, [extension(pl)]),
    format(Stream, "p(1). p(X) :- q(X). q(2).~n", []),
    close(Stream),
    consult(File),
    findall(A, p(A), As), print(As), nl,
    unload_file(File),
    ( catch(p(X), error(E, _), true) -> print(answer(X, E)) ; print(fails) ), nl,
    open(File, write, Again),
    format(Again, "p(3).~n", []),
    close(Again),
    consult(File),
    findall(B, p(B), Bs), print(Bs), nl,
    unload_file(File),
    delete_file(File).
