/*  Trap: a table of 10,000 static facts (made while the file is loaded, to keep
    it short) and small rules over it: clause indexing on each argument, on two
    together, and full scans.  Such a table need not be copied.
*/

:- initialization(main, main).

term_expansion(facts(N), Facts) :-
    findall(item(I, Group, Name, Parent),
            ( between(1, N, I),
              Group is I mod 97,
              atom_concat(item_, I, Name),
              Parent is I//2 ),
            Facts).

facts(10000).

main :-
    aggregate_all(count, item(_, _, _, _), Count), writeln(Count),
    item(7777, Group, Name, _), writeln(Group-Name),
    item(I, _, item_4242, _), writeln(I),
    aggregate_all(count, item(_, 13, _, _), InGroup), writeln(InGroup),
    ancestors(9999, Ancestors), writeln(Ancestors),
    aggregate_all(count, descendant(40, _), Descendants), writeln(Descendants),
    (   item(I2, 50, _, 2000) -> writeln(I2) ; writeln('no such item') ),
    aggregate_all(max(J), ( item(J, 3, _, P), P < 100 ), Max), writeln(Max).

ancestors(0, []) :- !.
ancestors(I, [Parent|Ancestors]) :-
    item(I, _, _, Parent),
    ancestors(Parent, Ancestors).

descendant(I, Child) :- item(Child, _, _, I).
descendant(I, Descendant) :- item(Child, _, _, I), descendant(Child, Descendant).
