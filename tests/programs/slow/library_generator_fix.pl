:- initialization(main).
main :- s(60, A), s(600, B), write(A-B), nl, halt.
s(N, S) :- numlist(1, N, L), slow(L, S).
slow(L, S) :- length(L, N), findall(X-Y, (member(X,L), multiple(X,N,Y)), Ps), length(Ps, S).
multiple(X, N, Y) :- Most is N // X, between(2, Most, K), Y is K * X.
