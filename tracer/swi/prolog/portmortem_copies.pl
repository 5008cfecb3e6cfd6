:- module(portmortem_copies,
          [ copy_predicate/5,           % :Head, -CopyName, -Refs, -Clauses, -Flag
            with_flag/2,                % +Flag, :Goal
            store_clause/4,             % +Ref, +Clause, +Module, +CopyName
            remove_copy/2,              % :Head, +CopyName
            same_modes/3,               % :Head, +CopyName, +More
            new_copy_name/4,            % +Module, :Head, :Naming, -CopyName
            latest_copy_head/2,         % :Goal, -Copy
            copy_was_called/1           % :Head
          ]).

/** <module> Copy the clauses of a predicate, and prove the copies

A copy is the same predicate under another name. Its wrapper ends in a last call
to it, so that last calls stay last calls.

The clauses come from the decompiler, which does not always give what was
compiled. The compiler moves unifications at the beginning of a body into the
head, and the decompiler then leaves the variables of these arguments unbound in
the body. Therefore each copied clause is compared with the original, instruction
by instruction. Where they differ, other terms are tried that may have been the
source. If none of them has the same code, the predicate cannot be copied.

Copies are static from their first clause on, because the compiler treats clauses
of dynamic predicates differently. They belong to a source file of their own; their
places in files are those of the original clauses.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_names).
:- use_module(portmortem_walk, [first_goals/6, conjunction/2]).

:- dynamic
    copies/4,                   % Name, Arity, Module, N: how many copies were made
    jump_place/2.               % Instruction, I: the argument that is a jump, or none

:- meta_predicate
    without_warnings(0),
    with_flag(+, 0),
    new_copy_name(+, +, 3, -).

%!  copy_predicate(:Head, -CopyName, -Refs, -Clauses, -Flag) is semidet.
%
%   Make a copy. Clauses are terms (Head :- Body), or rules, that the clauses Refs of the original
%   may have
%   been compiled from, in with_flag(Flag, ...). Fails if no copy has the same code. An earlier copy
%   may still
%   be running, so every copy gets a new name.

copy_predicate(M:Head, CopyName, Refs, Clauses, Flag) :-
    findall(Ref, nth_clause(M:Head, _, Ref), Refs),
    compiler_flag(Flag),
    with_flag(Flag, copy_clauses(Refs, M:Head, CopyName, Clauses)),
    !.

%   What the compiler makes of a clause depends on these flags, which a file may have set for
%   itself.

compiler_flag(none).
compiler_flag(optimise).
compiler_flag(optimise_unify).

%!  with_flag(+Flag, :Goal) is semidet.
%
%   Run Goal once, without warnings of the compiler's, which has warned of the original already. If
%   Flag is not `none`, it has its other value.

with_flag(none, Goal) :-
    !,
    without_warnings(Goal).
with_flag(Flag, Goal) :-
    current_prolog_flag(Flag, Value),
    other(Value, Other),
    setup_call_cleanup(
        set_prolog_flag(Flag, Other),
        without_warnings(Goal),
        set_prolog_flag(Flag, Value)).

other(true, false).
other(false, true).

copy_clauses([], M:Head, CopyName, []) :-
    !,
    name_arity(Head, _, Arity),
    new_copy_name(M, Head, copy_name, CopyName),
    name_arity(Copy, CopyName, Arity),
    '$record_clause'(M:(Copy :- fail), '$portmortem', '$portmortem':1, _).
copy_clauses(Refs, P, CopyName, Clauses) :-
    (   first_sources(Refs, P, Clauses)
    ;   proven_sources(Refs, P, Clauses)
    ),
    is_copied(Refs, P, Clauses, CopyName),
    !.

first_sources([], _, []).
first_sources([Ref|Refs], P, [Clause|Clauses]) :-
    source(Ref, P, Clause),
    !,
    first_sources(Refs, P, Clauses).

proven_sources([], _, []).
proven_sources([Ref|Refs], P, [Clause|Clauses]) :-
    source(Ref, P, Clause),
    is_copied([Ref], P, [Clause], Trial),
    !,
    remove_copy(P, Trial),
    proven_sources(Refs, P, Clauses).

%   Make a copy from these clauses and compare it with the original. If it differs it is removed
%   again.

is_copied(Refs, M:Head, Clauses, CopyName) :-
    new_copy_name(M, Head, copy_name, CopyName),
    (   same_code(Refs, Clauses, M:Head, CopyName)
    ->  true
    ;   remove_copy(M:Head, CopyName),
        fail
    ).

same_code([], [], _, _).
same_code([Ref|Refs], [Clause|Clauses], M:Head, CopyName) :-
    name_arity(Head, Name, Arity),
    store(Ref, Clause, M, CopyName, Copy),
    (   same_layout(Ref, Copy, 0)
    ->  true
    ;   code(Ref, M:Name/Arity, Code),
        code(Copy, M:Name/Arity, CopyCode),
        Code =@= CopyCode
    ),
    same_code(Refs, Clauses, M:Head, CopyName).

%!  same_modes(:Head, +CopyName, +More) is det.
%
%   Declare the arguments of the copy as those of the predicate are declared, and those it has
%   beyond them as More.
%   In later versions what is declared unbound has no index.

same_modes(M:Head, CopyName, More) :-
    (   '$get_predicate_attribute'(M:Head, meta_predicate, Spec)
    ->  name_arguments(Spec, _, Modes),
        '$append'(Modes, More, AllModes),
        name_arguments(CopySpec, CopyName, AllModes),
        meta_predicate(M:CopySpec)
    ;   true
    ).

%!  remove_copy(:Head, +CopyName) is det.
%
%   Remove a copy that has never been called.

remove_copy(M:Head, CopyName) :-
    name_arity(Head, _, Arity),
    catch(abolish(M:CopyName/Arity), error(_, _), true).

without_warnings(Goal) :-
    setup_call_cleanup(
        '$style_check'(Old, 0),
        once(Goal),
        '$style_check'(_, Old)).

%!  new_copy_name(+Module, +Head, :Naming, -CopyName) is det.
%
%   A name that no copy has had. Naming is copy_name or counted_name.

new_copy_name(M, Head, Naming, CopyName) :-
    name_arity(Head, Name, Arity),
    (   retract(copies(Name, Arity, M, N0))
    ->  N is N0+1
    ;   N = 1
    ),
    assertz(copies(Name, Arity, M, N)),
    call(Naming, Name, N, CopyName).

%!  latest_copy_head(:Goal, -Copy) is nondet.
%
%   Goal as a call of its predicate's latest copy: of a plain one, and of one that counts.

latest_copy_head(M:Goal, M:Copy) :-
    name_arity(Goal, Name, Arity),
    copies(Name, Arity, M, N),
    name_arguments(Goal, _, Arguments),
    (   copy_name(Name, N, CopyName),
        All = Arguments
    ;   counted_name(Name, N, CopyName),
        '$append'(Arguments, [_,_], All)
    ),
    name_arguments(Copy, CopyName, All).

%!  copy_was_called(:Head) is semidet.
%
%   The predicate's latest copy has been called.

copy_was_called(P) :-
    latest_copy_head(P, Copy),
    catch('$fetch_vm'(Copy, 0, _, Supervisor), error(_, _), fail),
    Supervisor \== s_virgin,
    !.

%!  store_clause(+Ref, +Clause, +Module, +CopyName) is det.
%
%   Add a clause to a copy. It is in the file and line where the clause Ref is.

store_clause(Ref, Clause, M, CopyName) :-
    store(Ref, Clause, M, CopyName, _).

store(Ref, Clause, M, CopyName, Copy) :-
    (   clause_property(Ref, file(File)),
        clause_property(Ref, line_count(Line))
    ->  true
    ;   File = '$portmortem',
        Line = 1
    ),
    renamed(Clause, CopyName, CopyClause),
    '$record_clause'(M:CopyClause, '$portmortem', File:Line, Copy).

renamed((Head :- Body), Name, (CopyHead :- Body)) :- renamed_head(Head, Name, CopyHead).
renamed((Head => Body), Name, (CopyHead => Body)) :- renamed_head(Head, Name, CopyHead).
renamed(?=>(Head, Body), Name, ?=>(CopyHead, Body)) :- renamed_head(Head, Name, CopyHead).

renamed_head(Head, Name, CopyHead) :-
    name_arguments(Head, _, Arguments),
    name_arguments(CopyHead, Name, Arguments).

                 /*******************************
                 *           SOURCES            *
                 *******************************/

%   source(+Ref, :Head, -Clause) is nondet.
%
%   A term that the clause may have been compiled from, most likely one first.

source(Ref, M:Head, Rule) :-
    '$get_predicate_attribute'(M:Head, ssu, 1),
    !,
    name_arity(Head, Name, Arity),
    name_arity(General, Name, Arity),
    rule(M:General, Rule0, Ref),
    compiled_rule(Rule0, Rule).
source(Ref, M:Head, (SourceHead :- SourceBody)) :-
    name_arity(Head, Name, Arity),
    name_arity(Decompiled, Name, Arity),
    '$clause'(M:Decompiled, Body0, Ref, Variables),
    body(Body0, Decompiled, Body),
    name_arguments(Decompiled, _, Arguments),
    term_variables(Body, InBody),
    places(Arguments, 0, Variables, InBody, Places),
    moves(Places, Body, Moves),
    unmove(Moves, SourceArguments, Goals, [Body]),
    conjunction(Goals, SourceBody),
    name_arguments(SourceHead, Name, SourceArguments).

%   The loader hands a rule with a guard to the compiler as one that commits later.

compiled_rule((Left => Body), Rule) :-
    nonvar(Left),
    Left = (Head, Guard),
    !,
    Rule = ?=>(Head, (Guard, !, Body)).
compiled_rule(Rule, Rule).

%   The decompiler of 9.0 begins some bodies with unifications of arguments with
%   variables that occur nowhere else.

body(Body0, Head, Body) :-
    term_singletons(Head-Body0, Singletons),
    first_goals(void(Singletons), Body0, _, _, [_|_], Body).
body(Body, _, Body).

void(Singletons, Goal, State, State) :-
    Goal = (_ = Variable),
    var(Variable),
    is_member(Variable, Singletons).

is_member(Variable, Variables) :-
    '$member'(Other, Variables),
    Other == Variable,
    !.

%   places(+Arguments, +I, +Variables, +InBody, -Places)
%
%   Each argument is stays(Argument); or must(Argument, Variable), if its variable
%   occurs in the body, so that it was unified there; or may(Argument, Variable).

places([], _, _, _, []).
places([Argument|Arguments], I0, Variables, InBody, [Place|Places]) :-
    (   nonvar(Argument),
        '$member'(I0=Variable, Variables),
        var(Variable)
    ->  (   is_member(Variable, InBody)
        ->  Place = must(Argument, Variable)
        ;   Place = may(Argument, Variable)
        )
    ;   Place = stays(Argument)
    ),
    I is I0+1,
    places(Arguments, I, Variables, InBody, Places).

%   moves(+Places, +Body, -Moves) is nondet
%
%   Where each argument stood: head(Argument) or body(Argument, Variable). In a clause with no
%   other body, most likely all compound arguments were unified in it; in others, none
%   but those that must have been.

moves(Places, Body, Moves) :-
    (   Body == true
    ->  Which = compound
    ;   Which = none
    ),
    likely_moves(Places, Which, Moves).
moves(Places, _, Moves) :-
    length(Places, Length),
    Length =< 8,                        % 2^8 trials at most
    possible_moves(Places, Moves).

likely_moves([], _, []).
likely_moves([Place|Places], Which, [Move|Moves]) :-
    likely_move(Place, Which, Move),
    !,
    likely_moves(Places, Which, Moves).

likely_move(may(Argument, Variable), compound, body(Argument, Variable)) :-
    compound(Argument).
likely_move(Place, _, Move) :-
    possible_move(Place, Move).

possible_moves([], []).
possible_moves([Place|Places], [Move|Moves]) :-
    possible_move(Place, Move),
    possible_moves(Places, Moves).

possible_move(stays(Argument), head(Argument)).
possible_move(must(Argument, Variable), body(Argument, Variable)).
possible_move(may(Argument, _), head(Argument)).
possible_move(may(Argument, Variable), body(Argument, Variable)).

unmove([], [], Goals, Goals).
unmove([head(Argument)|Moves], [Argument|Arguments], Goals, Rest) :-
    unmove(Moves, Arguments, Goals, Rest).
unmove([body(Argument, Variable)|Moves], [Variable|Arguments], [Variable = Argument|Goals], Rest) :-
    unmove(Moves, Arguments, Goals, Rest).

                 /*******************************
                 *             CODE             *
                 *******************************/

%   same_layout(+Ref, +Copy, +PC) is semidet.
%
%   From PC on both clauses have the same instructions at the same places, so that jumps over the
%   same distance have the
%   same target. That needs no lists of instructions. Clauses that call themselves have others, see
%   code/3.

same_layout(Ref, Copy, PC) :-
    (   '$fetch_vm'(Ref, PC, Next, Instruction)
    ->  '$fetch_vm'(Copy, PC, Next, CopyInstruction),
        Instruction =@= CopyInstruction,
        same_layout(Ref, Copy, Next)
    ;   \+ '$fetch_vm'(Copy, PC, _, _)
    ).

%   code(+Ref, +Self, -Instructions) is det.
%
%   The clause's instructions. The target of a jump is the number of an
%   instruction. The compiler has a shorter instruction for a last call of the
%   predicate Self itself; it is written as the longer one.

code(Ref, Self, Instructions) :-
    fetched(Ref, 0, 0, Fetched, Numbers, Last),
    Size is Last+1,
    name_arity(Places, places, Size),
    numbered(Numbers, Places),
    instructions(Fetched, Places, Self, Instructions).

fetched(Ref, PC, N, [Next-Instruction|Fetched], [PC-N|Numbers], Last) :-
    '$fetch_vm'(Ref, PC, Next, Instruction),
    !,
    N1 is N+1,
    fetched(Ref, Next, N1, Fetched, Numbers, Last).
fetched(_, Last, N, [], [Last-N], Last).

%   Places has the number of each instruction at its place, counted from 1.

numbered([], _).
numbered([PC-N|Numbers], Places) :-
    I is PC+1,
    arg(I, Places, N),
    numbered(Numbers, Places).

instructions([], _, _, []).
instructions([Next-Instruction0|Fetched], Places, Self, [Instruction|Instructions]) :-
    (   calls_itself(Instruction0, Self)
    ->  Instruction = i_lcall(Self)
    ;   jump_argument(Instruction0, I)
    ->  arg(I, Instruction0, Distance),
        Target is Next+Distance+1,
        arg(Target, Places, N),
        name_arguments(Instruction0, Name, Arguments0),
        replaced(I, Arguments0, label(N), Arguments),
        name_arguments(Instruction, Name, Arguments)
    ;   Instruction = Instruction0
    ),
    !,
    instructions(Fetched, Places, Self, Instructions).

%   Later versions leave the module of the clause out.

calls_itself(i_tcall, _).
calls_itself(i_lcall(PI), M:NameArity) :-
    (   PI == M:NameArity
    ->  true
    ;   PI == NameArity
    ).

jump_argument(Instruction, I) :-
    compound(Instruction),
    name_arity(Instruction, Name, _),
    (   jump_place(Name, I0)
    ->  true
    ;   (   '$vmi_property'(Name, argv(Types)),
            '$append'(Before, [jump|_], Types)
        ->  length([_|Before], I0)
        ;   I0 = none
        ),
        assertz(jump_place(Name, I0))
    ),
    I0 \== none,
    I = I0.

replaced(1, [_|Arguments], New, [New|Arguments]) :-
    !.
replaced(I0, [Argument|Arguments0], New, [Argument|Arguments]) :-
    I is I0-1,
    replaced(I, Arguments0, New, Arguments).
