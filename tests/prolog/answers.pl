%   Prints the first answer to each query of a file: answers.pl PROGRAM QUERIES. The pack is below
%   the working directory.

:- attach_packs(packs, []).
:- use_module(library(portmortem/trace)).

:- initialization(main, main).

main([Program, Queries]) :-
    load_files(user:Program, []),
    setup_call_cleanup(open(Queries, read, In), answer_all(In), close(In)).

answer_all(In) :-
    read_term(In, Query, [variable_names(Names), module(user)]),
    (   Query == end_of_file
    ->  true
    ;   answer(Query, Names),
        answer_all(In)
    ).

answer(Query, Names) :-
    expand_goal(user:Query, Goal),
    catch(( once(Goal) -> Answer = yes ; Answer = no ), error(Formal, _), Answer = error(Formal)),
    show(Answer, Names).

show(yes, Names) :-
    forall(member(Name=Value, Names), bound(Name, Value)).
show(no, _) :-
    writeln(false).
show(error(Formal), _) :-
    format("~q~n", [Formal]).

%   What begins with an underscore is not asked for; open traces print otherwise each time.

bound(Name, Value) :-
    (   sub_atom(Name, 0, _, _, '_')
    ->  true
    ;   format("~w = ~q~n", [Name, Value])
    ).
