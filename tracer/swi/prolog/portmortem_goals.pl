:- module(portmortem_goals,
          [ instrument/7,               % +Module, +CopyName, +Id, +Refs, +Clauses, +Entries, :Callee
            original_place/4,           % +CopyRef, +PC, +Ref, -OriginalPC
            retire_copy/4               % +Module, :Head, +CopyName, +Id
          ]).

/** <module> Ports at the goals of clauses

A copied clause calls other copies directly. The ports are goals of the clause
itself, so that a call of a recorded predicate has no frame of a wrapper: see
`goals.rs`. An inner goal `q(X)` becomes

```
( ( '$pm_call_7', ( q_copy(X), Exit ; '$pm_fail' ) ) *-> true )
```

where Exit is `( '$pm_exit', ! ; '$pm_exit_nondet' )` if a cut may come later that
removes the choicepoints of q_copy/1, and `( '$pm_exit_light', ! ; true ; '$pm_redo' )`
if none can. A soft cut without an else branch costs nothing, and a cut in its
condition is local to it. The last goal of a clause becomes

```
( '$pm_last_8' -> q_copy(X) ; as above )
```

If entered clauses are recorded, the body begins with `'$pm_clause'(N)`, after the unifications that
it begins with: the
compiler may have moved them into the head, where they are part of the index.

A predicate without a copy is called through its wrapper. The port at the goal opens the box all the
same, and tells the wrapper so
(`inside`). Where the wrapper must record the call itself (`wrapper`), a port before the call says
where it is.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_engine).
:- use_module(portmortem_copies).
:- use_module(portmortem_lines).
:- use_module(portmortem_drivers).

                 /*******************************
                 *            CLAUSES           *
                 *******************************/

:- meta_predicate instrument(+, +, +, +, +, +, 5).

%!  instrument(+Module, +CopyName, +Id, +Refs, +Clauses, +Entries, :Callee) is det.
%
%   Make a copy under this name, with ports at its goals. Clauses are terms that the clauses Refs of
%   predicate Id may have been compiled from.
%   Entries is `true` if they are to say which of them is entered.
%   call(Callee, M, Name, Arity, Id, How) is true if the predicate that M:Name/Arity is has the id
%   Id in the trace and is called as
%   How says: copy(Home, CopyName); wrapper, which records the call; inside, through a wrapper that
%   is told of the box; or `itself` for
%   one that has no wrapper. It fails if calls of it are not recorded.

instrument(M, CopyName, Id, Refs, Clauses, Entries, Callee) :-
    instrument_clauses(Refs, Clauses, 1, M, CopyName, Id, Entries, Callee).

instrument_clauses([], [], _, _, _, _, _, _).
instrument_clauses([Ref|Refs], [Clause0|Clauses], N, M, CopyName, Id, Entries, Callee) :-
    with_body(Clause0, Head, Body0, Clause, Body),
    instrument_clause(Head, Body0, Ref, N, M, Id, Callee, Body1),
    (   Entries == true,
        entry_port(M:Head, Ref, N, Id, Port)
    ->  with_entry_port(Body1, Port, Body)
    ;   Body = Body1
    ),
    store_clause(Ref, Clause, M, CopyName),
    N1 is N+1,
    instrument_clauses(Refs, Clauses, N1, M, CopyName, Id, Entries, Callee).

instrument_clause(Head, Body0, Ref, N, M, Id, Callee, Body) :-
    (   goal_lines(Ref, Body0, File0, LineList)
    ->  true
    ;   LineList = []
    ),
    name_arguments(Lines, lines, LineList),
    (   var(File0)
    ->  File = ''
    ;   name_arity(Head, Name, Arity),
        name_arity(General, Name, Arity),
        '$get_predicate_attribute'(M:General, file, File0)      % where the predicate is
    ->  File = ''
    ;   File = File0
    ),
    Sites = sites(Id, N, File, Lines, 0),
    instrument_body(Body0, in(M, Callee, Sites), Body).

%   The port that says that the N-th clause is entered.

entry_port(M:Head, Ref, N, Id, '$pm_clause'(Clause)) :-
    (   clause_property(Ref, line_count(Line))
    ->  true
    ;   Line = 0
    ),
    name_arity(Head, Name, Arity),
    name_arity(General, Name, Arity),
    (   clause_property(Ref, file(File)),
        \+ '$get_predicate_attribute'(M:General, file, File)
    ->  true
    ;   File = ''
    ),
    portmortem:'$clause'(Id, N, File, Line, Clause).

with_entry_port(Body, Port, (Port,Body)) :-
    var(Body),
    !.
with_entry_port(true, Port, Port) :-
    !.
with_entry_port((A=B,Body0), Port, (A=B,Body)) :-
    !,
    with_entry_port(Body0, Port, Body).
with_entry_port(A=B, Port, (A=B,Port)) :-
    !.
with_entry_port(Body, Port, (Port,Body)).

with_body((Head :- Body0), Head, Body0, (Head :- Body), Body).
with_body((Head => Body0), Head, Body0, (Head => Body), Body).
with_body(?=>(Head, Body0), Head, Body0, ?=>(Head, Body), Body).

instrument_body(Body0, In, Body) :-
    after_body(After),
    cuts(Body0, Cuts),
    instrumented(Body0, last, light-Cuts, After, In, Body).

%   instrumented(+Goal0, +Place, +Cut, +After, +In, -Goal) is det.
%
%   Place is `last`, `inner`, or `condition` for goals in the condition of a soft cut; Cut is
%   Weight-Cuts: Weight is `heavy` where a cut may come later that removes
%   the goal's choicepoints, or `light`; Cuts is the number of cuts in the goal itself. After is
%   what comes after the goal (portmortem_drivers.pl). In is in(Module, Callee, Sites); the last
%   argument of Sites is the number of goals so far.

instrumented(Goal0, _, _, _, In, Goal) :-
    var(Goal0),
    !,
    count_goal(In, _),
    Goal = Goal0.
instrumented((A0,B0), Place, Cut, After, In, (A,B)) :-
    !,
    divide(A0, Cut, CutA0, CutB),
    before(CutA0, CutB, CutA),
    after_first(B0, After, AfterA),
    inner(Place, Inner),
    instrumented(A0, Inner, CutA, AfterA, In, A),
    instrumented(B0, Place, CutB, After, In, B).
instrumented((C0->T0;E0), Place, Cut, After, In, (C->T;E)) :-
    !,
    after_condition(E0, After, AfterC),
    inner(Place, Inner),
    divide(C0, Cut, CutC, Cut1),
    divide(T0, Cut1, CutT, CutE),
    heavy(CutC, Heavy),
    instrumented(C0, Inner, Heavy, AfterC, In, C),
    instrumented(T0, Place, CutT, After, In, T),
    instrumented(E0, Place, CutE, After, In, E).
instrumented((C0*->T0;E0), Place, Cut, After, In, (C*->T;E)) :-
    !,
    after_condition(E0, After, AfterC),
    divide(C0, Cut, CutC0, Cut1),
    divide(T0, Cut1, CutT, CutE),
    before(CutC0, CutT, CutC),
    instrumented(C0, condition, CutC, AfterC, In, C),
    instrumented(T0, Place, CutT, After, In, T),
    instrumented(E0, Place, CutE, After, In, E).
instrumented((A0;B0), Place, Cut, After, In, (A;B)) :-
    !,
    after_branch(B0, After, AfterA),
    inner(Place, Inner),
    divide(A0, Cut, CutA, CutB),
    instrumented(A0, Inner, CutA, AfterA, In, A1),
    (   A1 = (_*->_)                    % which would be a condition here
    ->  A = (A1,true)
    ;   A = A1
    ),
    instrumented(B0, Place, CutB, After, In, B).
instrumented((C0->T0), Place, Cut, After, In, (C->T)) :-
    !,
    after_condition(After, AfterC),
    inner(Place, Inner),
    divide(C0, Cut, CutC, CutT),
    heavy(CutC, Heavy),
    instrumented(C0, Inner, Heavy, AfterC, In, C),
    instrumented(T0, Place, CutT, After, In, T).
instrumented((C0*->T0), Place, Cut, After, In, (C*->T)) :-
    !,
    after_condition(After, AfterC),
    divide(C0, Cut, CutC0, CutT),
    before(CutC0, CutT, CutC),
    instrumented(C0, condition, CutC, AfterC, In, C),
    instrumented(T0, Place, CutT, After, In, T).
instrumented(\+Goal0, Place, Cut, After0, In, \+Goal) :-
    !,
    after_negated(After0, After),
    inner(Place, Inner),
    heavy(Cut, Heavy),
    instrumented(Goal0, Inner, Heavy, After, In, Goal).
instrumented(Goal0, Place, Cut, After, In, Goal) :-
    count_goal(In, N),
    instrumented_arguments(Goal0, In, Goal1),
    (   callee(Goal0, In, Id, How)
    ->  site(In, N, After, Id, Site),
        Cut = Weight-_,
        with_ports(How, Goal1, Place, Weight, In, Id, Site, Goal)
    ;   Goal = Goal1
    ).

%   The place of a goal that another one of the same place follows.

inner(last, inner).
inner(inner, inner).
inner(condition, condition).

%   divide(+First, +Cut0, -CutFirst, -CutRest) is det
%
%   First is the first part of a goal. Cuts are counted once, in the part that is first, so that the
%   work grows with the clause and not with
%   its square.

divide(First, Weight-Cuts, Weight-CutsFirst, Weight-CutsRest) :-
    cuts(First, CutsFirst),
    CutsRest is Cuts-CutsFirst.

%   before(+Cut0, +CutNext, -Cut) is det
%
%   If there is a cut in what comes next, it removes choicepoints.

before(_-Cuts, _-CutsNext, heavy-Cuts) :-
    CutsNext > 0,
    !.
before(Cut, _, Cut).

heavy(_-Cuts, heavy-Cuts).

cuts(Goal, Cuts) :-
    cuts(Goal, 0, Cuts).

cuts(Goal, Cuts, Cuts) :-
    var(Goal),
    !.
cuts(!, Cuts0, Cuts) :-
    !,
    Cuts is Cuts0+1.
cuts(\+Goal, Cuts0, Cuts) :-
    !,
    cuts(Goal, Cuts0, Cuts).
cuts(Goal, Cuts0, Cuts) :-
    control(Goal),
    !,
    arg(1, Goal, First),
    arg(2, Goal, Second),
    cuts(First, Cuts0, Cuts1),
    cuts(Second, Cuts1, Cuts).
cuts(_, Cuts, Cuts).

%   Goals that a goal gets as arguments become predicates of their own. They are not called through
%   wrappers, so their choicepoints must
%   have guards where the goal cuts them: findall/3 asks for all solutions, and cuts none. And they
%   are no last calls of the clause.

instrumented_arguments(Goal0, In, Goal) :-
    runs_arguments(Goal0, Places),
    callee(Goal0, In, _, itself),       % the box that theirs are in
    !,
    name_arguments(Goal0, Name, Arguments0),
    (   Name == findall
    ->  Cut = light
    ;   Cut = heavy
    ),
    instrumented_places(Arguments0, 1, Places, Cut, In, Arguments),
    name_arguments(Goal, Name, Arguments).
instrumented_arguments(Goal, In, Goal) :-
    count_arguments(Goal, In).

instrumented_places([], _, _, _, _, []).
instrumented_places([Argument0|Arguments0], I, Places, Cut, In, [Argument|Arguments]) :-
    (   '$member'(I, Places)
    ->  instrumented_argument(Argument0, Cut, In, Argument)
    ;   Argument = Argument0
    ),
    !,
    I1 is I+1,
    instrumented_places(Arguments0, I1, Places, Cut, In, Arguments).

instrumented_argument(Goal, _, In, Goal) :-
    holds_unknown_goal(Goal),           % which may be a cut, or a condition, when the argument is called
    !,
    count_goals(Goal, In).
instrumented_argument(Goal0, Cut, In, Goal) :-
    after_body(After),                  % then what runs it takes its solution, or asks for the next one
    cuts(Goal0, Cuts),
    instrumented(Goal0, inner, Cut-Cuts, After, In, Body),
    (   Body \== Goal0,
        is_separable(Goal0)
    ->  separate('$pm_argument_', Goal0, Body, In, Goal)
    ;   Goal = Goal0
    ).

%   separate(+Prefix, +Goal0, +Body, +In, -Goal) is det
%
%   Goal calls Body, which is Goal0 with ports, as a predicate of its own.

separate(Prefix, Goal0, Body, in(M, _, _), Goal) :-
    flag('$portmortem_separate', N, N+1),
    atom_concat(Prefix, N, Name),
    term_variables(Goal0, Variables),
    name_arguments(Goal, Name, Variables),
    '$record_clause'(M:(Goal :- Body), '$portmortem', '$portmortem':1, _).

%   A predicate can have an argument for each variable of the goal.

is_separable(Goal) :-
    current_prolog_flag(max_procedure_arity, Most),
    term_variables(Goal, Variables),
    length(Variables, Length),
    Length =< Most.

%   Goals are numbered whether or not they are instrumented.

count_goal(in(_, _, Sites), N) :-
    arg(5, Sites, N0),
    N is N0+1,
    nb_setarg(5, Sites, N).

count_goals(Goal, In) :-
    nonvar(Goal),
    control(Goal),
    !,
    forall(arg(_, Goal, Part), count_goals(Part, In)).
count_goals(Goal, In) :-
    count_goal(In, _),
    count_arguments(Goal, In).

count_arguments(Goal, In) :-
    (   runs_arguments(Goal, Places)
    ->  forall(( '$member'(Place, Places), arg(Place, Goal, Argument) ),
               count_goals(Argument, In))
    ;   true
    ).

callee(Goal0, in(M0, Callee, _), Id, How) :-
    plain(Goal0, M0, Goal, M),
    name_arity(Goal, Name, Arity),
    call(Callee, M, Name, Arity, Id, How).

plain(Goal, M, Goal, M) :-
    callable(Goal),
    Goal \= _:_,
    !.
plain(M:Goal0, _, Goal, M1) :-
    atom(M),
    nonvar(Goal0),
    plain(Goal0, M, Goal, M1).

has_site(In, Goal) :-
    callee(Goal, In, _, _).

%   The id of the N-th goal of the clause.

site(In, N, After, Callee, Site) :-
    In = in(M, _, sites(Caller, Clause, File, Lines, _)),
    (   arg(N, Lines, Line)
    ->  true
    ;   Line = 0
    ),
    (   then_fails(After, M, has_site(In))
    ->  ThenFails = 1
    ;   ThenFails = 0
    ),
    portmortem:'$site'(Callee, Caller, Clause, N, File, Line, ThenFails, Site).

with_ports(_, Goal, condition, _, _, _, _, Goal) :-
    \+ is_separable(Goal),             % see boxed/7: without ports, its wrapper records it
    !.
with_ports(wrapper, Goal, Place, _, _, Id, Site, (Mark, Goal)) :-
    (   Place == last
    ->  port(mark_last, Id, Site, Mark)
    ;   port(mark, Id, Site, Mark)      % the last goal of an argument is no last call either
    ).
with_ports(copy(Home, CopyName), Goal0, Place, Cut, In, Id, Site, Goal) :-
    In = in(M, _, _),
    plain(Goal0, M, Plain, _),
    name_arguments(Plain, _, Arguments),
    name_arguments(Copy0, CopyName, Arguments),
    (   Home == M
    ->  Copy = Copy0
    ;   Copy = Home:Copy0
    ),
    boxed(Place, Cut, Copy, ports(call, last), In, Id, Site, Goal).
with_ports(inside, Goal0, Place, Cut, In, Id, Site, Goal) :-
    boxed(Place, Cut, Goal0, ports(call_wrapper, last_wrapper), In, Id, Site, Goal).
with_ports(itself, Goal0, Place0, Cut, In, Id, Site, Goal) :-
    In = in(M, _, _),
    plain(Goal0, M, Plain, _),
    name_arity(Plain, Name, _),
    (   Name == call                    % which is never a real last call
    ->  inner(Place0, Place)
    ;   Place = Place0
    ),
    boxed(Place, Cut, Goal0, ports(call, last), In, Id, Site, Goal).

%   In the condition of a soft cut the goal becomes a predicate of its own. A soft cut around it
%   would crash the engine (9.0.4) when the condition
%   is entered again, and a local cut goes back to the choicepoint that the outer soft cut has taken
%   away.

boxed(condition, Cut, Goal0, ports(CallPort, _), In, Id, Site, Goal) :-
    !,
    port(CallPort, Id, Site, Call),
    exits(Cut, Exit),
    separate('$pm_goal_', Goal0, ( Call, ( Goal0, Exit ; '$pm_fail' ) ), In, Goal).
boxed(Place, Cut, Goal0, ports(CallPort, LastPort), _, Id, Site, Goal) :-
    port(CallPort, Id, Site, Call),
    exits(Cut, Exit),
    Boxed = ( ( Call, ( Goal0, Exit ; '$pm_fail' ) ) *-> true ),
    (   Place == last
    ->  port(LastPort, Id, Site, Last),
        Goal = ( Last -> Goal0 ; Boxed )
    ;   Goal = Boxed
    ).

exits(heavy, ( '$pm_exit', ! ; '$pm_exit_nondet' )).
exits(light, ( '$pm_exit_light', ! ; true ; '$pm_redo' )).

port(Kind, Id, Site, Port) :-
    portmortem:'$goal_port'(Kind, Id, Site, Port).

                 /*******************************
                 *            PLACES            *
                 *******************************/

%!  original_place(+CopyRef, +PC, +Ref, -OriginalPC) is semidet.
%
%   A call in the clause CopyRef, whose original is Ref, returns to PC. The same call in the
%   original returns to OriginalPC.
%   Calls are in the same order in both, but for those of the ports, and for a last goal, which the
%   copy has twice.

original_place(CopyRef, PC, Ref, OriginalPC) :-
    calls(CopyRef, Copied),
    goal_calls(Copied, 1, Places),
    '$member'(PC-N, Places),
    !,
    calls(Ref, Calls),
    goal_calls(Calls, 1, Originals),
    '$member'(OriginalPC-N, Originals),
    !.

%   The calls of a clause: where each returns to, and the name of what is called, if it is a port.

calls(Ref, Calls) :-
    calls(Ref, 0, Calls).

calls(Ref, PC, Calls) :-
    '$fetch_vm'(Ref, PC, Next, Instruction),
    !,
    (   called(Instruction, Called)
    ->  Calls = [Next-Called|Calls1]
    ;   Calls = Calls1
    ),
    calls(Ref, Next, Calls1).
calls(_, _, []).

called(Instruction, Called) :-
    name_arity(Instruction, Name, Arity),
    '$member'(Prefix, [i_call, i_depart, i_usercall]),
    sub_atom(Name, 0, _, _, Prefix),
    !,
    (   Arity > 0,
        arg(Arity, Instruction, PI),
        nonvar(PI),
        ( PI = _:Predicate/_ ; PI = Predicate/_ ),
        atom(Predicate),
        port_kind(Kind, Called0),
        sub_atom(Predicate, 0, _, _, Kind)
    ->  Called = Called0
    ;   Called = goal
    ).

%   Prefixes of names that the program does not have, and what is called so.

port_kind('$pm_call_', '$pm_call_').
port_kind('$pm_last_', '$pm_last_').
port_kind('$pm_goal_', goal).
port_kind('$pm_', '$pm_').

goal_calls([], _, []).
goal_calls([_-'$pm_last_', PC1-goal, _-'$pm_call_', PC2-goal|Calls], N, [PC1-N, PC2-N|Places]) :-
    !,
    N1 is N+1,
    goal_calls(Calls, N1, Places).
goal_calls([PC-goal|Calls], N, [PC-N|Places]) :-
    !,
    N1 is N+1,
    goal_calls(Calls, N1, Places).
goal_calls([_|Calls], N, Places) :-
    goal_calls(Calls, N, Places).

                 /*******************************
                 *          OLD COPIES          *
                 *******************************/

%!  retire_copy(+Module, :Head, +CopyName, +Id) is det.
%
%   A copy that is no longer the predicate may still be called: by clauses that run, and by clauses
%   of predicates that were
%   copied before. From now on it calls the predicate.

retire_copy(M, Head, CopyName, Id) :-
    name_arguments(Head, _, Arguments),
    name_arguments(Copy, CopyName, Arguments),
    (   portmortem:'$goal_port'(forward, Id, Id, Forward)
    ->  Body = (Forward, Head)
    ;   Body = Head
    ),
    wrap_in_place(M:Copy, portmortem, _, Body),
    opaque_wrapper(M:Copy).
