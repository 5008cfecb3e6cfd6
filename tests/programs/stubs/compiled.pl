:- initialization(main, main).
main :- open('gen21.pl', write, S), write(S, ':- module(gen21, [g/1]).\ng(X) :- h(X), \\+ X == 3, ( X > 1 -> h(X) ; true ).\nh(1). h(2). h(3).\n'), close(S),
  qcompile(gen21), load_files('gen21.qlf', [qcompile(never)]), findall(X, g(X), L), print(L), nl, use_module(library(prolog_xref)), xref_source('gen21.pl'), findall(P, xref_defined('gen21.pl', P, _), Ps), print(Ps), nl,
  findall(X, xref_called('gen21.pl', X, _), Cs), print(Cs), nl.
