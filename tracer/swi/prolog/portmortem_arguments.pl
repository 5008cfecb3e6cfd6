:- module(portmortem_arguments,
          [ clause_goals/5              % +Clause, +Layout, +Module, -Head, -Goals
          ]).

/** <module> The goals of a clause, those in arguments of meta-predicates among them

A stub that sees a call come out of `maplist/3` or `catch/3` knows the goal of the program that
called that, and looks for
the call among the goals in its arguments. Which arguments are goals is what `meta_predicate/1`
says.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_lines, [control/1, plain_clause/5]).

%!  clause_goals(+Clause, +Layout, +Module, -Head, -Goals) is semidet.
%
%   Head is that of Clause, which is loaded into Module. Goals has six elements for each goal: name,
%   arity, the number of characters of
%   the file before it, its number in the clause in the order in which goals are written, the number
%   of the goal in whose
%   argument it stands, and which argument that is. The last two are 0 for a goal of the clause
%   itself. An argument that is a
%   goal which is not known yet has arity -1.

clause_goals(Clause, Layout, M, Head, Goals) :-
    (   plain_clause(Clause, Layout, Head0, Body, BodyLayout)
    ->  Head = Head0,
        (   body(Body, BodyLayout, in(M, 0, 0), 1, _, Goals, [])
        ->  true
        ;   Goals = []
        )
    ;   nonvar(Clause),
        Clause \= (:- _),
        Clause \= (?- _),
        Head = Clause,
        Goals = []
    ).

%   body(+Body, +Layout, +In, +N0, -N, -Goals, ?Rest) is semidet
%
%   Body is compiled: its parts are goals. In says in which module, goal and argument.

body(_, Layout, _, _, _, _, _) :-
    var(Layout),
    !,
    fail.
body(Body, parentheses_term_position(_, _, Layout), In, N0, N, Goals, Rest) :-
    !,
    body(Body, Layout, In, N0, N, Goals, Rest).
body(Body, term_position(_, _, _, _, Layouts), In, N0, N, Goals, Rest) :-
    nonvar(Body),
    control(Body),
    !,
    name_arguments(Body, _, Parts),
    bodies(Parts, Layouts, In, N0, N, Goals, Rest).
body(Body, Layout, In, N0, N, Goals, Rest) :-
    (   var(Body)
    ->  goal(call(Body), Layout, Layout, 0, In, N0, N, Goals, Rest)
    ;   closure(Body, Layout, 0, In, N0, N, Goals, Rest)
    ).

bodies([], [], _, N, N, Goals, Goals).
bodies([Part|Parts], [Layout|Layouts], In, N0, N, Goals, Rest) :-
    body(Part, Layout, In, N0, N1, Goals, Goals1),
    bodies(Parts, Layouts, In, N1, N, Goals1, Rest).

%   closure(+Closure, +Layout, +Extra, +In, +N0, -N, -Goals, ?Rest) is semidet
%
%   Closure is called with so many arguments more.

closure(_, Layout, _, _, _, _, _, _) :-
    var(Layout),                % expansion has lost the place
    !,
    fail.
closure(Closure, parentheses_term_position(_, _, Layout), Extra, In, N0, N, Goals, Rest) :-
    !,
    closure(Closure, Layout, Extra, In, N0, N, Goals, Rest).
closure(M:Closure, term_position(_, _, _, _, [_,Layout]), Extra, In0, N0, N, Goals, Rest) :-
    atom(M),
    callable(Closure),
    !,
    setarg_in(In0, M, In),
    closure(Closure, Layout, Extra, In, N0, N, Goals, Rest).
closure(Closure, Layout, Extra, In, N0, N, Goals, Rest) :-
    goal(Closure, Layout, Layout, Extra, In, N0, N, Goals, Rest).

setarg_in(in(_, Parent, Argument), M, in(M, Parent, Argument)).

%   goal(+Goal, +Place, +Layout, +Extra, +In, +N0, -N, -Goals, ?Rest) is semidet

goal(Goal, Place, Layout, Extra, in(M, Parent, Argument), N0, N, Goals, Rest) :-
    callable(Goal),
    start(Place, Start),
    name_arity(Goal, Name, Arity0),
    Arity is Arity0+Extra,
    Goals = [Name,Arity,Start,N0,Parent,Argument|Inner],
    N1 is N0+1,
    (   Layout = term_position(_, _, _, _, Layouts),
        meta(Goal, Extra, M, Specs)
    ->  name_arguments(Goal, _, Arguments),
        arguments(Specs, Arguments, Layouts, in(M, N0, 1), N1, N, Inner, Rest)
    ;   Goal = call(Unknown),
        var(Unknown)
    ->  N = N1,
        unknown(N0, 1, Inner, Rest)
    ;   N = N1,
        Inner = Rest
    ).

start(Start-_, Start) :-
    !,
    integer(Start).
start(Layout, Start) :-
    compound(Layout),
    arg(1, Layout, Start),
    integer(Start).

unknown(Parent, Argument, ['',-1,0,0,Parent,Argument|Rest], Rest).

%   arguments(+Specs, +Arguments, +Layouts, +In, +N0, -N, -Goals, ?Rest) is det

arguments([Spec|Specs], [Argument|Arguments], [Layout|Layouts], In0, N0, N, Goals, Rest) :-
    !,
    (   argument(Spec, Argument, Layout, In0, N0, N1, Goals, Goals1)
    ->  true
    ;   N1 = N0,
        Goals1 = Goals
    ),
    In0 = in(M, Parent, Place0),
    Place is Place0+1,
    arguments(Specs, Arguments, Layouts, in(M, Parent, Place), N1, N, Goals1, Rest).
arguments(_, _, _, _, N, N, Goals, Goals).

argument(Spec, Argument, _, in(_, Parent, Place), N, N, Goals, Rest) :-
    is_goal(Spec),
    unknown_goal(Argument),
    !,
    unknown(Parent, Place, Goals, Rest).
argument(0, Argument, Layout, In, N0, N, Goals, Rest) :-
    body(Argument, Layout, In, N0, N, Goals, Rest).
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

quantified(_, Layout, _, _, _, _, _) :-
    var(Layout),
    !,
    fail.
quantified(Goal, parentheses_term_position(_, _, Layout), In, N0, N, Goals, Rest) :-
    !,
    quantified(Goal, Layout, In, N0, N, Goals, Rest).
quantified(_^Goal, term_position(_, _, _, _, [_,Layout]), in(M, Parent, Place), N0, N, Goals, Rest) :-
    !,
    (   unknown_goal(Goal)
    ->  N = N0,
        unknown(Parent, Place, Goals, Rest)
    ;   quantified(Goal, Layout, in(M, Parent, Place), N0, N, Goals, Rest)
    ).
quantified(Goal, Layout, In, N0, N, Goals, Rest) :-
    body(Goal, Layout, In, N0, N, Goals, Rest).

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
