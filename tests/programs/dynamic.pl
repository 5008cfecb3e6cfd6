/*  Trap: dynamic predicates, and predicates that appear while the program runs
    (swi-prolog.md, trap 8).

    Declared ones changed while they run (logical update view), ones that
    assertz/1 creates, one that asserts clauses for itself, retract/1 with
    choicepoints, retractall/1, abolish/1, a clause erased by reference while
    it runs, and rules with cuts among the asserted clauses.
*/

:- initialization(main, main).

:- dynamic counter/1, fact/1, memo/2.

counter(0).

fact(1).
fact(2).

main :-
    count(5),
    grow,
    shrink,
    created,
    rules,
    memo_fib(25, F), writeln(F),
    self_modifying,
    by_reference,
    gone,
    retract_all.

count(0) :- !, counter(N), writeln(N).
count(I) :-
    retract(counter(N)),
    N1 is N+1,
    assertz(counter(N1)),
    I1 is I-1,
    count(I1).

grow :-
    forall(fact(X), ( Y is X+10, assertz(fact(Y)) )),
    findall(X, fact(X), L),
    writeln(L).

shrink :-
    findall(X, ( fact(X), retractall(fact(X)), retractall(fact(11)) ), L),
    findall(X, fact(X), Left),
    writeln(L-Left).

%   No declaration anywhere.

created :-
    forall(member(X, [a, b, c]), assertz(letter(X))),
    asserta(letter(z)),
    findall(X, letter(X), L),
    writeln(L).

rules :-
    assertz((grade(X, low) :- X < 3, !)),
    assertz((grade(X, high) :- X > 7, !)),
    assertz((grade(_, middle))),
    findall(X-G, ( member(X, [1,5,9]), grade(X, G) ), L),
    writeln(L).

memo_fib(N, F) :- memo(N, F0), !, F = F0.
memo_fib(N, F) :-
    (   N < 2
    ->  F = N
    ;   A is N-1, memo_fib(A, FA),
        B is N-2, memo_fib(B, FB),
        F is FA+FB
    ),
    assertz(memo(N, F)).

self_modifying :-
    assertz((grows(N) :- N > 0, N1 is N-1, assertz(grows_done(N)), grows(N1))),
    assertz(grows(0)),
    grows(3),
    findall(N, grows_done(N), L),
    writeln(L).

by_reference :-
    assertz(temporary(1)),
    assertz((temporary(2) :- erase_me), Ref),
    assertz(temporary(3)),
    assertz((erase_me :- eraser(R), erase(R))),
    assertz(eraser(Ref)),
    findall(X, temporary(X), L),
    findall(X, temporary(X), L2),
    writeln(L-L2).

gone :-
    abolish(letter/1),
    catch(( letter(X) -> writeln(X) ; writeln('no letter') ), error(E, _), ( print(E), nl )).

retract_all :-
    retract((grade(_, Which) :- _)),
    writeln(Which),
    fail.
retract_all :-
    findall(G, grade(1, G), L),
    writeln(L).
