/*  Trap: fork/1.  The child has the parent's open trace and must not write into
    it; both end with halt/1.  Needs library(unix).
*/

:- initialization(main, main).
:- use_module(library(unix)).

main :-
    before(X), writeln(X), flush_output,
    fork(Pid),
    (   Pid == child
    ->  in_child
    ;   wait(Pid, Status),
        writeln(Status),
        after(Y), writeln(Y),
        piped(Text), write(Text),
        halt(4)
    ).

before(parent_only).
after(parent_again).

in_child :-
    work(200, N),
    format("child ~d~n", [N]),
    flush_output,
    halt(5).

work(0, 0) :- !.
work(N, M) :- N1 is N-1, work(N1, M1), M is M1+1.

%   A child that writes into a pipe, and ends by exec/1.

piped(Text) :-
    pipe(Read, Write),
    fork(Pid),
    (   Pid == child
    ->  close(Read), writeln(Write, 'through the pipe'), close(Write), exec(true)
    ;   close(Write),
        read_string(Read, _, Text),
        close(Read),
        wait(Pid, _)
    ).
