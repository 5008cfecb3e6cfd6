:- initialization(main, main).
main :- spy(q/1), p(_), nospy(q/1), nodebug, 
  leash(-all), visible(+all), trace, p(_), notrace, nodebug, p(X), print(X), nl,
  trace(q/1, [call,exit,fail]), p(_), ( p(5) -> true ; true ), trace(q/1, -all), nodebug, p(_),
  leash(-all), trace, catch(r, _, true), notrace, nodebug.
p(X) :- q(X), \+ X == 3.
q(1). q(X) :- s(X), X > 1.
s(2).
r :- q(_), throw(oops).
