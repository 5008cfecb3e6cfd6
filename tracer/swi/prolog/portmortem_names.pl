:- module(portmortem_names,
          [ copy_name/3,                % +Name, +N, -CopyName
            counted_name/3,             % +Name, +N, -CopyName
            copied_name/2,              % +CopyName, -Name
            more_arguments/2,           % +CopyName, -More
            wrapper_name/1,             % +Name
            added_name/1,               % +Name
            own_name/1,                 % +Name
            starts_with/2               % +Name, +Prefix
          ]).

/** <module> Names of the predicates that recording with ports adds
*/

:- set_module(class(library)).

%!  copy_name(+Name, +N, -CopyName) is det.
%!  copied_name(+CopyName, -Name) is semidet.
%
%   The name of the N-th copy of a predicate, and back.

copy_name(Name, N, CopyName) :-
    atomic_list_concat(['$pm', N, $, Name], CopyName).

%!  counted_name(+Name, +N, -CopyName) is det.
%
%   As copy_name/3, for a copy that counts symbolic costs. It has more arguments.

counted_name(Name, N, CopyName) :-
    atomic_list_concat(['$pm', N, c, $, Name], CopyName).

%!  more_arguments(+CopyName, -More) is semidet.
%
%   The last More arguments are not the program's.

more_arguments(CopyName, 2) :-
    starts_with(CopyName, '$pm'),
    sub_atom(CopyName, Dollar, 1, _, $),
    Dollar > 0,
    !,
    Last is Dollar-1,
    sub_atom(CopyName, Last, 1, _, c).

copied_name(CopyName, Name) :-
    starts_with(CopyName, '$pm'),
    sub_atom(CopyName, Before, 1, _, $),
    Before > 0,
    !,
    After is Before+1,
    sub_atom(CopyName, After, _, 0, Name).

%!  wrapper_name(+Name) is semidet.
%
%   The engine calls the wrapper's frame so.

wrapper_name(Name) :-
    starts_with(Name, '$wrap$').

%!  added_name(+Name) is semidet.
%
%   Predicates whose frames the program would not have.

added_name(Name) :-
    wrapper_name(Name),
    !.
added_name(Name) :-
    starts_with(Name, '$pm_argument_'),
    !.
added_name(Name) :-
    starts_with(Name, '$pm_goal_').

%!  own_name(+Name) is semidet.
%
%   The same, or the name of a copy.

own_name(Name) :-
    added_name(Name),
    !.
own_name(Name) :-
    copied_name(Name, _).

%!  starts_with(+Name, +Prefix) is semidet.

starts_with(Name, Prefix) :-
    atom(Name),
    Name \== [],
    sub_atom(Name, 0, _, _, Prefix).
