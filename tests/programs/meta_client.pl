/*  The other module for meta_modules.pl: gives closures over predicates that
    it does not export.
*/

:- module(meta_client, [run/0]).
:- use_module(meta_mapper).

run :-
    map(helper, [1,2], L), writeln(L),
    map(plus(10), [1,2], M), writeln(M),
    each(show, [a,b]),
    twice(show(c)),
    fold(add, [1,2,3], 0, Sum), writeln(Sum),
    both(choice(X), X > 1), writeln(X),
    count_solutions(choice(_), N), writeln(N),
    count_solutions(( choice(Y), \+ Y = 2 ), K), writeln(K),
    parse(greeting(Who), `hello world`), writeln(Who),
    map(meta_other:helper, [1], O), writeln(O),
    each([Z]>>show(Z), [d]),
    map([A,B]>>( choice(A), !, B = A ), [1,3], P), writeln(P).

helper(X, client(X)).
show(X) :- format("client shows ~w~n", [X]).
add(X, Y, Z) :- Z is X+Y.

choice(1).
choice(2).
choice(3).

greeting(Who) --> "hello", " ", rest(Codes), { atom_codes(Who, Codes) }.

rest([C|Cs]) --> [C], rest(Cs).
rest([]) --> [].
