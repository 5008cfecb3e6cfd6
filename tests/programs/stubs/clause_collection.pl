:- initialization(main, main).
:- dynamic q/2.
main :- run(20000), rss(A), run(200000), rss(B), D is B-A, ( D < 40000 -> print(ok) ; print(leak(D)) ), nl.
run(0) :- !.
run(N) :- assertz((q(N, X) :- h(N, Y), X is Y+1)), q(N, _), retract((q(N, _) :- _)), M is N-1, run(M).
h(N, N).
rss(K) :- open('/proc/self/statm', read, S), read_line_to_string(S, L), close(S), split_string(L, " ", "", [_,R|_]), number_string(P, R), K is P*4.
