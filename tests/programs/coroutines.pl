/*  Trap: attributed variables: freeze/2, when/2, dif/2 and an attribute of our
    own.  Woken goals run between the unification and the next goal, as
    children of whatever box is then active, and may fail it.
*/

:- module(coroutines, []).

:- initialization(main, main).

main :-
    frozen_goals, conditions, disequality, domains, producer_consumer(5).

frozen_goals :-
    freeze(X, say(woken(X))), writeln(before), X = 1, writeln(after),
    (   freeze(Y, small(Y)), big(Y) -> writeln(Y) ; writeln('no small one') ),
    freeze(Z, say(first(Z))), freeze(Z, say(second(Z))), take(Z),
    freeze(V, throw(woken)), catch(take(V), Ball, true), writeln(Ball).

say(X) :- writeln(X).
small(X) :- X < 10.
big(20).
big(30).
take(7).

conditions :-
    when(?=(A, B), say(decided(A, B))), A = f(1), B = g,
    when(( nonvar(C), ground(D) ; nonvar(E) ), say(condition)), D = g(_), C = 1, E = 2,
    when(ground(F+G), ( H is F+G, say(H) )), F = 1, G = 2.

disequality :-
    dif(X, Y), X = f(A, 1), Y = f(B, 2), writeln(different), A = B,
    queens.

queens :-
    Colours = [A, B, C, D],
    different(Colours),
    maplist(colour, Colours), A @< B, !,
    writeln([A, B, C, D]).

different([A, B, C, D]) :- dif(A, B), dif(A, C), dif(B, C), dif(B, D), dif(C, D).

colour(red).
colour(green).
colour(blue).

%   A domain attribute: a list of the values that are left.

domain(X, Values) :- put_attr(X, coroutines, Values).

attr_unify_hook(Values, Y) :-
    (   get_attr(Y, coroutines, Others)
    ->  include(among(Others), Values, Both),
        Both \== [],
        (   Both = [Z] -> Y = Z ; put_attr(Y, coroutines, Both) )
    ;   var(Y)
    ->  put_attr(Y, coroutines, Values)
    ;   memberchk(Y, Values)
    ).

among(Values, X) :- memberchk(X, Values).

domains :-
    domain(X, [1,2,3]), domain(Y, [3,4,5]), X = Y, writeln(X),
    domain(V, [a,b]), ( V = c -> writeln(c) ; writeln('c is not in it') ), V = b, writeln(V).

%   The consumer is woken by each cell the producer makes.

producer_consumer(N) :-
    freeze(L, consume(L, 0)),
    produce(1, N, L).

produce(I, N, L) :- I > N, !, L = [].
produce(I, N, [I|L]) :- I1 is I+1, produce(I1, N, L).

consume([], Sum) :- writeln(Sum).
consume([X|Xs], Sum0) :- Sum is Sum0+X, freeze(Xs, consume(Xs, Sum)).
