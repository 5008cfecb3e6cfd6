:- module(portmortem_walk,
          [ control/1,                  % ?Goal
            body_goals/3,               % +Which, +Body, -Goals
            body_goals/5,               % +Which, +Body, ?Layout, +In, -Goals
            holds_unknown_goal/1,       % ?Goal
            is_condition/1,             % ?Goal
            map_body/5,                 % :Contexts, :Map, +Body0, +Context, -Body
            map_arguments/4,            % +Specs, :Map, +Goal0, -Goal
            first_goals/6,              % :Take, +Body, +State0, -State, -Goals, -Rest
            conjunction/2,              % +Goals, -Body
            plain_layout/2,             % ?Layout, -Plain
            layouts/3,                  % ?Plain, +Count, -Layouts
            start_end/3                 % +Place, -Start, -End
          ]).

/** <module> The goals of a body

Which goals are control structures stands here only; which arguments of others are goals, in
portmortem_meta.pl. There are two ways to walk over a body: body_goals/5 lists its goals, and
map_body/5 makes another body with the same structure.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_meta).

:- meta_predicate
    map_body(3, 3, +, +, -),
    map_arguments(+, 2, +, -),
    first_goals(3, +, +, -, -, -).

%!  control(?Goal) is semidet.
%
%   The arguments of Goal are goals of the same clause.

control(Goal) :-
    nonvar(Goal),
    structure(Goal, _, _).

%   structure(+Goal, -Parts, -Others)
%
%   Others is a list of as many variables as there are Parts.

structure((A,B), [A,B], [_,_]).
structure((A;B), [A,B], [_,_]).
structure((A->B), [A,B], [_,_]).
structure((A*->B), [A,B], [_,_]).
structure(\+A, [A], [_]).

                 /*******************************
                 *            VISIT             *
                 *******************************/

%!  body_goals(+Which, +Body, -Goals) is det.
%!  body_goals(+Which, +Body, ?Layout, +In, -Goals) is det.
%
%   Goals of Body in the order in which they are written. Which is one of
%
%     - own
%       The goals of the clause itself, and no more is said of them.
%     - ports
%       Those, and the ones in arguments that can have ports: see runs_arguments/3.
%     - meta
%       Those, and the ones in arguments that are goals as meta_predicate/1 says; all without
%       their modules.
%     - grammar
%       As `meta`, where Body is that of a grammar rule.
%
%   In is in(Module, Parent, Argument, Place): where Body stands. Parent is the number of the goal
%   in whose argument it stands, 0 if in none. Place is the layout of the smallest term around Body
%   that has one.
%
%   But for `own`, each element of Goals is goal(Goal, Extra, Layout, Number, In). Goal is called
%   with Extra arguments more. The caller binds Number, which is the Parent of others. Extra is
%   `unknown` and Number is 0 for an argument that is a goal which is not known yet.

body_goals(Which, Body, Goals) :-
    body_goals(Which, Body, _, in(user, 0, 0, nowhere), Goals).

body_goals(Which, Body, Layout, In, Goals) :-
    body(Which, Body, Layout, In, Goals, []).

body(Which, Body, Layout0, In0) -->
    { (   var(Layout0)
      ->  In = In0
      ;   within(In0, Layout0, In, Layout)
      ) },
    (   { nonvar(Body),
          (   structure(Body, Parts, Layouts)
          ->  true
          ;   Which == grammar,
              Body = (A|B),
              Parts = [A,B],
              Layouts = [_,_]
          ) }
    ->  { (   var(Layout)
          ->  true
          ;   part_layouts(Layout, Parts, Layouts)
          ) },
        bodies(Parts, Layouts, Which, In)
    ;   leaf(Which, Body, Layout, In)
    ).

bodies([Part|Parts], [Layout|Layouts], Which, In) -->
    (   { Parts == [] }
    ->  body(Which, Part, Layout, In)
    ;   body(Which, Part, Layout, In),
        bodies(Parts, Layouts, Which, In)
    ).

leaf(own, Goal, _, _) -->
    [Goal].
leaf(ports, Goal, Layout, In) -->
    [goal(Goal, 0, Layout, N, In)],
    (   { runs_arguments(Goal, Specs, ports) }
    ->  arguments(Specs, Goal, Layout, N, ports, In)
    ;   []
    ).
leaf(meta, Goal, Layout, In) -->
    (   { is_called(Goal) }
    ->  goal(call(Goal), term_position(_, _, _, _, [Layout]), 0, In)
    ;   called(Goal, Layout, 0, In)
    ).
leaf(grammar, Body, Layout, In) -->
    (   { var(Body) }
    ->  goal(phrase(Body, _, _), _, 0, In)
    ;   { Body = {Goal} }
    ->  { (   nonvar(Layout),
              Layout = brace_term_position(_, _, GoalLayout)
          ->  true
          ;   true
          ) },
        body(meta, Goal, GoalLayout, In)
    ;   { is_list(Body) ; string(Body) }
    ->  goal(_=_, _, 0, In)
    ;   { Body = [_|_] }
    ->  goal('$append'(_, _, _), _, 0, In)
    ;   { Body == ! ; Body == {} }
    ->  goal(Body, _, 0, In)
    ;   called(Body, Layout, 2, In)
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

%   called(+Closure, ?Layout, +Extra, +In)// is det
%
%   Closure is called with so many arguments more.

called(Closure, Layout, Extra, In0) -->
    (   { nonvar(Closure),
          Closure = M:Plain,
          callable(Plain) }
    ->  { (   atom(M)
          ->  In0 = in(_, Parent, Argument, Place),
              In = in(M, Parent, Argument, Place)
          ;   In = In0                  % M is a variable of the clause
          ),
          layouts(Layout, 2, [_,PlainLayout]) },
        closure(Plain, PlainLayout, Extra, In)
    ;   { callable(Closure) }
    ->  goal(Closure, Layout, Extra, In0)
    ;   []                              % nothing is known of what is no goal
    ).

closure(Closure, Layout0, Extra, In0) -->
    { within(In0, Layout0, In, Layout) },
    called(Closure, Layout, Extra, In).

goal(Goal, Layout, Extra, In) -->
    [goal(Goal, Extra, Layout, N, In)],
    (   { compound(Goal),
          In = in(M, _, _, _),
          meta_arguments(Goal, Extra, M, Specs) }
    ->  arguments(Specs, Goal, Layout, N, meta, In)
    ;   []
    ).

%   arguments(+Specs, +Goal, ?Layout, +Number, +Which, +In)// is det
%
%   The goals in arguments of Goal, which has this number.

arguments(Specs, Goal, Layout, N, Which, in(M, _, _, Place)) -->
    { name_arguments(Goal, _, Arguments),
      length(Arguments, Count),
      layouts(Layout, Count, Layouts) },
    specified(Specs, Arguments, Layouts, Which, in(M, N, 1, Place)).

specified([Spec|Specs], [Argument|Arguments], [Layout|Layouts], Which, In0) -->
    !,
    (   argument(Which, Spec, Argument, Layout, In0)
    ->  []
    ;   []
    ),
    { In0 = in(M, Parent, I0, Place),
      I is I0+1 },
    specified(Specs, Arguments, Layouts, Which, in(M, Parent, I, Place)).
specified(_, _, _, _, _) -->
    [].

argument(ports, 0, Argument, Layout, In) -->
    body(ports, Argument, Layout, In).
argument(meta, Spec, Argument, Layout, In) -->
    { is_goal(Spec) },
    (   { unknown_goal(Argument) }
    ->  unknown(Argument, In)
    ;   meta_argument(Spec, Argument, Layout, In)
    ).

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

unknown(Goal, In) -->
    [goal(Goal, unknown, _, 0, In)].

meta_argument(^, Argument, Layout, In) -->
    !,
    quantified(Argument, Layout, In).
meta_argument(//, Argument, Layout, In) -->
    !,
    { \+ is_list(Argument),
      \+ grammar_control(Argument) },
    closure(Argument, Layout, 2, In).
meta_argument(Extra, Argument, Layout, In) -->
    (   { Extra > 0 ; Argument = _:_ }
    ->  closure(Argument, Layout, Extra, In)
    ;   body(meta, Argument, Layout, In)
    ).

quantified(Goal, Layout0, In0) -->
    { within(In0, Layout0, In, Layout) },
    (   { Goal = _^Inner }
    ->  { layouts(Layout, 2, [_,InnerLayout]) },
        (   { unknown_goal(Inner) }
        ->  unknown(Inner, In)
        ;   quantified(Inner, InnerLayout, In)
        )
    ;   body(meta, Goal, Layout, In)
    ).

grammar_control(Body) :-
    control(Body).
grammar_control((_|_)).
grammar_control({_}).
grammar_control(!).
grammar_control(Body) :-
    string(Body).

%!  holds_unknown_goal(?Goal) is semidet.
%
%   Goal, or a part of it that is a goal of the same clause, is a variable, or qualified with one.
%   What it means to call Goal is not known before the variable is bound: a cut, for example, would
%   cut the goals beside it.

holds_unknown_goal(Body) :-
    body_goals(own, Body, Goals),
    '$member'(Goal, Goals),
    is_unknown(Goal),
    !.

is_unknown(Goal) :-
    var(Goal),
    !.
is_unknown(M:Goal) :-
    (   var(M)
    ->  true
    ;   holds_unknown_goal(Goal)
    ).
is_unknown(_^Goal) :-
    holds_unknown_goal(Goal).

                 /*******************************
                 *           LAYOUTS            *
                 *******************************/

%!  plain_layout(?Layout, -Plain) is det.
%
%   Plain is Layout without parentheses.

plain_layout(Layout, Plain) :-
    nonvar(Layout),
    Layout = parentheses_term_position(_, _, Inner),
    !,
    plain_layout(Inner, Plain).
plain_layout(Layout, Layout).

%!  layouts(?Plain, +Count, -Layouts) is det.
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

%   part_layouts(+Layout, +Parts, ?Layouts) is det
%
%   Those of the parts of a control structure. A grammar's `\+` is followed by a unification, which
%   has no place.

part_layouts(Layout, Parts, Layouts) :-
    (   Layout = term_position(_, _, _, _, Layouts0),
        is_list(Layouts0)
    ->  (   Layouts = Layouts0
        ->  true
        ;   Layouts0 = [First],
            Parts = [Negation,_],
            nonvar(Negation),
            Negation = (\+_)
        ->  Layouts = [First,_]
        ;   true
        )
    ;   true
    ).

%!  start_end(?Place, -Start, -End) is det.
%
%   Place is the layout of a term. Both are -1 if it is not known.

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
    (   nonvar(Layout0),
        plain_layout(Layout0, Layout),
        nonvar(Layout)
    ->  In0 = in(M, Parent, Argument, _),
        In = in(M, Parent, Argument, Layout)
    ;   In = In0
    ).

                 /*******************************
                 *             MAP              *
                 *******************************/

%!  map_body(:Contexts, :Map, +Body0, +Context, -Body) is det.
%
%   Body has the structure of Body0, with other goals: call(Map, Goal0, Context, Goal) for each.
%   call(Contexts, Control, Context, PartContexts) is true if these are the contexts of the
%   arguments of a control structure in Context. before(Goal, PartContext) puts a goal before that
%   argument; branch(PartContext) keeps what becomes of it from being a condition.

map_body(Contexts, Map, Body0, Context, Body) :-
    mapped(Body0, Context, Contexts, Map, Body).

mapped(Body0, Context, Contexts, Map, Body) :-
    nonvar(Body0),
    structure(Body0, Parts0, Parts),
    !,
    call(Contexts, Body0, Context, PartContexts),
    map_parts(Parts0, PartContexts, Contexts, Map, Parts),
    name_arity(Body0, Name, _),
    name_arguments(Body, Name, Parts).
mapped(Goal0, Context, _, Map, Goal) :-
    call(Map, Goal0, Context, Goal).

map_parts([Part0|Parts0], [Context|PartContexts], Contexts, Map, [Part|Parts]) :-
    (   Parts0 == []
    ->  map_part(Context, Part0, Contexts, Map, Part)
    ;   map_part(Context, Part0, Contexts, Map, Part),
        map_parts(Parts0, PartContexts, Contexts, Map, Parts)
    ).

map_part(before(Goal, Context), Part0, Contexts, Map, (Goal,Part)) :-
    !,
    mapped(Part0, Context, Contexts, Map, Part).
map_part(branch(Context), Part0, Contexts, Map, Part) :-
    !,
    mapped(Part0, Context, Contexts, Map, Part1),
    (   is_condition(Part1)
    ->  Part = (Part1,true)
    ;   Part = Part1
    ).
map_part(Context, Part0, Contexts, Map, Part) :-
    mapped(Part0, Context, Contexts, Map, Part).

%!  is_condition(?Goal) is semidet.
%
%   Goal is an if-then without an else branch.

is_condition(Goal) :-
    nonvar(Goal),
    ( Goal = (_->_) ; Goal = (_*->_) ),
    !.

%!  map_arguments(+Specs, :Map, +Goal0, -Goal) is det.
%
%   call(Map, Argument0, Argument) for each argument that Specs says is a goal.

map_arguments(Specs, Map, Goal0, Goal) :-
    name_arguments(Goal0, Name, Arguments0),
    map_specified(Specs, Arguments0, Map, Arguments),
    name_arguments(Goal, Name, Arguments).

map_specified([], [], _, []).
map_specified([Spec|Specs], [Argument0|Arguments0], Map, [Argument|Arguments]) :-
    (   Spec == 0
    ->  call(Map, Argument0, Argument)
    ;   Argument = Argument0
    ),
    map_specified(Specs, Arguments0, Map, Arguments).

                 /*******************************
                 *         CONJUNCTIONS         *
                 *******************************/

%!  first_goals(:Take, +Body, +State0, -State, -Goals, -Rest) is det.
%
%   Goals are those at the beginning of Body for which call(Take, Goal, State1, State2) is true.
%   Rest is `true` if there is no other one.

first_goals(Take, Body, State0, State, Goals, Rest) :-
    (   nonvar(Body),
        (   Body = (Goal,Body1)
        ->  true
        ;   Goal = Body,
            Body1 = true
        ),
        Body \== true,
        nonvar(Goal),
        call(Take, Goal, State0, State1)
    ->  Goals = [Goal|Goals1],
        first_goals(Take, Body1, State1, State, Goals1, Rest)
    ;   Goals = [],
        State = State0,
        Rest = Body
    ).

%!  conjunction(+Goals, -Body) is det.
%
%   Body is of those Goals that are not `true`. Some may be variables.

conjunction([], true).
conjunction([Goal|Goals], Body) :-
    conjunction(Goals, Body1),
    (   Goal == true
    ->  Body = Body1
    ;   Body1 == true
    ->  Body = Goal
    ;   Body = (Goal,Body1)
    ).
