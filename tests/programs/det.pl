/*  Trap: predicates declared det, and the `$` goals.  The engine checks that
    they succeed once and leave no choicepoint: a guard or a copy that leaves
    one, or that fails in between, raises errors the program does not have
    (swi-prolog.md: a copied det predicate raised a determinism error).
*/

:- initialization(main, main).

:- det(size/2).
:- det(last_of/2).
:- det(bad_nondet/1).
:- det(bad_fail/1).

main :-
    numlist(1, 500, L),
    size(L, N), writeln(N),
    last_of(L, Last), writeln(Last),
    guarded(3, G), writeln(G),
    dollar(7, D), writeln(D),
    report(bad_nondet(_)),
    report(bad_fail(1)),
    report(dollar_nondet(_)),
    report(caller_of_det(_)),
    findall(X, nondet(X), Xs), writeln(Xs).

report(Goal) :-
    catch(( Goal -> writeln(true) ; writeln(false) ),
          error(determinism_error(PI, Declared, Found, Why), _),
          ( print(determinism_error(PI, Declared, Found, Why)), nl )).

size([], 0).
size([_|T], N) :- size(T, N0), N is N0+1.

last_of([X], Last) :- !, Last = X.
last_of([_|Xs], Last) :- last_of(Xs, Last).

bad_nondet(X) :- X = 1, writeln(one).
bad_nondet(2).

bad_fail(X) :- big(X), writeln(big).

big(X) :- X > 1.

guarded(X, Y) :- X > 2, $, Y = big.
guarded(_, small).

dollar(X, Y) :- $(Y is X*2).

dollar_nondet(X) :- $(nondet(X)).

caller_of_det(N) :- nondet(_), size([a,b], N), !.

nondet(1).
nondet(2).
