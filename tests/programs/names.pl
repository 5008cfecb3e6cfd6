/*  Trap: names of predicates that need care wherever they are printed: quotes,
    blanks, control characters, operators, non-ASCII letters, emoji, brackets,
    very long ones, a name that looks like an indicator, the empty atom, and
    modules named as badly.
*/

:- encoding(utf8).

:- initialization(main, main).

:- op(700, xfx, ===>).
:- op(200, xfy, 'and so on').

main :-
    set_stream(user_output, encoding(utf8)),
    findall(X, name_of(X), Xs),
    forall(member(X, Xs), ( call(X, Y), print(X-Y), nl )),
    a ===> B, print(B), nl,
    x 'and so on' C, print(C), nl,
    'Module: with colon':p(D), print(D), nl,
    '\e[31m':'\e[0m'(E), print(E), nl,
    'ünï':'cödé'(F), print(F), nl.

name_of('with blank').
name_of('with\nnewline').
name_of('with\ttab').
name_of('\e[31mred\e[0m').
name_of('bell\a').
name_of('quote\'s').
name_of('back\\slash').
name_of('double"quote').
name_of('a/1').
name_of('m:a').
name_of('').
name_of([]).
name_of({}).
name_of(+).
name_of(-->).
name_of('|').
name_of(',').
name_of('Capital').
name_of('_underscore').
name_of('42').
name_of('été').
name_of('Ω').
name_of('变量').
name_of('🦉').
name_of('a\u0301').
name_of('\u202Ertl').
name_of('zero\u200Bwidth').
name_of('<script>&amp;').
name_of('%percent').
name_of(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa).

'with blank'(1).
'with\nnewline'(2).
'with\ttab'(3).
'\e[31mred\e[0m'(4).
'bell\a'(5).
'quote\'s'(6).
'back\\slash'(7).
'double"quote'(8).
'a/1'(9).
'm:a'(10).
''(11).
[](12).
{}(13).
+(14).
-->(16).
'|'(17).
','(18).
'Capital'(19).
'_underscore'(20).
'42'(21).
'été'(22).
'Ω'(23).
'变量'(24).
'🦉'(25).
'a\u0301'(26).
'\u202Ertl'(27).
'zero\u200Bwidth'(28).
'<script>&amp;'(29).
'%percent'(30).
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(31).

a ===> arrow.
x 'and so on' operator.

'Module: with colon':p(module_with_colon).
'\e[31m':'\e[0m'(escape_sequences).
'ünï':'cödé'(unicode_module).
