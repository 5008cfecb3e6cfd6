/*  Port counter: a meta-interpreter that counts Byrd ports.

    Usage:

        swipl port_counter.pl -- FILE GOAL OUT.json [--all] [--byrd] [-- ARG ...]

    Loads FILE into module user without running its `:- initialization(_)`
    directives, proves GOAL (once, or to exhaustion with --all) by
    interpreting the clauses of the user predicates, and writes to OUT.json
    one line per user predicate that was called:

        "user:append/3": {"calls": 6, "exits": 6, "redos": 0, "fails": 0,
            "exceptions": 0, "module": "user", "name": "append", "arity": 3}

    The key quotes module and name as writeq/1 would, each by itself; the
    fields at the end are not quoted.

    ARGs become the program's `argv`.  The program's own input and output are
    left alone.  Exit status: what `swipl -g GOAL -t halt FILE` would say (0
    true, 1 false, 2 exception), or what the program gives to halt/1; 3 when
    FILE or GOAL cannot be read.  OUT.json is written in every case but 3.

    Purpose: an independent oracle for the recorder.  Nothing is wrapped and
    the engine's tracer is not used: a box is one call of box/6 below.

    What is counted
    - A *user predicate* is one whose module is not a library or system
      module and that is neither foreign nor tabled nor part of this file.
    - Calls made by clause bodies, by control constructs, call/N, and by any
      meta-predicate of the libraries or built-in: arguments that its
      meta_predicate declaration marks 0..9, ^ or // are replaced by closures
      that come back into this interpreter.  That covers findall/3, forall/2,
      catch/3, maplist/N, freeze/2, thread_create/3, engine_create/3, ...
    - `exits` counts every success of a box, the first one and those after a
      redo.  `exceptions` counts the boxes an exception leaves.
    - `redos` counts every box that is re-entered, ancestors included; a box
      that succeeds and leaves no choicepoint is closed, and cannot be redone or
      fail.  The interpreter finds clauses by clause/2, with the engine's own
      indexing, so its determinism is the engine's on all programs tried, but
      nothing promises that: compare calls and exits.
    - With --byrd every exit can be re-entered, as in Byrd's box model and in
      Debray (1988), and memory grows.

    What is not: calls the engine makes by itself (attr_unify_hook/2,
    portray/1, message hooks, prolog:message//1), tabled predicates and what
    they call, calls of undefined predicates, calls made while a file is being
    loaded.  `$`/0 is taken as a plain cut.  Programs that look at stack frames
    see those of the interpreter, or crash.
*/

:- module(port_counter, []).
:- use_module(library(lists), [append/3, member/2]).

%   Nothing that the program defines in user is to be seen from here.

:- set_module(base(system)).

:- initialization(main, main).

:- dynamic
    kind/3,                 % ?Goal, ?Module, ?Kind: cache of classify/3
    counter/2,              % ?PI, ?Keys: the flag/3 keys of a predicate
    loading/0,              % true while FILE is being loaded
    byrd/0,                 % true with --byrd
    report_to/1.            % ?OutFile, until it has been written

%   Counters are flag/3 flags: they survive backtracking and exceptions, and
%   are shared by all threads and engines.

%!  main
%
%   The command line.

main :-
    current_prolog_flag(argv, Argv),
    (   arguments(Argv, File, GoalText, Out, Options, ProgramArgs)
    ->  true
    ;   format(user_error,
               "usage: swipl port_counter.pl -- FILE GOAL OUT.json [--all] [--byrd] [-- ARG ...]~n", []),
        halt(3)
    ),
    (   memberchk(byrd, Options) -> assertz(byrd) ; true ),
    set_prolog_flag(stack_limit, 3 000 000 000),    % about 1 kB for an open box
    catch(load_program(File), E1, cannot(E1)),
    catch(term_to_goal(GoalText, Goal), E2, cannot(E2)),
    set_prolog_flag(argv, ProgramArgs),
    assertz(report_to(Out)),
    at_halt(write_report),
    run_goal(Goal, Options, Status),
    halt(Status).

arguments(Argv, File, Goal, Out, Options, ProgramArgs) :-
    (   append(Own, ['--'|ProgramArgs], Argv)
    ->  true
    ;   Own = Argv, ProgramArgs = []
    ),
    Own = [File, Goal, Out|Flags],
    option_flags(Flags, Options).

option_flags([], []).
option_flags(['--all'|T], [all|Options]) :- option_flags(T, Options).
option_flags(['--byrd'|T], [byrd|Options]) :- option_flags(T, Options).

cannot(E) :-
    print_message(error, E),
    halt(3).

load_program(File) :-
    (   exists_file(File) -> true ; throw(error(existence_error(file, File), _)) ),
    setup_call_cleanup(
        assertz(loading),
        load_files(user:File, []),
        retractall(loading)).

:- multifile system:term_expansion/2.
:- dynamic system:term_expansion/2.

system:term_expansion((:- initialization(_)), []) :- port_counter:loading.
system:term_expansion((:- initialization(_, _)), []) :- port_counter:loading.

term_to_goal(Text, Goal) :-
    term_string(Goal, Text, [module(user)]).

run_goal(Goal, Options, Status) :-
    (   memberchk(all, Options) -> Count = all ; Count = once ),
    catch(( run_goal_(Count, Goal) -> Status = 0 ; Status = 1 ),
          E,
          ( Status = 2, print_message(error, unhandled_exception(E)) )).

run_goal_(once, Goal) :- once('$run'(user, Goal)).
run_goal_(all, Goal)  :- forall('$run'(user, Goal), true).

%!  '$run'(+Module, :Goal, ...)
%
%   Prove Goal, with the extra arguments added, in the context of Module.
%   These are the closures handed to library and built-in meta-predicates.
%   A cut in Goal is local to it.

'$run'(M, G) :- call_goal(G, M).
'$run'(M, G, A) :- add_args(G, [A], G1), call_goal(G1, M).
'$run'(M, G, A, B) :- add_args(G, [A,B], G1), call_goal(G1, M).
'$run'(M, G, A, B, C) :- add_args(G, [A,B,C], G1), call_goal(G1, M).
'$run'(M, G, A, B, C, D) :- add_args(G, [A,B,C,D], G1), call_goal(G1, M).
'$run'(M, G, A, B, C, D, E) :- add_args(G, [A,B,C,D,E], G1), call_goal(G1, M).
'$run'(M, G, A, B, C, D, E, F) :- add_args(G, [A,B,C,D,E,F], G1), call_goal(G1, M).
'$run'(M, G, A, B, C, D, E, F, H) :- add_args(G, [A,B,C,D,E,F,H], G1), call_goal(G1, M).

%!  '$run_dcg'(+Module, :Body, ?List, ?Rest)
%
%   The same for an argument declared //.

'$run_dcg'(M, Body, S0, S) :-
    dcg_translate_rule(('$dcg' --> Body), ('$dcg'(S0, S) :- G)),
    call_goal(G, M).

add_args(G, _, _) :- var(G), !, throw(error(instantiation_error, _)).
add_args(M:G, Extra, M:G1) :- !, add_args(G, Extra, G1).
add_args(G, Extra, G1) :-
    (   ( callable(G) ; G == [] )         % [](X) can be called
    ->  compound_name_arguments_(G, Name, Args0),
        append(Args0, Extra, Args),
        compound_name_arguments(G1, Name, Args)
    ;   throw(error(type_error(callable, G), _))
    ).

compound_name_arguments_(G, Name, Args) :-
    (   atomic(G) -> Name = G, Args = [] ; compound_name_arguments(G, Name, Args) ).

%!  call_goal(:Goal, +Context)
%
%   call/1: Goal becomes a body of its own.

call_goal(G, M) :-
    check_body(G),
    prolog_current_choice(B),
    body(G, M, M, B).

%   call/1 compiles its argument and so refuses a malformed conjunction as a
%   whole, before running any of it.

check_body(G) :- var(G), !, throw(error(instantiation_error, _)).
check_body(G) :-
    (   control(G), \+ proper_body(G)
    ->  throw(error(type_error(callable, G), _))
    ;   true
    ).

control((_,_)).
control((_;_)).
control((_->_)).
control((_*->_)).
control(\+_).

proper_body(G) :- var(G), !.
proper_body(_:G) :- !, proper_body(G).
proper_body((A,B)) :- !, proper_body(A), proper_body(B).
proper_body((A;B)) :- !, proper_body(A), proper_body(B).
proper_body((A->B)) :- !, proper_body(A), proper_body(B).
proper_body((A*->B)) :- !, proper_body(A), proper_body(B).
proper_body(\+A) :- !, proper_body(A).
proper_body(G) :- callable(G).

%!  body(+Body, +Lookup, +Context, +Choice)
%
%   Prove a clause body.  Lookup is the module in which its goals are
%   resolved, Context the module given to transparent predicates (the two
%   differ in the clauses of module_transparent predicates only), Choice the
%   choicepoint to which a cut goes back.

body(G, _, CM, _) :- var(G), !, call_goal(G, CM).
body((P,Q), M, CM, B) :- !, body(P, M, CM, B), body(Q, M, CM, B).
body(!, _, _, B) :- !, prolog_cut_to(B).
body(true, _, _, _) :- !.
body((P;Q), M, CM, B) :- !, disjunction(P, Q, M, CM, B).
body((P->Q), M, CM, B) :- !, ( condition(P, M, CM) -> body(Q, M, CM, B) ).
body((P*->Q), M, CM, B) :- !, condition(P, M, CM), body(Q, M, CM, B).
body(\+P, M, CM, _) :- !, \+ condition(P, M, CM).
body(M:G, _, CM, B) :- !, qualified(M, G, CM, B).
body(@(G, CM0), M, CM, B) :- !, at(G, CM0, M, CM, B).
body($, _, _, B) :- !, prolog_cut_to(B).
body($(P), M, CM, _) :- !, deterministic(P, M, CM).
body(call(G), _, CM, _) :- !, call_goal(G, CM).
body(call(G,A), _, CM, _) :- !, '$run'(CM, G, A).
body(call(G,A,B), _, CM, _) :- !, '$run'(CM, G, A, B).
body(call(G,A,B,C), _, CM, _) :- !, '$run'(CM, G, A, B, C).
body(once(G), _, CM, _) :- !, once(call_goal(G, CM)).
body(A = B, _, _, _) :- !, A = B.
body(A is B, _, _, _) :- !, A is B.
body(A < B, _, _, _) :- !, A < B.
body(A > B, _, _, _) :- !, A > B.
body(A =< B, _, _, _) :- !, A =< B.
body(A >= B, _, _, _) :- !, A >= B.
body(A =:= B, _, _, _) :- !, A =:= B.
body(A =\= B, _, _, _) :- !, A =\= B.
body(A == B, _, _, _) :- !, A == B.
body(G, M, CM, _) :-
    resolve(G, M, Kind),
    goal(Kind, G, M, CM).

disjunction(P, Q, M, CM, B) :- var(P), !, ( body(P, M, CM, B) ; body(Q, M, CM, B) ).
disjunction((C->P), Q, M, CM, B) :- !,
    ( condition(C, M, CM) -> body(P, M, CM, B) ; body(Q, M, CM, B) ).
disjunction((C*->P), Q, M, CM, B) :- !,
    ( condition(C, M, CM) *-> body(P, M, CM, B) ; body(Q, M, CM, B) ).
disjunction(P, Q, M, CM, B) :-
    ( body(P, M, CM, B) ; body(Q, M, CM, B) ).

%   A cut in a condition is local to the condition.

condition(G, M, CM) :-
    prolog_current_choice(B),
    body(G, M, CM, B).

%   M:Body: the cut goes through, as it does in a compiled clause.

qualified(M, G, CM, B) :-
    (   atom(M)
    ->  body(G, M, M, B)
    ;   call_native(M:G, CM)          % lets the engine find the error
    ).

at(G, CM0, M, CM, _) :-
    (   atom(CM0), callable(G)
    ->  strip_module(M:G, M1, G1),
        prolog_current_choice(B),
        body(G1, M1, CM0, B)
    ;   call_native(@(G, CM0), CM)
    ).

deterministic(G, M, CM) :-
    shown(M, G, Culprit),
    prolog_current_choice(B0),
    (   call_goal(G, CM)
    *-> prolog_current_choice(B1),
        (   same_choice(B0, B1)
        ->  true
        ;   throw(error(determinism_error(Culprit, det, nondet, goal), _))
        )
    ;   throw(error(determinism_error(Culprit, det, fail, goal), _))
    ).

%   With --byrd everything leaves choicepoints.

same_choice(B, B) :- !.
same_choice(_, _) :- byrd.

%   Errors of the engine name the predicates of user without their module.

shown(user, Term, Term) :- !.
shown(M, Term, M:Term).

%!  resolve(+Goal, +Module, -Kind)
%
%   What Goal is, seen from Module.  An undefined predicate is not
%   remembered: it may come to be.

resolve(G, M, Kind) :- kind(G, M, Kind0), !, Kind = Kind0.
resolve(G, M, Kind) :-
    (   callable(G) -> true ; throw(error(type_error(callable, G), _)) ),
    with_mutex(port_counter, classify_once(G, M, Kind)).

classify_once(G, M, Kind) :- kind(G, M, Kind0), !, Kind = Kind0.
classify_once(G, M, Kind) :-
    functor(G, Name, Arity, _),
    functor(H, Name, Arity),
    classify(H, M, Kind),
    (   Kind == undefined -> true ; assertz(kind(H, M, Kind)) ).

classify(H, M, undefined) :-
    \+ predicate_property(M:H, defined), !.        % autoloads
classify(H, M, meta(Spec)) :-
    takes_goals(H, M, Spec), !.
classify(main, M, library_main) :-
    predicate_property(M:main, implementation_module(prolog_main)), !.
classify(H, M, redefining) :-
    functor(H, Name, _, _),
    redefines(Name),
    predicate_property(M:H, implementation_module(DM)),
    \+ user_predicate(DM:H), !.
classify(H, M, Kind) :-
    predicate_property(M:H, implementation_module(DM)),
    (   user_predicate(DM:H)
    ->  user_kind(DM:H, Kind)
    ;   predicate_property(M:H, meta_predicate(Spec)),
        Spec =.. [_|Args],
        member(A, Args),
        goal_argument(A)
    ->  Kind = meta(Spec)
    ;   Kind = native
    ).

%   After these, what has been remembered may be wrong.

redefines(Name) :-
    memberchk(Name, [ abolish, load_files, consult, '[|]', ensure_loaded, use_module,
                      reexport, make, import, import_module, dynamic, table,
                      module_transparent, meta_predicate, redefine_system_predicate ]).

%!  takes_goals(+Head, +Module, -Spec)
%
%   Predicates that call goals although their declaration does not say so.

takes_goals(H, M, Spec) :-
    (   predicate_property(M:H, built_in)
    ->  Where = built_in
    ;   predicate_property(M:H, implementation_module(Where))
    ),
    functor(H, Name, Arity),
    special_meta(Where, Name, Arity, ArgSpec),
    Spec =.. [Name|ArgSpec].

special_meta(yall, >>, Arity, [?, 0|Rest]) :-
    Arity >= 2, N is Arity-2, length(Rest, N), all_any(Rest).
special_meta(yall, /, Arity, [?, 0|Rest]) :-
    Arity >= 2, N is Arity-2, length(Rest, N), all_any(Rest).
special_meta(built_in, apply, 2, [0, +]).
special_meta(built_in, on_signal, 3, [+, handler, handler]).
special_meta(built_in, on_signal, 4, [+, handler, handler]).
special_meta(thread, concurrent, 3, [+, goals, +]).
special_meta(thread, first_solution, 3, [-, goals, +]).

all_any([]).
all_any([?|T]) :- all_any(T).

goal_argument(A) :- integer(A), !.
goal_argument(^).
goal_argument(//).

user_predicate(DM:H) :-
    DM \== port_counter,
    \+ ( module_property(DM, class(Class)), memberchk(Class, [system, library]) ),
    \+ predicate_property(DM:H, foreign),
    \+ predicate_property(DM:H, tabled(_)).

user_kind(DM:H, user(DM, Mode, Keys)) :-
    functor(H, Name, Arity),
    keys(DM:Name/Arity, Keys),
    (   predicate_property(DM:H, meta_predicate(Spec))
    ->  Mode = meta(Spec)
    ;   predicate_property(DM:H, transparent)
    ->  Mode = transparent
    ;   neck(DM:H, Neck),
        (   predicate_property(DM:H, det)
        ->  shown(DM, Name/Arity, PI),
            Mode = det(PI, Neck)
        ;   Mode = Neck
        )
    ).

neck(Head, Neck) :-
    (   predicate_property(Head, ssu) -> Neck = ssu ; Neck = plain ).

keys(PI, Keys) :- counter(PI, Keys), !.
keys(PI, Keys) :-
    flag('$port_counter', N, N+1),
    findall(Key,
            ( member(Port, [call, exit, redo, fail, exception]),
              atomic_list_concat(['$port_counter', N, Port], ' ', Key)
            ),
            KeyList),
    Keys =.. [keys|KeyList],
    assertz(counter(PI, Keys)).

%!  goal(+Kind, +Goal, +Lookup, +Context)
%
%   Prove a goal that is not a control construct.

goal(user(DM, Mode, Keys), G, _, CM) :- user_goal(Mode, G, DM, CM, Keys).
goal(native, G, M, CM)               :- native(G, M, CM).
goal(undefined, G, M, CM)            :- native(G, M, CM).
goal(redefining, G, M, CM)           :-
    call_cleanup(native(G, M, CM), retractall(kind(_, _, user(_, _, _)))).
goal(library_main, _, _, CM)         :-     % library(main): main/0
    current_prolog_flag(argv, Argv),
    body(main(Argv), CM, CM, _).
goal(meta(Spec), G, M, CM)           :-
    closures(Spec, G, CM, G1),
    native(G1, M, CM).

native(G, M, CM) :- M == CM, !, M:G.
native(G, M, CM) :- @(M:G, CM).

call_native(G, CM) :- CM:G.

user_goal(plain, G, DM, _, Keys) :- box(Keys, plain, G, DM, DM).
user_goal(ssu, G, DM, _, Keys)   :- box(Keys, ssu, G, DM, DM).
user_goal(det(PI, Mode), G, DM, _, Keys) :- box(Keys, det(PI, Mode), G, DM, DM).
user_goal(transparent, G, DM, CM, Keys) :- box(Keys, plain, G, DM, CM).
user_goal(meta(Spec), G, DM, CM, Keys) :-
    qualify(Spec, G, CM, G1),
    box(Keys, plain, G1, DM, DM).

%!  box(+Keys, +Mode, +Goal, +Module, +Context)
%
%   One Byrd box.  A box that succeeds without leaving a choicepoint loses
%   its fail port, so that deterministic programs run in bounded space.

box(Keys, Mode, G, M, CM) :-
    arg(1, Keys, Call), flag(Call, NC, NC+1),
    (   prolog_current_choice(B0),
        catch(clauses(Mode, G, M, CM), E, leave(Keys, E)),
        prolog_current_choice(B1),
        arg(2, Keys, Exit), flag(Exit, NE, NE+1),
        (   B0 == B1, \+ byrd
        ->  !
        ;   true
        ;   arg(3, Keys, Redo), flag(Redo, NR, NR+1),
            fail
        )
    ;   arg(4, Keys, Fail), flag(Fail, NF, NF+1),
        fail
    ).

leave(Keys, E) :-
    arg(5, Keys, Exception), flag(Exception, N, N+1),
    throw(E).

clauses(plain, G, M, CM) :-
    prolog_current_choice(B),
    clause(M:G, Body),
    body(Body, M, CM, B).
clauses(ssu, G, M, CM) :-
    ssu_clauses(G, M, CM).
clauses(det(PI, Mode), G, M, CM) :-
    prolog_current_choice(B0),
    (   clauses(Mode, G, M, CM)
    *-> prolog_current_choice(B1),
        (   same_choice(B0, B1)
        ->  true
        ;   throw(error(determinism_error(PI, det, nondet, property), _))
        )
    ;   throw(error(determinism_error(PI, det, fail, property), _))
    ).

%   Single sided unification: the head must subsume the goal, and the clause
%   is committed to when head and guard have succeeded.

ssu_clauses(G, M, CM) :-
    prolog_current_choice(B),
    functor(G, Name, Arity, _),
    functor(H, Name, Arity),
    (   rule(M:H, Rule),
        ssu_parts(Rule, H1, Guard, Body),
        subsumes_term(H1, G),
        H1 = G,
        condition(Guard, M, CM)
    ->  body(Body, M, CM, B)
    ;   shown(M, G, Culprit),
        throw(error(existence_error(matching_rule, Culprit), _))
    ).

ssu_parts((?=>(H0, Body)), H, Guard, Body) :- !, ssu_head(H0, H, Guard).
ssu_parts((H0 => Body), H, Guard, Body) :- !, ssu_head(H0, H, Guard).
ssu_parts((H :- Body), H, true, Body) :- !.
ssu_parts(H, H, true, true).

ssu_head((H, Guard), H, Guard) :- !.
ssu_head(H, H, true).

%!  closures(+Spec, +Goal0, +Context, -Goal)
%
%   Replace the goal arguments of a library meta-predicate by closures that
%   come back here.

closures(Spec, G0, CM, G) :-
    functor(G0, Name, Arity, _),
    functor(G, Name, Arity),
    closures(1, Arity, Spec, G0, CM, G).

closures(I, Arity, _, _, _, _) :- I > Arity, !.
closures(I, Arity, Spec, G0, CM, G) :-
    arg(I, Spec, S),
    arg(I, G0, A0),
    arg(I, G, A),
    closure(S, A0, CM, A),
    I1 is I+1,
    closures(I1, Arity, Spec, G0, CM, G).

closure(S, A0, CM, A) :- integer(S), !, wrap(A0, CM, A).
closure(^, A0, CM, A) :- !, wrap_caret(A0, CM, A).
closure(//, A0, CM, A) :- !, wrap_dcg(A0, CM, A).
closure(goals, A0, CM, A) :- is_list(A0), !, wrap_list(A0, CM, A).
closure(handler, A0, CM, A) :- !, wrap_handler(A0, CM, A).
closure(_, A, _, A).

%   A non-callable goal is left to the predicate, which has its own way to
%   complain.  A closure is not wrapped again.

wrap(G, CM, A) :-
    strip_module(CM:G, M, P),
    (   var(P)
    ->  A = G
    ;   \+ callable(P), P \== []
    ->  A = G
    ;   is_closure(P)
    ->  A = G
    ;   A = port_counter:'$run'(M, P)
    ).

is_closure(P) :- functor(P, Name, _, _), memberchk(Name, ['$run', '$run_dcg']).

wrap_caret(G, _, G) :- var(G), !.
wrap_caret(V^G0, CM, V^G) :- !, wrap_caret(G0, CM, G).
wrap_caret(M:G0, CM, M:G) :- nonvar(G0), G0 = (V^G1), atom(M), !,
    G = (V^G2),
    wrap_caret(M:G1, CM, G2).
wrap_caret(G, CM, A) :- wrap(G, CM, A).

wrap_dcg(G, CM, A) :-
    strip_module(CM:G, M, P),
    (   callable(P), P \== [], P \= [_|_], \+ is_closure(P)
    ->  A = port_counter:'$run_dcg'(M, P)
    ;   A = G
    ).

wrap_list([], _, []).
wrap_list([G|T], CM, [A|AT]) :- wrap(G, CM, A), wrap_list(T, CM, AT).

%   A signal handler must be the name of a predicate.

wrap_handler(H, _, H) :- var(H), !.
wrap_handler(H, CM, A) :-
    strip_module(CM:H, M, P),
    (   \+ atom(P)
    ->  A = H
    ;   memberchk(P, [default, ignore, debug, throw])
    ->  A = H
    ;   format(atom(Name), '$handler ~w:~w', [M, P]),
        Head =.. [Name, Signal],
        (   predicate_property(Head, defined)
        ->  true
        ;   assertz((Head :- '$run'(M, P, Signal)))
        ),
        A = port_counter:Name
    ).

%!  qualify(+Spec, +Goal0, +Context, -Goal)
%
%   Arguments of a user meta-predicate, as its clauses see them.

qualify(Spec, G0, CM, G) :-
    compound_name_arguments(G0, Name, Args0),
    compound_name_arguments(Spec, _, Specs),
    qualify_args(Specs, Args0, CM, Args),
    compound_name_arguments(G, Name, Args).

qualify_args([], [], _, []).
qualify_args([S|ST], [A0|AT0], CM, [A|AT]) :-
    (   qualifies(S)
    ->  strip_module(CM:A0, M, P), A = M:P
    ;   A = A0
    ),
    qualify_args(ST, AT0, CM, AT).

qualifies(S) :- integer(S), !.
qualifies(:).
qualifies(^).
qualifies(//).

%!  write_report
%
%   Write OUT.json, once.

write_report :-
    retract(report_to(File)), !,
    findall(Text-row(PI, Counts), predicate_counts(PI, Text, Counts), Rows0),
    sort(Rows0, Rows),
    setup_call_cleanup(
        open(File, write, Out, [encoding(utf8)]),
        write_rows(Out, Rows),
        close(Out)).
write_report.

predicate_counts(PI, Text, Counts) :-
    counter(PI, Keys),
    Keys =.. [_|KeyList],
    current_values(KeyList, Counts),
    Counts = [Calls|_],
    Calls > 0,
    indicator_text(PI, Text).

current_values([], []).
current_values([Key|KT], [N|NT]) :- flag(Key, N, N), current_values(KT, NT).

%   Module and name are quoted each by itself.

indicator_text(M:Name/Arity, Text) :-
    format(string(Text), '~q:~q/~d', [M, Name, Arity]).

write_rows(Out, Rows) :-
    format(Out, '{', []),
    write_rows(Rows, '', Out),
    format(Out, '~n}~n', []).

write_rows([], _, _).
write_rows([Text-row(M:Name/Arity, [C,E,R,F,X])|T], Separator, Out) :-
    format(Out, '~w~n  ', [Separator]),
    json_string(Out, Text),
    format(Out, ': {"calls": ~d, "exits": ~d, "redos": ~d, "fails": ~d, "exceptions": ~d, ',
           [C, E, R, F, X]),
    format(Out, '"module": ', []), json_string(Out, M),
    format(Out, ', "name": ', []), json_string(Out, Name),
    format(Out, ', "arity": ~d}', [Arity]),
    write_rows(T, ',', Out).

json_string(Out, Text) :-
    put_char(Out, '"'),
    string_codes(Text, Codes),
    json_codes(Codes, Out),
    put_char(Out, '"').

json_codes([], _).
json_codes([C|T], Out) :-
    (   C < 0x20 -> format(Out, '\\u~|~`0t~16r~4+', [C])
    ;   memberchk(C, `"\\`) -> format(Out, '\\~c', [C])
    ;   put_code(Out, C)
    ),
    json_codes(T, Out).
