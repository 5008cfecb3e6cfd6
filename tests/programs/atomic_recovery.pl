/*  Trap: the recovery goal of catch/3 is sig_atomic/1.  It runs before signals that
    wait, so nothing may be called in front of it.
*/

:- initialization(main, main).

main :-
    catch(outer, second(X), said(X)).

outer :-
    catch(inner, first(X), sig_atomic(said(X))),
    catch(true, _, true).

inner :-
    thread_self(Me),
    sig_atomic(( thread_signal(Me, throw(first(1))),
                 thread_signal(Me, throw(second(2))) )),
    said(never).

said(X) :-
    print(X), nl.
