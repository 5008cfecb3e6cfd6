:- module(portmortem_drivers,
          [ after_body/1,               % -After
            after_first/3,              % +Next, +After0, -After
            after_branch/3,             % +Else, +After0, -After
            after_condition/3,          % +Else, +After0, -After
            after_condition/2,          % +After0, -After
            after_negated/2,            % +After0, -After
            then_fails/3,               % +After, +Module, :Recorded
            always/2                    % ?Goal, ?What
          ]).

/** <module> Driver loops: goals after which their clause fails

```
all :- member(X, [1,2,3]), work(X), write(X), nl, fail.
```

What such a loop has done is collected, not thrown away. The event of a goal names its site, and the
site says whether the clause fails
after the goal: then, if backtracking comes next, nothing but that `fail` can have caused it.

After is what comes after a goal: after(Next, Instead). Next is what runs once the goal has
succeeded; Instead is a list of what runs if
the branches that the goal is in fail, and each of these must begin with a port, or fail. Otherwise
a test there might be what
has failed in the end. Both are next(Goal, Next), `end` of the body, which is a port, `unknown`, or
negation(Rest, Instead): the end of a negated goal, where \+ fails, with what comes after the \+.
*/

:- set_module(class(library)).
:- use_module(portmortem_walk, [control/1]).

%!  after_body(-After) is det.
%
%   After the last goal of a body.

after_body(after(end, [])).

%!  after_first(+Next, +After0, -After) is det.
%
%   After A in (A,Next).

after_first(Next, after(Rest, Instead), after(next(Next, Rest), Instead)).

%!  after_branch(+Else, +After0, -After) is det.
%
%   After A in (A;Else).

after_branch(Else, after(Rest, Instead), after(Rest, [next(Else, Rest)|Instead])).

%!  after_condition(+Else, +After0, -After) is det.
%
%   After C in (C->_;Else).

after_condition(Else, after(Rest, Instead), after(unknown, [next(Else, Rest)|Instead])).

%!  after_condition(+After0, -After) is det.
%
%   After C in (C->_).

after_condition(after(_, Instead), after(unknown, Instead)).

%!  after_negated(+After0, -After) is det.
%
%   After G in \+G.

after_negated(after(Rest, Instead), after(negation(Rest, Instead), [Rest|Instead])).

:- meta_predicate then_fails(+, +, 1).

%!  then_fails(+After, +Module, :Recorded) is semidet.
%
%   The clause fails after a goal, and nothing in between can fail by itself. call(Recorded, Goal)
%   is true if calls of Goal have ports.

then_fails(after(Next, Instead0), M, Recorded) :-
    first(Next, M, Recorded, First0),
    fails(First0, Instead0, Instead, M, Recorded),
    \+ ( '$member'(Other, Instead),
         first(Other, M, Recorded, First),
         \+ is_certain(First, Recorded) ).

%   fails(+First, +Instead0, -Instead, +Module, :Recorded) is semidet.
%
%   The clause fails. A goal that makes a \+ fail may be a test that rejects; but what fails in any
%   case is a loop, as \+ ( G, \+ T ), which asks G for all its solutions. The branches inside of
%   the \+ are gone then.

fails(fails, Instead, Instead, _, _).
fails(negation(Rest, Instead), _, Instead, M, Recorded) :-
    first(Rest, M, Recorded, First),
    is_failure(First).

is_failure(fails).
is_failure(negation(_, _)).

is_certain(fails, _).
is_certain(negation(_, _), _).
is_certain(port, _).
is_certain(goal(Goal), Recorded) :-
    call(Recorded, Goal).

%   first(+Next, +Module, :Recorded, -First) is det
%
%   What happens first: `fails`, `port`, `unknown`, negation(Rest, Instead), or goal(Goal), which
%   may do anything.

first(end, _, _, port).
first(unknown, _, _, unknown).
first(negation(Rest, Instead), _, _, negation(Rest, Instead)).
first(next(Goal, Next), M, Recorded, First) :-
    first_of_goals(Goal, 64, M, Recorded, First0),
    (   First0 == succeeds
    ->  first(Next, M, Recorded, First)
    ;   First = First0
    ).

%   No more than Most goals that succeed are looked at: else a clause of many goals would take time
%   in proportion to their square.

first_of_goals(Goal, Most, M, Recorded, First) :-
    nonvar(Goal),
    Goal = (A,B),
    !,
    first_of_goals(A, Most, M, Recorded, First0),
    (   First0 \== succeeds
    ->  First = First0
    ;   Most =:= 0
    ->  First = unknown
    ;   Most1 is Most-1,
        first_of_goals(B, Most1, M, Recorded, First)
    ).
first_of_goals(Goal, _, M, Recorded, First) :-
    first_of_goal(Goal, M, Recorded, First).

first_of_goal(Goal, _, _, First) :-
    var(Goal),
    !,
    First = unknown.
first_of_goal(Goal, _, _, First) :-
    in_body(Goal, First0),
    !,
    First = First0.
first_of_goal(Goal, M, Recorded, First) :-
    always(Goal, First0),
    '$get_predicate_attribute'(M:Goal, system, 1),
    \+ call(Recorded, Goal),
    !,
    First = First0.
first_of_goal(Goal, _, _, goal(Goal)).

in_body(fail, fails).
in_body(true, succeeds).
in_body(!, succeeds).
in_body(Goal, unknown) :-
    control(Goal).

%!  always(?Goal, ?What) is nondet.
%
%   Built-in predicates that fail always or never: What is `fails` or `succeeds`.

always(false, fails).
always(nl, succeeds).
always(nl(_), succeeds).
always(write(_), succeeds).
always(write(_,_), succeeds).
always(writeln(_), succeeds).
always(writeln(_,_), succeeds).
always(writeq(_), succeeds).
always(writeq(_,_), succeeds).
always(print(_), succeeds).
always(print(_,_), succeeds).
always(write_canonical(_), succeeds).
always(format(_), succeeds).
always(format(_,_), succeeds).
always(put_char(_), succeeds).
always(put_char(_,_), succeeds).
always(tab(_), succeeds).
always(tab(_,_), succeeds).
always(flush_output, succeeds).
always(flush_output(_), succeeds).
always(assert(_), succeeds).
always(asserta(_), succeeds).
always(assertz(_), succeeds).
always(retractall(_), succeeds).
always(nb_setval(_,_), succeeds).
always(b_setval(_,_), succeeds).
