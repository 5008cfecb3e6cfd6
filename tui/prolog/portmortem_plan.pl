/*  Where the text of a program is changed to make a mechanical change.

    The program is read and not run. For each change, lines go to standard
    output: CHANGE CLAUSE FROM UNTIL KIND TEXT, with tabs in between. CLAUSE,
    FROM and UNTIL are numbers of characters. What is from FROM to UNTIL is
    replaced by a text (KIND t), a line of its own (l), or by other text of the
    file (r), whose TEXT is two numbers.

    A goal comes earlier in its clause only if all variables that it shares with
    what is before it were bound there, each time that a run came there. Before
    that run, the term probing is among the requests: then a line for each such
    place has a goal as its text, which notes in that run whether they are.
*/

:- module(portmortem_plan, []).
:- use_module(library(aggregate)).
:- use_module(library(apply)).
:- use_module(library(lists)).
:- use_module(library(prolog_source)).
:- use_module(library(readutil)).

:- dynamic
    tabled/1,
    probing/0,
    seen/4.                     % File, Place, Goal, bound or unbound: from a run

%!  plan(+Requests) is det.
%
%   Requests is a file of terms change(Id, File, What), seen/4 and probing.

:- public plan/1.

plan(Requests) :-
    read_file_to_terms(Requests, Changes, [encoding(utf8)]),
    set_stream(user_output, encoding(utf8)),
    forall(( member(Fact, Changes), \+ Fact = change(_, _, _) ), assertz(Fact)),
    setof(File, Id^What^member(change(Id, File, What), Changes), Files),
    forall(member(File, Files), catch(in_file(File, Changes), _, true)).

in_file(File, All) :-
    findall(change(Id, File, What), member(change(Id, File, What), All), Changes),
    setup_call_cleanup(
        prolog_open_source(File, In),
        findall(clause_at(Lines, Names, Clause), clause_of(In, Lines, Names, Clause), Clauses),
        prolog_close_source(In)),
    forall(( member(change(Id, _, What), Changes),
             prepared(What, Clauses, Prepared),
             member(clause_at(Lines, Names, Clause), Clauses),
             (   edit(Prepared, Lines, Clause, Edit)
             ;   move(Prepared, Lines, Clause, in(File, Names), Edit)
             )
           ),
           tell(Id, Clause, Edit)).

clause_of(In, First-Last, Names, Clause) :-
    repeat,
    catch(prolog_read_source_term(In, Term, _,
                                  [ subterm_positions(Pos),
                                    term_position(At),
                                    variable_names(Names)
                                  ]),
          _, Term = (:- unreadable)),
    (   Term == end_of_file
    ->  !,
        fail
    ;   Term \= (?- _),
        stream_position_data(line_count, At, First),
        line_count(In, Last),
        parts(Term, Pos, Clause)
    ).

%   What a change is, once all clauses are known.

prepared(first(Name, Arity), Clauses, swap(Name, Arity, N)) :-
    !,
    findall(Head,
            ( member(clause_at(_, _, Clause), Clauses),
              is_of(Clause, Name, Arity),
              Clause = clause(Kind, Head, _, _, _, _),
              Kind \== dcg
            ),
            Heads),
    Heads = [_, _|_],
    \+ tells_apart(1, Heads),
    between(2, Arity, N),
    tells_apart(N, Heads),
    !.
prepared(rule_modes(Modes), Clauses, rule_modes(Modes, Start)) :-
    !,
    Directive = clause(directive, (:- D), _, _, _, _),
    findall(D-S, ( member(clause_at(_, _, Directive), Clauses), arg(6, Directive, S) ), Ds),
    (   memberchk(chr_option(debug, _)-_, Ds)
    ->  Start = none
    ;   memberchk(chr_constraint(_)-Start, Ds)
    ).
prepared(What, _, What).

tells_apart(N, Heads) :-
    findall(Key,
            ( member(Head, Heads), arg(N, Head, A), key(A, Key) ),
            Keys),
    length(Heads, Length),
    sort(Keys, Different),
    length(Different, Length).

key(A, _) :- var(A), !, fail.
key(A, Name/Arity) :- compound(A), !, compound_name_arity(A, Name, Arity).
key(A, A).

%   clause(Kind, Head, HeadPos, Body, BodyPos, Start)

parts(Term, parentheses_term_position(_, _, Pos), Clause) :-
    !,
    parts(Term, Pos, Clause).
parts((Head :- Body), term_position(S, _, _, _, [HP, BP]), Clause) :-
    !,
    Clause = clause(rule, Head, HP, Body, BP, S).
parts((Head --> Body), term_position(S, _, _, _, [HP, BP]), Clause) :-
    !,
    Clause = clause(dcg, Head, HP, Body, BP, S).
parts((:- Directive), Pos, clause(directive, (:- Directive), Pos, true, Pos, S)) :-
    !,
    nonvar(Pos),
    arg(1, Pos, S).
parts((_ => _), _, _) :-
    !,
    fail.
parts(Head, Pos, clause(fact, Head, Pos, true, Pos, S)) :-
    arg(1, Pos, S).

is_of(clause(Kind, Head0, _, _, _, _), Name, Arity) :-
    (   Kind == dcg, Head0 = (Head1, _) -> true ; Head1 = Head0 ),
    strip_module(Head1, _, Head),
    callable(Head),
    functor(Head, Name, N),
    (   Kind == dcg -> Arity is N + 2 ; Arity = N ).

tell(Id, clause(_, _, _, _, _, Start), replace(S, E, Kind, Text)) :-
    format('~w\t~w\t~w\t~w\t~w\t~w~n', [Id, Start, S, E, Kind, Text]).

%!  edit(+What, +Lines, +Clause, -Edit) is nondet.

edit(table(Name, Arity), _, Clause, replace(S, S, l, Text)) :-
    is_of(Clause, Name, Arity),
    Clause = clause(_, _, _, _, _, S),
    \+ tabled(Name/Arity),
    assertz(tabled(Name/Arity)),
    format(atom(Text), ':- table ~q.', [Name/Arity]).
edit(commit(Where, Name, Arity), _, Clause, replace(S, S, t, Text)) :-
    is_of(Clause, Name, Arity),
    Clause = clause(Kind, _, HP, Body, BP, _),
    commit(Kind, Where, HP, Body, BP, S, Text).
edit(exists(Line), First-Last, clause(rule, Head, _, Body, BP, _), Edit) :-
    between(First, Last, Line),
    conjunction(Body, BP, Goals),
    append(_, [g(findall(_, Goal, List), P), g(Test, TP)|_], Goals),
    var(List),
    none(Test, List, Negation),
    occurrences(List, (Head :- Body), 2),
    callable(Goal),
    arguments(P, [_, GP, _]),
    arg(1, P, S), arg(1, GP, GS), arg(2, GP, GE), arg(2, TP, E),
    format(atom(Begin), '~w ( ', [Negation]),
    member(Edit, [replace(S, GS, t, Begin), replace(GE, E, t, ' )')]).

edit(first(Line), First-Last, clause(rule, _, _, Body, BP, _), Edit) :-
    between(First, Last, Line),
    once(goal_in(Body, BP, findall/3, P)),
    arguments(P, [TP, GP, LP]),
    arg(1, P, S), arg(2, P, E),
    arg(1, TP, TS), arg(2, TP, TE),
    arg(1, GP, GS), arg(2, GP, GE),
    arg(1, LP, LS), arg(2, LP, LE),
    format(atom(Template), '~w ~w', [TS, TE]),
    member(Edit, [ replace(S, GS, t, '( once('), replace(GE, LS, t, '), '),
                   replace(LE, LE, t, ' = ['), replace(LE, E, r, Template),
                   replace(E, E, t, '] )')
                 ]).

edit(labelled(Line, Option), First-Last, clause(rule, _, _, Body, BP, _), Edit) :-
    between(First, Last, Line),
    once(( goal_in(Body, BP, label/1, P), How = label
         ; goal_in(Body, BP, labeling/2, P), How = options )),
    arguments(P, [AP|_]),
    arg(1, P, S), arg(1, AP, AS), arg(2, AP, AE),
    (   How == label
    ->  format(atom(Text), 'labeling([~w], ', [Option]),
        Edit = replace(S, AS, t, Text)
    ;   functor(AP, list_position, _)
    ->  Inside is AS+1,
        format(atom(Text), '~w, ', [Option]),
        Edit = replace(Inside, Inside, t, Text)
    ;   format(atom(Text), '[~w]', [Option]),
        Edit = replace(AS, AE, t, Text)
    ).
edit(constraints_first(Line, Label, Others), First-Last, clause(rule, _, _, Body, BP, _), Edit) :-
    between(First, Last, Line),
    once(( conjunction(Body, BP, Goals),
           constraints_first(Goals, Label, Others, New) )),
    slot(Goals, New, Edit).
edit(rule_modes(_, Start), _, clause(directive, _, _, _, _, Start),
     replace(Start, Start, l, ':- chr_option(debug, off).')).
edit(rule_modes(Modes, _), _, clause(directive, (:- chr_constraint(Items)), Pos, _, _, _), Edit) :-
    arguments(Pos, [DP]),
    arguments(DP, [IP]),
    flat(Items, IP, All),
    member(g(Item, P), All),
    member(PI-Ms, Modes),
    with_modes(Item, P, PI, Ms, Edit).

edit(once(Line, Goal), First-Last, clause(rule, _, _, Body, BP, _), Edit) :-
    between(First, Last, Line),
    once(goal_in(Body, BP, Goal, P)),
    arg(1, P, S), arg(2, P, E),
    member(Edit, [replace(S, S, t, 'once('), replace(E, E, t, ')')]).
edit(without(Line, Goal), First-Last, clause(rule, _, _, Body, BP, _), replace(S, E, t, true)) :-
    between(First, Last, Line),
    once(goal_in(Body, BP, Goal, P)),
    arg(1, P, S), arg(2, P, E).
edit(swap(Name, Arity, N), _, Clause, Edit) :-
    is_of(Clause, Name, Arity),
    Clause = clause(Kind, Head, HP, _, _, _),
    Kind \== dcg,
    Head \= _:_,
    swapped(HP, N, Edit).
edit(swap(Name, Arity, N), _, clause(rule, _, _, Body, BP, _), Edit) :-
    goal_in(Body, BP, Name/Arity, P),
    swapped(P, N, Edit).

%   The modes of a constraint: name/2, or name(?any, ?any).

with_modes(Name/Arity, P, Name/Arity, Ms, replace(S, E, t, Text)) :-
    !,
    arg(1, P, S), arg(2, P, E),
    Term =.. [Name|Ms],
    format(atom(Text), '~q', [Term]).
with_modes(Item, P, Name/Arity, Ms, replace(S, E, t, +)) :-
    functor(Item, Name, Arity),
    arguments(P, Ps),
    nth1(I, Ms, +),
    nth1(I, Ps, AP),
    arg(I, Item, ?(_)),
    AP = term_position(_, _, S, E, _).

%   Constraints, and other goals, come before the goal that gives their
%   variables values. They may not pass a cut.

constraints_first(Goals, Label, Others, New) :-
    append(Before, [G0|Rest], Goals),
    calls(G0, Label),
    !,
    (   append(Open, [g(Cut, P)|After], Rest),
        Cut == !
    ->  Closed = [g(Cut, P)|After]
    ;   Open = Rest,
        Closed = []
    ),
    partition(is_constraint(Others), Open, Constraints, Plain),
    Constraints = [_|_],
    append([Before, Constraints, [G0], Plain, Closed], New).

is_constraint(_, G) :-
    member(Name, [ '#=', '#\\=', '#<', '#>', '#=<', '#>=', '#<==>', '#==>',
                   '#<==', '#\\/', '#/\\', '#\\'
                 ]),
    member(Arity, [1, 2]),
    calls(G, Name/Arity),
    !.
is_constraint(Others, G) :-
    member(PI, Others),
    calls(G, PI),
    !.

swapped(P, N, replace(S, E, r, Text)) :-
    arguments(P, Ps),
    nth1(1, Ps, P1),
    nth1(N, Ps, P2),
    member(Old-New, [P1-P2, P2-P1]),
    arg(1, Old, S), arg(2, Old, E),
    arg(1, New, NS), arg(2, New, NE),
    format(atom(Text), '~w ~w', [NS, NE]).

%!  goal_in(+Body, +Pos, +PI, -GoalPos) is nondet.
%
%   Calls of a predicate in a body, in arguments of goals, too.

goal_in(T, parentheses_term_position(_, _, P), PI, GP) :-
    !,
    goal_in(T, P, PI, GP).
goal_in(T, P, Name/Arity, P) :-
    callable(T),
    functor(T, Name, Arity).
goal_in(T, term_position(_, _, _, _, Ps), PI, GP) :-
    compound(T),
    compound_name_arguments(T, _, As),
    nth1(I, As, A),
    nth1(I, Ps, P),
    nonvar(A),
    goal_in(A, P, PI, GP).

none(length(L, N), List, \+) :- L == List, N == 0.
none(L == [], List, \+) :- L == List.
none(L = [], List, \+) :- L == List.
none(L \== [], List, '\\+ \\+') :- L == List.
none(L = [A|B], List, '\\+ \\+') :- L == List, var(A), var(B), A \== B.

occurrences(Var, Term, N) :-
    aggregate_all(count, ( sub_var(Term, V), V == Var ), N).

sub_var(T, T) :- var(T), !.
sub_var(T, V) :- compound(T), arg(_, T, A), sub_var(A, V).

commit(fact, _, HP, _, _, E, ' :- !') :-
    !,
    arg(2, HP, E).
commit(Kind, first, _, Body, BP, At, Text) :-
    !,
    flat(Body, BP, Goals),
    (   Kind == rule,
        leading(Goals, none, g(_, P)),
        arg(2, P, At), Text = ', !'
    ;   \+ ( Kind == rule, leading(Goals, none, g(_, _)) ),
        (   is_control(Body), \+ BP = parentheses_term_position(_, _, _)
        ->  (   arg(1, BP, At), Text = '!, ( ' ; arg(2, BP, At), Text = ' )' )
        ;   arg(1, BP, At), Text = '!, '
        )
    ).
commit(_, last, _, Body, BP, At, Text) :-
    (   is_control(Body), \+ BP = parentheses_term_position(_, _, _)
    ->  (   arg(1, BP, At), Text = '( ' ; arg(2, BP, At), Text = ' ), !' )
    ;   arg(2, BP, At), Text = ', !'
    ).

is_control((_ ; _)).
is_control((_ -> _)).
is_control((_ *-> _)).
is_control((_ | _)).

leading([G|Gs], _, Last) :- G = g(T, _), is_test(T), !, leading(Gs, G, Last).
leading(_, Last, Last).

is_test(Goal) :-
    callable(Goal),
    functor(Goal, Name, Arity),
    memberchk(Name/Arity,
              [ (<)/2, (>)/2, (=<)/2, (>=)/2, (=:=)/2, (=\=)/2, (==)/2, (\==)/2,
                (@<)/2, (@>)/2, (@=<)/2, (@>=)/2, var/1, nonvar/1, atom/1,
                number/1, integer/1, float/1, atomic/1, compound/1, callable/1,
                string/1, is_list/1, ground/1
              ]).

%   The conjunctions in a body, in arguments of goals, too.

conjunction(T, parentheses_term_position(_, _, P), Goals) :-
    !,
    conjunction(T, P, Goals).
conjunction(T, P, Goals) :-
    nonvar(T),
    T = (_, _),
    !,
    flat(T, P, All),
    (   Goals = All
    ;   member(g(Goal, GP), All),
        conjunction(Goal, GP, Goals)
    ).
conjunction(T, term_position(_, _, _, _, Ps), Goals) :-
    compound(T),
    T =.. [_|As],
    nth1(I, As, A),
    nth1(I, Ps, P),
    conjunction(A, P, Goals).

arguments(parentheses_term_position(_, _, P), Ps) :- !, arguments(P, Ps).
arguments(term_position(_, _, _, _, Ps), Ps).

flat(T, P, Goals) :-
    nonvar(T),
    T = (A, B),
    P = term_position(_, _, _, _, [PA, PB]),
    !,
    flat(A, PA, As),
    flat(B, PB, Bs),
    append(As, Bs, Goals).
flat(T, P, [g(T, P)]).

%!  move(+What, +Lines, +Clause, +In, -Edit) is nondet.
%
%   Goals that come earlier, and pass no cut. In is the file and the names of the variables of the
%   clause.

move(order(Line, How, Goal, Of), First-Last, Clause, In, Edit) :-
    Clause = clause(rule, _, _, Body, BP, _),
    between(First, Last, Line),
    once(( conjunction(Body, BP, Goals),
           ordered(How, Goal, Of, Goals, Move) )),
    Move = move(G, Place, After, New),
    may_stand(Place, G, After, Clause, In, Answer),
    (   Answer = ask(Edit)
    ;   Answer == yes,
        slot(Goals, New, Edit)
    ).
move(tests(Line), First-Last, Clause, In, Edit) :-
    Clause = clause(rule, _, _, Body, BP, _),
    between(First, Last, Line),
    conjunction(Body, BP, Goals),
    (   probing
    ->  append(Before, [G|After], Goals),
        is_test_goal(G),
        passed(Before, Place),
        may_stand(Place, G, After, Clause, In, ask(Edit))
    ;   early(Goals, Clause, In, [], New),
        slot(Goals, New, Edit)
    ).

is_test_goal(g(Goal, _)) :-
    is_test(Goal).

%   The goals that a test may pass, if its variables are bound before them. It passes another test
%   only if that one goes first.

passed(Before, Place) :-
    append(_, [Place|Rest], Before),
    is_passed(Place),
    \+ ( member(g(Cut, _), Rest), Cut == ! ).

is_passed(g(Goal, _)) :-
    Goal \== !,
    \+ is_test(Goal).

%!  may_stand(+Place, +Goal, +After, +Clause, +In, -Answer) is semidet.
%
%   Whether Goal may stand directly before the goal Place: `yes`, or ask(Edit) if a run has to tell.
%   After are the goals behind Goal. Variables that occur only in these are new in any place.

may_stand(g(_, PP), G, After, Clause, in(File, Names), Answer) :-
    G = g(Goal, GP),
    Clause = clause(_, Head, _, Body, _, _),
    term_variables(Goal, Variables),
    include(occurs_before([G|After], Head-Body), Variables, Shared),
    arg(1, PP, Place),
    arg(1, GP, At),
    (   Shared == []
    ->  Answer = yes
    ;   probing
    ->  findall(Name, ( member(V, Shared), member(Name=N, Names), N == V ), Texts),
        atomic_list_concat(Texts, ', ', Text),
        format(atom(Probe), 'portmortem_bound:bound(~q, ~w, ~w, v(~w)), ',
               [File, Place, At, Text]),
        Answer = ask(replace(Place, Place, t, Probe))
    ;   seen(File, Place, At, bound),
        \+ seen(File, Place, At, unbound),
        Answer = yes
    ).

occurs_before(Behind, Clause, Variable) :-
    occurrences(Variable, Behind, N),
    \+ occurrences(Variable, Clause, N).

%   ordered(+How, +Goal, +Of, +Goals, -Move): the goal, before which it comes, what is behind it
%   now, and all goals in their new order.

ordered(How, Goal, Of, Goals, move(G, Place, After, New)) :-
    append(Before, [G0|Rest], Goals),
    calls(G0, Of),
    append(Between, [G|After], Rest),
    calls(G, Goal),
    \+ ( member(g(Cut, _), [G0|Between]), Cut == ! ),
    !,
    (   How == before
    ->  Place = G0,
        append([Before, [G, G0|Between], After], New)
    ;   Between = [Place|_],
        append([Before, [G0, G|Between], After], New)
    ).

calls(g(Goal0, _), Name/Arity) :-
    nonvar(Goal0),
    strip_module(Goal0, _, Goal),
    callable(Goal),
    functor(Goal, Name, Arity).

%   early(+Goals, +Clause, +In, +Done, -New): Done are goals in reverse.

early([], _, _, Done, New) :-
    reverse(Done, New).
early([G|Gs], Clause, In, Done, New) :-
    (   is_test_goal(G)
    ->  put(Done, G, Gs, Clause, In, Done1)
    ;   Done1 = [G|Done]
    ),
    early(Gs, Clause, In, Done1, New).

put([D|Ds], G, After, Clause, In, [D|Rest]) :-
    is_passed(D),
    may_stand(D, G, After, Clause, In, yes),
    !,
    put(Ds, G, After, Clause, In, Rest).
put(Ds, G, _, _, _, [G|Ds]).

slot(Goals, New, replace(S, E, r, Text)) :-
    nth1(I, Goals, g(Old, P)),
    nth1(I, New, g(Goal, NP)),
    \+ ( Old == Goal, P == NP ),
    arg(1, P, S), arg(2, P, E),
    arg(1, NP, NS), arg(2, NP, NE),
    format(atom(Text), '~w ~w', [NS, NE]).
