:- module(portmortem_arguments,
          [ clause_goals/5,             % +Clause, +Layout, +Module, -Head, -Goals
            written_goals/4,            % +Term, +Layout, +Module, -Goals
            constraint_rule/1           % +Term
          ]).

/** <module> The goals of a clause, those in arguments of meta-predicates among them

A stub that sees a call come out of `maplist/3` or `catch/3` knows the goal of the program that
called that, and looks for the call among the goals in its arguments.

Goals are listed for a clause as it is stored, and for the term that it was made from. Expansion
loses places, or leaves those of terms of another shape, so `alignment.rs` compares both.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_walk).

%!  clause_goals(+Clause, ?Layout, +Module, -Head, -Goals) is semidet.
%
%   Head is that of Clause, which is loaded into Module. Goals has seven elements for each goal:
%   name, arity, the numbers of characters of the file before its beginning and its end, its number
%   in the clause in the order in which goals are written, the number of the goal in whose argument
%   it stands, and which argument that is. The last two are 0 for a goal of the clause itself. An
%   argument that is a goal which is not known yet has arity -1. A goal without a place has that of
%   the smallest term around it that has one, and -1 if there is none.

clause_goals(Clause, Layout, M, Head, Goals) :-
    nonvar(Clause),
    plain_layout(Layout, Plain),
    (   rule(Clause, Plain, Head, Body, BodyLayout)
    ->  listed(meta, Body, BodyLayout, in(M, 0, 0, Plain), Goals)
    ;   Clause \= (:- _),
        Clause \= (?- _),
        Clause \= ?=>(_, _),            % what the engine makes of a rule with a guard
        Head = Clause,
        Goals = []
    ).

%!  written_goals(+Term, +Layout, +Module, -Goals) is semidet.
%
%   Goals of a term that was read, as those of clauses. The first one is the whole term, and has
%   the arity -2.

written_goals(Term, Layout, M, ['',-2,Start,End,0,0,0|Goals]) :-
    nonvar(Term),
    plain_layout(Layout, Plain),
    start_end(Plain, Start, End),
    Start >= 0,
    (   written_body(Term, Plain, Which, Body, BodyLayout)
    ->  listed(Which, Body, BodyLayout, in(M, 0, 0, Plain), Goals)
    ;   Goals = []
    ).

%   listed(+Which, +Body, ?Layout, +In, -Goals) is det
%
%   Goals of Body, seven elements for each.

listed(Which, Body, Layout, In, Goals) :-
    body_goals(Which, Body, Layout, In, Found),
    elements(Found, 1, Goals).

elements([], _, []).
elements([goal(Goal, Extra, _, N, in(_, Parent, I, Place))|Goals], N0,
         [Name,Arity,Start,End,N,Parent,I|Elements]) :-
    (   Extra == unknown
    ->  Name = '', Arity = -1, Start = -1, End = -1,
        N1 = N0
    ;   name_arity(Goal, Name, Arity0),
        Arity is Arity0+Extra,
        start_end(Place, Start, End),
        N = N0,
        N1 is N0+1
    ),
    elements(Goals, N1, Elements).

%   written_body(+Term, +Layout, -Which, -Body, -BodyLayout) is semidet
%
%   What stands before the arrow beside the head is a part of the body.

written_body((Head --> Body0), Layout, grammar, Body, BodyLayout) :-
    !,
    layouts(Layout, 2, [HeadLayout,BodyLayout0]),
    (   nonvar(Head),
        Head = (_, Pushback)
    ->  second_layout(HeadLayout, PushbackLayout),
        both(Body0, Pushback, Layout, [BodyLayout0,PushbackLayout], Body, BodyLayout)
    ;   Body = Body0,
        BodyLayout = BodyLayout0
    ).
written_body(Term, Layout, meta, Body, BodyLayout) :-
    (   rule(Term, Layout, _, Body, BodyLayout)
    ;   constraint_rule(Term, Layout, Body, BodyLayout)
    ).

second_layout(Layout, Second) :-
    plain_layout(Layout, Plain),
    layouts(Plain, 2, [_,Second]).

%   both(+First, +Second, ?Layout, +Layouts, -Body, -BodyLayout) is det
%
%   Body is of two parts of a term with this layout, which have these layouts.

both(First, Second, Layout, Layouts, (First,Second), term_position(Start, End, _, _, Layouts)) :-
    start_end(Layout, Start, End).

%!  constraint_rule(+Term) is semidet.
%
%   Term is a constraint handling rule.

constraint_rule(Term) :-
    compound(Term),
    constraint_rule(Term, _, _, _).

%   constraint_rule(+Term, ?Layout, -Body, -BodyLayout) is semidet
%
%   The guard of a rule is a part of its body.

constraint_rule(Term, Layout, Body, BodyLayout) :-
    compound(Term),
    name_arguments(Term, Name, [Left,Right]),
    layouts(Layout, 2, [LeftLayout0,RightLayout0]),
    plain_layout(LeftLayout0, LeftLayout),
    plain_layout(RightLayout0, RightLayout),
    (   Name == (@)
    ->  constraint_rule(Right, RightLayout, Body, BodyLayout)
    ;   Name == pragma
    ->  constraint_rule(Left, LeftLayout, Body, BodyLayout)
    ;   ( Name == (<=>) ; Name == (==>) ),
        (   nonvar(Right),
            Right = '|'(Guard, Goal)
        ->  Body = (Guard, Goal)
        ;   Body = Right
        ),
        BodyLayout = RightLayout
    ).

%   rule(+Clause, ?Layout, -Head, -Body, -BodyLayout) is semidet
%
%   The guard of a rule is a part of its body.

rule((Head :- Body), Layout, Head, Body, BodyLayout) :-
    layouts(Layout, 2, [_,BodyLayout]).
rule((Left => Body0), Layout, Head, Body, BodyLayout) :-
    layouts(Layout, 2, [LeftLayout,BodyLayout0]),
    (   nonvar(Left),
        Left = (Head, Guard)
    ->  second_layout(LeftLayout, GuardLayout),
        both(Guard, Body0, Layout, [GuardLayout,BodyLayout0], Body, BodyLayout)
    ;   Head = Left,
        Body = Body0,
        BodyLayout = BodyLayout0
    ).
