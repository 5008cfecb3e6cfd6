% The program gets a signal, or meets a limit of its own, while the recorder notes a clause. What is
% thrown takes the clause, as it does unrecorded, whatever it looks like.

:- initialization(main, main).

main :-
    setup_call_cleanup(open('part.pl', write, Out), write(Out, "p(1) :- true.\n"), close(Out)),
    forall(member(Ball, [stop, error(mine, _), time_limit_exceeded(1)]), signalled(Ball)),
    limited.

signalled(Ball) :-
    thread_self(Me),
    storing(P),
    '$wrap_predicate'(P, signal, _, Wrapped, ( thread_signal(Me, throw(Ball)), Wrapped )),
    loaded,
    unwrapped(P, signal).

limited :-
    storing(P),
    '$wrap_predicate'(P, limit, _, _, throw(inference_limit_exceeded(1))),
    loaded,
    unwrapped(P, limit).

loaded :-
    abolish(p/1),
    catch(load_files(part, [silent(true)]), Error, ( print(Error), nl )),
    (   catch(p(_), _, fail)
    ->  writeln(kept)
    ;   writeln(lost)
    ).

unwrapped(M:Head, Name) :-
    functor(Head, Functor, Arity),
    unwrap_predicate(M:Functor/Arity, Name).

% What the recorder does before the engine stores a clause, or what the engine does.

storing(P) :-
    (   current_module(portmortem_stubs)
    ->  P = portmortem_stubs:note_goals(_, _, _)
    ;   P = system:'$store_clause'(_, _, _, _)
    ).
