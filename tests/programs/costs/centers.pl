/*  Cost centres: nested, recursive, declared; left by cut, failure and exceptions, in threads and engines. */

:- use_module(library(portmortem)).
:- initialization(main, main).
:- in_cost_center(declared, [d/1]).
gen(1). gen(2). gen(3).
d(X) :- gen(X), e(X).
e(_).
q(X,Y) :- cost_center(outer, (gen(X), cost_center(inner, (gen(Y), e(Y))), e(X))).
loop(0) :- !.
loop(N) :- N1 is N-1, cost_center(loop, loop(N1)).
t(catch) :- catch(cost_center(x, throw(oops)), oops, true).
t(cut)   :- cost_center(x, (gen(_), !)), fail.
t(cut).
t(det)   :- call_cleanup(cost_center(x, e(1)), D = det), writeln(D).
t(fail)  :- \+ cost_center(x, fail).
t(mod)   :- cost_center(x, (context_module(M))), writeln(M).
t(err)   :- catch(cost_center(x, _), E, (print_message(silent, E), E = error(F, _), writeln(F))).
t(thread):- thread_create(cost_center(in_thread, gen(_)), Id), thread_join(Id).
t(engine):- cost_center(x, (engine_create(X, gen(X), E), engine_next(E, A), engine_next(E, B))), writeln(A-B), engine_destroy(E).
main :- forall(q(X,Y), writeln(X-Y)), loop(1000), forall(d(X2), writeln(X2)),
  forall(member(T, [catch,cut,det,fail,mod,err,thread,engine]), (t(T) -> writeln(T) ; writeln(no(T)))),
  q(_,_), writeln(done).
