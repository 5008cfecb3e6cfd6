/*  Trap: choicepoints in every state: left and never used, left and redone, cut
    by the clause, by a caller several boxes up, by ->, \+, once/1, forall/2,
    by an exception, and still pending at the end of a goal that is run once.
    Also: which exits are determinate (clause indexing on the first argument, on
    another one, on none; the last clause; a cut in the last clause).
*/

:- initialization(main, main).

main :-
    first_arg(b, X1), writeln(X1),
    second_arg(X2, 2), writeln(X2),
    no_index(2), writeln(no_index),
    (   left(X3), X3 > 1 -> writeln(X3) ; writeln(none) ),
    \+ \+ left(_), writeln(double_negation),
    once(( left(A), left(B), A+B > 4 )), writeln(A+B),
    forall(left(C), C > 0), writeln(forall),
    (   chain(X4), X4 >= 6 -> writeln(X4) ; true ),
    catch(( left(D), left(E), D+E > 3, throw(found(D, E)) ), found(F, G), writeln(found(F, G))),
    grandparent(H), writeln(H),
    unused, writeln(unused),
    pending(I), pending(J), writeln(I+J),
    last_clause(c), writeln(last_clause).

first_arg(a, 1).
first_arg(b, 2).
first_arg(c, 3).

second_arg(a, 1).
second_arg(b, 2).
second_arg(c, 3).

no_index(X) :- X < 2, !.
no_index(X) :- X >= 2.
no_index(_) :- writeln(unreached).

left(1).
left(2).
left(3).

chain(X) :- link(X).
link(X) :- ring(X).
ring(X) :- left(Y), left(Z), X is Y*Z.

grandparent(X) :- parent(X), !.
parent(X) :- child(X), X > 1.
child(X) :- left(X).
child(9).

unused :- left(_), left(_), left(_).

pending(X) :- left(X).

last_clause(a) :- left(_).
last_clause(b) :- !.
last_clause(c) :- left(X), X > 2, !.
