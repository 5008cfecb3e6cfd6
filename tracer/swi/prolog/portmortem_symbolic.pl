:- module(portmortem_symbolic,
          [ can_be_counted/1,           % +Clauses
            counted_copy/5,             % +Module, +CopyName, +Id, +Clauses, -Set
            counted_body/6              % +Head, +Id, +Set, +CopyName, +Exits, -Body
          ]).

/** <module> Copies of clauses that count what they do

In a symbolic recording the copy of a predicate has two more arguments, the
newest choicepoint when it was called and a number for the call, and its clauses
tell what they do: which clause was entered, whether others remain, and what its
goals are. What is counted is defined in SYMBOLIC.md.

Nothing here changes what the clauses do. A goal that counts never fails, leaves no choicepoint, and
stands before the goal that it counts, so that last calls stay last calls; only after a built-in
stands
another one.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_engine, [exit/3]).
:- use_module(portmortem_walk).
:- use_module(portmortem_meta, [runs_arguments/3]).
:- use_module(portmortem_selection, [is_recorded/2]).

%!  can_be_counted(+Clauses) is semidet.
%
%   All of them are plain clauses. In rules (`=>`) heads do not unify.

can_be_counted(Clauses) :-
    \+ ( '$member'(Clause, Clauses),
         Clause \= (_ :- _) ).

%!  counted_copy(+Module, +CopyName, +Id, +Clauses, -Set) is det.
%
%   Make a copy of the clauses of predicate Id that counts. Set is the number
%   by which the recorder knows the clauses.

counted_copy(M, CopyName, Id, Clauses, Set) :-
    findall(Head, ( '$member'(Clause, Clauses), compiled(Clause, Head, _, _) ), Heads),
    portmortem:'$set'(Id, Heads, Set),
    (   nth_element(Clauses, 1, N, Clause),
        compiled(Clause, Head, Moved, Body),
        Clause = (SourceHead :- _),
        counted_head(CopyName, SourceHead, Before, Serial, CopyHead),
        (   count_body(Body, clause(M, Set, N, Serial, (Head :- Body)), Counted)
        ->  true
        ;   throw(error(cannot_count(CopyName, N), _))
        ),
        assertz(M:(CopyHead :-
                      Moved,
                      ( Serial == 0
                      -> true
                      ; prolog_current_choice(Now),
                        '$pm_neck'(Serial, N, Before, Now)
                      ),
                      Counted)),
        fail
    ;   true
    ),
    (   Clauses = [(Head :- _)|_]
    ->  name_arity(Head, _, Arity0),
        Arity is Arity0+2,
        compile_predicates([M:CopyName/Arity])
    ;   true
    ).

%   compiled(+Clause, -Head, -Moved, -Body)
%
%   The head as the compiler makes it: with the unifications of arguments at the beginning of the
%   body, which are
%   Moved. Body is the rest.

compiled((Head0 :- Body0), Head, Moved, Body) :-
    name_arguments(Head0, Name, Arguments0),
    first_goals(moves, Body0, Arguments0, Arguments, Goals, Body),
    conjunction(Goals, Moved),
    name_arguments(Head, Name, Arguments).

moves(Goal, Arguments0, Arguments) :-
    Goal = (Variable = Term),
    var(Variable),
    nonvar(Term),
    put_argument(Arguments0, Variable, Term, Arguments).

put_argument([Argument|Arguments], Variable, Term, [Term|Arguments]) :-
    Argument == Variable,
    !.
put_argument([Argument|Arguments0], Variable, Term, [Argument|Arguments]) :-
    put_argument(Arguments0, Variable, Term, Arguments).

nth_element([Element|_], N, N, Element).
nth_element([_|Elements], N0, N, Element) :-
    N1 is N0+1,
    nth_element(Elements, N1, N, Element).

counted_head(CopyName, Head, Before, Serial, CopyHead) :-
    name_arguments(Head, _, Arguments),
    '$append'(Arguments, [Before, Serial], More),
    name_arguments(CopyHead, CopyName, More).

%!  counted_body(+Head, +Id, +Set, +CopyName, +Exits, -Body) is det.
%
%   The body of a wrapper that calls such a copy; otherwise as any other.
%   Outside of a box the call is not counted if the recorder gives it the number 0.

counted_body(Head, Id, Set, CopyName, Exits, Body) :-
    counted_head(CopyName, Head, 0, 0, Uncounted),
    counted_head(CopyName, Head, Before, Serial, Counted),
    (   Exits == byrd
    ->  Exit = ( '$pm_exit_nondet'(Box), true )
    ;   exit(Box, Before, Exit)
    ),
    Body = ( '$pm_enter'(Id, Box),
             '$pm_called'(Set, Head, Serial),
             (   var(Box)
             ->  (   Serial == 0
                 ->  Uncounted
                 ;   prolog_current_choice(Before),
                     Counted
                 )
             ;   prolog_current_choice(Before),
                 Counted,
                 Exit
             ) ).

                 /*******************************
                 *            BODIES            *
                 *******************************/

%   count_body(+Body, +Clause, -Counted): Clause is clause(Module, Set, N, Serial, Text); Serial is
%   `local` where a cut is not the clause's, and `argument` where the goal is an argument of
%   another.

count_body(Body, Clause, Counted) :-
    map_body(parts_of, count_part, Body, Clause, Counted).

%   The engine keeps a choicepoint while it proves a condition.

parts_of((_,_), Clause, [Clause,Clause]).
parts_of((_;_), Clause, [Clause,Clause]).
parts_of((_->_), Clause, [Condition,Clause]) :-
    condition(Clause, Condition).
parts_of((_*->_), Clause, [Condition,Clause]) :-
    condition(Clause, Condition).
parts_of(\+_, Clause, [Condition]) :-
    condition(Clause, Condition).

condition(clause(M, Set, N, Serial, Text), before(Run, clause(M, Set, N, Inner, Text))) :-
    Run = '$pm_run'(Number),
    portmortem:'$goal'(Set, N, [condition-1], Number),
    (   var(Serial)
    ->  Inner = local
    ;   Inner = Serial
    ).

count_part(Goal, Clause, Counted) :-
    var(Goal),
    !,
    count_goal(call(Goal), Goal, Clause, Counted).
count_part(!, Clause, Counted) :-
    !,
    arg(4, Clause, Serial),
    (   var(Serial)
    ->  Counted = ( !, '$pm_commit'(Serial) )
    ;   Counted = !
    ).
count_part(true, _, true) :-
    !.
count_part(Goal, Clause, Counted) :-
    count_goal(Goal, Goal, Clause, Counted).

%   count_goal(+Goal, +Written, +Clause, -Counted): Goal as it is to be understood, and as it is
%   written.
%   sig_atomic/1 stays in front: as the recovery of catch/3 it runs before signals that wait.

count_goal(Goal0, Written0, Clause, Counted) :-
    Clause = clause(M0, Set, N, Serial, _),
    strip_module(M0:Goal0, M, Goal),
    (   callable(Goal),
        external(M, Goal, Name)
    ->  (   Name == none
        ->  BuiltIn = []
        ;   is_increment(Goal, Clause)
        ->  BuiltIn = [Name-1, 'inline:is/2'-1]
        ;   BuiltIn = [Name-1]
        ),
        watched(Goal, Clause, After, Before),
        expressions(Goal, Clause, Evaluated),
        count_arguments(Goal, Written0, Clause, Written)
    ;   BuiltIn = [],
        Before = true,
        After = true,
        Evaluated = true,
        Written = Written0
    ),
    (   Serial == argument              % built with the goal that it is an argument of
    ->  Cells = 0
    ;   built(Goal, Clause, Cells, Left)
    ),
    (   Cells =:= 0
    ->  Costs = BuiltIn,
        Built = true
    ;   evaluates(Goal, _)              % what an expression costs includes its cells
    ->  '$append'(BuiltIn, ['H'-Cells], Costs),
        Built = true
    ;   var(Left)
    ->  Costs = BuiltIn,
        portmortem:'$goal'(Set, N, ['H'-Cells, built-Cells], Unification),
        Built = '$pm_build'(Left, Unification)
    ;   '$append'(BuiltIn, ['H'-Cells, built-Cells], Costs),
        Built = true
    ),
    (   Costs == []
    ->  Run = true
    ;   portmortem:'$goal'(Set, N, Costs, Number),
        Run = '$pm_run'(Number)
    ),
    (   nonvar(Written),
        Written = sig_atomic(Inner),
        BuiltIn == ['builtin:sig_atomic/1'-1]
    ->  conjunction([Run, Built, Evaluated, Before, Inner, After], Atomic),
        Counted = sig_atomic(Atomic)
    ;   conjunction([Run, Built, Evaluated, Before, Written, After], Counted)
    ).

%   external(+Module, +Goal, -Name): the goal is no call of a recorded predicate, but of a built-in
%   or library predicate. Name is `none` for one of ours.

external(M, Goal, Name) :-
    name_arity(Goal, Plain, Arity),
    (   '$get_predicate_attribute'(M:Goal, imported, Home)
    ->  true
    ;   '$get_predicate_attribute'(M:Goal, defined, 1)
    ->  Home = M
    ;   '$get_predicate_attribute'(system:Goal, defined, 1)
    ->  Home = system
    ;   '$find_library'(M, Plain, Arity, Home, _)
    ),
    (   \+ current_module(Home)
    ->  Class = library
    ;   module_property(Home, class(Class))
    ),
    ( Class == system ; Class == library ),
    !,
    \+ is_recorded(Home, Goal),
    (   Home == portmortem
    ->  Name = none
    ;   Class == system
    ->  format(atom(Name), 'builtin:~w/~d', [Plain, Arity])
    ;   format(atom(Name), 'builtin:~w:~w/~d', [Home, Plain, Arity])
    ).

%   Variables of the clause that the goal may give a value to.

watched(Goal, clause(_, Set, N, _, _), After, Before) :-
    term_variables(Goal, Variables),
    (   (   Variables == []
        ;   silent(Goal)
        ;   name_arity(Goal, Name, _),
            passes_on(Name)
        )
    ->  Before = true,
        After = true
    ;   name_arguments(Term, v, Variables),
        Before = '$pm_unbound'(Term, Mask),
        After = '$pm_bound'(Set, N, Term, Mask)
    ).

%   Control predicates: what gives values to variables is the goal they call.

passes_on(call).
passes_on(once).
passes_on(ignore).
passes_on(not).
passes_on(apply).
passes_on(catch).
passes_on(catch_with_backtrace).
passes_on(call_cleanup).
passes_on(sig_atomic).
passes_on(setup_call_cleanup).
passes_on(cost_center).
passes_on(phrase).

%   Built-ins that give no values to variables, or do not come back.

silent(fail).
silent(false).
silent(halt).
silent(halt(_)).
silent(throw(_)).
silent(_ < _).
silent(_ > _).
silent(_ =< _).
silent(_ >= _).
silent(_ =:= _).
silent(_ =\= _).
silent(_ == _).
silent(_ \== _).
silent(_ \= _).
silent(_ @< _).
silent(_ @> _).
silent(_ @=< _).
silent(_ @>= _).
silent(var(_)).
silent(nonvar(_)).
silent(atom(_)).
silent(atomic(_)).
silent(number(_)).
silent(integer(_)).
silent(compound(_)).
silent(callable(_)).
silent(write(_)).
silent(writeln(_)).
silent(print(_)).
silent(nl).

expressions(Goal, clause(_, Set, N, _, _), Counted) :-
    (   evaluates(Goal, Expressions)
    ->  findall_expressions(Expressions, Set, N, Goals),
        conjunction(Goals, Counted)
    ;   Counted = true
    ).

evaluates(_ is E0, [E]) :-
    (   nonvar(E0),
        E0 = X+I,
        integer(I),
        I < 0                           % X-1 is kept as X+ -1
    ->  J is -I,
        E = X-J
    ;   E = E0
    ).
evaluates(A =:= B, [A,B]).
evaluates(A =\= B, [A,B]).
evaluates(A < B, [A,B]).
evaluates(A > B, [A,B]).
evaluates(A =< B, [A,B]).
evaluates(A >= B, [A,B]).

findall_expressions([], _, _, []).
findall_expressions([E|Es], Set, N, Goals) :-
    (   nonvar(E),
        \+ callable(E)
    ->  Goals = Goals1
    ;   Goals = ['$pm_arith'(Set, N, E)|Goals1]
    ),
    findall_expressions(Es, Set, N, Goals1).

                 /*******************************
                 *       TERMS THAT ARE BUILT   *
                 *******************************/

%   built(+Goal, +Clause, -Cells, -Left): cells of the compound arguments that are built to call
%   Goal. If it is a
%   unification with a variable, they are built only if Left is unbound; else Left is bound here.

built(Goal, Clause, Cells, Left) :-
    (   unification(Goal, Variable, Term)
    ->  Left = Variable,
        cells(Term, Cells)
    ;   Left = none,
        (   inline_arithmetic(Goal, Clause)
        ->  Cells = 0
        ;   compound(Goal)
        ->  name_arity(Goal, _, Arity),
            cells(Goal, All),
            Cells is All-Arity-1
        ;   Cells = 0
        )
    ).

unification(A = B, A, B) :- var(A), !, nonvar(B).
unification(A = B, B, A) :- var(B).

%   Arithmetic that is compiled to instructions: all of it if that was asked for, and always the
%   addition
%   of a number to a variable for a new variable.

inline_arithmetic(Goal, _) :-
    current_prolog_flag(optimise, true),
    evaluates(Goal, _),
    !.
inline_arithmetic(Goal, Clause) :-
    is_increment(Goal, Clause).

%   The latter: the engine has one instruction for it, which costs a small part of calling is/2.

is_increment(Goal, clause(_, _, _, _, (Head :- Body))) :-
    \+ current_prolog_flag(optimise, true),
    Goal = (Sum is Expression),
    var(Sum),
    nonvar(Expression),
    Expression = Variable+Number,
    var(Variable),
    integer(Number),
    body_goals(own, Body, Goals),
    '$append'(Earlier, [Same|_], Goals),
    same_term(Same, Goal),
    !,
    term_variables(v(Head, Variable, Earlier), Known),
    \+ ( '$member'(Other, Known),
         Other == Sum ).

%   Cells of the compound terms in Term, arity + 1 each.

cells(Term, Cells) :-
    cells([Term], 0, Cells).

cells([], Cells, Cells).
cells([Term|Terms], Cells0, Cells) :-
    (   compound(Term)
    ->  compound_name_arguments(Term, _, Arguments),
        length(Arguments, Arity),
        Cells1 is Cells0+Arity+1,
        '$append'(Arguments, Terms, More)
    ;   Cells1 = Cells0,
        More = Terms
    ),
    cells(More, Cells1, Cells).

                 /*******************************
                 *   GOALS THAT ARE ARGUMENTS   *
                 *******************************/

%   count_arguments(+Goal, +Written0, +Clause, -Written): count in goals that a control predicate
%   calls, too.

count_arguments(Goal, Written0, Clause, Written) :-
    (   Written0 == Goal,
        runs_arguments(Goal, Specs, _)
    ->  Clause = clause(M, Set, N, _, Text),
        map_arguments(Specs, count_argument(clause(M, Set, N, argument, Text)), Goal, Written)
    ;   Written = Written0
    ).

count_argument(_, Goal, Goal) :-
    ( holds_unknown_goal(Goal) ; \+ callable(Goal) ),
    !.
count_argument(Clause, V^Goal0, V^Goal) :-
    !,
    count_argument(Clause, Goal0, Goal).
count_argument(Clause, Goal0, Goal) :-
    count_body(Goal0, Clause, Goal).
