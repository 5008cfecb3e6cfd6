:- initialization(main, main).
:- table path/2, fibt/2.
:- table conn(_, min).
:- dynamic edge/2.
edge(a,b). edge(b,c). edge(c,a). edge(c,d).
path(X,Y) :- edge(X,Y).
path(X,Y) :- path(X,Z), edge(Z,Y).
conn(X, 0) :- X = a.
conn(X, N) :- conn(Y, M), edge(Y, X), N is M+1.
fibt(0,0). fibt(1,1).
fibt(N,F) :- N > 1, A is N-1, B is N-2, fibt(A,FA), fibt(B,FB), F is FA+FB.
:- table win/1.
win(X) :- mv(X,Y), tnot(win(Y)).
mv(1,2). mv(2,3). mv(3,4). mv(4,1). mv(2,1).
:- dynamic([inc/1], [incremental(true)]).
:- table incp/1 as incremental.
inc(1). inc(2).
incp(X) :- inc(Y), X is Y*2.
main :- findall(X-Y, path(X,Y), L0), sort(L0, L), print(L), nl,
  fibt(300, F), print(F), nl,
  findall(X-N, conn(X,N), C0), sort(C0, C), print(C), nl,
  findall(X, call_delays(win(X), true), W0), sort(W0, W), print(W), nl,
  findall(X, incp(X), I1), msort(I1, I1s), print(I1s), nl, assertz(inc(3)), findall(X, incp(X), I2), msort(I2, I2s), print(I2s), nl,
  abolish_all_tables, findall(X-Y, path(X,Y), M0), sort(M0, M), ( M == L -> print(same) ; print(other) ), nl,
  untable(path/2), catch(call_with_depth_limit(path(a,_), 50, _), _, true), print(end), nl.
