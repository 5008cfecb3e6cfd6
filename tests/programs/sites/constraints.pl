:- use_module(library(chr)).
:- initialization(main, main).
:- chr_constraint upto(+int), prime(+int), leq(?any,?any), fib(+int,?int), upto2(+int).
reflexivity  @ leq(X,X) <=> true.
antisymmetry @ leq(X,Y), leq(Y,X) <=> X = Y.
idempotence  @ leq(X,Y) \ leq(X,Y) <=> true.
transitivity @ leq(X,Y), leq(Y,Z) ==> leq(X,Z).
upto(1) <=> true.
upto(N) <=> N > 1 | M is N-1, noted(N), upto(M), prime(N).
prime(I) \ prime(J) <=> divides(I, J) | true.
upto2(Max), fib(N1,M1), fib(N2,M2) ==> Max > N2, N2 =:= N1+1 | N is N2+1, add(M1,M2,M), fib(N,M).
divides(I, J) :- 0 is J mod I.
add(A, B, C) :- C is A+B.
noted(_).
main :- upto(20), leq(A,B), leq(B,C), leq(C,A), ( A == C -> writeln(same) ; true ), fib(0,1), fib(1,1), upto2(10).
