%Behind each line stands what its goals call. The file is loaded before it is recorded.

goal_expansion(both(A, B), (first(A), second(B))).

:- dynamic changing/1.

main :-
    phrase(total(_), `1+2`),                            % phrase/2 total/3
    branches(2),                                        % branches/1
    expanded,                                           % expanded/0
    guarded(3),                                         % guarded/1
    changing(4),                                        % changing/1
    first(5),                                           % first/1
    last.                                               % last/0

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
    (   X > 1,
        step(X)                                         % step/1
    ->  findall(Y,                                      % findall/3
                (   step(Y),                            % step/1
                    second(Y)                           % second/1
                ), _)
    ;   step(0)
    ),
    \+ absent.                                          % absent/0

expanded :-
    step(a),                                            % step/1
    both(                                               % first/1 second/1
        1,
        2
    ),
    last.                                               % last/0

guarded(X),
    step(X) =>                                          % step/1
    last.                                               % last/0

changing(X) :-
    step(X).                                            % step/1

first(_).
second(_).
step(_).
absent :- fail.
last.
