:- use_module(library(clpfd)).
:- initialization(main, main).
main :- puzzle(P), label(P), queens(6, Qs), labeling([ff], Qs), writeln(P-Qs), sudoku, knap(V), writeln(V).
puzzle([S,E,N,D,M,O,R,Y]) :-
    Vars = [S,E,N,D,M,O,R,Y], Vars ins 0..9, all_different(Vars),
    S*1000 + E*100 + N*10 + D + M*1000 + O*100 + R*10 + E #=
    M*10000 + O*1000 + N*100 + E*10 + Y, M #\= 0, S #\= 0.
queens(N, Qs) :- length(Qs, N), Qs ins 1..N, safe(Qs).
safe([]).
safe([Q|Qs]) :- no_attack(Q, Qs, 1), safe(Qs).
no_attack(_, [], _).
no_attack(Q, [Q1|Qs], D0) :- Q #\= Q1, abs(Q - Q1) #\= D0, D1 #= D0 + 1, no_attack(Q, Qs, D1).
sudoku :- length(Rows, 4), maplist(same_length(Rows), Rows), append(Rows, Vs), Vs ins 1..4, maplist(all_distinct, Rows), transpose(Rows, Columns), maplist(all_distinct, Columns), once(label(Vs)).
knap(V) :- [A,B] ins 0..5, 3*A + 4*B #=< 20, V #= 5*A + 6*B, once(labeling([max(V)], [A,B])).
