:- module(portmortem_boundary,
          [ is_boundary/3,              % +Home, +Name, +Arity
            frame_sensitive/1,          % ?Name
            no_box/2                    % ?Name, ?Arity
          ]).

/** <module> Built-in and library predicates that recorded clauses call directly

A goal that calls such a predicate gets a box, and what the predicate calls in turn does not:
its time is the time of the goal. Some goals must not have one, because they look at
or change the frames and choicepoints of their caller. Others stay part of their caller: they take
constant
time, less than a box costs, and leave no choicepoint.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms, [name_arity/3]).
:- use_module(portmortem_engine, [own_module/1]).
:- use_module(portmortem_internal, [is_internal/3]).

%!  is_boundary(+Home, +Name, +Arity) is semidet.
%
%   Direct calls of the predicate Name/Arity, which module Home defines, get boxes although it is
%   not recorded.

is_boundary(Home, Name, Arity) :-
    atom(Name),
    \+ is_internal(Home, Name, Arity),
    \+ ( Home == system, frame_sensitive(Name) ),
    \+ sees_its_caller(Name, Arity),
    \+ constant_time(Name, Arity),
    name_arity(Head, Name, Arity),
    \+ '$get_predicate_attribute'(Home:Head, tabled, _),
    (   is_there(Home, Head)
    ->  module_property(Home, class(Class)),
        of_the_system(Class),
        \+ own_module(Home)
    ;   true                            % a library that will be loaded for it
    ).

%   The predicate is defined, or may be in the rest of its module's file.

is_there(M, Head) :-
    (   '$get_predicate_attribute'(M:Head, defined, 1)
    ->  true
    ;   module_property(M, file(_))
    ).

of_the_system(system).
of_the_system(library).

%!  no_box(?Name, ?Arity) is nondet.
%
%   Calls of such a predicate never get boxes. Arity is unbound if it does not matter.

no_box(Name, _)     :- frame_sensitive(Name).
no_box(Name, Arity) :- sees_its_caller(Name, Arity).
no_box(Name, Arity) :- constant_time(Name, Arity).

%!  frame_sensitive(?Name) is nondet.
%
%   Built-in control structures, and what looks at the frames or choicepoints of its caller.

frame_sensitive(prolog_current_choice).
frame_sensitive(prolog_current_frame).
frame_sensitive(prolog_frame_attribute).
frame_sensitive(prolog_choice_attribute).
frame_sensitive(prolog_skip_frame).
frame_sensitive(prolog_skip_level).
frame_sensitive(prolog_cut_to).
frame_sensitive(prolog_alert_signal).
frame_sensitive(deterministic).
frame_sensitive(halt).
frame_sensitive(shift).
frame_sensitive(shift_for_copy).
frame_sensitive(reset).
frame_sensitive(call_continuation).
frame_sensitive(trim_stacks).
frame_sensitive(abort).
frame_sensitive(!).
frame_sensitive(',').
frame_sensitive(;).
frame_sensitive('|').
frame_sensitive(->).
frame_sensitive(*->).
frame_sensitive(:).
frame_sensitive(=).
frame_sensitive(==).
frame_sensitive(true).
frame_sensitive(fail).
frame_sensitive(false).

%   What a wrapper does not disturb, but ports beside the goal would.

sees_its_caller(tnot, 1).
sees_its_caller(not_exists, 1).
sees_its_caller(undefined, 0).
sees_its_caller(start_tabling, _).
sees_its_caller(abolish_all_tables, 0).
sees_its_caller(context_module, 1).
sees_its_caller(strip_module, 3).
sees_its_caller(prolog_load_context, 2).
sees_its_caller(source_location, 2).
sees_its_caller(trace, 0).
sees_its_caller(notrace, 0).
sees_its_caller(tracing, 0).
sees_its_caller(debug, 0).
sees_its_caller(nodebug, 0).
sees_its_caller(spy, 1).
sees_its_caller(nospy, 1).
sees_its_caller(call_with_depth_limit, 3).
sees_its_caller(call_with_inference_limit, 3).
sees_its_caller(pm_record, 2).

%   Also what ends the program or the clause.

constant_time(\=, 2).
constant_time(\==, 2).
constant_time(@<, 2).
constant_time(@>, 2).
constant_time(@=<, 2).
constant_time(@>=, 2).
constant_time(compare, 3).
constant_time(?=, 2).
constant_time(is, 2).
constant_time(<, 2).
constant_time(>, 2).
constant_time(=<, 2).
constant_time(>=, 2).
constant_time(=:=, 2).
constant_time(=\=, 2).
constant_time(succ, 2).
constant_time(plus, 3).
constant_time(var, 1).
constant_time(nonvar, 1).
constant_time(atom, 1).
constant_time(atomic, 1).
constant_time(compound, 1).
constant_time(callable, 1).
constant_time(number, 1).
constant_time(integer, 1).
constant_time(float, 1).
constant_time(rational, 1).
constant_time(rational, 3).
constant_time(string, 1).
constant_time(blob, 2).
constant_time(is_dict, 1).
constant_time(is_dict, 2).
constant_time(is_stream, 1).
constant_time(attvar, 1).
constant_time(functor, 3).
constant_time(functor, 4).
constant_time(arg, 3).
constant_time(=.., 2).
constant_time(compound_name_arity, 3).
constant_time(compound_name_arguments, 3).
constant_time(setarg, 3).
constant_time(nb_setarg, 3).
constant_time(nb_linkarg, 3).
constant_time(b_getval, 2).
constant_time(b_setval, 2).
constant_time(nb_getval, 2).
constant_time(nb_setval, 2).
constant_time(nb_linkval, 2).
constant_time(get_attr, 3).
constant_time(put_attr, 3).
constant_time(del_attr, 2).
constant_time(get_attrs, 2).
constant_time(put_attrs, 2).
constant_time(char_code, 2).
constant_time(flag, 3).
constant_time(get_time, 1).
constant_time(statistics, 2).
constant_time(nl, 0).
constant_time(otherwise, 0).
constant_time(@, 2).
constant_time(\+, 1).
constant_time(throw, 1).
