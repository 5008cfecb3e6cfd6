/*  Trap: exceptions that leave several boxes.

    Balls thrown by throw/1 and by built-ins, through determinate boxes, boxes
    with choicepoints left, findall/3 and \+; caught and thrown again; a
    recovery goal that throws; a pattern that does not match.  Each box left
    has one EXCEPTION, and exited boxes that are dropped with it have a CUT.
*/

:- initialization(main, main).

main :-
    forall(attempt(Name, Goal), run(Name, Goal)),
    depth(1000),
    retried(3).

run(Name, Goal) :-
    (   catch(Goal, Ball, true)
    ->  (   nonvar(Ball), Ball = error(Formal, _)
        ->  format("~w: error ~q~n", [Name, Formal])
        ;   format("~w: ~q~n", [Name, Ball])
        )
    ;   format("~w: failed~n", [Name])
    ).

attempt(direct, throw(direct)).
attempt(through_frames, a(1)).
attempt(built_in, a(x)).
attempt(out_of_findall, findall(X, ( member(X, [1,2,3]), check(X) ), _)).
attempt(out_of_negation, \+ a(2)).
attempt(no_match, catch(a(1), other, writeln(wrong))).
attempt(recovery_throws, catch(a(1), _, throw(second))).
attempt(recovery_fails, catch(a(1), _, fail)).
attempt(instantiation, _ is 1+_).
attempt(choicepoints_dropped, left_behind(_)).

a(X) :- b(X), writeln(unreached).
b(X) :- c(X), writeln(unreached).
c(X) :- Y is X+1, throw(c(Y)).

check(X) :- X < 3, !.
check(X) :- throw(too_big(X)).

left_behind(X) :-
    choice(X), choice(Y), choice(Z),
    X+Y+Z >= 5,
    throw(sum(X, Y, Z)).

choice(1).
choice(2).

%   A thousand boxes are left at once.

depth(N) :-
    catch(down(N), bottom, true),
    format("back from ~d~n", [N]).

down(0) :- throw(bottom).
down(N) :- N > 0, N1 is N-1, down(N1), writeln(unreached).

%   Thrown, caught, and thrown again on every level.

retried(N) :-
    catch(again(N), again(K), ( format("thrown ~d times~n", [K]) )).

again(0) :- throw(again(1)).
again(N) :-
    N > 0,
    N1 is N-1,
    catch(again(N1), again(K), ( K1 is K+1, throw(again(K1)) )).
