:- module(portmortem_terms,
          [ name_arity/3,               % ?Term, ?Name, ?Arity
            name_arguments/3            % ?Term, ?Name, ?Arguments
          ]).

/** <module> Take terms of the program apart

functor/3 and (=..)/2 raise an error for a compound without arguments, which is a goal and a head
like any other. The recorder takes terms apart with these predicates only.
*/

:- set_module(class(library)).

%!  name_arity(?Term, ?Name, ?Arity) is det.
%
%   As functor/3, also for a compound without arguments.

name_arity(Term, Name, Arity) :-
    compound(Term),
    !,
    compound_name_arity(Term, Name, Arity).
name_arity(Term, Name, Arity) :-
    functor(Term, Name, Arity).

%!  name_arguments(?Term, ?Name, ?Arguments) is det.
%
%   As (=..)/2, also for a compound without arguments.

name_arguments(Term, Name, Arguments) :-
    compound(Term),
    !,
    compound_name_arguments(Term, Name, Arguments).
name_arguments(Term, Name, Arguments) :-
    Term =.. [Name|Arguments].
