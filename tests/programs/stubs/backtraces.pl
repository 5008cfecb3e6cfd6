:- initialization(main, main).
:- set_prolog_flag(gc, false).
:- use_module(library(prolog_stack)).
main :- p(1), catch_with_backtrace(r(1), E, ( print_message(error, E) )), q2.
p(X) :- a(X), \+ n(X), a(X).
n(X) :- bt, X == 2, true.
a(_).
bt :- get_prolog_backtrace(20, B), forall(member(F, B), ( F = frame(_, Wh, _), pr(Wh) )), print_prolog_backtrace(user_error, B), true.
pr(call(PI)) :- !, print(PI), nl.
pr(clause(Ref, PC)) :- ( clause_info(Ref, _, _, _) -> true ; true ), ( catch('$clause_term_position'(Ref, PC, L), E, L = E) -> true ; L = none ), print(PC-L), nl.
pr(W) :- print(W), nl.
r(X) :- \+ ( a(X), s(X), a(X) ), true.
s(X) :- Y is foo+X, print(Y).
q2 :- ( \+ m(_) -> bt ; a(1) ), ( a(1), b2 -> true ; true ), ( b2 ; a(1) ), forall(a(1), b2), true.
m(_) :- bt, fail.
b2 :- bt, true.
