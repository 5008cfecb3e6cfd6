/*  Trap: initialization(main, main), main/0 of library(main), which hands the
    arguments to main/1; options, negative numbers, blanks, empty arguments, `--`
    and non-ASCII in argv.  They must arrive as without recording.
*/

:- initialization(main, main).

main(Argv) :-
    set_stream(user_output, encoding(utf8)),
    print(Argv), nl,
    argv_options(Argv, Positional, Options0),
    msort(Options0, Options),
    print(Positional), nl,
    print(Options), nl,
    current_prolog_flag(argv, Flag),
    (   Flag == Argv -> writeln(same) ; writeln(Flag) ),
    length(Argv, N),
    N > 0,
    status(Positional, Status),
    halt(Status).

status([First|_], Status) :- atom_number(First, Status), !.
status(_, 0).
