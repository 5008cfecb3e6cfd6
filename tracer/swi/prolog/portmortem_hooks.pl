:- module(portmortem_hooks, [install_hooks/0]).

/** <module> Notice predicates that appear while a program runs

New predicates come from loading files and from assert. Before a directive, an
initialization goal or any other code of a file runs, all predicates known by then
are wrapped.
*/

:- use_module(portmortem_terms, [name_arity/3]).
:- use_module(portmortem_engine).
:- use_module(portmortem_queue).
:- use_module(portmortem_wrap).
:- use_module(portmortem_selection, [is_instrumented/1]).
:- use_module(portmortem_lines).
:- use_module(portmortem_disguise).
:- use_module(portmortem_changes).

:- set_module(class(library)).

%!  install_hooks is det.
%
%   Wrap new predicates of the program whenever they can be called for the first time.

:- dynamic installed/0.

install_hooks :-
    installed,
    !.
install_hooks :-
    assertz(installed),
    install_disguise,
    install_change_hooks,
    continuation_hook,
    reset_hook,
    link_hook,
    abolish_hook,
    watch_changes,
    hook(system:'$run_initialization'(File, _), loaded(File)),
    hook(system:'$execute_directive_3'(Goal), directive(Goal)),
    hook(system:'$start_consult'(Again, _), reading(Again)),
    hook(system:'$unload_file'(Gone), unloading(Gone)),
    hook(system:'$store_clause'(Clause, Layout, _, _), storing(Clause, Layout)),
    forall('$member'(Head-Clause,
                     [ assert(C1)-C1, asserta(C2)-C2, assertz(C3)-C3,
                       assert(C4,_)-C4, asserta(C5,_)-C5, assertz(C6,_)-C6 ]),
           assert_hook(Head, Clause)).

hook(System:Head, Before) :-
    wrap_in_place(System:Head, portmortem_hook, Wrapped,
                   ( portmortem_engine:noting(portmortem_hooks:before(Before)), Wrapped )).

%   strip_module/3 is not qualified: it finds the module that assert was called from.

%   A copy must not outlive its predicate.

abolish_hook :-
    wrap_in_place(system:abolish(Spec), portmortem_hook, Wrapped,
                  ( strip_module(Spec, M, PI),
                    portmortem_engine:noting(portmortem_hooks:abolishing(M, PI)),
                    Wrapped )),
    wrap_in_place(system:abolish(Spec2, Arity2), portmortem_hook, Wrapped2,
                  ( strip_module(Spec2, M2, Name2),
                    portmortem_engine:noting(portmortem_hooks:abolishing(M2, Name2/Arity2)),
                    Wrapped2 )).

:- public abolishing/2.

abolishing(_, PI) :-
    nonvar(PI),
    PI = Name/_,
    atom(Name),
    sub_atom(Name, 0, _, _, '$pm'),     % a trial copy of ours
    !.
abolishing(M, PI) :-
    portmortem:'$forget_seen',
    (   nonvar(PI),
        PI = Name/Arity,
        atom(Name),
        integer(Arity),
        Arity >= 0
    ->  name_arity(Head, Name, Arity),
        forget_one(M:Head)
    ;   true
    ).

%   A resumed continuation runs the end of wrappers' clauses whose boxes were left.

continuation_hook :-
    wrap_in_place(system:call_continuation(_), portmortem_hook, Wrapped,
                   ( portmortem:'$resuming', Wrapped )).

%   shift/1 leaves the boxes between it and reset/3 without passing a port. Their guards would stay,
%   and a
%   goal that was deterministic would no longer be.

reset_hook :-
    wrap_in_place(system:reset(_, _, _), portmortem_hook, Wrapped,
                  ( portmortem_wrap:continuations_begin,
                    '$pm_before_reset'(Active),
                    prolog_current_choice(Before),
                    Wrapped,
                    prolog_current_choice(After),
                    (   After == Before
                    ->  true
                    ;   portmortem_engine:only_guards(After, Before)
                    ->  '$pm_after_reset'(Active),
                        prolog_cut_to(Before)
                    ;   true
                    ) )).

%   A guard's choicepoint makes the engine note bindings that it would not note without it. When
%   they are
%   undone, a term that was linked, and not copied, loses them. A copy has them for good. The
%   engine's own
%   libraries change what they have linked, and what is to be linked is not bound by predicates that
%   have guards.

link_hook :-
    wrap_in_place(system:nb_linkarg(I, Term, Value), portmortem_hook, Closure, Wrapped,
                  (   ground(Value), portmortem_hooks:called_by_program
                  ->  duplicate_term(Value, Copy),
                      call(Closure, I, Term, Copy)
                  ;   Wrapped
                  )),
    wrap_in_place(system:nb_linkval(Key, Value2), portmortem_hook, Closure2, Wrapped2,
                  (   ground(Value2), portmortem_hooks:called_by_program
                  ->  duplicate_term(Value2, Copy2),
                      call(Closure2, Key, Copy2)
                  ;   Wrapped2
                  )).

:- public called_by_program/0.

%   The nearest ancestor outside of module system is a predicate of the program's.

called_by_program :-
    as_own(( prolog_current_frame(Frame),
             calling_module(Frame, M),
             \+ module_property(M, class(library)) )).

calling_module(Frame, M) :-
    prolog_frame_attribute(Frame, parent, Parent),
    prolog_frame_attribute(Parent, predicate_indicator, PI),
    (   PI = M0:_
    ->  true
    ;   M0 = user
    ),
    (   ignored(M0)
    ->  calling_module(Parent, M)
    ;   M = M0
    ).

ignored(system).
ignored(portmortem_hooks).
ignored(portmortem_engine).

assert_hook(Head, Clause) :-
    wrap_in_place(system:Head, portmortem_hook, Wrapped,
                   ( Wrapped,
                     strip_module(Clause, M, Plain),
                     (   portmortem:'$seen'(M, Plain)
                     ->  true
                     ;   portmortem_engine:noting(portmortem_hooks:appeared(M, Plain))
                     ) )).

:- public before/1, appeared/2.

appeared(M0, Clause) :-
    (   Clause = (Head0 :- _)
    ->  true
    ;   Head0 = Clause
    ),
    strip_module(M0:Head0, M, Head),
    name_arity(Head, Name, Arity),
    name_arity(General, Name, Arity),
    wrap_one(M:General).

before(loaded(File)) :-
    file_loaded(File),
    wrap_new(loaded(File)).
before(storing(Clause, Layout)) :-
    note_clause_change(Clause),
    (   '$current_source_module'(M),
        is_instrumented(M)
    ->  note_clause(Clause, Layout)
    ;   true
    ).
before(reading(File)) :-
    forget_lines(File),
    file_changes(File).
before(unloading(File)) :-
    file_goes(File).
before(directive(Goal)) :-
    (   declaration(Goal)
    ->  true
    ;   prolog_load_context(source, File)
    ->  wrap_new(loading(File))
    ;   wrap_new(loaded)
    ).

%   Directives that call nothing of the program's.

declaration(Goal) :-
    callable(Goal),
    name_arity(Goal, Name, _),
    declares(Name).

declares(module).
declares(use_module).
declares(reexport).
declares(ensure_loaded).
declares(dynamic).
declares(discontiguous).
declares(multifile).
declares(module_transparent).
declares(meta_predicate).
declares(public).
declares(table).
declares(op).
declares(det).
declares(initialization).
declares(set_prolog_flag).
declares(style_check).
declares(license).
declares(volatile).
declares(noprofile).
declares(non_terminal).
declares(thread_local).
declares(create_prolog_flag).
declares('$set_source_module').
