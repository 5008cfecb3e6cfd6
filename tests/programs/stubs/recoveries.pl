% Recoveries of catch/3 after collections, of exceptions that cannot be caught for good, and of
% goals that fail or raise others.
:- initialization(main, main).

main :-
    forall(clause(example(N), Goal), run(N, Goal)),
    catch(aborted, _, said(outer)).

run(N, Goal) :-
    (   catch(Goal, Ball, ( said(left(Ball)), fail ))
    ->  said(N)
    ;   said(failed(N))
    ).

:- dynamic example/1.

example(1) :- catch(( collect, throw(x) ), _, said(recovered)).
example(2) :- Goal = said(recovered), catch(( collect, throw(x) ), _, Goal).
example(3) :- Goal = said(X), catch(( collect, throw(x) ), X, Goal).
example(4) :- catch(catch(throw(x), _, ( collect, throw(z) )), _, said(recovered)).
example(5) :- catch(throw(x), _, ( collect, said(recovered) )).
example(6) :- catch(setup_call_cleanup(true, throw(x), ( collect, said(cleanup) )), _, said(recovered)).
example(7) :- catch(setup_call_cleanup(true, ( collect, throw(x) ), collect), X, said(X)).
example(8) :- catch(call_cleanup(long, garbage_collect), L, length_of(L)).
example(9) :- catch(( one_of(X), collect, X >= 2, throw(X) ), Y, ( collect, said(Y) )).
example(10) :- catch(throw(x), _, no).
example(11) :- catch(throw(x), _, throw(y)).
example(12) :- catch(throw(x), _, atom_length(_, _)).
example(13) :- catch(throw(x), _, atom_length(abc, 4)).
example(14) :- catch(one_of(3), _, said(never)), collect.

aborted :-
    catch(( collect, throw('$aborted') ), _, said(inner)),
    said(never).

collect :-
    garbage_collect.

long :-
    length(L, 1_000),
    collect,
    throw(L).

length_of(L) :-
    length(L, N),
    said(N).

one_of(1).
one_of(2).
one_of(3).

no :-
    fail.

said(X) :-
    print(X), nl.
