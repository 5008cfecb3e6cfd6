:- initialization(main, main).
main :- at_halt((p(3), print(bye), nl)), p(2), q.
p(0) :- !. p(N) :- M is N-1, p(M), true.
q :- setup_call_cleanup(true, r(5), (print(cleaned), nl)), print(never).
r(0) :- halt(7). r(N) :- M is N-1, r(M), true.
