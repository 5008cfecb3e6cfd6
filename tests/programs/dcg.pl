/*  Trap: grammars: predicates with two hidden arguments, call//N, string and
    code literals, pushback, cuts and negation in bodies, phrase/2,3 from a
    variable body, and a non-terminal of another module.
*/

:- initialization(main, main).

main :-
    phrase(csv(Rows), `a,b\nc,"d ""q"" e"\n`), print_rows(Rows),
    phrase(integer(N), `-120 rest`, Rest), format("~w ~s~n", [N, Rest]),
    (   phrase(anbn(K), `aaabbb`) -> writeln(K) ; writeln(no) ),
    (   phrase(anbn(_), `aaabb`) -> writeln(yes) ; writeln(no) ),
    findall(X-Y, phrase(split(X, Y), [1,2,3]), Splits), writeln(Splits),
    phrase(reversed(R), [a,b,c]), writeln(R),
    Body = ( look(a), [a], call(any, Z), rest ), phrase(Body, [a,b,c,d]), writeln(Z),
    phrase(lexicon:noun(Number), [cats]), writeln(Number),
    phrase(escaped(Cs), `x\\y`), format("~s~n", [Cs]),
    phrase(( count(C), ! ; [] ), `zzz`), writeln(C).

print_rows(Rows) :- forall(member(Row, Rows), ( print(Row), nl )).

csv([Row|Rows]) --> row(Row), "\n", !, csv(Rows).
csv([]) --> [].

row([F|Fs]) --> field(F), ( "," -> row(Fs) ; { Fs = [] } ).

field(F) --> [0'"], !, quoted(Cs), { atom_codes(F, Cs) }.
field(F) --> plain(Cs), { atom_codes(F, Cs) }.

quoted([0'"|Cs]) --> "\"\"", !, quoted(Cs).
quoted([]) --> [0'"], !.
quoted([C|Cs]) --> [C], quoted(Cs).

plain([C|Cs]) --> [C], { \+ memberchk(C, `,\n`) }, !, plain(Cs).
plain([]) --> [].

integer(N) --> sign(S), digit(D), digits(Ds), { number_codes(N0, [D|Ds]), N is S*N0 }.

sign(-1) --> "-", !.
sign(1) --> [].

digits([D|Ds]) --> digit(D), !, digits(Ds).
digits([]) --> [].

digit(D) --> [D], { code_type(D, digit) }.

anbn(0) --> [].
anbn(N) --> "a", anbn(N0), "b", { N is N0+1 }.

split(X, Y) --> list(X), list(Y).

list([]) --> [].
list([X|Xs]) --> [X], list(Xs).

reversed([]) --> \+ [_].
reversed(L) --> [X], reversed(L0), { append(L0, [X], L) }.

%   Pushback: look at a token and put it back.

look(T), [T] --> [T].

any(X, [X|Xs], Xs).

rest --> [].
rest --> [_], rest.

lexicon:noun(plural) --> [cats].
lexicon:noun(singular) --> [cat].

escaped([C|Cs]) --> "\\", !, [C], escaped(Cs).
escaped([C|Cs]) --> [C], !, escaped(Cs).
escaped([]) --> [].

count(N) --> "z", !, count(N0), { N is N0+1 }.
count(0) --> [].
