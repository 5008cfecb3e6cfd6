/*  A small expression language: tokens, grammar, tree, value.

        let x = 3 in let y = x * (2 + 4) in if y > 10 then y - x else 0

    Scanner and parser are definite clause grammars, one over character codes
    and one over tokens.  The parser is written top down, with an accumulator
    for the left-associative operators, and backtracks out of the alternatives
    that do not fit; nothing in it is tuned.  The interesting figures are the
    redos and failures of primary//1 and relation//1, and the exceptions that
    leave value/3.

    Run:  swipl parser.pl
*/

:- initialization(main, main).
:- set_prolog_flag(double_quotes, codes).

main :-
    forall(sample(Text), answer(Text)).

%!  sample(-Text)

sample("1 + 2 * 3").
sample("2 * (3 + 4) - 10 / 5").
sample("let x = 3 in let y = x * (2 + 4) in if y > 10 then y - x else 0").
sample("let a = 2 in let b = a * a in let c = b * b in let d = c * c in d * d - 1").
sample("if 1 = 1 then if 2 < 1 then 10 else 20 else 30").
sample("((((((((((1))))))))))").
sample("1 - 2 - 3 - 4 - 5").
sample("let x = 1 in y").
sample("7 / (3 - 3)").
sample("let x = in 3").
sample("1 + ? 2").

%!  answer(+Text)
%
%   Print Text and its value, or what is wrong with it.

answer(Text) :-
    format("~s~n", [Text]),
    catch(( evaluate(Text, Value), format("  = ~w~n", [Value]) ),
          problem(What),
          ( report(What, Message), format("  ~w~n", [Message]) )).

report(no_token(Rest), Message) :-
    format(atom(Message), "cannot read a token at: ~s", [Rest]).
report(no_parse, 'not an expression').
report(unbound(Name), Message) :-
    format(atom(Message), "~w has no value", [Name]).
report(division_by_zero, 'division by zero').

%!  evaluate(+Text, -Value)

evaluate(Text, Value) :-
    tokens(Text, Tokens),
    (   phrase(expression(Tree), Tokens)
    ->  true
    ;   throw(problem(no_parse))
    ),
    value(Tree, [], Value).

                /*******************************
                *           SCANNER            *
                *******************************/

tokens(Text, Tokens) :-
    phrase(tokens(Tokens), Text, Rest),
    (   Rest == []
    ->  true
    ;   throw(problem(no_token(Rest)))
    ).

tokens(Tokens) --> blank, !, tokens(Tokens).
tokens([Token|Tokens]) --> token(Token), !, tokens(Tokens).
tokens([]) --> [].

blank --> [C], { code_type(C, space) }.

token(number(N)) --> digit(D), digits(Ds), { number_codes(N, [D|Ds]) }.
token(Token)     --> letter(L), letters(Ls), { atom_codes(A, [L|Ls]), word(A, Token) }.
token(Sign)      --> [C], { sign(C, Sign) }.

digits([D|Ds]) --> digit(D), digits(Ds).
digits([])     --> [].

digit(D) --> [D], { code_type(D, digit) }.

letters([L|Ls]) --> letter(L), letters(Ls).
letters([])     --> [].

letter(L) --> [L], { code_type(L, alpha) }.

word(A, A) :- keyword(A), !.
word(A, name(A)).

keyword(let).
keyword(in).
keyword(if).
keyword(then).
keyword(else).

sign(C, Sign) :-
    char_code(Sign, C),
    memberchk(Sign, [+, -, *, /, =, <, >, '(', ')']).

                /*******************************
                *           GRAMMAR            *
                *******************************/

expression(let(Name, Bound, Body)) -->
    [let, name(Name), =], expression(Bound), [in], expression(Body).
expression(if(Condition, Then, Else)) -->
    [if], relation(Condition), [then], expression(Then), [else], expression(Else).
expression(Sum) -->
    term(First), sum(First, Sum).

relation(op(Op, A, B)) --> expression(A), comparison(Op), expression(B).

comparison(=) --> [=].
comparison(<) --> [<].
comparison(>) --> [>].

sum(Left, Sum) --> additive(Op), term(Right), sum(op(Op, Left, Right), Sum).
sum(Sum, Sum)  --> [].

additive(+) --> [+].
additive(-) --> [-].

term(Product) --> primary(First), product(First, Product).

product(Left, Product) -->
    multiplicative(Op), primary(Right), product(op(Op, Left, Right), Product).
product(Product, Product) --> [].

multiplicative(*) --> [*].
multiplicative(/) --> [/].

primary(number(N)) --> [number(N)].
primary(name(A))   --> [name(A)].
primary(E)         --> ['('], expression(E), [')'].

                /*******************************
                *            VALUE             *
                *******************************/

%!  value(+Tree, +Bindings, -Value)

value(number(N), _, N).
value(name(A), Bindings, Value) :-
    (   lookup(A, Bindings, Value0)
    ->  Value = Value0
    ;   throw(problem(unbound(A)))
    ).
value(let(Name, Bound, Body), Bindings, Value) :-
    value(Bound, Bindings, V),
    value(Body, [Name-V|Bindings], Value).
value(if(Condition, Then, Else), Bindings, Value) :-
    (   holds(Condition, Bindings)
    ->  value(Then, Bindings, Value)
    ;   value(Else, Bindings, Value)
    ).
value(op(Op, A, B), Bindings, Value) :-
    value(A, Bindings, VA),
    value(B, Bindings, VB),
    apply_operator(Op, VA, VB, Value).

lookup(A, [A-V|_], V).
lookup(A, [_|Bindings], V) :- lookup(A, Bindings, V).

holds(op(Op, A, B), Bindings) :-
    value(A, Bindings, VA),
    value(B, Bindings, VB),
    compare_values(Op, VA, VB).

compare_values(=, A, B) :- A =:= B.
compare_values(<, A, B) :- A < B.
compare_values(>, A, B) :- A > B.

apply_operator(+, A, B, V) :- V is A+B.
apply_operator(-, A, B, V) :- V is A-B.
apply_operator(*, A, B, V) :- V is A*B.
apply_operator(/, A, B, V) :-
    (   B =:= 0
    ->  throw(problem(division_by_zero))
    ;   V is A//B
    ).
