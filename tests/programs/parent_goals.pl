/*  Trap: a goal that prolog_frame_attribute/3 is to find.  The engine looks its predicate up in
    the module that asks, and ignores a qualification.
*/

:- initialization(main, main).

main :-
    run(x).

run(X) :-
    asks(X),
    true.

asks(_) :-
    prolog_current_frame(Frame),
    forall('$member'(M, [lists, user, nomodule, system]), found(Frame, M)),
    (   prolog_frame_attribute(Frame, parent_goal, run(y))
    ->  writeln(yes)
    ;   writeln(no)
    ).

found(Frame, M) :-
    (   prolog_frame_attribute(Frame, parent_goal, M:run(X))
    ->  writeln(M-yes(X))
    ;   writeln(M-no)
    ).
