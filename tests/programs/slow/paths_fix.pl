% paths.pl - a maze on a grid: breadth-first and depth-first search
% swipl paths.pl [Size]
:- initialization(main, main).
:- dynamic wall/2, size/1, visited/2.

main(Argv) :-
    (   Argv = [A|_] -> atom_number(A, N) ; N = 40 ),
    build(N),
    shortest(p(1,1), p(N,N), Path),
    length(Path, L),
    format("~d steps~n", [L]),
    reachable(p(1,1), Cells),
    length(Cells, C),
    format("~d cells reachable~n", [C]).

build(N) :-
    retractall(size(_)), retractall(wall(_,_)),
    assertz(size(N)),
    forall(( between(1, N, X), between(1, N, Y),
             (X*7 + Y*11 + X*Y) mod 5 =:= 0,
             \+ (X =:= 1, Y =:= 1), \+ (X =:= N, Y =:= N) ),
           assertz(wall(X, Y))).

neighbour(p(X,Y), p(X1,Y1)) :-
    size(N),
    move(DX, DY),
    X1 is X+DX, Y1 is Y+DY,
    X1 >= 1, Y1 >= 1, X1 =< N, Y1 =< N,
    \+ wall(X1, Y1).

move(1, 0).
move(0, 1).
move(-1, 0).
move(0, -1).

% ------------------------------------------------------------ shortest path

shortest(Start, Goal, Path) :-
    retractall(visited(_, _)),
    visit([Start]),
    bfs([[Start]|End], End, Goal, Rev),
    reverse(Rev, Path).

bfs([[Goal|Path]|_], _, Goal, [Goal|Path]) :- !.
bfs([[Node|Path]|Queue], End, Goal, Result) :-
    findall([Next,Node|Path],
            ( neighbour(Node, Next),
              \+ is_visited(Next) ),
            New),
    heads(New, Heads),
    visit(Heads),
    append(New, End1, End),
    bfs(Queue, End1, Goal, Result).

is_visited(p(X,Y)) :- visited(X, Y).

visit([]).
visit([p(X,Y)|Ps]) :- assertz(visited(X, Y)), visit(Ps).

heads([], []).
heads([[H|_]|Ps], [H|Hs]) :- heads(Ps, Hs).

% ------------------------------------------------------------ flood fill

reachable(Start, Cells) :-
    retractall(visited(_, _)),
    flood([Start], [], Cells).

flood([], Seen, Seen).
flood([C|Cs], Seen, Cells) :-
    (   is_visited(C)
    ->  flood(Cs, Seen, Cells)
    ;   visit([C]),
        findall(N, neighbour(C, N), Ns),
        union(Ns, Cs, Cs1),
        flood(Cs1, [C|Seen], Cells)
    ).
