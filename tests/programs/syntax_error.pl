/*  Trap: a file with syntax errors.  The engine reports them on standard error,
    skips the clauses and goes on: so does a recording of it.
*/

:- initialization(main, main).

main :-
    writeln(start),
    good(X),
    writeln(X),
    (   catch(bad(_), error(existence_error(_, PI), _), true)
    ->  print(PI), nl
    ;   writeln(none)
    ).

good(1).

bad(1 :- .

good(2).

bad(2) :- foo(, bar).

good(3).
