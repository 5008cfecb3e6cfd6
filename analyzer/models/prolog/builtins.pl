/*  Built-in predicates and arithmetic operators whose cost is measured by repeated tests in which only the one in
    question is called (Mera et al. 2006, section 4, step 7).

    builtin(PI, Goal): a call of it with usual arguments.
    operator(PI, Expression): it, on two numbers; its cost is that of A+Expression less that of A+B, for the first operator
    of an expression costs more than the others (`expression`).
    A, B: small integers, L: a list of ten, T: a compound term.

    More is measured in the same way, because the compiler and the engine treat it apart: a number added to a
    variable for a new variable (`N1 is N-1`), which is an instruction of its own, a choicepoint that is made and cut,
    a condition that holds and one that does not, and the six cells of a term that a body builds.
*/

builtin(is/2,         A, _, _, _, _ is A).
builtin((<)/2,        A, B, _, _, A < B).
builtin((>)/2,        A, B, _, _, B > A).
builtin((=<)/2,       A, B, _, _, A =< B).
builtin((>=)/2,       A, B, _, _, B >= A).
builtin((=:=)/2,      A, _, _, _, A =:= A).
builtin((=\=)/2,      A, B, _, _, A =\= B).
builtin((=)/2,        A, _, _, _, _ = A).
builtin((\=)/2,       A, B, _, _, A \= B).
builtin((==)/2,       A, _, _, _, A == A).
builtin((\==)/2,      A, B, _, _, A \== B).
builtin((@<)/2,       A, B, _, _, A @< B).
builtin(compare/3,    A, B, _, _, compare(_, A, B)).
builtin(var/1,        _, _, _, _, var(_)).
builtin(nonvar/1,     A, _, _, _, nonvar(A)).
builtin(atom/1,       _, _, _, _, atom(a)).
builtin(atomic/1,     A, _, _, _, atomic(A)).
builtin(integer/1,    A, _, _, _, integer(A)).
builtin(number/1,     A, _, _, _, number(A)).
builtin(compound/1,   _, _, _, T, compound(T)).
builtin(functor/3,    _, _, _, T, functor(T, _, _)).
builtin(arg/3,        _, _, _, T, arg(1, T, _)).
builtin((=..)/2,      _, _, _, T, T =.. _).
builtin(copy_term/2,  _, _, _, T, copy_term(T, _)).
builtin(length/2,     _, _, L, _, length(L, _)).
builtin(msort/2,      _, _, L, _, msort(L, _)).
builtin(sort/2,       _, _, L, _, sort(L, _)).

operator((+)/2,    A, B, A+B).
operator((-)/2,    A, B, A-B).
operator((*)/2,    A, B, A*B).
operator((//)/2,   A, B, A//B).
operator((/)/2,    A, B, A/B).
operator((mod)/2,  A, B, A mod B).
operator((rem)/2,  A, B, A rem B).
operator((>>)/2,   A, B, A>>B).
operator((<<)/2,   A, B, A<<B).
operator((/\)/2,   A, B, A/\B).
operator((\/)/2,   A, B, A\/B).
operator(max/2,    A, B, max(A, B)).
operator(min/2,    A, B, min(A, B)).
operator((-)/1,    A, _, -A).
operator(abs/1,    A, _, abs(A)).

%   A clause that calls Goal so many times, and one that does not at all, in a loop over a list.

copies(16).

:- dynamic input/3.

input(Name, Rounds, Goal) :-
    length(List, Rounds),
    Goal =.. [Name, List, 7, 23, [9,4,7,1,8,2,6,3,5,0], point(1, 2, 3)].

:- initialization(make_tests).

make_tests :-
    copies(Copies),
    increments(Copies),
    test(choice, Copies, _, _, _, _, left(1)),
    test(no_choice, Copies, _, _, _, _, none_left(1)),
    test(empty, 0, _, _, _, _, true),
    test(expression, Copies, A0, B0, _, _, _ is A0+B0),
    test(condition, Copies, A0, B0, _, _, ( ( A0 < B0 -> true ; true ), ( B0 < A0 -> true ; true ) )),
    test(built, Copies, A0, B0, _, _, taken(f(A0, g(B0, A0)))),
    test(not_built, Copies, A0, _, _, _, taken(A0)),
    forall(builtin(PI, A, B, L, T, Goal),
           ( test_name(builtin, PI, Name), test(Name, Copies, A, B, L, T, Goal) )),
    forall(operator(PI, A, B, Expression),
           ( test_name(arith, PI, Name), test(Name, Copies, A, B, _, _, _ is A+Expression) )).

%   Each increment is of the one before, and the last one is passed on: an unused result is not computed by that
%   instruction.

increments(Copies) :-
    length(Goals, Copies),
    foldl(increment, Goals, A, Z),
    reverse(Goals, Backwards),
    foldl(conjunction, Backwards, increment(Rest, Z, B, L, T), Body),
    assertz(increment([], _, _, _, _)),
    assertz((increment([_|Rest], A, B, L, T) :- Body)),
    compile_predicates([increment/5]).

increment(Y is X-1, X, Y).

conjunction(Goal, Goals, (Goal, Goals)).

%   A clause after that of the call, which is cut, or none.

left(1) :- !.
left(_).

none_left(1).
none_left(2).

taken(_).

test_name(Kind, Symbol/Arity, Name) :-
    format(atom(Name), '~w:~w/~d', [Kind, Symbol, Arity]).

test(Name, Copies, A, B, L, T, Goal) :-
    End =.. [Name, [], _, _, _, _],
    Head =.. [Name, [_|Rest], A, B, L, T],
    Last =.. [Name, Rest, A, B, L, T],
    body(Copies, v(A, B, L, T), Goal, Last, Body),
    assertz(End),
    assertz((Head :- Body)),
    functor(Head, _, Arity),
    compile_predicates([Name/Arity]).

body(0, _, _, Last, Last) :- !.
body(N, Shared, Goal, Last, (Copy, Body)) :-
    copy_term(Shared-Goal, Shared-Copy),
    M is N-1,
    body(M, Shared, Goal, Last, Body).
