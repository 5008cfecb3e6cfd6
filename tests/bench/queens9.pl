%   All 352 ways to put nine queens on a board.

queens9 :- ( queens([1,2,3,4,5,6,7,8,9], [], _), fail ; true ).

queens([], Placed, Placed).
queens(Free, Placed, All) :-
    choose(Free, Queen, Rest),
    \+ attacked(Queen, Placed),
    queens(Rest, [Queen|Placed], All).

choose([X|Xs], X, Xs).
choose([X|Xs], Y, [X|Ys]) :- choose(Xs, Y, Ys).

attacked(Queen, Placed) :- attacked(Queen, 1, Placed).

attacked(Queen, Distance, [Other|_]) :- Queen is Other+Distance.
attacked(Queen, Distance, [Other|_]) :- Queen is Other-Distance.
attacked(Queen, Distance, [_|Others]) :- Farther is Distance+1, attacked(Queen, Farther, Others).
