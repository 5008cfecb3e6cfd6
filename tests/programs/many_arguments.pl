/*  Trap: predicates of every arity from 0 to 9 and of 20, 64 and 200 arguments,
    called directly, as last calls, and through call/N: wrappers must pass all
    arguments on.  Also very large terms as arguments.
*/

:- initialization(main, main).

term_expansion(define(N), [(Head :- Body), (Wide :- !, Head1), Last]) :-
    length(Args, N),
    Head =.. [wide|Args], sum_of(Args, 0, Sum), Body = ( X is Sum, b_setval(total, X) ),
    length(Args1, N), Wide =.. [pass|Args1], Head1 =.. [wide|Args1],
    length(Args2, N), Last =.. [never|Args2].

sum_of([], E, E).
sum_of([A|As], E0, E) :- sum_of(As, E0+A, E).

:- discontiguous wide/1, wide/2.

define(0).
define(1).
define(2).
define(3).
define(4).
define(5).
define(6).
define(7).
define(8).
define(9).
define(20).
define(64).
define(200).

main :-
    forall(member(N, [0,1,2,3,4,5,6,7,8,9,20,64,200]), try(N)),
    numlist(1, 100 000, L),
    big(L, Last), writeln(Last),
    functor(T, f, 100 000), big_term(T, A), writeln(A).

try(0) :- !, pass, b_getval(total, T), writeln(0-T).
try(N) :-
    numlist(1, N, L),
    Goal =.. [pass|L],
    call(Goal),
    b_getval(total, T),
    (   N =< 8 -> by_call(L) ; true ),
    writeln(N-T).

by_call([A]) :- !, call(pass, A).
by_call([A,B]) :- !, call(pass, A, B).
by_call([A,B,C]) :- !, call(pass, A, B, C).
by_call([A,B,C,D]) :- !, call(pass, A, B, C, D).
by_call([A,B,C,D,E]) :- !, call(pass, A, B, C, D, E).
by_call([A,B,C,D,E,F]) :- !, call(pass, A, B, C, D, E, F).
by_call([A,B,C,D,E,F|Rest]) :- append([pass,A,B,C,D,E,F], Rest, G), Goal =.. G, call(Goal).

big([X], X) :- !.
big([_|Xs], X) :- big(Xs, X).

big_term(T, A) :- functor(T, _, A).
