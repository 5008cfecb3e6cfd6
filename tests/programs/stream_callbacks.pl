% Predicates that C calls while an exception is on its way: the second call, by close/1, is made in that state.
:- initialization(main, main).
:- use_module(library(prolog_stream)).

stream_write(_, _) :- spin(20000), throw(oops).

spin(0) :- !.
spin(N) :- N1 is N-1, spin(N1).

main :-
    open_prolog_stream(user, write, S, []),
    catch(( write(S, hello), close(S) ), E, true),
    print(E), nl.
