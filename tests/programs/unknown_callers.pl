/*  The error of an unknown procedure names its caller: the nearest ancestor that still has a frame. After a
    last call that is not the predicate with the call in it.
*/

:- initialization(main, main).

main :-
    caller(p(1)), caller(q(2)), caller(r(1)), caller(nowhere(3)), caller(s(1)),
    caller(m:g),
    caller(once(p(1))), caller(findall(X, p(X), _)), caller(s(_)),
    caller(t(_)), caller(u(_)).

caller(Goal) :-
    catch(Goal, error(Formal, context(Caller, _)), true),
    print(Formal-Caller), nl.

p(X) :- q(X).
q(X) :- r(X).
r(X) :- true, nowhere(X).
s(X) :- nowhere(X), true.

m:g :- m:h.
m:h :- m:i(1).

t(X) :- u(X).
u(X) :- atom_length(X, _).
