:- initialization(main, main).
main :- loop(20000), statistics(localused, L), ( L < 100000 -> true ; print(local(L)), nl ), state(3, 5), gen, findall(X, nd(X), Xs), print(Xs), nl, trans.
loop(0) :- !. loop(N) :- h(N), N1 is N-1, loop(N1).
h(N) :- reset(eff(N), get(X), C), X = N, call(C).
eff(N) :- shift(get(X)), X == N, true.
state(S0, N) :- run(S0, incs(N), S), print(S), nl.
run(S0, G, S) :- reset(G, Cmd, C), ( C == 0 -> S = S0 ; Cmd = inc(X), X = S0, S1 is S0+1, run(S1, C, S) ).
incs(0) :- !. incs(N) :- shift(inc(X)), print(X), nl, M is N-1, incs(M), true.
gen :- reset(g(1), yield(X), C), print(X), nl, call_again(C).
call_again(0) :- !. call_again(C) :- reset(C, yield(X), C2), ( C2 == 0 -> true ; print(X), nl, call_again(C2) ).
g(4) :- !. g(N) :- shift(yield(N)), M is N+1, g(M), true.
nd(X) :- reset(ask(Y), a(Y0), C), member(Y0, [1,2]), call(C), X = Y.
ask(Z) :- shift(a(Y)), ( Z = Y ; Z is Y*10 ).
trans :- catch(reset(thr, b, C), E, ( print(E), nl )), ( nonvar(C) -> call(C) ; true ).
thr :- shift_for_copy(c), true.
