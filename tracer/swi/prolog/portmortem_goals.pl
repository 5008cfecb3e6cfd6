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
:- use_module(portmortem_walk).
:- use_module(portmortem_meta, [runs_arguments/3]).
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
    instrument_clauses(Refs, Clauses, 1, copy(M, CopyName, Id), Entries, Callee).

instrument_clauses([], [], _, _, _, _).
instrument_clauses([Ref|Refs], [Clause0|Clauses], N, Copy, Entries, Callee) :-
    Copy = copy(M, CopyName, Id),
    with_body(Clause0, Head, Body0, Clause, Body),
    sites(M:Head, Body0, Ref, N, Id, Sites),
    instrumented(Body0, last, light, in(M, Callee, Sites), Body1),
    (   Entries == true,
        entry_port(M:Head, Ref, N, Id, Port)
    ->  with_entry_port(Body1, Port, Body)
    ;   Body = Body1
    ),
    store_clause(Ref, Clause, M, CopyName),
    N1 is N+1,
    instrument_clauses(Refs, Clauses, N1, Copy, Entries, Callee).

%   sites(:Head, +Body, +Ref, +N, +Id, -Sites) is det
%
%   Sites is sites(Id, N, File, Lines, Count): where the goals of the N-th clause of predicate Id
%   are. Count is the number of goals so far.

sites(P, Body, Ref, N, Id, sites(Id, N, File, Lines, 0)) :-
    (   goal_lines(Ref, Body, File0, LineList)
    ->  own_file(P, File0, File)
    ;   LineList = [],
        File = ''
    ),
    name_arguments(Lines, lines, LineList).

%   An empty name stands for the file where the predicate is.

own_file(M:Head, File0, File) :-
    name_arity(Head, Name, Arity),
    name_arity(General, Name, Arity),
    (   '$get_predicate_attribute'(M:General, file, File0)
    ->  File = ''
    ;   File = File0
    ).

%   The port that says that the N-th clause is entered.

entry_port(P, Ref, N, Id, '$pm_clause'(Clause)) :-
    (   clause_property(Ref, line_count(Line))
    ->  true
    ;   Line = 0
    ),
    (   clause_property(Ref, file(File0))
    ->  own_file(P, File0, File)
    ;   File = ''
    ),
    portmortem:'$clause'(Id, N, File, Line, Clause).

with_entry_port(Body0, Port, Body) :-
    first_goals(is_unification, Body0, _, _, First, Rest),
    '$append'(First, [Port,Rest], Goals),
    conjunction(Goals, Body).

is_unification(_=_, State, State).

with_body((Head :- Body0), Head, Body0, (Head :- Body), Body).
with_body((Head => Body0), Head, Body0, (Head => Body), Body).
with_body(?=>(Head, Body0), Head, Body0, ?=>(Head, Body), Body).

%   instrumented(+Body0, +Place, +Weight, +In, -Body) is det.
%
%   Place is `last`, `inner`, or `condition` for goals in the condition of a soft cut. Weight is
%   `heavy` where a cut may come later that removes the goal's choicepoints, or `light`. In is
%   in(Module, Callee, Sites).

instrumented(Body0, Place, Weight, In, Body) :-
    after_body(After),
    cuts(Body0, Cuts),
    map_body(parts_at, instrumented_goal(In), Body0, at(Place, Weight-Cuts, After), Body).

%   parts_at(+Control, +At, -Ats) is det.
%
%   Where the parts of a control structure are: at(Place, Weight-Cuts, After). Cuts is the number of
%   cuts in the part itself; After is what comes after it (portmortem_drivers.pl). An if-then with an
%   else branch is at if(AfterCondition, At).

parts_at((A,B), at(Place, Cut, After), [at(Inner, CutA, AfterA), at(Place, CutB, After)]) :-
    divide(A, Cut, CutA0, CutB),
    before(CutA0, CutB, CutA),
    after_first(B, After, AfterA),
    inner(Place, Inner).
parts_at((A;B), at(Place, Cut, After), [AtA, at(Place, CutB, After)]) :-
    divide(A, Cut, CutA, CutB),
    (   is_condition(A)
    ->  after_condition(B, After, AfterC),
        AtA = if(AfterC, at(Place, CutA, After))
    ;   after_branch(B, After, AfterA),
        inner(Place, Inner),
        AtA = branch(at(Inner, CutA, AfterA))
    ).
parts_at((C->_), At0, [at(Inner, Heavy, AfterC), at(Place, CutT, After)]) :-
    if_at(At0, AfterC, at(Place, Cut, After)),
    divide(C, Cut, CutC, CutT),
    heavy(CutC, Heavy),
    inner(Place, Inner).
parts_at((C*->_), At0, [at(condition, CutC, AfterC), at(Place, CutT, After)]) :-
    if_at(At0, AfterC, at(Place, Cut, After)),
    divide(C, Cut, CutC0, CutT),
    before(CutC0, CutT, CutC).
parts_at(\+_, at(Place, Cut, After0), [at(Inner, Heavy, After)]) :-
    after_negated(After0, After),
    heavy(Cut, Heavy),
    inner(Place, Inner).

if_at(if(AfterC, At), AfterC, At).
if_at(at(Place, Cut, After), AfterC, at(Place, Cut, After)) :-
    after_condition(After, AfterC).

%   The place of a goal that another one of the same place follows.

inner(last, inner).
inner(inner, inner).
inner(condition, condition).

%   divide(+First, +Cut0, -CutFirst, -CutRest) is det
%
%   First is the first part of a goal. Cuts are counted once, in the part that is first, so that the
%   work grows with the clause and not with its square.

divide(_, Weight-0, Weight-0, Weight-0) :-
    !.
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

cuts(Body, Cuts) :-
    control(Body),
    !,
    body_goals(own, Body, Goals),
    cuts(Goals, 0, Cuts).
cuts(Goal, Cuts) :-
    (   Goal == !
    ->  Cuts = 1
    ;   Cuts = 0
    ).

cuts([], Cuts, Cuts).
cuts([Goal|Goals], Cuts0, Cuts) :-
    (   Goal == !
    ->  Cuts1 is Cuts0+1
    ;   Cuts1 = Cuts0
    ),
    cuts(Goals, Cuts1, Cuts).

%   instrumented_goal(+In, +Goal0, +At, -Goal) is det.

instrumented_goal(In, Goal0, At, Goal) :-
    count_goals(1, In, N),
    instrumented_arguments(Goal0, In, Goal1),
    (   callee(Goal0, In, Id, How)
    ->  At = at(_, _, After),
        site(In, N, After, Id, Site),
        with_ports(How, Goal1, At, In, call(Id, Site), Goal)
    ;   Goal = Goal1
    ).

%   Goals that a goal gets as arguments become predicates of their own. They are not called through
%   wrappers, so their choicepoints must have guards where the goal cuts them: findall/3 asks for all
%   solutions, and cuts none. And they are no last calls of the clause. After them, what runs them
%   takes the solution, or asks for the next one.

instrumented_arguments(Goal0, In, Goal) :-
    runs_arguments(Goal0, Specs, ports),
    !,
    (   callee(Goal0, In, _, itself)    % the box that theirs are in
    ->  (   name_arity(Goal0, findall, _)
        ->  Weight = light
        ;   Weight = heavy
        ),
        map_arguments(Specs, instrumented_argument(Weight, In), Goal0, Goal)
    ;   map_arguments(Specs, counted_argument(In), Goal0, Goal)
    ).
instrumented_arguments(Goal, _, Goal).

counted_argument(In, Goal, Goal) :-
    body_goals(ports, Goal, Goals),
    length(Goals, Count),
    count_goals(Count, In, _).

instrumented_argument(_, In, Goal, Goal) :-
    holds_unknown_goal(Goal),           % which may be a cut, or a condition, when it is called
    !,
    counted_argument(In, Goal, Goal).
instrumented_argument(Weight, In, Goal0, Goal) :-
    instrumented(Goal0, inner, Weight, In, Body),
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

%   count_goals(+Count, +In, -N) is det
%
%   Goals are numbered whether or not they are instrumented. N is the number of the last one of so
%   many more.

count_goals(Count, in(_, _, Sites), N) :-
    arg(5, Sites, N0),
    N is N0+Count,
    nb_setarg(5, Sites, N).

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

%   with_ports(+How, +Goal0, +At, +In, +Call, -Goal) is det
%
%   Call is call(Id, Site).

with_ports(_, Goal, at(condition, _, _), _, _, Goal) :-
    \+ is_separable(Goal),             % see boxed/6: without ports, its wrapper records it
    !.
with_ports(wrapper, Goal, at(Place, _, _), _, Call, (Mark, Goal)) :-
    (   Place == last
    ->  port(mark_last, Call, Mark)
    ;   port(mark, Call, Mark)          % the last goal of an argument is no last call either
    ).
with_ports(copy(Home, CopyName), Goal0, At, In, Call, Goal) :-
    In = in(M, _, _),
    plain(Goal0, M, Plain, _),
    name_arguments(Plain, _, Arguments),
    name_arguments(Copy0, CopyName, Arguments),
    (   Home == M
    ->  Copy = Copy0
    ;   Copy = Home:Copy0
    ),
    boxed(At, Copy, ports(call, last), In, Call, Goal).
with_ports(inside, Goal0, At, In, Call, Goal) :-
    boxed(At, Goal0, ports(call_wrapper, last_wrapper), In, Call, Goal).
with_ports(itself, Goal0, at(Place0, Cut, After), In, Call, Goal) :-
    In = in(M, _, _),
    plain(Goal0, M, Plain, _),
    name_arity(Plain, Name, _),
    (   Name == call                    % which is never a real last call
    ->  inner(Place0, Place)
    ;   Place = Place0
    ),
    boxed(at(Place, Cut, After), Goal0, ports(call, last), In, Call, Goal).

%   In the condition of a soft cut the goal becomes a predicate of its own. A soft cut around it
%   would crash the engine (9.0.4) when the condition is entered again, and a local cut goes back to
%   the choicepoint that the outer soft cut has taken away.

boxed(at(Place, Weight-_, _), Goal0, ports(CallPort, LastPort), In, Call, Goal) :-
    port(CallPort, Call, Port),
    exits(Weight, Exit),
    Ported = ( Port, ( Goal0, Exit ; '$pm_fail' ) ),
    Boxed = ( Ported *-> true ),
    (   Place == condition
    ->  separate('$pm_goal_', Goal0, Ported, In, Goal)
    ;   Place == last
    ->  port(LastPort, Call, Last),
        Goal = ( Last -> Goal0 ; Boxed )
    ;   Goal = Boxed
    ).

exits(heavy, ( '$pm_exit', ! ; '$pm_exit_nondet' )).
exits(light, ( '$pm_exit_light', ! ; true ; '$pm_redo' )).

port(Kind, call(Id, Site), Port) :-
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
