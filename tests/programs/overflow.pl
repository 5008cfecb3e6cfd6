/*  Trap: the stack limit (swi-prolog.md, trap 4): infinite recursion that runs
    into it, is caught, and the program goes on.  The unwinding leaves some ten
    thousand boxes at once.  Recording makes boxes larger, so fewer of them fit;
    the program must print the same.
*/

:- initialization(main, main).

main :-
    set_prolog_flag(stack_limit, 20 000 000),
    catch(forever(0, _), error(resource_error(What), _), true),
    report(What),
    catch(grow([]), error(resource_error(What2), _), true),
    report(What2),
    count(1000, N), writeln(N).

report(What) :- ( nonvar(What) -> writeln('stack limit') ; writeln(none) ).

forever(N, M) :- N1 is N+1, forever(N1, M0), M is M0+1.

grow(L) :- grow([x, y, z|L]).

count(0, 0) :- !.
count(N, M) :- N1 is N-1, count(N1, M1), M is M1+1.
