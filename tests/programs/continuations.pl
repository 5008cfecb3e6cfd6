/*  Trap: delimited continuations (swi-prolog.md, trap 7).  shift/1 leaves boxes
    without a port, call/1 of a continuation comes back into their middle, once,
    never, or more than once.
*/

:- initialization(main, main).

main :-
    state(10, S), writeln(S),
    collect(numbers(1, 4), L), writeln(L),
    collect(tree(node(node(leaf, a, leaf), b, node(leaf, c, leaf))), T), writeln(T),
    sum_all(numbers(1, 100), Sum), writeln(Sum),
    abandoned(A), writeln(A),
    findall(X, many(X), Xs), writeln(Xs),
    transduce(numbers(1, 3), D), writeln(D),
    catch(reset(thrower, _, _), Ball, true), writeln(Ball),
    catch(shift(nobody), error(E, _), true), functor(E, Name, _), writeln(Name).

%   Effect: a state cell.

state(S0, S) :- run_state(steps, S0, S).

steps :- get(X), Y is X*2, put(Y), get(Z), more(Z).

more(Z) :- W is Z+1, put(W).

get(X) :- shift(get(X)).
put(X) :- shift(put(X)).

run_state(Goal, S0, S) :-
    reset(Goal, Effect, Continuation),
    (   Continuation == 0
    ->  S = S0
    ;   Effect = get(S0)
    ->  run_state(Continuation, S0, S)
    ;   Effect = put(S1)
    ->  run_state(Continuation, S1, S)
    ).

%   Effect: a generator.

numbers(I, N) :- I > N, !.
numbers(I, N) :- yield(I), I1 is I+1, numbers(I1, N).

tree(leaf).
tree(node(L, X, R)) :- tree(L), yield(X), tree(R).

yield(X) :- shift(yield(X)).

collect(Goal, L) :-
    reset(Goal, yield(X), Continuation),
    (   Continuation == 0
    ->  L = []
    ;   L = [X|L1],
        collect(Continuation, L1)
    ).

sum_all(Goal, Sum) :- sum_all(Goal, 0, Sum).

sum_all(Goal, Sum0, Sum) :-
    reset(Goal, yield(X), Continuation),
    (   Continuation == 0
    ->  Sum = Sum0
    ;   Sum1 is Sum0+X,
        sum_all(Continuation, Sum1, Sum)
    ).

%   Never called again.

abandoned(X) :- reset(( numbers(5, 9), writeln(unreached) ), yield(X), _).

%   Called again twice.

many(X) :-
    reset(ask(X), choose(V), Continuation),
    member(V, [1,2]),
    call(Continuation).

ask(X) :- shift(choose(V)), X is V*10.

%   A generator inside a generator.

transduce(Goal, L) :- collect(doubled(Goal), L).

doubled(Goal) :-
    reset(Goal, yield(X), Continuation),
    (   Continuation == 0
    ->  true
    ;   Y is X*2,
        yield(Y),
        doubled(Continuation)
    ).

thrower :- throw(through_reset).
