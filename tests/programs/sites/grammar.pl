:- initialization(main, main).
goal_expansion(both(A, B), (first(A), second(B))).

main :-
    phrase(total(_), `1+2`),
    branches(2).                                        % branches/1

total(A) -->
    digit(A),                                           % digit/3
    "+",
    digit(_),                                           % digit/3
    {   step(A)                                         % step/1
    }.

digit(D) -->
    [D],
    { step(D),                                          % step/1
      true }.

branches(X) :-
    (   step(X)                                         % step/1
    ->  both(1, 2)
    ;   step(0)
    ),
    (   mapped([
            X]), step(X)                                % step/1
    ;   true
    ).

mapped(_).
first(_).
second(_).
step(_).
