/*  Collects ten times in collect/0, and ten times in before_cut/0, with so much that is alive that no collection is short.
    Says at the end how many there have been in this process.
*/

:- initialization(main, main).

main :-
    build(150000, List),
    forall(between(1, 10, _), collect),
    forall(between(1, 10, _), before_cut),
    length(List, _),
    statistics(collections, Count),
    writeln(Count).

collect :- garbage_collect.

%   The event that comes next after the collection is a cut.

before_cut :- two(_), garbage_collect, !.

two(1).
two(2).

build(0, []) :- !.
build(N, [f(N,_)|List]) :- N1 is N-1, build(N1, List).
