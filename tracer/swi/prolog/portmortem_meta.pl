:- module(portmortem_meta,
          [ runs_arguments/3,           % ?Goal, -Specs, ?Use
            meta_arguments/4            % +Goal, +Extra, +Module, -Specs
          ]).

/** <module> Which arguments are goals

Specs are those of meta_predicate/1.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).

%!  runs_arguments(?Goal, -Specs, ?Use) is semidet.
%
%   The arguments of Goal that are 0 in Specs are goals that it calls with the variables of the
%   clause, and nothing else. Use is `ports` if it cuts all of what they leave, and catches nothing:
%   then they can have ports. Else it is `counting`.

runs_arguments(Goal, Specs, Use) :-
    callable(Goal),
    runs(Goal, Specs, Use).

runs(findall(_,_,_), [?,0,?], ports).
runs(findall(_,_,_,_), [?,0,?,?], ports).
runs(forall(_,_), [0,0], ports).
runs(aggregate_all(_,_,_), [?,0,?], ports).
runs(aggregate_all(_,_,_,_), [?,?,0,?], ports).
runs(once(_), [0], ports).
runs(ignore(_), [0], ports).
runs(call(_), [0], counting).
runs(catch(_,_,_), [0,?,0], counting).
runs(sig_atomic(_), [0], counting).
runs(bagof(_,_,_), [?,0,?], counting).
runs(setof(_,_,_), [?,0,?], counting).
runs(cost_center(_,_), [?,0], counting).

%!  meta_arguments(+Goal, +Extra, +Module, -Specs) is semidet.
%
%   What the arguments of Goal are, called with so many arguments more. No library is loaded to find
%   out.

meta_arguments(Parameters>>Lambda, Extra, _, [?,Rest]) :-
    callable(Lambda),
    !,
    parameters(Parameters, Taken),
    Rest is max(0, Extra-Taken).
meta_arguments(_/_, Extra, _, [?,Extra]) :-
    Extra > 0,
    !.
meta_arguments(Goal, Extra, M, Specs) :-
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
