/*  Trap: what is a last call and what only looks like one.

    Last calls in both branches of a conditional, after a cut, after a
    condition with choicepoints, through call/N, out of maplist/3 and findall/3
    (whose frames are not ours), inside catch/3 (never a last call), and
    through a variable.  The counts are those of a meta-interpreter whichever
    way each is recorded.
*/

:- initialization(main, main).

main :-
    branch(50, A), writeln(A),
    after_cut(50, B), writeln(B),
    after_condition(50, C), writeln(C),
    through_call(50, D), writeln(D),
    through_closure(step, 50, E), writeln(E),
    in_catch(50, F), writeln(F),
    through_variable(50, G), writeln(G),
    maplist(in_map, [1,2,3], H), writeln(H),
    findall(X, in_findall(X), I), writeln(I),
    with_choicepoint(50, J), writeln(J),
    body_in_other_module(K), writeln(K).

branch(0, done) :- !.
branch(N, R) :-
    N1 is N-1,
    (   N mod 2 =:= 0
    ->  branch(N1, R)
    ;   branch(N1, R)
    ).

after_cut(N, R) :- N > 0, !, N1 is N-1, after_cut(N1, R).
after_cut(_, done).

after_condition(N, R) :-
    (   p(X), N > X
    ->  N1 is N-X, after_condition(N1, R)
    ;   R = N
    ).

p(1).
p(2).

through_call(0, done) :- !.
through_call(N, R) :- N1 is N-1, call(through_call, N1, R).

through_closure(_, 0, done) :- !.
through_closure(G, N, R) :- call(G, N, N1), through_closure(G, N1, R).

step(N, N1) :- N1 is N-1.

in_catch(0, done) :- !.
in_catch(N, R) :- N1 is N-1, catch(in_catch(N1, R), _, fail).

through_variable(0, done) :- !.
through_variable(N, R) :- N1 is N-1, G = through_variable(N1, R), G.

in_map(X, Y) :- Z is X*2, last_step(Z, Y).

last_step(X, Y) :- Y is X+1.

in_findall(X) :- p(Y), last_step(Y, X).

%   The last goal runs with a choicepoint of the clause still there.

with_choicepoint(0, done).
with_choicepoint(N, R) :- N > 0, N1 is N-1, p(_), with_choicepoint_(N1, R).

with_choicepoint_(N, R) :- N > 40, !, with_choicepoint(N, R).
with_choicepoint_(_, cut_short).

body_in_other_module(X) :- other:relay(X).

other:relay(X) :- user:last_step(1, X).
