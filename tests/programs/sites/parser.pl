:- initialization(main, main).
main :- string_codes("let x = 1 + 2*(3 - y); print \"abc\"; # end", Cs), phrase(program(P), Cs), print(P), nl.
ws --> [C], { code_type(C, space) }, !, ws.
ws --> "#", !, rest.
ws --> [].
rest --> [_], !, rest.
rest --> [].
program([S|Ss]) --> ws, statement(S), ws, ";", !, program(Ss).
program([]) --> ws.
statement(let(V, E)) --> "let", !, ws, ident(V), ws, "=", ws, expr(E).
statement(print(S)) --> "print", ws, string(S).
string(S) --> "\"", chars(Cs), "\"", { atom_codes(S, Cs) }.
chars([C|Cs]) --> [C], { C \== 0'" }, !, chars(Cs).
chars([]) --> "".
expr(E) --> term(T), ws, expr_rest(T, E).
expr_rest(L, E) --> ( "+" -> { Op = + } ; "-", { Op = - } ), !, ws, term(R), ws, { T =.. [Op,L,R] }, expr_rest(T, E).
expr_rest(E, E) --> [].
term(E) --> factor(F), ws, ( "*", ws, term(T) -> { E = F*T } ; { E = F } ).
factor(E) --> "(", !, ws, expr(E), ws, ")".
factor(N) --> digits([D|Ds]), !, { number_codes(N, [D|Ds]) }.
factor(V) --> ident(V).
digits([D|Ds]) --> digit(D), digits(Ds).
digits([D]) --> digit(D).
digit(D) --> [D], { code_type(D, digit) }.
ident(V) --> letters([C|Cs]), \+ "(", { atom_codes(V, [C|Cs]) }.
letters([C|Cs]) --> letter(C), letters(Cs).
letters([C]) --> letter(C).
letter(C), "" --> [C], { code_type(C, csymf) }, look.
look, [C] --> [C], !.
look --> [].
