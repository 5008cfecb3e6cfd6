/*  Trap: reloading (swi-prolog.md, trap 8): a file is loaded, changed, and loaded
    again, by consult/1 and by make/0, while clauses of its old version are still
    running.  Wrappers must survive, old clauses must not come back, and a
    predicate that is gone must be gone.
*/

:- initialization(main, main).

main :-
    tmp_file_stream(File, Stream, [extension(pl)]), close(Stream),
    call_cleanup(run(File), delete_file(File)).

run(File) :-
    version(File, 0, ["greet(hello).", "greet(hi).", "old(1).", "both(X) :- greet(X)."]),
    load_files(user:File, [silent(true)]),
    show,
    version(File, 10, ["greet(bonjour).", "new(1).", "both(X) :- greet(X).", "both(again)."]),
    load_files(user:File, [silent(true)]),
    show,
    version(File, 20, ["greet(hola).", "both(X) :- greet(X).", "both(last)."]),
    quietly_make,
    show,
    version(File, 30, ["greet(one).", "greet(two).", "both(X) :- greet(X)."]),
    findall(X, ( both(X), reload(File) ), Xs), writeln(Xs),
    show.

%!  version(+File, +Time, +Lines)
%
%   Write Lines to File.  The modification times are made to differ, so that
%   make/0 sees a new version however fast this runs.

version(File, Time, Lines) :-
    setup_call_cleanup(
        open(File, write, Out),
        forall(member(Line, Lines), ( write(Out, Line), nl(Out) )),
        close(Out)),
    get_time(Now),
    Stamp is Now+Time,
    set_time_file(File, _, [modified(Stamp)]).

quietly_make :-
    set_prolog_flag(verbose, silent),
    make.

reload(File) :- load_files(user:File, [silent(true)]).

show :-
    findall(X, both(X), Xs),
    value(old, Old),
    value(new, New),
    writeln(Xs-Old-New).

%   The goal is made at run time, so that make/0 does not report what is not
%   there.

value(Name, Value) :-
    Goal =.. [Name, Value0],
    catch(( call(Goal) -> Value = Value0 ; Value = none ),
          error(existence_error(_, _), _),
          Value = gone).
