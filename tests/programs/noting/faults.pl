% An error in each predicate of the recorder that notes what is loaded, one after the other. Each
% time a file is loaded, run, loaded again and run again, which must do what it does without errors.
% Writes the faults that were met into faults.txt.

:- initialization(main, main).

main :-
    round(0, Expected),
    write(Expected), nl,
    findall(P, noting(P), Ps),
    faults(Ps, 1, Expected, Met),
    setup_call_cleanup(open('faults.txt', write, Out),
                       forall(member(Fault, Met), ( write(Out, Fault), nl(Out) )),
                       close(Out)).

% Predicates of these modules, but for those without which no error can be noted.

noting(M:Head) :-
    member(M, [ portmortem_stubs, portmortem_arguments, portmortem_loaded, portmortem_rules,
                portmortem_lines, portmortem_terms, portmortem_walk, portmortem_meta,
                portmortem_declared, portmortem_boundary, portmortem_hooks, portmortem_queue,
                portmortem_wrap, portmortem_wrapper, portmortem_ways, portmortem_copies,
                portmortem_goals, portmortem_selection, portmortem_drivers, portmortem_changes,
                portmortem_symbolic, portmortem_engine ]),
    current_module(M),
    '$c_current_predicate'(_, M:Head),
    functor(Head, Name, Arity),
    \+ sub_atom(Name, 0, _, _, $),
    '$get_predicate_attribute'(M:Head, defined, 1),
    forall(member(Key, [imported, (dynamic), foreign]),
           \+ ( '$get_predicate_attribute'(M:Head, Key, Is), Is \== 0 )),
    \+ memberchk(M:Name/Arity, [ portmortem_engine:as_own/1,
                                 portmortem_engine:noting/1,
                                 portmortem_engine:failed_to_note/2,
                                 portmortem_engine:note_error/2 ]).

faults([], _, _, []).
faults([P|Ps], N, Expected, Met) :-
    P = M:Head,
    functor(Head, Name, Arity),
    atomic_list_concat([M, ':', Name, /, Arity], Fault),
    flag(met, _, 0),
    '$wrap_predicate'(P, fault, _, _, ( flag(met, K, K+1), throw(error(Fault, _)) )),
    round(N, Got),
    unwrap_predicate(M:Name/Arity, fault),
    (   Got == Expected
    ->  true
    ;   format("with an error in ~w:~n~w~n", [Fault, Got])
    ),
    (   flag(met, 0, 0)
    ->  Met = Met1
    ;   Met = [Fault|Met1]
    ),
    N1 is N+1,
    faults(Ps, N1, Expected, Met1).

round(N, Got) :-
    atom_concat(part_, N, Part),
    atom_concat(Part, '.pl', File),
    with_output_to(string(Text),
                   catch(( write_part(File, Part), twice(File, Part) ), E, ( print(E), nl ))),
    atomic_list_concat(Pieces, Part, Text),
    atomic_list_concat(Pieces, part, Got).

twice(File, Part) :-
    load_files(File, [silent(true), imports([])]),
    Part:go,
    load_files(File, [silent(true), imports([])]),
    Part:go.

write_part(File, Part) :-
    setup_call_cleanup(
        open(File, write, Out),
        ( format(Out, ":- module(~w, [go/0]).~n", [Part]),
          forall(line(Line), ( write(Out, Line), nl(Out) )) ),
        close(Out)).

line(":- dynamic d/1.").
line(":- noprofile(n/0).").
line("d(1). d(2).").
line("n.").
line("draw() :- n.").
line("p(X, Y) :- maplist(q(X), [1,2], Y), ( X > 1 -> r ; \\+ s(X) ), forall(d(Z), Z > 0), draw().").
line("q(X, Y, Z) :- Z is X+Y.").
line("r.").
line("r :- fail.").
line("s(3) :- !.").
line("s(X) :- X > 5.").
line("t(X), X > 1 => true.").
line("t(_) => true.").
line("g --> [a], g.").
line("g --> [].").
line("go :- p(1, A), p(2, B), print(A-B), nl, t(1), t(2), phrase(g, [a,a]), fail.").
line("go :- assertz(d(3)), assertz(new(7)), forall(new(X), ( print(X), nl )), abolish(new/1), fail.").
line("go :- findall(D, d(D), Ds), print(Ds), nl, catch(k(), error(E, _), true), print(E), nl.").
