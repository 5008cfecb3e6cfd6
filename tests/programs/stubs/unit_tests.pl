:- initialization(main, main).
:- use_module(library(plunit)).
:- begin_tests(x).
test(a) :- p(1).
test(b, [true(X == 1)]) :- p(X).
test(c, [fail]) :- p(3).
test(d, [all(X == [1,2])]) :- p(X).
test(e, [throws(oops)]) :- th.
test(f, [error(type_error(_, _))]) :- atom_length(f(x), _).
test(g, [forall(member(X, [1,2])), nondet]) :- p(X).
test(h, [setup(p(1)), cleanup(p(2))]) :- p(1), !.
:- end_tests(x).
p(1). p(2).
th :- throw(oops).
main :- ( run_tests -> print(ok) ; print(failed) ), nl.
