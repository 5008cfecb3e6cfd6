/*  Trap: single sided unification (`=>`).  The clauses commit, their heads do
    not bind the goal, and a goal without a matching rule is an error: a copy
    of them would not be the same predicate.
*/

:- initialization(main, main).

main :-
    total([1,2,3], 0, Sum), writeln(Sum),
    maplist(kind, [1, a, "s", f(x), _], Ks), writeln(Ks),
    maplist(sign, [-3, 0, 3], Signs), writeln(Signs),
    (   kind_of(_, K1) -> writeln(K1) ; true ),
    catch(total(no_list, 0, _), error(existence_error(What, Goal), _), true),
    functor(Goal, Name, Arity), print(What-Name/Arity), nl,
    catch(sign(x, _), error(E, _), true), print(E), nl,
    (   fails(1) -> writeln(yes) ; writeln(no) ),
    findall(Y, pick([1,2,3], Y), Ys), writeln(Ys),
    length_of(L, 3), writeln(L).

total([], Sum0, Sum) => Sum = Sum0.
total([X|Xs], Sum0, Sum) => Sum1 is Sum0+X, total(Xs, Sum1, Sum).

kind(X, K), var(X) => K = variable.
kind(X, K), integer(X) => K = integer.
kind(X, K), atom(X) => K = atom.
kind(f(_), K) => K = f.
kind(_, K) => K = other.

sign(X, S), X < 0 => S = -1.
sign(0, S) => S = 0.
sign(X, S), X > 0 => S = 1.

%   The first head does not bind the variable.

kind_of(a, K) => K = a.
kind_of(_, K) => K = anything.

fails(_) => fail.

%   A rule may leave choicepoints in its body.

pick(L, X) => member(X, L).

length_of(L, N), var(L) => L = list(N).
length_of(list(N0), N) => N = N0.
