:- module(portmortem_disguise,
          [ install_disguise/0,
            copied_name/2,              % +CopyName, -Name
            copy_name/3,                % +Name, +N, -CopyName
            counted_name/3              % +Name, +N, -CopyName
          ]).

/** <module> Keep wrappers and copies out of the traced program's sight

A program that enumerates predicates, looks at the stack, or catches or prints an
error finds what it would find without Portmortem.
*/

:- use_module(portmortem_engine).

:- set_module(class(library)).

%!  install_disguise is det.
%
%   Hide the predicates and frames that recording adds.

install_disguise :-
    hide_results(system:current_predicate(Spec), portmortem_disguise:own_indicator(Spec)),
    hide_results(system:current_predicate(_, Head), portmortem_disguise:own_head(Head)),
    hide_results(system:predicate_property(Head, Property),
                 portmortem_disguise:own_property(Head, Property)),
    wrap_in_place(system:prolog_frame_attribute(Frame, Key, Value), portmortem_disguise, Wrapped,
                   ( context_module(M),
                     portmortem_engine:as_own(
                        portmortem_disguise:frame_attribute(Key, real(Wrapped, M), Frame, Value)) )).

%   Some built-ins live in a module of their own, and only there can they be wrapped.

hide_results(M:Head, Own) :-
    (   predicate_property(M:Head, imported_from(Home))
    ->  true
    ;   Home = M
    ),
    wrap_in_place(Home:Head, portmortem_disguise, Wrapped,
                  ( Wrapped, portmortem_disguise:not_own(Own) )).

:- public not_own/1.

not_own(Own) :-
    as_own(\+ Own).

                 /*******************************
                 *            NAMES             *
                 *******************************/

%!  copy_name(+Name, +N, -CopyName) is det.
%!  copied_name(+CopyName, -Name) is semidet.
%
%   The name of the N-th copy of a predicate, and back.

copy_name(Name, N, CopyName) :-
    atomic_list_concat(['$pm', N, $, Name], CopyName).

%!  counted_name(+Name, +N, -CopyName) is det.
%
%   As copy_name/3, for a copy that counts symbolic costs. It has more arguments.

counted_name(Name, N, CopyName) :-
    atomic_list_concat(['$pm', N, c, $, Name], CopyName).

%   more_arguments(+CopyName, -More): of which the last two are not the program's.

more_arguments(CopyName, 2) :-
    starts_with(CopyName, '$pm'),
    sub_atom(CopyName, Dollar, 1, _, $),
    Dollar > 0,
    !,
    Last is Dollar-1,
    sub_atom(CopyName, Last, 1, _, c).

copied_name(CopyName, Name) :-
    starts_with(CopyName, '$pm'),
    sub_atom(CopyName, Before, 1, _, $),
    Before > 0,
    !,
    After is Before+1,
    sub_atom(CopyName, After, _, 0, Name).

wrapper_name(Name) :-
    starts_with(Name, '$wrap$').

starts_with(Name, Prefix) :-
    atom(Name),
    Name \== [],
    sub_atom(Name, 0, _, _, Prefix).

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
        functor(Head, Name, _),
        own_name(Name)
    ).

own_property(_, wrapped(Wrappers)) :-
    Wrappers == [portmortem],
    !.
own_property(Head, _) :-
    own_head(Head).

own_name(Name) :-
    wrapper_name(Name),
    !.
own_name(Name) :-
    copied_name(Name, _).

original_goal(M:Copy, M:Goal) :-
    !,
    original_goal(Copy, Goal).
original_goal(Copy, Goal) :-
    callable(Copy),
    Copy =.. [CopyName|Arguments],
    original_name(CopyName, Name),
    (   more_arguments(CopyName, More)
    ->  '$append'(Own, Others, Arguments),
        length(Others, More),
        !,
        Goal =.. [Name|Own]
    ;   Goal =.. [Name|Arguments]
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
    parent_goal(Key, Real, Frame, Value),
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
    program_parent(Real, Frame, _, Child),
    attribute(Real, Child, pc, PC).
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
    (   nth_clause(CopyHead, N, Clause0),
        original_goal(CopyHead, Head),
        nth_clause(Head, N, Clause1)
    ->  Clause = Clause1
    ;   Clause = Clause0
    ).

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

%   The nearest ancestor of Frame that is not a wrapper's frame; Child is the frame whose parent it is.

program_parent(Real, Frame, Parent, Child) :-
    attribute(Real, Frame, parent, Above),
    (   wrapper_frame(Real, Above)
    ->  program_parent(Real, Above, Parent, Child)
    ;   Parent = Above,
        Child = Frame
    ).

wrapper_frame(Real, Frame) :-
    attribute(Real, Frame, predicate_indicator, PI),
    ( PI = _:Name/_ ; PI = Name/_ ),
    !,
    wrapper_name(Name).

%   How many ancestors are wrappers' frames. In deep recursion counting them all would take longer than
%   what the level is wanted for.

wrappers_above(_, _, 10000, Count, Count) :-
    !.
wrappers_above(Real, Frame, Seen, Count0, Count) :-
    attribute(Real, Frame, parent, Parent),
    !,
    (   wrapper_frame(Real, Parent)
    ->  Count1 is Count0+1
    ;   Count1 = Count0
    ),
    Seen1 is Seen+1,
    wrappers_above(Real, Parent, Seen1, Count1, Count).
wrappers_above(_, _, _, Count, Count).

parent_goal_key(parent_goal).
parent_goal_key(parent_goal_next(_)).

%   A goal of the program may be running as a copy.

parent_goal(Key, Real, Frame, Value) :-
    Real = real(_, Context),
    strip_module(Context:Value, M, Goal),
    callable(Goal),
    Goal =.. [Name|Arguments],
    portmortem_wrap:latest_copy(M, Goal, N),
    (   copy_name(Name, N, CopyName),
        Copy =.. [CopyName|Arguments]
    ;   counted_name(Name, N, CopyName),
        '$append'(Arguments, [_,_], More),
        Copy =.. [CopyName|More]
    ),
    attribute(Real, Frame, Key, M:Copy).

                 /*******************************
                 *            ERRORS            *
                 *******************************/

%   The engine names the running predicate in the context of some errors.

:- multifile
    prolog:prolog_exception_hook/5,         % later versions
    user:prolog_exception_hook/4.           % 9.0
:- dynamic
    user:prolog_exception_hook/4.

prolog:prolog_exception_hook(Error0, Error, Frame, Catcher, Debug) :-
    portmortem_disguise:original_error(Error0, Error1),
    (   prolog:prolog_exception_hook(Error1, Error2, Frame, Catcher, Debug)
    ->  Error = Error2
    ;   Error = Error1
    ).

user:prolog_exception_hook(Error0, Error, Frame, Catcher) :-
    portmortem_disguise:original_error(Error0, Error1),
    (   user:prolog_exception_hook(Error1, Error2, Frame, Catcher)
    ->  Error = Error2
    ;   Error = Error1
    ).

:- public original_error/2.

original_error(error(Formal, Context), error(Formal, context(PI, Message))) :-
    nonvar(Context),
    Context = context(PI0, Message),
    nonvar(PI0),
    own_indicator(PI0),
    !,
    original_indicator(PI0, PI).
original_error(error(Formal, Context), error(existence_error(matching_rule, Goal), Context)) :-
    nonvar(Formal),
    Formal = existence_error(matching_rule, Goal0),
    own_head(Goal0),
    original_goal(Goal0, Goal).
