% Random programs whose files are read again, also while their clauses run. Each seed from the
% first argument to the second makes a module with four versions of its file. What is printed says
% which solutions there are, which clauses the engine has kept, which predicates it takes for
% modified, and what listeners hear.

:- initialization(main, main).
:- dynamic pending/1.

main :-
    current_prolog_flag(argv, [First0,Last0|_]),
    atom_number(First0, First),
    atom_number(Last0, Last),
    forall(between(First, Last, Seed), program(Seed)).

program(Seed) :-
    nb_setval(state, Seed),
    forall(between(1, 3, _), below(10, _)),
    atom_concat(part_, Seed, Part),
    retractall(pending(_)),
    nb_setval(part, Part),
    version_of(first, V1),
    changed(V1, V2),
    changed(V2, V3),
    forall(member(V, [V1,V2,V3,V3,V1]), assertz(pending(V))),
    load_next,
    forall(( declared(V1, dynamic(PI)), below(2, 0) ), prolog_listen(Part:PI, heard(Part))),
    forall(between(1, 4, _), step(Part)),
    forall(predicate(PI), catch(prolog_unlisten(Part:PI, _), _, true)),
    atom_concat(Part, '.pl', File),
    unload_file(File),
    delete_file(File),
    format("~w ends~n", [Seed]).

step(Part) :-
    findall(PI-Ref, clause_of(Part, PI, Ref), Refs),
    findall(PI-G, generation(Part, PI, G), Generations),
    below(3, Where),
    nb_setval(again, Where),
    ( Where =:= 2 -> nb_setval(again, -1), nb_setval(says, true) ; nb_setval(says, false) ),
    nb_setval(budget, 300),
    forall(predicate(Name/Arity), ask(Part, Name, Arity)),
    load_next,
    nb_setval(says, true),
    forall(member(PI-Ref, Refs), kept(PI, Ref)),
    forall(member(PI-G, Generations), modified(Part, PI, G)),
    nl.

ask(Part, Name, Arity) :-
    functor(Goal, Name, Arity),
    catch(( forall(limited(Part:Goal), shown(Goal)), nl ),
          Error, ( shown(Error), nl )).

% What a predicate answers whose file is read again while it runs is not said: the engine loses
% solutions now and then, with and without a recording.

shown(Term) :-
    nb_getval(says, true),
    !,
    \+ \+ ( numbervars(Term, 0, _, [singletons(false)]), format("~p ", [Term]) ).
shown(_).

limited(Goal) :-
    call(Goal).

clause_of(Part, Name/Arity, Ref) :-
    predicate(Name/Arity),
    functor(Head, Name, Arity),
    catch(nth_clause(Part:Head, _, Ref), _, fail).

generation(Part, Name/Arity, G) :-
    predicate(Name/Arity),
    functor(Head, Name, Arity),
    predicate_property(Part:Head, last_modified_generation(G)).

modified(Part, Name/Arity, G) :-
    functor(Head, Name, Arity),
    (   predicate_property(Part:Head, last_modified_generation(Now))
    ->  ( Now =:= G -> true ; format("~w modified ", [Name]) )
    ;   format("~w gone ", [Name])
    ).

kept(Name/_, Ref) :-
    (   catch(clause_property(Ref, erased), _, true)
    ->  format("~w erased ", [Name])
    ;   clause_property(Ref, line_count(Line))
    ->  format("~w ~w ", [Name, Line])
    ;   true
    ).

heard(_, Action, Ref) :-
    (   catch(clause(H, B, Ref), _, fail)
    ->  nb_setval(says, true), write(Action), write(' '), shown((H:-B))
    ;   format("~w ", [Action])
    ).

% Called by clauses of the program.

again :-
    nb_getval(again, N0),
    N is N0-1,
    nb_setval(again, N),
    ( N =:= -1 -> load ; true ).

tick :-
    nb_getval(budget, N0),
    N is N0-1,
    nb_setval(budget, N),
    ( N < 0 -> throw(budget) ; true ).

load_next :-
    retract(pending(Version)),
    nb_setval(version, Version),
    load.

load :-
    nb_getval(part, Part),
    nb_getval(version, Version),
    atom_concat(Part, '.pl', File),
    setup_call_cleanup(open(File, write, Out),
                       ( format(Out, ":- module(~w, []).~n", [Part]),
                         writeln(Out, ":- style_check(-(singleton)), style_check(-(discontiguous))."),
                         forall(member(Term, Version), write_item(Out, Term)) ),
                       close(Out)),
    load_files(File, [imports([]), silent(true)]).

write_item(Out, line(Term)) :-
    !,
    \+ \+ ( numbervars(Term, 0, _), format(Out, "~N~q. ", [Term]) ).
write_item(Out, Term) :-
    \+ \+ ( numbervars(Term, 0, _), format(Out, "~q.~n", [Term]) ).

declared(V, D) :-
    member((:- D), V).

predicate(PI) :-
    member(PI, [q0/1, q1/1, q2/2, q3/1, q4/2, q5/1]).

version_of(first, Items) :-
    findall(Item, item(Item), Items).

item((:- Declaration)) :-
    predicate(PI),
    below(8, N),
    nth0(N, [dynamic(PI), multifile(PI), discontiguous(PI), public(PI), module_transparent(PI)],
         Declaration).
item(Clause) :-
    predicate(Name/Arity),
    below(4, N),
    between(0, N, _),
    clause_for(Name, Arity, Clause0),
    ( below(10, 0) -> Clause = line(Clause0) ; Clause = Clause0 ).

clause_for(Name, Arity, Clause) :-
    length(Vs, 3),
    length(Arguments, Arity),
    maplist(head_argument(Vs), Arguments),
    Head =.. [Name|Arguments],
    (   below(3, 0)
    ->  Clause = Head
    ;   sub_atom(Name, 1, 1, _, Digit),
        atom_number(Digit, D),
        body(3, D, Vs, Body),
        Clause = (Head :- user:tick, Body)
    ).

head_argument(Vs, A) :-
    below(5, N),
    ( N < 3 -> nth0(N, Vs, A) ; N =:= 3 -> data(Vs, A) ; below(3, A) ).

data(Vs, T) :-
    below(8, N),
    nth0(0, Vs, X), nth0(1, Vs, Y),
    nth0(N, [a, "text", f(X,Y), [X,1|Y], 1.5, 100000000000000000000, 'it''s', g(f(a),X)], T).

body(0, D, Vs, G) :-
    !,
    leaf(D, Vs, G).
body(K, D, Vs, G) :-
    K1 is K-1,
    below(14, N),
    (   N < 5 -> G = (A,B), body(K1, D, Vs, A), body(K1, D, Vs, B)
    ;   N =:= 5 -> G = (A;B), body(K1, D, Vs, A), body(K1, D, Vs, B)
    ;   N =:= 6 -> G = (A->B;C), body(K1, D, Vs, A), body(K1, D, Vs, B), body(K1, D, Vs, C)
    ;   N =:= 7 -> G = (\+A), body(K1, D, Vs, A)
    ;   N =:= 8 -> G = findall(X, A, Y), nth0(0, Vs, X), nth0(1, Vs, Y), body(K1, D, Vs, A)
    ;   N =:= 9 -> G = forall(A, B), body(K1, D, Vs, A), body(K1, D, Vs, B)
    ;   N =:= 10 -> G = catch(A, _, B), body(K1, D, Vs, A), body(K1, D, Vs, B)
    ;   N =:= 11 -> G = (A*->B;C), body(K1, D, Vs, A), body(K1, D, Vs, B), body(K1, D, Vs, C)
    ;   leaf(D, Vs, G)
    ).

leaf(D, Vs, G) :-
    below(3, I), nth0(I, Vs, X),
    below(3, J), nth0(J, Vs, Y),
    below(16, N),
    (   N < 4, D < 5
    ->  Left is 5-D,
        below(Left, L),
        Next is D+1+L,
        atom_concat(q, Next, Name),
        ( member(Name/2, [q2/2, q4/2]) -> G =.. [Name,X,Y] ; G =.. [Name,X] )
    ;   N < 7 -> G = user:again
    ;   N =:= 7 -> G = member(X, [1,2])
    ;   N =:= 8 -> G = between(1, 2, X)
    ;   N =:= 9 -> data(Vs, T), G = (X = T)
    ;   N =:= 10 -> data(Vs, T), G = (X == T)
    ;   N =:= 11 -> G = (!)
    ;   N =:= 12 -> G = (Z is 1+2, Z > 1), below(1, _), nth0(2, Vs, Z)
    ;   N =:= 13 -> G = call(member, X, [Y,2])
    ;   N =:= 14 -> G = once(between(1, 3, X))
    ;   G = true
    ).

% Another version: some clauses are new, and others at another place. None is gone, for which a new
% one must not equal an old one: the engine may free a clause too early that a file loses, while its
% predicate runs.

changed([], []).
changed([Item|Items], Changed) :-
    below(12, N),
    (   Item = (:- _)
    ->  Changed = [Item|More]
    ;   N < 3
    ->  head_of(Item, Name, Arity),
        clause_for(Name, Arity, New0),
        unique(New0, New),
        Changed = [New,Item|More]
    ;   N =:= 3
    ->  Changed = [(:- true),Item|More]
    ;   Changed = [Item|More]
    ),
    changed(Items, More).

unique((Head :- Body), (Head :- user:new(N), Body)) :-
    !,
    flag(new, N, N+1).
unique(Head, (Head :- user:new(N))) :-
    flag(new, N, N+1).

new(_).

head_of(line(Item), Name, Arity) :- !, head_of(Item, Name, Arity).
head_of((H :- _), Name, Arity) :- !, functor(H, Name, Arity).
head_of((H => _), Name, Arity) :- !, functor(H, Name, Arity).
head_of(H, Name, Arity) :- functor(H, Name, Arity).

below(Limit, N) :-
    nb_getval(state, S0),
    S is (S0*6364136223846793005 + 1442695040888963407) mod 18446744073709551616,
    nb_setval(state, S),
    N0 is (S >> 33) mod Limit,
    N = N0.
