:- module(portmortem_layout, [goal_ports_work/0]).

/** <module> Find out where the engine keeps frames and choicepoints

Both recorders stand on that: see `layout.rs`.
*/

:- set_module(class(library)).
% With -O the clauses that are looked at would be other ones.
:- set_prolog_flag(optimise, false).

:- dynamic ports_work/1.        % Boolean: what was found out

%!  goal_ports_work is semidet.
%
%   The library knows where this version of the engine keeps its choicepoints.

goal_ports_work :-
    ports_work(Answer),
    !,
    Answer == true.
goal_ports_work :-
    (   looked(3),
        ignore(portmortem:'$look_pending'),
        portmortem:'$layout_known',
        test
    ->  assertz(ports_work(true))
    ;   assertz(ports_work(false)),
        fail
    ).

%   Look in states that differ: the newest choicepoint is one of the clause that asks, of its
%   caller, of
%   another predicate, and of a foreign one.

looked(0) :-
    !.
looked(N) :-
    (   look
    ;   true
    ),
    look,
    two(_),
    look,
    between(1, 2, _),
    look,
    N1 is N-1,
    looked(N1),
    !.

two(1).
two(2).

look :-
    (   asked
    ;   true
    ).
look :-
    asked.

asked :-
    prolog_current_frame(Frame),
    prolog_current_choice(Choice),
    prolog_choice_attribute(Choice, parent, Parent),
    prolog_choice_attribute(Choice, frame, ChoiceFrame),
    portmortem:'$look'(Frame, Choice, Parent, ChoiceFrame),
    true.

%   The ports tell what leaves a choicepoint from what does not.

test :-
    leaves(one(_), false),
    leaves(two(_), true),
    leaves(( two(_), ! ), false),
    leaves(between(1, 2, _), true),
    \+ leaves(fail, _).

one(1).

leaves(Goal, Leaves) :-
    (   Goal, ( '$pm_exit', !, Left = false ; Left = true )
    ;   '$pm_fail'
    ),
    !,
    Left == Leaves.
