% A file that has not changed is loaded again: its clauses are the same, with their references, and
% no predicate was modified. Then one fact of it changes, and a predicate is new.

:- initialization(main, main).

main :-
    write_part(9, ""),
    load_files(part, []),
    findall(Name-Ref,
            ( member(Name, [q, r, s, t]), functor(Head, Name, 1), nth_clause(Head, 1, Ref) ),
            Refs),
    told(before, Refs),
    answers,
    generations(Before),
    load_files(part, []),
    told(again, Refs),
    generations(Again),
    ( Before == Again -> writeln(same) ; writeln(modified) ),
    answers,
    write_part(10, "u :- t(_).\n"),
    load_files(part, []),
    told(changed, Refs),
    answers,
    delete_file('part.pl').

write_part(Fact, More) :-
    setup_call_cleanup(
        open('part.pl', write, Out),
        ( writeln(Out, "q(X) :- r(X), \\+ X == 7, ( X > 1 -> true ; s(X) )."),
          format(Out, "q(~w).~n", [Fact]),
          writeln(Out, "r(1). r(2) :- s(_)."),
          writeln(Out, "s(_) :- true."),
          writeln(Out, "t(X) :- q(X)."),
          write(Out, More) ),
        close(Out)).

told(When, Refs) :-
    forall(member(Name-Ref, Refs),
           ( ( clause_property(Ref, erased) -> Is = erased ; Is = kept ),
             catch(( clause(Head, _, Ref), functor(Head, Now, _) ), _, Now = none),
             print(When-Name-Now-Is), nl )).

generations(Gs) :-
    findall(G,
            ( member(Head, [q(_), r(_), t(_)]),
              predicate_property(Head, last_modified_generation(G)) ),
            Gs).

answers :-
    findall(X, t(X), Xs),
    print(Xs), nl.
