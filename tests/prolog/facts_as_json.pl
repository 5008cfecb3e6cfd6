/*  Loads a file of facts and prints them as JSON, in the order of the file, so that a test can
    compare them with what other formats say.  Atoms are lists of codes: no encoding changes them.
*/

:- initialization(main, main).

main([File]) :-
    load_files(File, [silent(true)]),
    format("["),
    forall(nth_clause(pm_columns(_, _), N, Clause),
           ( clause(pm_columns(Name, Columns), true, Clause),
             between_lines(N),
             print_table(Name, Columns) )),
    format("]~n").

print_table(Name, Columns) :-
    length(Columns, Arity),
    functor(Head, Name, Arity),
    format("{\"name\": "), print_value(Name),
    format(", \"columns\": "), print_value(Columns),
    format(", \"rows\": ["),
    forall(nth_clause(Head, N, Clause),
           ( clause(Head, true, Clause),
             Head =.. [_|Arguments],
             between_lines(N),
             print_value(Arguments) )),
    format("]}").

between_lines(1) :- !, nl.
between_lines(_) :- format(",~n").

%   The empty list is an atom for atom/1, and no atom of a trace.

print_value([]) :- !, format("[]").
print_value([First|Rest]) :- !,
    format("["), print_value(First),
    forall(member(Value, Rest), ( format(","), print_value(Value) )),
    format("]").
print_value(Box) :-
    Box = box(Called, Depth, Predicate), !,
    format("{\"box\": ~d, \"depth\": ~d, \"predicate\": ", [Called, Depth]),
    print_value(Predicate),
    format("}").
print_value(Constant) :- memberchk(Constant, [null, true, false]), !, write(Constant).
print_value(Number) :- number(Number), !, write(Number).
print_value(Atom) :-
    atom(Atom),
    atom_codes(Atom, Codes),
    atomic_list_concat(Codes, ',', Numbers),
    format("{\"atom\": [~w]}", [Numbers]).
