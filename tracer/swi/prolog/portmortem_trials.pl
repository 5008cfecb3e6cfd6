:- module(portmortem_trials,
          [ trial/2,            % -Name, -Goal
            empty/1,            % -Goal
            part/1              % -Head
          ]).

/** <module> The small programs that recording is calibrated on

Of many kinds, as programs are: few and many arguments, deep and flat, sure and
failing, cheap and costly between two ports. None calls a predicate of another
module that would be recorded. None retracts clauses: in half of the processes all
recorded programs took half as long again where one did.
*/

:- set_module(class(library)).

%!  trial(-Name, -Goal) is multi.
%!  empty(-Goal) is det.
%
%   Goal is to be run, with all its solutions. The analyser knows the first two trials; empty/1 is
%   the loop around what they call.

trial(Name, portmortem_trials:Goal) :-
    goal(Goal),
    functor(Goal, Name, _).

empty(portmortem_trials:empties(200)).

goal(nothings(200)).
goal(nevers(200)).
goal(reverse(List, _)) :- numbers(45, List).
goal(queens([1,2,3,4,5,6], _)).
goal(hanoi(7, a, b, c, _, [])).
goal(taks(2)).
goal(permutation([1,2,3,4,5], _)).
goal(derivative(Term, _)) :- expression(6, 5, Term).
goal(phrases(12)).
goal(firsts(60)).
goal(thrown(20)).
goal(sorted(List, _)) :- numbers(90, List).
goal(planted(List, _)) :- numbers(60, List).
goal(proofs(10)).
goal(normals(3)).
goal(tours(20)).
goal(scanned(Codes, _)) :- text(90, Codes).
goal(horner(List, 3, 0, _)) :- numbers(60, List).
goal(texts(2)).
goal(puzzles(6)).
goal(walks(2)).
goal(cut_first(List, _)) :- numbers(40, List).
goal(machine(Symbols)) :- numbers(400, List), bits(List, Symbols).
goal(deep(500, _)).
goal(generated(100)).
goal(found(60)).
goal(each(40)).
goal(applied(80)).
goal(caught(80)).
goal(written(40)).

%   Inputs that look random, the same every time: long enough that the processor cannot foresee each
%   branch, as it can in a
%   short loop.

numbers(N, List) :- numbers(N, 17, List).

numbers(0, _, []) :- !.
numbers(N, Seed0, [X|Xs]) :-
    Seed is (Seed0*1103515245+12345) mod 2147483648,
    X is (Seed>>12) mod 100,
    N1 is N-1,
    numbers(N1, Seed, Xs).

bits([], []).
bits([X|Xs], [Bit|Bits]) :- Bit is X mod 2, bits(Xs, Bits).

text(N, Codes) :- numbers(N, List), text_codes(List, Codes).

text_codes([], []).
text_codes([X|Xs], [C|Cs]) :- arg_code(X, C), text_codes(Xs, Cs).

arg_code(X, C) :- X < 20, !, C is 0'0+X mod 10.
arg_code(X, C) :- X < 75, !, C is 0'a+X mod 26.
arg_code(X, 0' ) :- X < 90, !.
arg_code(_, 0'+).

expression(0, Seed, x) :- Seed mod 3 =:= 0, !.
expression(0, Seed, Seed) :- !.
expression(Depth, Seed, Term) :-
    Depth1 is Depth-1,
    Left is (Seed*7+3) mod 31,
    Right is (Seed*5+11) mod 37,
    expression(Depth1, Left, U),
    expression(Depth1, Right, V),
    (   Seed mod 2 =:= 0
    ->  Term = U+V
    ;   Term = U*V
    ).

%!  part(-Head) is multi.
%
%   Head is a predicate of theirs.

part(Head) :-
    '$c_current_predicate'(_, portmortem_trials:Head),
    '$get_predicate_attribute'(portmortem_trials:Head, defined, 1),
    \+ '$get_predicate_attribute'(portmortem_trials:Head, imported, _),
    functor(Head, Name, Arity),
    \+ ( '$member'(Name/Arity, [ trial/2, empty/1, goal/1, part/1, numbers/2, numbers/3, bits/2, text/2,
                           text_codes/2, arg_code/2, expression/3
                         ])
       ; sub_atom(Name, 0, _, _, $)
       ).

nothings(0) :- !.
nothings(N) :- nothing, N1 is N-1, nothings(N1).

nevers(0) :- !.
nevers(N) :- ( never ; N1 is N-1, nevers(N1) ).

empties(0) :- !.
empties(N) :- N1 is N-1, empties(N1).

nothing.

never :- fail.

reverse([], []).
reverse([X|Xs], R) :- reverse(Xs, R0), append(R0, [X], R).

append([], L, L).
append([X|Xs], Ys, [X|Zs]) :- append(Xs, Ys, Zs).

queens(All, Rows) :- place(All, [], Rows).

place([], Rows, Rows).
place([F|Fs], Placed, Rows) :-
    select(Row, [F|Fs], Rest),
    \+ attack(Row, 1, Placed),
    place(Rest, [Row|Placed], Rows).

select(X, [X|Xs], Xs).
select(X, [Y|Ys], [Y|Zs]) :- select(X, Ys, Zs).

attack(Row, Distance, [Other|_]) :- Row =:= Other+Distance.
attack(Row, Distance, [Other|_]) :- Row =:= Other-Distance.
attack(Row, Distance, [_|Others]) :- Distance1 is Distance+1, attack(Row, Distance1, Others).

hanoi(0, _, _, _, Moves, Moves) :- !.
hanoi(N, From, To, Via, Moves0, Moves) :-
    N1 is N-1,
    hanoi(N1, From, Via, To, Moves0, [From-To|Moves1]),
    hanoi(N1, Via, To, From, Moves1, Moves).

taks(0) :- !.
taks(N) :- ( tak(8, 5, 2, _), fail ; N1 is N-1, taks(N1) ).

tak(X, Y, Z, A) :- X =< Y, !, Z = A.
tak(X, Y, Z, A) :-
    X1 is X-1, Y1 is Y-1, Z1 is Z-1,
    tak(X1, Y, Z, A1),
    tak(Y1, Z, X, A2),
    tak(Z1, X, Y, A3),
    tak(A1, A2, A3, A).

permutation([], []).
permutation(L, [X|Xs]) :- select(X, L, Rest), permutation(Rest, Xs).

derivative(x, 1) :- !.
derivative(N, 0) :- number(N), !.
derivative(U+V, DU+DV) :- derivative(U, DU), derivative(V, DV).
derivative(U*V, U*DV+V*DU) :- derivative(U, DU), derivative(V, DV).
derivative(U^N, N*U^M*DU) :- number(N), M is N-1, derivative(U, DU).

phrases(0) :- !.
phrases(N) :- ( phrase_of([the, man, saw, a, dog, with, the, telescope]), fail ; N1 is N-1, phrases(N1) ).

phrase_of(Words) :- sentence(Words, []).

sentence(S0, S) :- noun_phrase(S0, S1), verb_phrase(S1, S).

noun_phrase(S0, S) :- determiner(S0, S1), noun(S1, S).
noun_phrase(S0, S) :- determiner(S0, S1), noun(S1, S2), prepositional(S2, S).

verb_phrase(S0, S) :- verb(S0, S1), noun_phrase(S1, S).
verb_phrase(S0, S) :- verb(S0, S1), noun_phrase(S1, S2), prepositional(S2, S).

prepositional([with|S0], S) :- noun_phrase(S0, S).

determiner([the|S], S).
determiner([a|S], S).

noun([man|S], S).
noun([dog|S], S).
noun([telescope|S], S).

verb([saw|S], S).

firsts(0) :- !.
firsts(N) :- ( first(_), fail ; N1 is N-1, firsts(N1) ).

first(X) :- thing(X), !.

thing(a).
thing(b).
thing(c).

thrown(0) :- !.
thrown(N) :- catch(thrower, _, true), N1 is N-1, thrown(N1).

thrower :- throw(thrown).

% Quicksort with a partition of four arguments.

sorted(List, Sorted) :- quick(List, Sorted, []).

quick([], Sorted, Sorted).
quick([X|Xs], Sorted, Rest) :-
    split(Xs, X, Small, Large),
    quick(Small, Sorted, [X|Sorted1]),
    quick(Large, Sorted1, Rest).

split([], _, [], []).
split([Y|Ys], X, [Y|Small], Large) :- Y =< X, !, split(Ys, X, Small, Large).
split([Y|Ys], X, Small, [Y|Large]) :- split(Ys, X, Small, Large).

% A search tree.

planted(Keys, Sum) :- plant(Keys, leaf, Tree), total(Tree, Sum).

plant([], Tree, Tree).
plant([Key|Keys], Tree0, Tree) :- insert(Tree0, Key, Tree1), plant(Keys, Tree1, Tree).

insert(leaf, Key, node(leaf, Key, leaf)).
insert(node(Left, Key0, Right), Key, Tree) :-
    compare(Order, Key, Key0),
    insert(Order, Left, Key0, Right, Key, Tree).

insert(=, Left, Key, Right, _, node(Left, Key, Right)).
insert(<, Left0, Key0, Right, Key, node(Left, Key0, Right)) :- insert(Left0, Key, Left).
insert(>, Left, Key0, Right0, Key, node(Left, Key0, Right)) :- insert(Right0, Key, Right).

total(leaf, 0).
total(node(Left, Key, Right), Sum) :-
    total(Left, Sum1),
    total(Right, Sum2),
    Sum is Sum1+Key+Sum2.

% An interpreter.

proofs(0) :- !.
proofs(N) :- ( proved(route(a, f)), fail ; N1 is N-1, proofs(N1) ).

proved(true) :- !.
proved((A, B)) :- !, proved(A), proved(B).
proved(Goal) :- implied(Goal, Body), proved(Body).

implied(route(X, Y), link(X, Y)).
implied(route(X, Z), (link(X, Y), route(Y, Z))).
implied(link(X, Y), true) :- connected(X, Y).

connected(a, b).
connected(a, c).
connected(b, d).
connected(c, e).
connected(d, g).
connected(e, f).

% Rewriting of terms taken apart.

normals(0) :- !.
normals(N) :- ( normal(f(g(a,h(b)),k(f(a,a),g(b,h(c)))), _), fail ; N1 is N-1, normals(N1) ).

normal(Term, Normal) :-
    functor(Term, Name, Arity),
    functor(Inner, Name, Arity),
    normal_arguments(Arity, Term, Inner),
    (   equation(Inner, Next)
    ->  normal(Next, Normal)
    ;   Normal = Inner
    ).

normal_arguments(0, _, _) :- !.
normal_arguments(N, Term, Normal) :-
    arg(N, Term, Argument0),
    normal(Argument0, Argument),
    arg(N, Normal, Argument),
    N1 is N-1,
    normal_arguments(N1, Term, Normal).

equation(f(X, X), X).
equation(g(X, h(Y)), k(X, Y)).
equation(h(c), b).
equation(k(a, X), X).

% Search in a graph with a list of places seen.

tours(0) :- !.
tours(N) :- ( tour(a, g, [a], _), fail ; N1 is N-1, tours(N1) ).

tour(To, To, _, [To]).
tour(From, To, Seen, [From|Path]) :-
    edge(From, Next),
    unseen(Seen, Next),
    tour(Next, To, [Next|Seen], Path).

edge(X, Y) :- connected(X, Y).
edge(X, Y) :- connected(Y, X).

unseen([], _).
unseen([Place|Places], Other) :- Place \== Other, unseen(Places, Other).

% A scanner.

scanned(Codes, Tokens) :- scan(Codes, Tokens).

scan([], []).
scan([C|Cs], Tokens) :- blank(C), !, scan(Cs, Tokens).
scan([C|Cs], [number(N)|Tokens]) :- digit(C, D), !, number_(Cs, D, N, Rest), scan(Rest, Tokens).
scan([C|Cs], [name(Name)|Tokens]) :-
    letter(C),
    !,
    name_(Cs, Codes, Rest),
    atom_codes(Name, [C|Codes]),
    scan(Rest, Tokens).
scan([C|Cs], [sign(Sign)|Tokens]) :- char_code(Sign, C), scan(Cs, Tokens).

number_([C|Cs], N0, N, Rest) :- digit(C, D), !, N1 is N0*10+D, number_(Cs, N1, N, Rest).
number_(Rest, N, N, Rest).

name_([C|Cs], [C|Codes], Rest) :- letter(C), !, name_(Cs, Codes, Rest).
name_(Rest, [], Rest).

blank(0' ).

digit(C, D) :- C >= 0'0, C =< 0'9, D is C-0'0.

letter(C) :- C >= 0'a, C =< 0'z.

% More work than calls.

horner([], _, Value, Value).
horner([C|Cs], X, Value0, Value) :-
    Value1 is (Value0*X+C) mod 1009,
    Check is (Value1*Value1+7*Value1-3) xor (Value1>>2),
    (   Check > 500, Check mod 3 =:= 0
    ->  Value2 is (Value1+Check) mod 997
    ;   Value2 = Value1
    ),
    horner(Cs, X, Value2, Value).

texts(0) :- !.
texts(N) :- ( words([hello, world, of, logic, programs, and, their, words], _), fail ; N1 is N-1, texts(N1) ).

words([], []).
words([Word|Words], [Other-Length|Others]) :-
    changed(Word, Other),
    atom_length(Other, Length),
    words(Words, Others).

changed(Word, Other) :-
    atom_codes(Word, Codes),
    msort(Codes, Sorted),
    atom_codes(Other, Sorted).

% A puzzle of structures that are partly known.

puzzles(0) :- !.
puzzles(N) :- ( houses(_), fail ; N1 is N-1, puzzles(N1) ).

houses(Owner) :-
    Street = [_, _, _],
    among(house(red, english, _), Street),
    among(house(_, spanish, jaguar), Street),
    beside(house(_, _, snail), house(_, japanese, _), Street),
    beside(house(_, _, snail), house(blue, _, _), Street),
    among(house(_, Owner, zebra), Street).

among(X, [X|_]).
among(X, [_|Xs]) :- among(X, Xs).

beside(X, Y, [X,Y|_]).
beside(X, Y, [_|Xs]) :- beside(X, Y, Xs).

% Many arguments.

walks(0) :- !.
walks(N) :- ( walk(100, a, b, c, d, e, _), fail ; N1 is N-1, walks(N1) ).

walk(0, A, B, C, D, E, t(A, B, C, D, E)) :- !.
walk(N, A, B, C, D, E, T) :-
    N1 is N-1,
    turned(A, B, C, D, E, F),
    walk(N1, B, C, D, E, F, T).

turned(A, _, _, _, _, A).

% Choices that are cut.

cut_first(Xs, Pairs) :- pairs(Xs, Xs, Pairs).

pairs([], _, []).
pairs([X|Xs], All, [X-Y|Pairs]) :- larger(X, All, Y), !, pairs(Xs, All, Pairs).
pairs([_|Xs], All, Pairs) :- pairs(Xs, All, Pairs).

larger(X, All, Y) :- among(Y, All), Y > X, Y mod 2 =:= 0.

% Last calls into what the next symbol says.

machine(Symbols) :- even(Symbols).

even([]).
even([0|Symbols]) :- odd(Symbols).
even([1|Symbols]) :- waiting(Symbols).

odd([]).
odd([0|Symbols]) :- waiting(Symbols).
odd([1|Symbols]) :- even(Symbols).

waiting([]).
waiting([0|Symbols]) :- even(Symbols).
waiting([1|Symbols]) :- odd(Symbols).

deep(0, 0) :- !.
deep(N, Depth) :- N1 is N-1, deep(N1, Depth0), Depth is Depth0+1.

generated(N) :- integer_to(0, N, X), X*X > 100, even_number(X).

integer_to(N, _, N).
integer_to(N0, Max, N) :- N0 < Max, N1 is N0+1, integer_to(N1, Max, N).

even_number(X) :- X mod 2 =:= 0.

% Goals that system predicates call, and system predicates that work themselves.

found(0) :- !.
found(N) :- findall(X, thing(X), _), N1 is N-1, found(N1).

each(0) :- !.
each(N) :- forall(thing(X), known(X)), N1 is N-1, each(N1).

known(a).
known(b).
known(c).

applied(0) :- !.
applied(N) :- call(successor, N, _), call(larger_by(2), N, _), N1 is N-1, applied(N1).

successor(N0, N) :- N is N0+1.

larger_by(Step, N0, N) :- N is N0+Step.

caught(0) :- !.
caught(N) :- catch(successor(N, _), _, true), N1 is N-1, caught(N1).

written(0) :- !.
written(N) :-
    number_codes(N, Codes),
    number_codes(Number, Codes),
    atom_length(hello, Length),
    sub_atom(hello, 0, 1, _, First),
    char_code(First, Code),
    functor(Term, logic, Length),
    msort([Number, Code, Length], _),
    copy_term(Term, _),
    N1 is N-1,
    written(N1).
