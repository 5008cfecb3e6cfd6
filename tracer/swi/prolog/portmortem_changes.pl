:- module(portmortem_changes, [watch_changes/0]).

/** <module> Notice predicates that change while a program runs

A copy does what its predicate did when it was copied. Whatever changes a predicate that may have a
copy ends in one of
the built-ins that changes/3 lists: dynamic/1 and det/1 in '$set_predicate_attribute'/3, for
example, and table/1
in '$c_wrap_predicate'/5. After a call of one, the predicate is called itself.

`tests/programs/builtins/effects.pl` says of each built-in predicate of the engine whether it
changes predicates, and what it ends in.
What changes dynamic predicates only is not listed here, because those have no copies. abolish/1 and
loading have hooks of their own
(portmortem_hooks.pl).
*/

:- set_module(class(library)).
:- use_module(portmortem_terms, [name_arity/3]).
:- use_module(portmortem_engine).
:- use_module(portmortem_wrap).
:- use_module(portmortem_copies, [copy_was_called/1]).

%!  watch_changes is det.
%
%   From now on a predicate that changes is called itself.

watch_changes :-
    forall(( changes(Head, Argument, What),
             home(Head, Home) ),
           watch(Home:Head, Argument, What)),
    keep_wrappers.

%   changes(?Head, ?Argument, ?What)
%
%   A call of Head changes what Argument says. What is `predicates`, heads or indicators;
%   `debugged`, likewise; `modes`, heads;
%   `clause`, that is added to its predicate; wrapper(Name), around a predicate; `reference`, to a
%   clause; `all` predicates, or
%   `some`, and which is not known.

changes('$set_predicate_attribute'(P, _, _),  P,         predicates).
changes(meta_predicate(Heads),                Heads,     modes).
changes(redefine_system_predicate(P),         P,         predicates).
changes('$flush_predicate'(P),                P,         predicates).
changes('$spy'(P),                            P,         debugged).
changes('$vm_assert'(P, _, _),                P,         predicates).
changes('$predefine_foreign'(P),              P,         predicates).
changes('$c_wrap_predicate'(P,Name,_,_,_),    P,         wrapper(Name)).
changes('$record_clause'(Clause, _, _),       Clause,    clause).
changes('$record_clause'(Clause, _, _, _),    Clause,    clause).
changes('$break_at'(Clause, _, _),            Clause,    reference).
changes('$cov_start',                         [],        all).
changes('$qlf_load'(_, _),                    [],        some).
changes(call_shared_object_function(_, _),    [],        some).

%   The module that defines it, in this version of the engine.

home(Head, Home) :-
    (   '$get_predicate_attribute'(system:Head, imported, Home0)
    ->  Home = Home0
    ;   '$c_current_predicate'(_, system:Head),
        '$get_predicate_attribute'(system:Head, defined, 1),
        Home = system
    ).

%   strip_module/3 is not qualified: it finds the module that the built-in was called from.

watch(P, Argument, debugged) :-         % before it switches the debugger on
    !,
    wrap_in_place(P, portmortem_change, Wrapped,
                  ( strip_module(Argument, M, Plain),
                    portmortem_engine:noting(portmortem_changes:changed(predicates, M, Plain)),
                    Wrapped )).
watch(P, Argument, What) :-
    wrap_in_place(P, portmortem_change, Wrapped,
                  ( Wrapped,
                    strip_module(Argument, M, Plain),
                    portmortem_engine:noting(portmortem_changes:changed(What, M, Plain)) )).

:- public changed/3.

changed(predicates, M, Spec) :-
    changed(Spec, M).
changed(wrapper(Name), M, Head) :-
    (   own_wrapper(Name)
    ->  true
    ;   changed(Head, M)
    ).
changed(modes, M, Heads) :-
    changed_modes(Heads, M).
changed(clause, _, Clause) :-
    '$current_source_module'(M),
    (   clause_head(Clause, M, Head)
    ->  call_itself(Head, loading)
    ;   true
    ).
changed(reference, _, Clause) :-
    (   nth_clause(Head, _, Clause)
    ->  changed(Head, user)
    ;   true
    ).
changed(all, _, _) :-
    forall(copied(M, Head), call_itself(M:Head, always)).
changed(some, _, _) :-
    forall(( copied(M, Head), \+ is_as_copied(M:Head) ),
           call_itself(M:Head, loading)).

%   changed(+Spec, +Module) is det
%
%   Of what may be a head or an indicator, both are meant.

changed(Spec, _) :-
    var(Spec),
    !.
changed([], _) :-
    !.
changed([Spec|Specs], M) :-
    !,
    changed(Spec, M),
    changed(Specs, M).
changed((A,B), M) :-
    !,
    changed(A, M),
    changed(B, M).
changed(M:Spec, _) :-
    !,
    (   atom(M)
    ->  changed(Spec, M)
    ;   true
    ).
changed(Spec, M) :-
    (   Spec = Name/Arity,
        atom(Name),
        integer(Arity),
        Arity >= 0
    ->  name_arity(Head, Name, Arity),
        call_itself(M:Head, always)
    ;   true
    ),
    (   callable(Spec)
    ->  call_itself(M:Spec, always)
    ;   true
    ).

%   The engine goes on calling a predicate without qualifying its arguments if it has been called
%   before. So does
%   the copy; the predicate itself has not been called.

changed_modes(Heads, _) :-
    var(Heads),
    !.
changed_modes(M:Heads, _) :-
    !,
    changed_modes(Heads, M).
changed_modes((A,B), M) :-
    !,
    changed_modes(A, M),
    changed_modes(B, M).
changed_modes(Head, M) :-
    (   callable(Head),
        name_arity(Head, Name, Arity),
        name_arity(General, Name, Arity),
        \+ copy_was_called(M:General)
    ->  call_itself(M:General, always)
    ;   true
    ).

clause_head(Clause0, M0, M:Head) :-
    strip_module(M0:Clause0, M1, Clause),
    nonvar(Clause),
    (   left_side(Clause, Left)
    ->  true
    ;   Left = Clause
    ),
    strip_module(M1:Left, M, Head),
    callable(Head).

left_side((Left :- _), Left).
left_side(?=>(Left, _), Left).
left_side((Left => _), Head) :-
    nonvar(Left),
    (   Left = (Head, _)
    ->  true
    ;   Head = Left
    ).

                 /*******************************
                 *        OUR WRAPPERS          *
                 *******************************/

%   unwrap_predicate/2 without a name takes the newest wrapper off, which may be ours.

keep_wrappers :-
    wrap_in_place(system:unwrap_predicate(Spec, Name), portmortem_change, Wrapped,
                  ( (   var(Name)
                    ->  strip_module(Spec, M, Plain),
                        portmortem_changes:newest_wrapper(Plain, M, Name)
                    ;   true
                    ),
                    Wrapped )).

:- public newest_wrapper/3.

newest_wrapper(Spec, M, Name) :-
    (   Spec = PredicateName/Arity
    ->  name_arity(Head, PredicateName, Arity)
    ;   Head = Spec
    ),
    wrapper_of_program(M:Head, Name),
    !.
