% A child process that is killed between fork and exec runs the engine's handler, in a copy of the parent's memory.
:- initialization(main, main).
:- use_module(library(process)).

main :-
    forall(between(1, 20, _),
           ( process_create(path(sleep), [100], [process(P)]),
             process_kill(P),
             process_wait(P, killed(15)) )),
    writeln(done).
