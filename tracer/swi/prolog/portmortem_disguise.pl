:- module(portmortem_disguise,
          [ install_disguise/0,
            disguise_loaded/0
          ]).

/** <module> Keep wrappers and copies out of the traced program's sight

A program that enumerates predicates, or prints a backtrace, finds what it would
find without Portmortem.
*/

:- set_module(class(library)).

:- dynamic
    backtraces_cleaned/0.

%!  install_disguise is det.
%
%   Hide the predicates we add from enumeration.

install_disguise :-
    hide_results(system:current_predicate(Spec), portmortem_disguise:own_indicator(Spec)),
    hide_results(system:current_predicate(_, Head), portmortem_disguise:own_head(Head)),
    hide_results(system:predicate_property(Head, _), portmortem_disguise:own_head(Head)),
    disguise_loaded.

%   Some of these built-ins live in a module of their own, and only there can they be wrapped.

hide_results(M:Head, Own) :-
    (   predicate_property(M:Head, imported_from(Home))
    ->  true
    ;   Home = M
    ),
    wrap_predicate(Home:Head, portmortem_disguise, Wrapped, ( Wrapped, \+ Own )).

:- public own_indicator/1, own_head/1.

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
    ;   functor(Head, Name, _),
        own_name(Name)
    ).

own_name(Name) :-
    atom(Name),
    (   sub_atom(Name, 0, _, _, '$wrap$')
    ->  true
    ;   copied_name(Name, _)
    ).

%   The name of the predicate that a copy was made of.

copied_name(CopyName, Name) :-
    sub_atom(CopyName, 0, _, _, '$pm'),
    sub_atom(CopyName, Before, 1, _, $),
    Before > 0,
    !,
    After is Before+1,
    sub_atom(CopyName, After, _, 0, Name).

%!  disguise_loaded is det.
%
%   Clean backtraces once library(prolog_stack) is there.

disguise_loaded :-
    backtraces_cleaned,
    !.
disguise_loaded :-
    current_module(prolog_stack),
    '$get_predicate_attribute'(prolog_stack:get_prolog_backtrace(_,_,_), defined, 1),
    !,
    assertz(backtraces_cleaned),
    wrap_predicate(prolog_stack:get_prolog_backtrace(Depth, Stack, Options), portmortem_disguise,
                   Wrapped,
                   portmortem_disguise:backtrace(Wrapped, Depth, Stack, Options)).
disguise_loaded.

:- public backtrace/4.

%   Every traced frame stands twice on the stack, so twice the depth is asked for.

backtrace(Wrapped, Depth, Stack, Options) :-
    (   integer(Depth)
    ->  RealDepth is 2*Depth+2
    ;   RealDepth = Depth
    ),
    again(Wrapped, [RealDepth, Frames, Options], Call),
    call(Call),
    (   is_list(Frames)
    ->  '$reverse'(Frames, FromBottom),
        clean_upwards(FromBottom, 0, [], Clean),
        shortened(Depth, Clean, Stack)
    ;   Stack = Frames
    ).

%   The call through a wrapper's closure, with other arguments.

again(call(Wrapped), Arguments, call(Call)) :-
    compound_name_arguments(Wrapped, Closure, _),
    compound_name_arguments(Call, Closure, Arguments).

own_frame(frame(_, _, Goal)) :-
    plain(Goal, Plain),
    functor(Plain, Name, _),
    sub_atom(Name, 0, _, _, '$wrap$').

%   From the bottom up: a wrapper's frame goes, and all above it move down by one level.

clean_upwards([], _, Clean, Clean).
clean_upwards([Frame|Frames], Removed, Below, Clean) :-
    own_frame(Frame),
    !,
    Removed1 is Removed+1,
    clean_upwards(Frames, Removed1, Below, Clean).
clean_upwards([frame(Level0, Where0, Goal0)|Frames], Removed, Below, Clean) :-
    Level is Level0-Removed,
    original(Where0, Goal0, Where, Goal),
    clean_upwards(Frames, Removed, [frame(Level, Where, Goal)|Below], Clean).

%   A copy's clause stands for the clause of the original with the same number.

original(Where0, Goal0, Where, Goal) :-
    copy_of(Goal0, Goal),
    !,
    (   original_clause(Where0, Goal, Where)
    ->  true
    ;   Where = Where0
    ).
original(Where, Goal, Where, Goal).

original_clause(clause(Ref, PC), Goal, clause(OriginalRef, PC)) :-
    nth_clause(_, N, Ref),
    nth_clause(Goal, N, OriginalRef).
original_clause(clause_name(Text), Goal, pred_line(Label, File:Line)) :-
    sub_string(Text, Before, _, _, "-"),
    !,
    sub_string(Text, 0, Before, _, Digits),
    number_string(N, Digits),
    nth_clause(Goal, N, Ref),
    clause_property(Ref, file(File)),
    clause_property(Ref, line_count(Line)),
    label(Goal, Label).

label(M:Goal, Label) :-
    !,
    functor(Goal, Name, Arity),
    format(string(Label), '~q', [M:Name/Arity]).
label(Goal, Label) :-
    functor(Goal, Name, Arity),
    format(string(Label), '~q', [Name/Arity]).

copy_of(M:Copy, M:Goal) :-
    !,
    copy_of(Copy, Goal).
copy_of(Copy, Goal) :-
    Copy =.. [CopyName|Arguments],
    copied_name(CopyName, Name),
    Goal =.. [Name|Arguments].

plain(_:Goal, Plain) :-
    !,
    plain(Goal, Plain).
plain(Goal, Goal).

shortened(Depth, Clean, Stack) :-
    integer(Depth),
    '$length'(Stack0, Depth),
    '$append'(Stack0, _, Clean),
    !,
    Stack = Stack0.
shortened(_, Stack, Stack).
