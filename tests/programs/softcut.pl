/*  Trap: the soft-cut, which keeps the choicepoints of its condition and drops
    the else branch below them.
*/

:- initialization(main, main).

main :-
    show(many, X, ( p(X) *-> true ; X = none )),
    show(none, X, ( r(X) *-> true ; X = none )),
    show(then_fails, X, ( p(X) *-> X > 2 ; X = none )),
    show(product, X-Y, ( p(X) *-> q(Y) ; X = none )),
    show(nested, X-Y, ( p(X) *-> ( r(Y) *-> true ; Y = none ) ; X = none )),
    show(else_nondet, X, ( r(_) *-> X = some ; p(X) )),
    show(without_else, X, ( p(X) *-> true )),
    show(chain, X, chain(X)),
    (   ( p(Z) *-> Z > 1 ; Z = 9 ) -> writeln(first(Z)) ; true ).

show(Name, Template, Goal) :-
    findall(Template, Goal, L),
    format("~w: ~w~n", [Name, L]).

p(1).
p(2).
p(3).

q(a).
q(b).

r(_) :- fail.

chain(X) :-
    (   r(X) *-> true
    ;   q(X) *-> true
    ;   p(X)
    ).
