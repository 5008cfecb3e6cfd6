:- module(portmortem_arguments,
          [ clause_goals/5,             % +Clause, +Layout, +Module, -Head, -Goals
            written_goals/4,            % +Term, +Layout, +Module, -Goals
            constraint_rule/1           % +Term
          ]).

/** <module> The goals of a clause, those in arguments of meta-predicates among them

A stub that sees a call come out of `maplist/3` or `catch/3` knows the goal of the program that
called that, and looks for
the call among the goals in its arguments. Which arguments are goals is what `meta_predicate/1`
says.

Goals are listed for a clause as it is stored, and for the term that it was made from. Expansion
loses places, or leaves those of terms of another shape, so `alignment.rs` compares both.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_lines, [control/1]).

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
    ->  within(in(M, 0, 0, nowhere), Plain, In, _),
        body(Body, BodyLayout, In, 1, _, Goals, [])
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
    In = in(M, 0, 0, Plain),
    (   Term = (Head --> Body)
    ->  layouts(Plain, 2, [HeadLayout0,BodyLayout]),
        plain_layout(HeadLayout0, HeadLayout),
        grammar(Body, BodyLayout, In, 1, N, Goals, Goals1),
        (   nonvar(Head),
            Head = (_, Pushback)
        ->  layouts(HeadLayout, 2, [_,PushbackLayout]),
            grammar(Pushback, PushbackLayout, In, N, _, Goals1, [])
        ;   Goals1 = []
        )
    ;   (   rule(Term, Plain, _, Body, BodyLayout)
        ;   constraint_rule(Term, Plain, Body, BodyLayout)
        )
    ->  body(Body, BodyLayout, In, 1, _, Goals, [])
    ;   Goals = []
    ).

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
    layouts(Layout, 2, [LeftLayout0,BodyLayout0]),
    plain_layout(LeftLayout0, LeftLayout),
    (   nonvar(Left),
        Left = (Head, Guard)
    ->  Body = (Guard, Body0),
        layouts(LeftLayout, 2, [_,GuardLayout]),
        BodyLayout = term_position(_, _, _, _, [GuardLayout,BodyLayout0])
    ;   Head = Left,
        Body = Body0,
        BodyLayout = BodyLayout0
    ).

                 /*******************************
                 *            PLACES            *
                 *******************************/

%   plain_layout(?Layout, -Plain) is det
%
%   Plain is Layout without parentheses.

plain_layout(Layout, Plain) :-
    var(Layout),
    !,
    Plain = Layout.
plain_layout(parentheses_term_position(_, _, Layout), Plain) :-
    !,
    plain_layout(Layout, Plain).
plain_layout(Layout, Layout).

%   layouts(?Plain, +Count, -Layouts) is det
%
%   Those of so many arguments. They are not known if the term has another shape.

layouts(Plain, Count, Layouts) :-
    (   nonvar(Plain),
        Plain = term_position(_, _, _, _, Layouts0),
        is_list(Layouts0),
        length(Layouts0, Count)
    ->  Layouts = Layouts0
    ;   length(Layouts, Count)
    ).

%   start_end(+Place, -Start, -End) is det
%
%   Place is the layout of a term.

start_end(Place, Start, End) :-
    (   compound(Place),
        arg(1, Place, Start0),
        integer(Start0),
        arg(2, Place, End0),
        integer(End0)
    ->  Start = Start0,
        End = End0
    ;   Start = -1,
        End = -1
    ).

%   within(+In0, ?Layout0, -In, -Layout) is det
%
%   A term that stands in In0 is where In says: where it stands itself, or the term that it is a
%   part of.

within(In0, Layout0, In, Layout) :-
    plain_layout(Layout0, Layout),
    (   nonvar(Layout)
    ->  In0 = in(M, Parent, Argument, _),
        In = in(M, Parent, Argument, Layout)
    ;   In = In0
    ).

                 /*******************************
                 *             GOALS            *
                 *******************************/

%   body(+Body, ?Layout, +In, +N0, -N, -Goals, ?Rest) is det
%
%   Body is compiled: its parts are goals. In says in which module, goal and argument, and where.

body(Body, Layout0, In0, N0, N, Goals, Rest) :-
    within(In0, Layout0, In, Layout),
    (   is_called(Body)
    ->  goal(call(Body), term_position(_, _, _, _, [Layout]), 0, In, N0, N, Goals, Rest)
    ;   control(Body)
    ->  name_arguments(Body, _, Parts),
        part_layouts(Body, Layout, Layouts),
        bodies(Parts, Layouts, In, N0, N, Goals, Rest)
    ;   called(Body, Layout, 0, In, N0, N, Goals, Rest)
    ).

%   is_called(?Body) is semidet
%
%   The engine calls Body by call/1.

is_called(Body) :-
    var(Body),
    !.
is_called(M:Goal) :-
    ( var(M) ; var(Goal) ),
    !.

bodies([], _, _, N, N, Goals, Goals).
bodies([Part|Parts], [Layout|Layouts], In, N0, N, Goals, Rest) :-
    body(Part, Layout, In, N0, N1, Goals, Goals1),
    bodies(Parts, Layouts, In, N1, N, Goals1, Rest).

%   A grammar's `\+` is followed by a unification, which has no place.

part_layouts((First, _), Layout, [Layout,_]) :-
    nonvar(First),
    First = (\+_),
    nonvar(Layout),
    Layout = term_position(_, _, _, _, Layouts),
    is_list(Layouts),
    Layouts = [_],
    !.
part_layouts(Body, Layout, Layouts) :-
    name_arity(Body, _, Arity),
    layouts(Layout, Arity, Layouts).

%   grammar(+Body, ?Layout, +In, +N0, -N, -Goals, ?Rest) is det
%
%   Body is that of a grammar rule.

grammar(Body, Layout0, In0, N0, N, Goals, Rest) :-
    within(In0, Layout0, In, Layout),
    (   var(Body)
    ->  goal(phrase(Body, _, _), _, 0, In, N0, N, Goals, Rest)
    ;   ( control(Body) ; Body = (_|_) )
    ->  name_arguments(Body, _, Parts),
        name_arity(Body, _, Arity),
        layouts(Layout, Arity, Layouts),
        grammars(Parts, Layouts, In, N0, N, Goals, Rest)
    ;   Body = {Goal}
    ->  (   nonvar(Layout),
            Layout = brace_term_position(_, _, GoalLayout)
        ->  true
        ;   true
        ),
        body(Goal, GoalLayout, In, N0, N, Goals, Rest)
    ;   ( is_list(Body) ; string(Body) )
    ->  goal(_=_, _, 0, In, N0, N, Goals, Rest)
    ;   Body = [_|_]
    ->  goal('$append'(_, _, _), _, 0, In, N0, N, Goals, Rest)
    ;   ( Body == ! ; Body == {} )
    ->  goal(Body, _, 0, In, N0, N, Goals, Rest)
    ;   called(Body, Layout, 2, In, N0, N, Goals, Rest)
    ).

grammars([], _, _, N, N, Goals, Goals).
grammars([Part|Parts], [Layout|Layouts], In, N0, N, Goals, Rest) :-
    grammar(Part, Layout, In, N0, N1, Goals, Goals1),
    grammars(Parts, Layouts, In, N1, N, Goals1, Rest).

%   closure(+Closure, ?Layout, +Extra, +In, +N0, -N, -Goals, ?Rest) is det
%
%   Closure is called with so many arguments more.

closure(Closure, Layout0, Extra, In0, N0, N, Goals, Rest) :-
    within(In0, Layout0, In, Layout),
    called(Closure, Layout, Extra, In, N0, N, Goals, Rest).

called(Closure, Layout, Extra, In0, N0, N, Goals, Rest) :-
    (   nonvar(Closure),
        Closure = M:Plain,
        callable(Plain)
    ->  (   atom(M)
        ->  In0 = in(_, Parent, Argument, Place),
            In = in(M, Parent, Argument, Place)
        ;   In = In0                    % M is a variable of the clause
        ),
        layouts(Layout, 2, [_,PlainLayout]),
        closure(Plain, PlainLayout, Extra, In, N0, N, Goals, Rest)
    ;   goal(Closure, Layout, Extra, In0, N0, N, Goals, Rest)
    ).

%   goal(+Goal, ?Layout, +Extra, +In, +N0, -N, -Goals, ?Rest) is det
%
%   Goal stands where In says. Nothing is known of what is no goal.

goal(Goal, Layout, Extra, in(M, Parent, Argument, Place), N0, N, Goals, Rest) :-
    callable(Goal),
    !,
    start_end(Place, Start, End),
    name_arity(Goal, Name, Arity0),
    Arity is Arity0+Extra,
    Goals = [Name,Arity,Start,End,N0,Parent,Argument|Inner],
    N1 is N0+1,
    (   compound(Goal),
        meta(Goal, Extra, M, Specs)
    ->  name_arguments(Goal, _, Arguments),
        layouts(Layout, Arity0, Layouts),
        arguments(Specs, Arguments, Layouts, in(M, N0, 1, Place), N1, N, Inner, Rest)
    ;   N = N1,
        Inner = Rest
    ).
goal(_, _, _, _, N, N, Goals, Goals).

unknown(Parent, Argument, ['',-1,-1,-1,0,Parent,Argument|Rest], Rest).

%   arguments(+Specs, +Arguments, +Layouts, +In, +N0, -N, -Goals, ?Rest) is det

arguments([Spec|Specs], [Argument|Arguments], [Layout|Layouts], In0, N0, N, Goals, Rest) :-
    !,
    (   argument(Spec, Argument, Layout, In0, N0, N1, Goals, Goals1)
    ->  true
    ;   N1 = N0,
        Goals1 = Goals
    ),
    In0 = in(M, Parent, Number0, Around),
    Number is Number0+1,
    arguments(Specs, Arguments, Layouts, in(M, Parent, Number, Around), N1, N, Goals1, Rest).
arguments(_, _, _, _, N, N, Goals, Goals).

argument(Spec, Argument, _, in(_, Parent, Number, _), N, N, Goals, Rest) :-
    is_goal(Spec),
    unknown_goal(Argument),
    !,
    unknown(Parent, Number, Goals, Rest).
argument(0, Argument, Layout, In, N0, N, Goals, Rest) :-
    (   Argument = _:_
    ->  closure(Argument, Layout, 0, In, N0, N, Goals, Rest)
    ;   body(Argument, Layout, In, N0, N, Goals, Rest)
    ).
argument(^, Argument, Layout, In, N0, N, Goals, Rest) :-
    quantified(Argument, Layout, In, N0, N, Goals, Rest).
argument(//, Argument, Layout, In, N0, N, Goals, Rest) :-
    \+ is_list(Argument),
    \+ grammar_control(Argument),
    closure(Argument, Layout, 2, In, N0, N, Goals, Rest).
argument(Extra, Argument, Layout, In, N0, N, Goals, Rest) :-
    integer(Extra),
    Extra > 0,
    closure(Argument, Layout, Extra, In, N0, N, Goals, Rest).

is_goal(Spec) :-
    (   integer(Spec)
    ;   Spec == (^)
    ;   Spec == (//)
    ),
    !.

unknown_goal(Goal) :-
    var(Goal),
    !.
unknown_goal(_:Goal) :-
    var(Goal).

quantified(Goal, Layout0, In0, N0, N, Goals, Rest) :-
    within(In0, Layout0, In, Layout),
    (   nonvar(Goal),
        Goal = _^Inner
    ->  In = in(_, Parent, Number, _),
        layouts(Layout, 2, [_,InnerLayout]),
        (   unknown_goal(Inner)
        ->  N = N0,
            unknown(Parent, Number, Goals, Rest)
        ;   quantified(Inner, InnerLayout, In, N0, N, Goals, Rest)
        )
    ;   body(Goal, Layout, In, N0, N, Goals, Rest)
    ).

grammar_control(Body) :-
    control(Body).
grammar_control((_|_)).
grammar_control({_}).
grammar_control(!).
grammar_control(Body) :-
    string(Body).

%   meta(+Goal, +Extra, +Module, -Specs) is semidet
%
%   What the arguments of Goal are, called with so many arguments more. No library is loaded to find
%   out.

meta(Parameters>>Lambda, Extra, _, [?,Rest]) :-
    callable(Lambda),
    !,
    parameters(Parameters, Taken),
    Rest is max(0, Extra-Taken).
meta(_/_, Extra, _, [?,Extra]) :-
    Extra > 0,
    !.
meta(Goal, Extra, M, Specs) :-
    name_arity(Goal, Name, Arity0),
    Arity is Arity0+Extra,
    name_arity(Head, Name, Arity),
    (   '$get_predicate_attribute'(M:Head, meta_predicate, Spec)
    ->  true
    ;   \+ '$get_predicate_attribute'(M:Head, defined, 1),
        of_library(Head, Spec)
    ),
    name_arguments(Spec, _, Specs).

parameters(Parameters, _) :-
    var(Parameters),
    !,
    fail.
parameters(_/Parameters, Count) :-
    !,
    parameters(Parameters, Count).
parameters(Parameters, Count) :-
    is_list(Parameters),
    length(Parameters, Count).

%   of_library(+Head, -Spec) is semidet
%
%   Head is that of a meta-predicate of a library that is loaded when it is called.

of_library(Head, Spec) :-
    name_arity(Head, Name, Arity),
    name_arity(Spec, Name, Arity),
    library_meta(Spec),
    !.

library_meta(maplist(1,?)).
library_meta(maplist(2,?,?)).
library_meta(maplist(3,?,?,?)).
library_meta(maplist(4,?,?,?,?)).
library_meta(maplist(5,?,?,?,?,?)).
library_meta(maplist(6,?,?,?,?,?,?)).
library_meta(foldl(3,+,+,-)).
library_meta(foldl(4,+,+,+,-)).
library_meta(foldl(5,+,+,+,+,-)).
library_meta(foldl(6,+,+,+,+,+,-)).
library_meta(foldr(3,+,+,-)).
library_meta(scanl(3,+,+,-)).
library_meta(scanl(4,+,+,+,-)).
library_meta(scanl(5,+,+,+,+,-)).
library_meta(scanl(6,+,+,+,+,+,-)).
library_meta(include(1,+,-)).
library_meta(exclude(1,+,-)).
library_meta(partition(1,+,-,-)).
library_meta(partition(2,+,-,-,-)).
library_meta(convlist(2,+,-)).
library_meta(foreach(0,0)).
library_meta(aggregate(?,^,-)).
library_meta(aggregate(?,?,^,-)).
library_meta(aggregate_all(?,0,-)).
library_meta(aggregate_all(?,?,0,-)).
library_meta(predsort(3,+,-)).
library_meta(map_list_to_pairs(2,+,-)).
library_meta(max_member(2,-,+)).
library_meta(min_member(2,-,+)).
library_meta(map_assoc(1,?)).
library_meta(map_assoc(2,?,?)).
library_meta(mapargs(2,?,?)).
library_meta(mapsubterms(2,?,?)).
library_meta(foldsubterms(3,+,+,-)).
library_meta(foldsubterms(4,+,?,+,-)).
library_meta(rb_map(?,1)).
library_meta(rb_map(+,2,-)).
library_meta(rb_fold(3,+,+,-)).
library_meta(distinct(0)).
library_meta(distinct(?,0)).
library_meta(limit(+,0)).
library_meta(offset(+,0)).
library_meta(call_nth(0,?)).
library_meta(order_by(+,0)).
library_meta(group_by(?,?,0,-)).
library_meta(time(0)).
library_meta(call_time(0,-)).
library_meta(call_time(0,-,-)).
library_meta(call_with_time_limit(+,0)).
library_meta(call_with_time_limit(+,0,?)).
library_meta(concurrent_maplist(1,+)).
library_meta(concurrent_maplist(2,?,?)).
library_meta(concurrent_maplist(3,?,?,?)).
library_meta(concurrent_forall(0,0)).
library_meta(concurrent_forall(0,0,+)).
library_meta(concurrent_and(0,0)).
library_meta(concurrent_and(0,0,+)).
library_meta(phrase_from_file(//,+)).
library_meta(phrase_from_file(//,+,+)).
library_meta(phrase_from_stream(//,+)).
library_meta(intercept(0,?,0)).
library_meta(intercept(0,?,1,?)).
library_meta(intercept_all(?,0,?,-)).
library_meta(in_temporary_module(?,0,0)).
library_meta(with_output_to(?,0,+)).
library_meta(assertion(0)).
library_meta(when(+,0)).
