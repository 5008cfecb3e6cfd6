/*  Trap: a program that reads its standard input: lines, then terms, then to the
    end.  Recording must not take a byte of it.
*/

:- initialization(main, main).

main :-
    read_line_to_string(user_input, First),
    format("first line: ~w~n", [First]),
    read(Term),
    numbervars(Term, 0, _),
    format("term: ~p~n", [Term]),
    read_term(user_input, Term2, [variable_names(Names)]),
    maplist(call, Names), format("term: ~p~n", [Term2]),
    get_char(Newline), format("char: ~q~n", [Newline]),
    rest(1).

rest(N) :-
    read_line_to_string(user_input, Line),
    (   Line == end_of_file
    ->  format("~d lines~n", [N])
    ;   echo(N, Line),
        N1 is N+1,
        rest(N1)
    ).

echo(N, Line) :- format("~d: ~w~n", [N, Line]).
