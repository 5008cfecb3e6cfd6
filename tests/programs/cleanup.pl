/*  Trap: call_cleanup/2 and setup_call_cleanup/3, in each of the ways in which
    the goal can end, with the exceptions of the cleanup itself.

    Cleanup handlers run inside a cut, inside unwinding, and after a
    determinate exit: moments at which the recorder has calls to write too.
*/

:- initialization(main, main).

main :-
    forall(ending(Name, Goal), run(Name, Goal)),
    nested,
    cut_two,
    in_exception.

run(Name, Goal) :-
    (   catch(setup_call_cleanup(setup(Name), Goal, cleanup(Name)), Ball, true)
    ->  (   var(Ball) -> End = true ; End = Ball ),
        format("~w: ~w~n", [Name, End])
    ;   format("~w: false~n", [Name])
    ).

ending(det, det).
ending(fails, fails).
ending(throws, throws(oops)).
ending(nondet_cut, choice(_)).

setup(Name)   :- format("~w: setup~n", [Name]).
cleanup(Name) :- format("~w: cleanup~n", [Name]).

det.
fails :- fail.
throws(Ball) :- throw(Ball).
choice(1).
choice(2).
choice(3).

nested :-
    setup_call_cleanup(
        true,
        setup_call_cleanup(true, ( choice(X), X >= 2 ), writeln(inner)),
        writeln(outer)),
    !,
    writeln(nested(X)).

%   One cut, two pending cleanups: newest first.

cut_two :-
    call_cleanup(choice(_), writeln(first)),
    call_cleanup(choice(_), writeln(second)),
    writeln('before the cut'),
    !,
    writeln('after the cut').

%   Unwinding runs the cleanup; its own exception is lost behind the first.

in_exception :-
    catch(setup_call_cleanup(true, throws(one), throws(two)), Ball, true),
    writeln(caught(Ball)),
    catch(( call_cleanup(choice(_), writeln(unwound)), throw(later) ), Later, true),
    writeln(caught(Later)).
