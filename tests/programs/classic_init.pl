/*  Trap: the older way to start: output and calls while the file is loaded,
    `:- initialization(main).`, halt/0 at the end of main/0, and a directive
    that calls a predicate of the file before the rest of it is there.
*/

:- writeln('loading begins').

early(1).
early(2).

:- forall(early(X), writeln(early(X))).

:- initialization(main).
:- initialization(writeln('second initialization')).

:- dynamic loaded/1.
:- assertz(loaded(by_directive)).

:- writeln('loading ends').

main :-
    writeln(main),
    findall(X, early(X), Xs), writeln(Xs),
    loaded(How), writeln(How),
    at_halt(writeln('at halt')).

:- initialization(halt).
