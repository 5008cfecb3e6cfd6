:- initialization(main, main).
main :- l(1000), t1, catch(t2(5), B, (print(B), nl)), t3, catch(t4, E, (print(E), nl)), t5.
l(0) :- !. l(N) :- catch(th(N), x(M), ok(M)), N1 is N-1, l(N1).
th(N) :- ( N mod 2 =:= 0 -> throw(x(N)) ; ok(N) ).
ok(_).
t1 :- catch(( member(X, [1,2,3]), ck(X) ), E, ( print(E), nl )).
ck(X) :- ( X > 2 -> throw(big(X)) ; fail ).
t2(0) :- throw(bottom). t2(N) :- M is N-1, catch(t2(M), nomatch, true), print(unreached), nl.
t2(_) :- print(alt), nl.
t3 :- findall(X, catch(( ok(X), member(X, [1,2]) ; throw(a) ), a, X = caught), L), print(L), nl.
t4 :- findall(X, ( member(X, [1,2]), ok(X), X > 1, throw(infind(X)) ), _).
t5 :- catch(call_cleanup(throw(first), throw(second)), E, ( print(E), nl )), catch(forall(ok(1), throw(fa)), F, ( print(F), nl )), print_message_lines(user_output, '', []).
