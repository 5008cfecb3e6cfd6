:- module(portmortem_disguise,
          [ install_disguise/0,
            as_own_size/2,              % +Module, :Goal
            as_own_sizes/2              % +Modules, :Goal
          ]).

/** <module> Keep wrappers and copies out of the traced program's sight

A program that enumerates predicates, looks at the stack, or catches or prints an
error finds what it would find without Portmortem.
*/

:- use_module(portmortem_terms).
:- use_module(portmortem_engine).
:- use_module(portmortem_names).
:- use_module(portmortem_goals, [original_place/4]).

:- set_module(class(library)).

%!  install_disguise is det.
%
%   Hide the predicates and frames that recording adds.

install_disguise :-
    hide_results(system:current_predicate(PI), portmortem_disguise:own_indicator(PI)),
    hide_results(system:current_predicate(_, Head), portmortem_disguise:own_head(Head)),
    hide_results(system:predicate_property(Head, Property),
                 portmortem_disguise:own_property(Head, Property)),
    wrap_in_place(system:'$current_module'(Module, File), portmortem_disguise, Modules,
                  (   var(Module),
                      var(File)              % otherwise the module of a file is asked for
                  ->  Modules,
                      portmortem_disguise:not_own(portmortem_engine:own_module(Module))
                  ;   Modules
                  )),
    wrap_in_place(system:prolog_frame_attribute(Frame, Key, Value), portmortem_disguise, Wrapped,
                   ( context_module(M),
                     portmortem_engine:as_own(
                        portmortem_disguise:frame_attribute(Key, real(Wrapped, M), Frame, Value)),
                     true )),           % the frame stays, see asking_module/3
    wrap_in_place(system:'$wrapped_predicate'(_, Pairs), portmortem_disguise, WrappedPairs,
                   portmortem_disguise:wrappers(Pairs, WrappedPairs)),
    wrap_in_place(system:'$module_property'(_, Asked), portmortem_disguise, WrappedProperty,
                   portmortem_disguise:of_module(Asked, WrappedProperty)),
    wrap_in_place(system:set_module(Spec), portmortem_disguise, WrappedSet,
                   (   portmortem_disguise:limits_space(Spec),
                       strip_module(Spec, Limited, Limit),     % here, where the caller's module is known
                       portmortem_disguise:with_room(Limited, Limit, WrappedSet, Set)
                   ->  Set
                   ;   WrappedSet
                   )).

%   Some built-ins live in a module of their own, and only there can they be wrapped.

hide_results(M:Head, Own) :-
    (   predicate_property(M:Head, imported_from(Home))
    ->  true
    ;   Home = M
    ),
    wrap_in_place(Home:Head, portmortem_disguise, Wrapped,
                  ( Wrapped, portmortem_disguise:not_own(Own) )).

:- public not_own/1.

%   An error of the recorder takes no answer of the program's.

not_own(Own) :-
    as_own(\+ catch(Own, error(_, _), fail)).

:- public own_indicator/1, own_head/1, own_property/2.

own_indicator(Spec) :-
    nonvar(Spec),
    (   Spec = _:Inner
    ->  own_indicator(Inner)
    ;   Spec = Name/_,
        own_name(Name)
    ).

own_head(Head) :-
    nonvar(Head),
    (   Head = _:Inner
    ->  own_head(Inner)
    ;   callable(Head),
        name_arity(Head, Name, _),
        own_name(Name)
    ).

own_property(Head, _) :-
    own_head(Head).

original_goal(M:Copy, M:Goal) :-
    !,
    original_goal(Copy, Goal).
original_goal(Copy, Goal) :-
    callable(Copy),
    name_arguments(Copy, CopyName, Arguments),
    original_name(CopyName, Name),
    (   more_arguments(CopyName, More)
    ->  '$append'(Own, Others, Arguments),
        length(Others, More),
        !,
        name_arguments(Goal, Name, Own)
    ;   name_arguments(Goal, Name, Arguments)
    ).

original_indicator(M:Copy, M:PI) :-
    !,
    original_indicator(Copy, PI).
original_indicator(CopyName/Arity0, Name/Arity) :-
    original_name(CopyName, Name),
    (   more_arguments(CopyName, More)
    ->  Arity is Arity0-More
    ;   Arity = Arity0
    ).

%   Of a copy or of a wrapper.

original_name(CopyName, Name) :-
    copied_name(CopyName, Name),
    !.
original_name(WrapperName, Name) :-
    wrapper_name(WrapperName),
    sub_atom(WrapperName, 6, _, 0, Name).

                 /*******************************
                 *           WRAPPERS           *
                 *******************************/

:- public wrappers/2.

%   '$wrapped_predicate'/2 without wrappers of ours; with `all(Pairs)` for the second argument,
%   which only has_wrapper/2 asks for, it has them all.

wrappers(Asked, call(Call)) :-
    nonvar(Asked),
    Asked = all(Pairs),
    !,
    with_last_argument(Call, Pairs, Real),
    call(Real).
wrappers(Pairs, call(Call)) :-
    with_last_argument(Call, All, Real),
    call(Real),
    findall(Name-Clause,
            ( '$member'(Name-Clause, All), \+ own_wrapper(Name) ),
            Others),
    Others \== [],
    Pairs = Others.

with_last_argument(Call, Last, Real) :-
    compound_name_arguments(Call, Closure, [First,_]),
    compound_name_arguments(Real, Closure, [First,Last]).

                 /*******************************
                 *            SIZES             *
                 *******************************/

:- meta_predicate
    as_own_size(+, 0),
    as_own_sizes(+, 0).
:- public of_module/2, limits_space/1, with_room/4.
:- dynamic
    own_size/2,                 % Module, Bytes
    measured/1.                 % Module: what is added to it is being measured

%!  as_own_size(+Module, :Goal) is semidet.
%
%   Run Goal once. What it adds to the size of the module's program counts neither as
%   that nor for its limit: failing to wrap a predicate for lack of space would crash 9.0.4.

as_own_size(M, Goal) :-
    measured(M),
    !,
    once(Goal).
as_own_size(M, Goal) :-
    '$module_property'(M, program_size(Before)),
    (   '$module_property'(M, program_space(Limit))
    ->  set_module(M:program_space(0))
    ;   Limit = none
    ),
    assertz(measured(M)),
    (   catch(Goal, Error, true)
    ->  Ended = true
    ;   Ended = fail
    ),
    retractall(measured(M)),
    '$module_property'(M, program_size(After)),
    (   After == Before
    ->  true
    ;   (   retract(own_size(M, Bytes0))
        ->  true
        ;   Bytes0 = 0
        ),
        Bytes is Bytes0+After-Before,
        assertz(own_size(M, Bytes))
    ),
    (   integer(Limit)
    ->  set_module(M:program_space(Limit))
    ;   true
    ),
    (   nonvar(Error)
    ->  throw(Error)
    ;   Ended == true
    ).

%!  as_own_sizes(+Modules, :Goal) is semidet.
%
%   As as_own_size/2, for several modules. Measuring a module once costs less than doing it for each
%   of its predicates.

as_own_sizes([], Goal) :-
    once(Goal).
as_own_sizes([M|Ms], Goal) :-
    as_own_size(M, as_own_sizes(Ms, Goal)).

of_module(Property, Wrapped) :-
    with_own_size(Property),
    !,
    name_arity(Property, Key, 1),
    name_arity(All, Key, 1),
    Wrapped = call(Call),
    with_last_argument(Call, All, Real),
    call(Real),
    arg(1, Real, M),
    arg(1, All, Bytes0),
    own_bytes(M, Own),
    Bytes is Bytes0-Own,
    arg(1, Property, Bytes).
of_module(_, Wrapped) :-
    call(Wrapped).

with_own_size(program_size(_)).
with_own_size(program_space(_)).

own_bytes(M, Bytes) :-
    own_size(M, Bytes),
    !.
own_bytes(_, 0).

%   Asked before strip_module/3, which makes the module: another thread could see one that has no
%   class yet.

limits_space(Spec) :-
    acyclic_term(Spec),
    unqualified(Spec, program_space(_)).

unqualified(Spec, Plain) :-
    nonvar(Spec),
    (   Spec = _:Inner
    ->  unqualified(Inner, Plain)
    ;   Plain = Spec
    ).

%   The call that sets the limit which the program sets, and room for what recording adds.

with_room(M, program_space(Limit), call(Call), Set) :-
    integer(Limit),
    Limit > 0,
    own_size(M, Own),
    All is Limit+Own,
    compound_name_arguments(Call, Closure, [_]),
    compound_name_arguments(Set, Closure, [M:program_space(All)]).

                 /*******************************
                 *            FRAMES            *
                 *******************************/

:- public frame_attribute/4.

%   prolog_frame_attribute/3 as if there were no wrappers' frames, and copies were
%   originals. Real is the real one and the module it was called from.

frame_attribute(Key, Real, Frame, Value) :-
    changed(Key),
    !,
    (   nonvar(Value),              % later versions qualify the argument, see attribute/4
        Value = _:Plain
    ->  true
    ;   Plain = Value
    ),
    known_attribute(Key, Real, Frame, Plain).
frame_attribute(Key, Real, Frame, Value) :-
    parent_goal_key(Key),
    nonvar(Value),
    !,
    asking_module(Real, Value, Context),
    Real = real(Wrapped, _),
    Asking = real(Wrapped, Context),
    (   parent_goal(Key, Asking, Frame, Value)
    ;   attribute(Asking, Frame, Key, Value)
    ),
    !.
frame_attribute(_, real(Wrapped, M), _, _) :-
    @(Wrapped, M).

changed(parent).
changed(pc).
changed(level).
changed(goal).
changed(predicate_indicator).
changed(clause).

known_attribute(parent, Real, Frame, Parent) :-
    program_parent(Real, Frame, Parent0, _),
    Parent = Parent0.
known_attribute(pc, Real, Frame, PC) :-
    program_parent(Real, Frame, Parent, Child),
    attribute(Real, Child, pc, PC0),
    (   attribute(Real, Parent, clause, Copy),
        original_clause(Copy, Clause),
        original_place(Copy, PC0, Clause, PC1)
    ->  PC = PC1
    ;   PC = PC0
    ).
known_attribute(level, Real, Frame, Level) :-
    attribute(Real, Frame, level, Level0),
    wrappers_above(Real, Frame, 0, 0, Wrappers),
    Level is Level0-Wrappers.
known_attribute(goal, Real, Frame, Goal) :-
    attribute(Real, Frame, goal, Goal0),
    (   original_goal(Goal0, Goal1)
    ->  Goal = Goal1
    ;   Goal = Goal0
    ).
known_attribute(predicate_indicator, Real, Frame, PI) :-
    attribute(Real, Frame, predicate_indicator, PI0),
    (   original_indicator(PI0, PI1)
    ->  PI = PI1
    ;   PI = PI0
    ).
known_attribute(clause, Real, Frame, Clause) :-
    attribute(Real, Frame, clause, Clause0),
    (   original_clause(Clause0, Clause1)
    ->  Clause = Clause1
    ;   Clause = Clause0
    ).

original_clause(Copy, Clause) :-
    nth_clause(CopyHead, N, Copy),
    original_goal(CopyHead, Head),
    nth_clause(Head, N, Clause).

%   The attribute of another frame, or another attribute.

attribute(real(call(Wrapped), M), Frame, Key, Value) :-
    compound_name_arguments(Wrapped, Closure, [_, _, Given]),
    (   nonvar(Given),
        Given = Context:_,
        \+ ( nonvar(Value), Value = _:_ )
    ->  Argument = Context:Value
    ;   Argument = Value
    ),
    compound_name_arguments(Call, Closure, [Frame, Key, Argument]),
    @(call(Call), M).

%   The nearest ancestor of Frame that is not a frame of ours; Child is the frame whose parent it
%   is.

program_parent(Real, Frame, Parent, Child) :-
    attribute(Real, Frame, parent, Above),
    (   added_frame(Real, Above)
    ->  program_parent(Real, Above, Parent, Child)
    ;   Parent = Above,
        Child = Frame
    ).

added_frame(Real, Frame) :-
    attribute(Real, Frame, predicate_indicator, PI),
    ( PI = _:Name/_ ; PI = Name/_ ),
    !,
    added_name(Name).

%   How many ancestors are frames of ours. In deep recursion counting them all would take longer
%   than
%   what the level is wanted for.

wrappers_above(_, _, 10000, Count, Count) :-
    !.
wrappers_above(Real, Frame, Seen, Count0, Count) :-
    attribute(Real, Frame, parent, Parent),
    !,
    (   added_frame(Real, Parent)
    ->  Count1 is Count0+1
    ;   Count1 = Count0
    ),
    Seen1 is Seen+1,
    wrappers_above(Real, Parent, Seen1, Count1, Count).
wrappers_above(_, _, _, Count, Count).

parent_goal_key(parent_goal).
parent_goal_key(parent_goal(_)).        % the frame to go on with

%   The module that asks. Later versions qualify the argument unless the program did, and run what
%   follows in
%   module system: it is that of the caller's frame or, if that is gone with a last call, the
%   argument's.

:- if(( current_prolog_flag(version, Version), Version >= 100000 )).
asking_module(Real, _, M) :-
    prolog_current_frame(Frame),
    caller_of_wrapper(Real, Frame, Caller),
    attribute(Real, Caller, context_module, M).
asking_module(_, Value, M) :-
    strip_module(Value, M, _).

caller_of_wrapper(Real, Frame, Caller) :-
    attribute(Real, Frame, parent, Parent),
    (   added_frame(Real, Frame)
    ->  Caller = Parent
    ;   caller_of_wrapper(Real, Parent, Caller)
    ).
:- else.
asking_module(real(_, M), _, M).
:- endif.

%   A goal of the program may be running as a copy. The engine ignores a qualification of the
%   goal: it looks the predicate up in the module that asks.

parent_goal(Key, Real, Frame, Value) :-
    Real = real(Wrapped, Context),
    strip_module(Context:Value, _, Goal),
    callable(Goal),
    name_arity(Goal, Name, Arity),
    name_arity(General, Name, Arity),
    (   '$get_predicate_attribute'(Context:General, imported, Home)
    ->  true
    ;   Home = Context
    ),
    portmortem_copies:latest_copy_head(Home:Goal, _:Copy),
    attribute(real(Wrapped, Home), Frame, Key, Copy).

                 /*******************************
                 *            ERRORS            *
                 *******************************/

%   The engine names the running predicate in the context of some errors. A state that the program
%   saves has these clauses, and not what they call.

:- multifile
    prolog:prolog_exception_hook/5,         % later versions
    user:prolog_exception_hook/4.           % 9.0
:- dynamic
    user:prolog_exception_hook/4.

prolog:prolog_exception_hook(Error0, Error, Frame, Catcher, Debug) :-
    '$get_predicate_attribute'(portmortem_disguise:original_error(_, _, _), defined, 1),
    portmortem_disguise:original_error(Error0, Frame, Error1),
    (   prolog:prolog_exception_hook(Error1, Error2, Frame, Catcher, Debug)
    ->  Error = Error2
    ;   Error = Error1
    ).

user:prolog_exception_hook(Error0, Error, Frame, Catcher) :-
    '$get_predicate_attribute'(portmortem_disguise:original_error(_, _, _), defined, 1),
    portmortem_disguise:original_error(Error0, Frame, Error1),
    (   user:prolog_exception_hook(Error1, Error2, Frame, Catcher)
    ->  Error = Error2
    ;   Error = Error1
    ).

:- public original_error/3.

%   For an unknown procedure the context is its caller. A wrapper's frame remains there where that
%   of the
%   predicate is gone, because the call was its last.

original_error(error(Formal, Context), Frame, error(Formal, context(PI, Message))) :-
    nonvar(Formal),
    Formal = existence_error(procedure, _),
    nonvar(Context),
    Context = context(PI0, Message),
    nonvar(PI0),
    ( PI0 = _:Name/_ ; PI0 = Name/_ ),
    wrapper_name(Name),
    prolog_frame_attribute(Frame, parent, Parent),
    prolog_frame_attribute(Parent, predicate_indicator, PI),
    !.
original_error(error(Formal, Context), _, error(Formal, context(PI, Message))) :-
    nonvar(Context),
    Context = context(PI0, Message),
    nonvar(PI0),
    own_indicator(PI0),
    !,
    original_indicator(PI0, PI).
original_error(error(Formal, Context), _, error(determinism_error(PI, Declared, Found, Kind), Context)) :-
    nonvar(Formal),
    Formal = determinism_error(PI0, Declared, Found, Kind),
    own_indicator(PI0),
    !,
    original_indicator(PI0, PI).
original_error(error(Formal, Context), _, error(existence_error(matching_rule, Goal), Context)) :-
    nonvar(Formal),
    Formal = existence_error(matching_rule, Goal0),
    own_head(Goal0),
    original_goal(Goal0, Goal).
