% A lazy list grows by terms that are linked into its end, on which backtracking must not undo anything.
:- initialization(main, main).
:- use_module(library(pure_input)).
:- set_prolog_flag(double_quotes, codes).

main :-
    tmp_file_stream(text, File, Stream),
    format(Stream, "aba", []),
    close(Stream),
    forall(member(Grammar, [x, y, z]),
           ( phrase_from_file(Grammar, File) -> writeln(yes) ; writeln(no) )),
    delete_file(File).

x --> ..., "c", ... .
y --> ..., [A,A], ... .
z --> ..., "b", ... .

... --> [] | [_], ... .
