/*  Trap: a program that writes a Prolog file and loads it (swi-prolog.md,
    trap 8): predicates that did not exist when recording began, among them one
    with the name of a predicate of this file in another module.
*/

:- initialization(main, main).

main :-
    setup_call_cleanup(
        generate(File),
        ( load_files(File, [silent(true)]), use ),
        delete_file(File)).

generate(File) :-
    tmp_file_stream(File, Stream, [extension(pl)]),
    forall(line(Line), ( write(Stream, Line), nl(Stream) )),
    close(Stream).

line(':- module(generated, [triple/2, count_down/1, pick/1]).').
line('triple(X, Y) :- helper(X, 3, Y).').
line('helper(X, K, Y) :- Y is X*K.').
line('count_down(0) :- !.').
line('count_down(N) :- N1 is N-1, count_down(N1).').
line('pick(X) :- member(X, [1,2,3]), X > 1.').

use :-
    triple(14, X), writeln(X),
    count_down(1000), writeln(counted),
    findall(Y, pick(Y), Ys), writeln(Ys),
    helper(Z), writeln(Z).

helper('the helper of user').
