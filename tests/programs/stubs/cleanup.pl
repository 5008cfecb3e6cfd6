:- initialization(main, main).
p(X) :- member(X, [1,2,3]).
log(X) :- print(X), nl.
main :-
  setup_call_cleanup(log(s), p(X), log(c(X))), log(X), !,
  t2, t3, t4, t5, t6.
t2 :- catch(setup_call_cleanup(true, throw(a), log(clean_a)), E, log(caught(E))).
t3 :- catch(setup_call_cleanup(true, (p(X), X > 1, throw(x(X))), (log(clean), q(_))), E, log(caught(E))).
q(X) :- member(X, [1,2]), X > 1.
t4 :- setup_call_cleanup(true, p(X), log(last)), X == 3, log(got3).
t5 :- catch(setup_call_cleanup(true, p(_), throw(in_cleanup)), E, log(E)), log(after), !.
t5 :- log(t5_other).
t6 :- catch(t7, E, log(t6(E))).
t7 :- setup_call_cleanup(true, ( p(X), X >= 2 ), log(cl(X))), setup_call_cleanup(true, p(Y), log(cl2(Y))), Y >= 2, throw(z(X,Y)).
