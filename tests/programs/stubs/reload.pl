:- initialization(main, main).
w(T) :- open('gen12.pl', write, S), write(S, T), close(S).
main :- w('g(1).\ng(X) :- h(X).\nh(2).\n'), load_files(gen12, []), a, 
  sleep(1.1), % or the file would be as old as it was, to the clock of the file system
  w('g(3).\nh(4).\ng(X) :- h(X).\n:- discontiguous g/1.\n'), catch(make, E, (print(E), nl)), a,
  w('g(1) :- reload.\ng(X) :- h(X).\nh(2).\n'), load_files(gen12, []), catch(a, E1, (print(E1), nl)), a,
  unload_file(gen12), catch(a, error(E2,_), (print(E2), nl)),
  assertz(d(1)), assertz((d(X) :- d2(X))), assertz(d2(5)), findall(X, d(X), L), print(L), nl, abolish(d/1), catch((findall(X, d(X), L2), print(L2)), error(E3,_), print(E3)), nl.
:- dynamic d/1, d2/1.
a :- findall(X, g(X), L), print(L), nl.
reload :- w('g(8).\ng(9) :- h(_).\nh(_).\n'), load_files(gen12, []).
