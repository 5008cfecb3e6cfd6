/*  Trap: output to standard output and standard error, mixed, buffered and
    flushed, without a newline at the end; with_output_to/2 and format/3 to an
    atom.  Recording must not write a byte to either.
*/

:- initialization(main, main).

main :-
    forall(line(Stream, Text), say(Stream, Text)),
    with_output_to(string(S), ( write(captured), tab(1), say(user_output, not_captured) )),
    format("~s~w~n", [[0'<], S]),
    format(atom(A), "~a~t~20|~a", [left, right]), writeln(A),
    format("~p ~q ~d ~2f ~e ~g~n", ['A b', 'A b', 1234567, 3.14159, 0.001, 2.5]),
    format("~`-t~30|~n"),
    format("~w~t~10+~w~t~10+~w~n", [a, b, c]),
    format("~t~w~10|~t~w~10+~n", [right, right]),
    print_list([1, two, "three", 'Four', [5]]),
    write_canonical(f(X, Y, X, 'a b', "s", [Y])), nl,
    write(user_error, 'no newline on stderr'),
    write('no newline on stdout').

line(user_output, out1).
line(user_error, err1).
line(user_output, out2).
line(user_error, err2).

say(Stream, Text) :- format(Stream, "~w~n", [Text]), flush(Text, Stream).

flush(out1, Stream) :- !, flush_output(Stream).
flush(_, _).

print_list([]).
print_list([X|Xs]) :- writeq(X), put_char(' '), print(X), nl, print_list(Xs).
