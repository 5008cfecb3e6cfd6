/*  Trap: a program that looks at the stack: prolog_current_frame/1,
    prolog_frame_attribute/3 (parent, goal, parent_goal), prolog_stack_property,
    get_prolog_backtrace/2, b_setval in a parent, deterministic/1.

    A recorder that wraps predicates adds frames, so distances may differ; what
    is printed here (which of the program's own goals are on the stack, and in
    which order) must not.
*/

:- initialization(main, main).
:- use_module(library(prolog_stack)).

main :-
    outer(1),
    (   inside(outer_loop) -> writeln(yes) ; writeln(no) ),
    outer_loop,
    backtrace_of(3),
    argument_of_parent.

outer(X) :- middle(X), true.
middle(X) :- inner(X), true.

inner(_) :-
    prolog_current_frame(F),
    own_goals(F, Goals),
    writeln(Goals),
    true.

%   The program's own predicates on the stack, innermost first.

own_goals(F, Goals) :-
    (   prolog_frame_attribute(F, predicate_indicator, PI)
    ->  true
    ;   PI = none
    ),
    (   prolog_frame_attribute(F, parent, P)
    ->  own_goals(P, Goals0)
    ;   Goals0 = []
    ),
    (   own(PI)
    ->  Goals = [PI|Goals0]
    ;   Goals = Goals0
    ).

own(inner/1).
own(middle/1).
own(outer/1).
own(main/0).

outer_loop :- once(between(1, 3, _)), ( inside(outer_loop) -> writeln(yes) ; writeln(no) ), true.

inside(Goal) :-
    prolog_current_frame(F),
    prolog_frame_attribute(F, parent_goal, Goal).

backtrace_of(0) :- !,
    get_prolog_backtrace(50, Frames),
    findall(PI, ( member(Frame, Frames), frame_predicate(Frame, PI) ), PIs0),
    include(mine, PIs0, PIs),
    length(PIs, N),
    writeln(frames(N)).
backtrace_of(N) :- N1 is N-1, backtrace_of(N1), true.

frame_predicate(Frame, PI) :-
    prolog_stack_frame_property(Frame, predicate(PI)).

mine(PI) :- ( PI = _:backtrace_of/1 -> true ; PI = backtrace_of/1 ).

argument_of_parent :- holder(secret(42)).

holder(X) :- finder, writeln(X), true.

finder :-
    prolog_current_frame(F),
    prolog_frame_attribute(F, parent_goal, holder(X)),
    writeln(found(X)).
