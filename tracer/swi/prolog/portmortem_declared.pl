:- module(portmortem_declared,
          [ leave_out/3,                % +Module, +Name, +Arity
            left_out/3,                 % ?Module, ?Name, ?Arity
            declare_center/4,           % +Module, +Name, +Arity, +Center
            declared_center/4           % ?Module, ?Name, ?Arity, ?Center
          ]).

/** <module> What the program declares of its predicates

Declarations hold for all recordings, and for both recorders. That which records is told of later
ones by
library(portmortem).
*/

:- set_module(class(library)).

:- dynamic
    left_out/3,
    declared_center/4.

%!  leave_out(+Module, +Name, +Arity) is det.
%
%   Never record this predicate.

leave_out(M, Name, Arity) :-
    (   left_out(M, Name, Arity)
    ->  true
    ;   assertz(left_out(M, Name, Arity))
    ).

%!  declare_center(+Module, +Name, +Arity, +Center) is semidet.
%
%   Every box of this predicate is in the cost centre. The first declaration counts: fails if
%   there was one.

declare_center(M, Name, Arity, Center) :-
    \+ declared_center(M, Name, Arity, _),
    assertz(declared_center(M, Name, Arity, Center)).
