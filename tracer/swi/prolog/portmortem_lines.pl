:- module(portmortem_lines,
          [ note_clause/2,              % +Clause, +Layout
            forget_lines/1,             % +File
            goal_lines/4,               % +Ref, +Body, -File, -Lines
            control/1,                  % ?Goal
            holds_unknown_goal/1,       % ?Goal
            runs_arguments/2,           % +Goal, -Places
            nth_arguments/3             % +Places, +Term, -Arguments
          ]).

/** <module> The lines of goals

The loader knows where each goal of a clause stands, and forgets it. It is noted
while a file is read, as the number of characters before the goal. Lines are made of
that when a clause gets ports at its goals.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).

:- dynamic noted/4.             % Line, File, Head, Goals: of the clause that begins there

%!  note_clause(+Clause, +Layout) is det.
%
%   A clause of the file that is being read is about to be stored.

note_clause(Clause, Layout) :-
    nonvar(Layout),
    plain_clause(Clause, Layout, Head, Body, BodyLayout),
    source_location(File, Line),
    goals(Body, BodyLayout, Goals, []),
    !,
    name_arity(Head, Name, Arity),
    assertz(noted(Line, File, Name/Arity, Goals)).
note_clause(_, _).

%   plain_clause(+Clause, +Layout, -Head, -Body, -BodyLayout) is semidet
%
%   Clause is a rule, with this head and body.

plain_clause(Clause, _, _, _, _) :-
    var(Clause),
    !,
    fail.
plain_clause((Head0 :- Body), term_position(_, _, _, _, [_, Layout]), Head, Body, Layout) :-
    unqualified(Head0, Head).
plain_clause((Head0 => Body), term_position(_, _, _, _, [_, Layout]), Head, Body, Layout) :-
    nonvar(Head0),
    (   Head0 = (Head1, _)
    ->  unqualified(Head1, Head)
    ;   unqualified(Head0, Head)
    ).

unqualified(Head0, Head) :-
    nonvar(Head0),
    (   Head0 = _:Head1
    ->  unqualified(Head1, Head)
    ;   callable(Head0),
        Head = Head0
    ).

%   goals(+Body, ?Layout, ?Goals, ?Rest) is det
%
%   The goals in the order in which they are written, each as Functor-Characters, -1 if expansion
%   has lost the place.

goals(Body, Layout, Goals, Rest) :-
    nonvar(Layout),
    Layout = parentheses_term_position(_, _, Inner),
    !,
    goals(Body, Inner, Goals, Rest).
goals(Body, Layout, Goals, Rest) :-
    nonvar(Body),
    control(Body),
    !,
    name_arguments(Body, _, Parts),
    layouts(Layout, Parts, Layouts),
    all_goals(Parts, Layouts, Goals, Rest).
goals(Goal, Layout, [Functor-Start|Goals], Rest) :-
    (   compound(Layout),
        arg(1, Layout, Start0),
        integer(Start0)
    ->  Start = Start0
    ;   Start = -1
    ),
    functor_of(Goal, Functor),
    (   runs_arguments(Goal, Places)
    ->  name_arguments(Goal, _, Arguments),
        layouts(Layout, Arguments, Layouts),
        nth_arguments(Places, Goal, Parts),
        name_arguments(Positions, layouts, Layouts),
        nth_arguments(Places, Positions, PartLayouts),
        all_goals(Parts, PartLayouts, Goals, Rest)
    ;   Goals = Rest
    ).

%   layouts(?Layout, +Arguments, -Layouts) is det
%
%   Those of arguments, which are not known if the term that was there had another shape.

layouts(Layout, Arguments, Layouts) :-
    (   nonvar(Layout),
        Layout = term_position(_, _, _, _, Layouts0),
        is_list(Layouts0),
        length(Layouts0, Count),
        length(Arguments, Count)
    ->  Layouts = Layouts0
    ;   length(Arguments, Count),
        length(Layouts, Count)
    ).

%!  nth_arguments(+Places, +Term, -Arguments) is semidet.
%
%   The arguments of Term at these places.

nth_arguments([], _, []).
nth_arguments([Place|Places], Term, [Argument|Arguments]) :-
    arg(Place, Term, Argument),
    nth_arguments(Places, Term, Arguments).

all_goals([], [], Goals, Goals).
all_goals([Part|Parts], [Layout|Layouts], Goals, Rest) :-
    goals(Part, Layout, Goals, Goals1),
    all_goals(Parts, Layouts, Goals1, Rest).

functor_of(Goal, Functor) :-
    (   callable(Goal)
    ->  name_arity(Goal, Name, Arity),
        Functor = Name/Arity
    ;   Functor = variable
    ).

%!  control(?Goal) is semidet.
%
%   The parts of Goal are goals of the same clause.

control((_,_)).
control((_;_)).
control((_->_)).
control((_*->_)).
control(\+_).

%!  holds_unknown_goal(?Goal) is semidet.
%
%   Goal, or a part of it that is a goal of the same clause, is a variable, or qualified with one.
%   What it means to call Goal is not known
%   before the variable is bound: a cut, for example, would cut the goals beside it.

holds_unknown_goal(Goal) :-
    var(Goal),
    !.
holds_unknown_goal(M:Goal) :-
    !,
    (   var(M)
    ->  true
    ;   holds_unknown_goal(Goal)
    ).
holds_unknown_goal(_^Goal) :-
    !,
    holds_unknown_goal(Goal).
holds_unknown_goal(Goal) :-
    control(Goal),
    arg(_, Goal, Part),
    holds_unknown_goal(Part),
    !.

%!  runs_arguments(+Goal, -Places) is semidet.
%
%   The arguments of Goal at these places are goals that it calls with the variables of the clause,
%   and nothing else. Of what they
%   leave, it cuts all. It catches nothing.

runs_arguments(Goal, Places) :-
    callable(Goal),
    calls_arguments(Goal, Places).

calls_arguments(findall(_, _, _), [2]).
calls_arguments(findall(_, _, _, _), [2]).
calls_arguments(forall(_, _), [1,2]).
calls_arguments(aggregate_all(_, _, _), [2]).
calls_arguments(aggregate_all(_, _, _, _), [3]).
calls_arguments(once(_), [1]).
calls_arguments(ignore(_), [1]).

%!  forget_lines(+File) is det.
%
%   The file is about to be read again.

forget_lines(File) :-
    retractall(noted(_, File, _, _)),
    portmortem:'$forget_lines'(File).

%!  goal_lines(+Ref, +Body, -File, -Lines) is semidet.
%
%   Where the goals of Body are: Lines has a number for each, 0 where it is not known. Body is that
%   of the clause Ref, decompiled.
%   Fails for a clause that is in no file.

goal_lines(Ref, Body, File, Lines) :-
    clause_property(Ref, file(File)),
    clause_property(Ref, line_count(Line)),
    body_goals(Body, Functors, []),
    (   clause_functor(Ref, Functor),
        noted(Line, File, Functor, Goals),
        same_goals(Goals, Functors, Starts)
    ->  portmortem:'$lines'(File, Starts, Lines)
    ;   unknown(Functors, Lines)
    ).

clause_functor(Ref, Name/Arity) :-
    nth_clause(Head, _, Ref),
    unqualified(Head, Plain),
    name_arity(Plain, Name, Arity).

body_goals(Goal, Goals, Rest) :-
    nonvar(Goal),
    control(Goal),
    !,
    name_arguments(Goal, _, Parts),
    all_body_goals(Parts, Goals, Rest).
body_goals(Goal, [Functor|Goals], Rest) :-
    functor_of(Goal, Functor),
    (   runs_arguments(Goal, Places)
    ->  nth_arguments(Places, Goal, Parts),
        all_body_goals(Parts, Goals, Rest)
    ;   Goals = Rest
    ).

all_body_goals([], Goals, Goals).
all_body_goals([Part|Parts], Goals, Rest) :-
    body_goals(Part, Goals, Goals1),
    all_body_goals(Parts, Goals1, Rest).

%   The compiler moves unifications at the beginning of a body into the head, and a body may be
%   `true` that
%   had only those. The other goals are the last ones.

same_goals(Goals, Functors, Starts) :-
    same_functors(Goals, Functors, Starts),
    !.
same_goals([(=)/2-_|Goals], Functors, Starts) :-
    same_goals(Goals, Functors, Starts).

same_functors([], [], []).
same_functors([Functor-Start|Goals], [Functor|Functors], [Start|Starts]) :-
    same_functors(Goals, Functors, Starts).

unknown([], []).
unknown([_|Functors], [0|Lines]) :-
    unknown(Functors, Lines).
