/*  Trap: a file that is loaded again without the declarations det/1 and meta_predicate/1
    of its predicates.  In later versions a wrapper begins with what they declare.
*/

:- initialization(main, main).

main :-
    tmp_file_stream(File, Stream, [extension(pl)]), close(Stream),
    call_cleanup(run(File), delete_file(File)).

run(File) :-
    load(File, 0, [":- det(only/1).", ":- meta_predicate module_of(:, -).",
                   "only(1).", "module_of(X, X)."]),
    show,
    load(File, 10, ["only(1).", "only(2).", "module_of(X, X)."]),
    show,
    load(File, 20, [":- det(only/1).", ":- meta_predicate module_of(:, -).",
                    "only(1).", "module_of(X, X)."]),
    show.

load(File, Time, Lines) :-
    setup_call_cleanup(
        open(File, write, Out),
        forall(member(Line, Lines), ( write(Out, Line), nl(Out) )),
        close(Out)),
    get_time(Now),
    Stamp is Now+Time,
    set_time_file(File, _, [modified(Stamp)]),
    load_files(user:File, [silent(true)]).

%   The goals are made at run time: they are declared later.

show :-
    only(3, None),
    findall(X, only(X, exists), Xs),
    module_of(M),
    print([None, Xs, M]), nl.

only(X, Answer) :-
    Goal =.. [only, X],
    catch(( call(Goal), Answer = exists ; Answer = none ), error(E, _), ( functor(E, Answer, _) )),
    !.

module_of(M) :-
    Goal =.. [module_of, x, M],
    call(Goal).
