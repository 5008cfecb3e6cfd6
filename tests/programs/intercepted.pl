% library(intercept) finds its own frame by looking for its parent goal.
:- initialization(main, main).
:- use_module(library(intercept)).

main :-
    intercept(work, X, ( print(got(X)), nl )),
    intercept_all(X, work, X, Xs), print(Xs), nl.

work :- send_signal(a), send_signal(b).
