/*  Programs of our own design that the refined model is calibrated with besides the ten of the paper: what those leave out.
    No built-ins and no choicepoints, which have costs of their own.  `items/2` is that of calibration.pl.

    input(Name, Size, Goal): a goal that runs the program on generated data.
*/

% Results of goals in clause bodies that later goals use.

input(results, N, results(L, a, _)) :- items(N, L).

results([], A, A).
results([_|T], A, Z) :- result(A, B), result(B, C), results(T, C, Z).

result(A, B) :- leaf, same(A, B).

same(A, A).

% Clauses selected by a constant, in an order that no processor foresees.

input(selection, N, selection(L, _)) :- length(L, N), maplist(kind, L).

selection([], []).
selection([X|T], [Y|R]) :- selected(X, Y), selection(T, R).

selected(a, e).
selected(b, f).
selected(c, g).
selected(d, h).

kind(X) :- I is random(4), nth0(I, [a, b, c, d], X).

% Lists taken apart and built: the engine has instructions of their own for them.

input(lists, N, lists(L, _)) :- items(N, L).

lists([], []).
lists([X|T], [X,X|R]) :- lists(T, R).

input(taking_turns, N, taking_turns(A, B, _)) :- items(N, A), items(N, B).

taking_turns([], L, L).
taking_turns([X|T], L, [X|R]) :- taking_turns(L, T, R).
