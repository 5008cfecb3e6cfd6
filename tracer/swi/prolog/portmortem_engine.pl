:- module(portmortem_engine,
          [ wrap_in_place/4,            % :Head, +Name, -Wrapped, +Body
            has_wrapper/2,              % :Head, +Name
            as_own/1,                   % :Goal
            rules_can_be_wrapped/0
          ]).

/** <module> Wrapping, and what differs between versions of SWI-Prolog
*/

:- use_module(library(prolog_wrap), [wrap_predicate/4]).

:- set_module(class(library)).

%!  wrap_in_place(:Head, +Name, -Wrapped, +Body) is det.
%
%   As wrap_predicate/4, with Body resolved in the module of the predicate. In
%   9.0 that is so anyhow; from 9.1 on Body belongs to the module of the caller, and
%   a transparent predicate called through it would lose the module of *its* caller.

wrap_in_place(M:Head, Name, Wrapped, Body) :-
    @(prolog_wrap:wrap_predicate(M:Head, Name, Wrapped, Body), M).

%!  has_wrapper(:Head, +Name) is semidet.
%
%   The predicate has a wrapper of this name. Loading a predicate again while it runs takes its wrappers off.

has_wrapper(P, Name) :-
    '$wrapped_predicate'(P, Pairs),
    '$member'(Name-_, Pairs),
    !.

:- meta_predicate as_own(0).

%!  as_own(:Goal) is semidet.
%
%   Run Goal once, unrecorded: our own use of predicates that are recorded is not
%   part of the program, nor is the time it takes.

as_own(Goal) :-
    portmortem:'$own_begin',
    (   catch(Goal, Error, true)
    ->  portmortem:'$own_end',
        (   var(Error)
        ->  true
        ;   throw(Error)
        )
    ;   portmortem:'$own_end',
        fail
    ).

%!  rules_can_be_wrapped is semidet.
%
%   A predicate of rules (`=>`) whose rule fails still fails if it is wrapped. In
%   10.1.14 it raises an error: the wrapper's frame is taken for one in which no rule
%   matched.

:- dynamic
    rules_wrap/1,               % Boolean: what was found out
    probe/1.

rules_can_be_wrapped :-
    rules_wrap(Answer),
    !,
    Answer == true.
rules_can_be_wrapped :-
    retractall(probe(_)),
    assertz((probe(_) => fail)),
    compile_predicates([probe/1]),
    wrap_in_place(portmortem_engine:probe(_), portmortem, Wrapped, ( true, Wrapped, true )),
    (   catch(\+ probe(1), _, fail)
    ->  assertz(rules_wrap(true))
    ;   assertz(rules_wrap(false)),
        fail
    ).
