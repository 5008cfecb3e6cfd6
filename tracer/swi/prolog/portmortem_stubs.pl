:- module(portmortem_stubs,
          [ stubs_work/0,
            technique/2,                % +Options, -Technique
            note_without_stubs/1,       % +Options
            start_stubs/1,              % +Options
            start_stubs_of/1,           % :Heads
            rethrow/1                   % +Error
          ]).

/** <module> Ports in the engine's own instructions

Here stands what Prolog does for it: a clause that the library knows all about, so that it finds out
how
the engine keeps clauses, frames and choicepoints; and the rules by which predicates are recorded,
because
a stub can ask Prolog nothing. See `src/stubs`.
*/

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).
% With -O the clauses that are looked at would be other ones.
:- set_prolog_flag(optimise, false).
:- use_module(portmortem_terms).
:- use_module(portmortem_engine,
              [ noting/1, own_module/1, system_file/1, beside_us/1, wrap_in_place/4,
                fills_table/1, completes_tables/1 ]).
:- use_module(portmortem_arguments, [clause_goals/5, written_goals/4]).
:- use_module(portmortem_layout).
:- use_module(portmortem_loaded).
:- use_module(portmortem_rules).
:- use_module(portmortem_declared).
:- use_module(portmortem_boundary, [no_box/2]).
:- use_module(portmortem_drivers, [always/2]).
:- use_module(portmortem_internal).

:- dynamic works/1.             % Boolean: what was found out

%!  stubs_work is semidet.
%
%   This engine can be recorded with stubs.

stubs_work :-
    works(Answer),
    !,
    Answer == true.
stubs_work :-
    (   goal_ports_work,                % which finds out some of the layout
        find_out
    ->  assertz(works(true))
    ;   assertz(works(false)),
        fail
    ).

%   The first exception that is caught makes the engine look for the label at the end of `catch/3`,
%   where a stub will be.

find_out :-
    catch(throw(portmortem), portmortem, true),
    nth_clause(learn(_, _, _, _, _), 1, Learn),
    nth_clause(sample(_, _), 1, Sample),
    clause_property(Learn, line_count(Line1)),
    clause_property(Sample, line_count(Line2)),
    counters(Learn, 0, Counters),
    findall([M,Class],
            ( '$member'(M, [system, user, portmortem_stubs]),
              module_property(M, class(Class)) ),
            Pairs),
    '$append'(Pairs, Modules),
    learn(Learn, Counters, Modules, Sample, [Line1,Line2]),
    portmortem:'$stub_sample'(Sample),
    ignore(sample([a,b,c], _)),
    portmortem:'$stubs_work',
    find_pauses,
    prove_tries.

counters(Ref, PC, [PC|PCs]) :-
    '$fetch_vm'(Ref, PC, Next, _),
    !,
    counters(Ref, Next, PCs).
counters(_, _, []).

%   The only clause of its predicate. When it calls, the newest choicepoint leads into it.

learn(Ref, Counters, Modules, Other, Lines) :-
    (   portmortem:'$stub_learn'(Ref, Counters, Modules, Other, Lines)
    ->  true
    ;   fail
    ).

%   Instructions of many kinds, and their registers are looked at.

sample(Xs, Y) :-
    '$append'(Xs, [f(Y)], Zs),
    (   Zs = [a|_]
    ->  '$member'(Z, Zs),
        Z == b
    ;   true
    ),
    \+ Zs == [],
    Y = Z,
    !,
    '$append'(_, [_], Zs).

%   Stubs read tables if they read of this trie what the engine says of it. One key is there no
%   more.

prove_tries :-
    trie_new(Trie),
    forall(between(1, 5, X), trie_insert(Trie, f(X, X), X)),
    trie_delete(Trie, f(3, 3), _),
    '$trie_property'(Trie, value_count(Values)),
    '$trie_property'(Trie, node_count(Nodes)),
    ignore(portmortem:'$stub_prove_tries'(Trie, Values, Nodes)).

%   Each of these takes some processor time, which the engine counts.

find_pauses :-
    ignore(( between(1, 8, _),
             garbage_collect,
             length(_, 20_000),
             trim_stacks,
             portmortem:'$stub_look_for_pauses' )).

%!  technique(+Options, -Technique) is det.
%
%   Technique is `stubs` if a recording with these options is made so, else `ports`.

technique(Options, stubs) :-
    wants_stubs(Options),
    stubs_work,
    !.
technique(_, ports).

wants_stubs(Options) :-
    \+ ( needs_ports(Option), memberchk(Option, Options) ).

%!  note_without_stubs(+Options) is det.
%
%   The trace says it if a recording was to be made with stubs, and cannot be.

note_without_stubs(Options) :-
    (   wants_stubs(Options)
    ->  portmortem:'$note'("recorded with ports in copies of clauses: stubs do not work in this version of SWI-Prolog")
    ;   true
    ).

%!  start_stubs(+Options) is det.
%
%   Stubs record from now on. They work, as technique/2 has found out.

start_stubs(Options) :-
    note_unread_pauses,
    install_hooks,
    findall(M, own_module(M), Own),
    portmortem:'$hide_modules'(Own),
    forall(rule(Options, Kind, A, B, C), portmortem:'$stub_rule'(Kind, A, B, C)),
    portmortem:'$stub_begin',
    forall(declared_center(M, Name, Arity, Center), portmortem:'$stub_in_center'(M, Name, Arity, Center)),
    forall(not_wanted(M, Name, Arity), portmortem:'$stub_leave_out'(M, Name, Arity)),
    forall(there_before(Options, M, Name, Arity), portmortem:'$stub_adopt'(M, Name, Arity)),
    completes_tables(System:Completes),
    name_arity(Completes, CompletesName, CompletesArity),
    portmortem:'$stub_observe'(System, CompletesName, CompletesArity, 2, 1),
    noting(note_loaded),
    (   memberchk(boundary(false), Options)
    ->  true
    ;   forall(observed(Options, M, Name, Arity, Goal, Foreign),
               portmortem:'$stub_observe'(M, Name, Arity, Goal, Foreign))
    ),
    forall('$member'(Recovery, [fail, false]),
           (   \+ call(Recovery),
               portmortem:'$stub_recovery'(system, Recovery, 0)
           )),
    catch(rethrow(portmortem), portmortem, true),
    portmortem:'$stub_recovery'(portmortem_stubs, rethrow, 1),
    catch(system:'$recover_and_rethrow'(true, portmortem), portmortem, true),
    portmortem:'$stub_recovery'(system, '$recover_and_rethrow', 2).

%!  start_stubs_of(:Heads) is semidet.
%
%   Stubs record these predicates of our own from now on, and nothing is done to the code of others.
%   What the rules say of the system holds.

:- meta_predicate start_stubs_of(:).

start_stubs_of(M:Heads) :-
    forall(system_rule([], Kind, A, B, C), portmortem:'$stub_rule'(Kind, A, B, C)),
    of_each(Heads, M, '$stub_rule'(trial)),
    portmortem:'$stub_begin',
    of_each(Heads, M, '$stub_adopt').

of_each(Heads, M, Goal) :-
    forall(( '$member'(Head, Heads),
             name_arity(Head, Name, Arity)
           ),
           call(portmortem:Goal, M, Name, Arity)).

%!  rethrow(+Error)
%
%   The recovery goal with which library(portmortem) passes on what a recorded goal has thrown.

rethrow(Error) :-
    throw(Error).

note_unread_pauses :-
    (   portmortem:'$stub_look_for_pauses'
    ->  true
    ;   portmortem:'$note'("garbage collections and stack shifts are not recorded: it was not found where the engine counts them")
    ).

needs_ports(ports(true)).
needs_ports(tail(false)).               % a frame that stays is seen: by determinism errors, for example
needs_ports(byrd(true)).
needs_ports(symbolic(true)).
needs_ports(goal_ports(false)).

%   Where goals stand is noted while a file is read.

:- dynamic installed/0.

install_hooks :-
    installed,
    !.
install_hooks :-
    assertz(installed),
    wrap_in_place(system:'$expanded_term'(_, Term, TermLayout, _, _, _, _, _, _, _), portmortem_hook, Expanding,
                  ( portmortem_engine:noting(portmortem_stubs:expanding(Term, TermLayout)), Expanding )),
    wrap_in_place(system:'$store_clause'(Clause, Layout, _, Source), portmortem_hook, Storing,
                  ( portmortem_engine:noting(portmortem_stubs:storing(Clause, Layout, Source)), Storing )),
    wrap_in_place(system:'$set_pi_attr'(PI, Key, Value), portmortem_hook, Setting,
                  ( Setting, portmortem_engine:noting(portmortem_stubs:attribute_set(PI, Key, Value)) )),
    wrap_in_place(system:'$start_consult'(Again, _), portmortem_hook, Reading,
                  ( portmortem_engine:noting(portmortem_stubs:reading(Again)), Reading )),
    wrap_in_place(system:'$end_consult'(Read), portmortem_hook, Ending,
                  ( portmortem_engine:noting(portmortem:'$stub_read'(Read)), Ending )).

%   The engine compares the clauses of a file that it reads again with those that it has of it.

:- public reading/1.

reading(File) :-
    known_file(File),
    forget_rules(File),
    portmortem:'$stub_forget'(File),
    portmortem:'$forget_lines'(File),
    '$source_file_predicates'(File, Predicates),
    Predicates \== [],
    !,
    findall(Clause, compared(File, Predicates, Clause), Clauses),
    portmortem:'$stub_reread'(File, Clauses).
reading(_).

compared(File, Predicates, Clause) :-
    '$member'(Predicate, Predicates),
    \+ predicate_property(Predicate, foreign),
    \+ predicate_property(Predicate, thread_local),
    (   predicate_property(Predicate, dynamic)
    ->  Own = false
    ;   predicate_property(Predicate, multifile)
    ->  Own = false
    ;   Own = true
    ),
    nth_clause(Predicate, _, Clause),
    (   Own == true
    ->  true
    ;   clause_property(Clause, source(File))
    ).

%   The engine's own directive noprofile/1 comes before that of library(portmortem).

:- public attribute_set/3.

attribute_set(PI, noprofile, true) :-
    strip_module(PI, M, Name/Arity),
    !,
    portmortem:'$stub_leave_out'(M, Name, Arity).
attribute_set(_, _, _).

:- public expanding/2, storing/3.

%   A term was read. What is stored of it may be something else.

expanding(Term, Layout) :-
    source_location(File, Line),
    portmortem:'$stub_keep_term'(term(File, Line, Term, Layout)),
    '$current_source_module'(M),
    keep_rule(File, Term, Layout, M).

%   What that takes is a box of its own.

storing(Clause, Layout, Source) :-
    portmortem:'$set_up_begin'(Begin),
    call_cleanup(note_goals(Clause, Layout, Source), portmortem:'$set_up_end'(Begin)).

%   Expansion may say where a clause is from: that is all which is known of its place then.

note_goals(Clause, _, File:Line) :-
    !,
    goals(Clause, _, P, Goals),
    note_goals(P, Goals, File, Line, []).
note_goals(Clause, Layout, _) :-
    source_location(File, Line),
    goals(Clause, Layout, P, Goals),
    (   rule_of_clause(File, Goals, Written)
    ->  true
    ;   written(File, Line, Clause, Written)
    ->  true
    ;   Written = []
    ),
    note_goals(P, Goals, File, Line, Written).

note_goals(M:Head, Goals, File, Line, Written) :-
    name_arity(Head, Name, Arity),
    portmortem:'$stub_note'(M, Name, Arity, File, Line, Goals, Written).

goals(Clause, Layout, M:Head, Goals) :-
    '$current_source_module'(M0),
    clause_goals(Clause, Layout, M0, Head0, Goals),
    strip_module(M0:Head0, M, Head),
    callable(Head).

%   written(+File, +Line, +Clause, -Written) is semidet.
%
%   The goals of the term that was read there, if Clause was made from it by expansion. Then its
%   layout may be that of a term of another shape.

written(File, Line, Clause, Written) :-
    portmortem:'$stub_kept_term'(term(File, Line, Term, Layout)),
    \+ Term =@= Clause,
    '$current_source_module'(M),
    written_goals(Term, Layout, M, Written).

%   rule(+Options, -Kind, -A, -B, -C) is nondet

rule(_, scope, user, 0, 0).
rule(_, scope, test, 0, 0).
rule(Options, scope, library, 0, 0) :- widened(Options, libraries).
rule(Options, scope, system, 0, 0)  :- widened(Options, builtins).
rule(_, own, M, 0, 0) :- own_module(M).
rule(_, elsewhere, Name, Arity, M) :- library_predicate(Name, Arity, M).
rule(_, search, '$autoload', '$autoload', 1).
rule(_, loader, '$autoload', do_autoload, 3).
rule(_, fills, M, Name, Arity) :- fills_table(M:Head), name_arity(Head, Name, Arity).
rule(_, completes, M, Name, Arity) :- completes_tables(M:Head), name_arity(Head, Name, Arity).
rule(_, center, portmortem, run_in_center, 2).
rule(Options, tests, 0, 0, 0) :- memberchk(tests(true), Options).
rule(_, What, system, Name, Arity) :-
    always(Goal, What),
    name_arity(Goal, Name, Arity).
rule(_, left_out, M, Name, Arity) :- system_hook(M, Name, Arity).
rule(Options, Kind, A, B, C) :- system_rule(Options, Kind, A, B, C).

system_rule(Options, boundary, Class, 0, 0) :-
    \+ memberchk(boundary(false), Options),
    '$member'(Class, [system, library]).
system_rule(_, no_box, Name, Arity, 0) :-
    no_box(Name, Arity0),
    (   var(Arity0)
    ->  Arity = -1
    ;   Arity = Arity0
    ).
system_rule(_, of_engine, Name, Arity, 0) :- engine_named(Name, Arity).
system_rule(_, of_system, Name, Arity, 0) :- system_named(Name, Arity).
system_rule(_, elsewhere, Name, Arity, M) :- system_predicate(Name, Arity, M).

widened(Options, Key) :-
    name_arguments(Option, Key, [true]),
    memberchk(Option, Options),
    !.
widened(Options, _) :-
    memberchk(include(_), Options),
    !.

%   A stub cannot ask for the library that defines a predicate. The first question makes the engine
%   read its index.

library_predicate(Name, Arity, M) :-
    current_prolog_flag(autoload, Autoload),
    Autoload \== false,
    ignore('$find_library'(user, append, 3, _, _)),
    '$autoload':library_index(Head, M, _),
    name_arity(Head, Name, Arity).

%   Most of them are known to the compiler only when they are called for the first time.

system_predicate(Name, Arity, M) :-
    '$c_current_predicate'(_, system:Head),
    '$get_predicate_attribute'(system:Head, defined, 1),
    name_arity(Head, Name, Arity),
    \+ sub_atom(Name, 0, _, _, $),
    (   '$get_predicate_attribute'(system:Head, imported, M0)
    ->  M = M0
    ;   M = system
    ).

%   Hooks of the system in `user`, and what was there before the program. A dynamic predicate of the
%   program may have no clause yet; most hooks that
%   have none are multifile.

system_hook(M, Name, Arity) :-
    user_predicate(M, Name, Arity),
    name_arity(Head, Name, Arity),
    (   is_thread_local(M, Name, Arity)
    ->  true
    ;   nth_clause(M:Head, _, _)
    ->  \+ ( nth_clause(M:Head, _, Ref),
             clause_property(Ref, file(File)),
             \+ system_file(File),
             \+ beside_us(File)
           )
    ;   '$get_predicate_attribute'(M:Head, (multifile), 1)
    ).

there_before(_, '$autoload', '$autoload', 1).
there_before(_, '$autoload', do_autoload, 3).
there_before(_, M, Name, Arity) :- fills_table(M:Head), name_arity(Head, Name, Arity).
there_before(_, portmortem, run_in_center, 2).
there_before(_, M, Name, Arity) :-
    user_predicate(M, Name, Arity),
    \+ system_hook(M, Name, Arity).
there_before(Options, M, Name, Arity) :-
    rule(Options, scope, Class, _, _),
    Class \== user,
    predicate_of_class(Class, M, Name, Arity),
    \+ own_module(M),
    \+ is_thread_local(M, Name, Arity).

%   observed(+Options, -Module, -Name, -Arity, -Goal, -Foreign) is nondet
%
%   Predicates that may be recorded (Goal is 2), or goals of the program (1), or may call some
%   (Foreign is 0).

observed(Options, M, Name, Arity, Goal, Foreign) :-
    all_modules(Modules),
    '$member'(M, Modules),
    module_property(M, class(Class)),
    '$member'(Class, [system, library]),
    \+ own_module(M),
    '$c_current_predicate'(_, M:Head),
    '$get_predicate_attribute'(M:Head, defined, 1),
    \+ '$get_predicate_attribute'(M:Head, imported, _),
    \+ '$get_predicate_attribute'(M:Head, thread_local, 1),
    name_arity(Head, Name, Arity),
    (   ( widened(Options, builtins) ; widened(Options, libraries) )
    ->  Goal = 2
    ;   is_internal(M, Name, Arity)
    ->  Goal = 0
    ;   no_box(Name, Arity)
    ->  Goal = 0
    ;   Goal = 1
    ),
    (   '$get_predicate_attribute'(M:Head, foreign, 1)
    ->  Foreign = 1,
        Goal > 0
    ;   Foreign = 0
    ).

%   Those of the system, too.

all_modules(Modules) :-
    current_prolog_flag(access_level, Level),
    set_prolog_flag(access_level, system),
    findall(M, current_module(M), Modules),
    set_prolog_flag(access_level, Level).

user_predicate(M, Name, Arity) :-
    predicate_of_class(user, M, Name, Arity).

%   Not of those in C.

predicate_of_class(Class, M, Name, Arity) :-
    current_module(M),
    module_property(M, class(Class)),
    '$c_current_predicate'(_, M:Head),
    '$get_predicate_attribute'(M:Head, defined, 1),
    \+ '$get_predicate_attribute'(M:Head, imported, _),
    \+ '$get_predicate_attribute'(M:Head, foreign, 1),
    name_arity(Head, Name, Arity).

%   Each thread has a definition of its own of such a predicate. What is common to them has
%   something else where others have clauses.

is_thread_local(M, Name, Arity) :-
    name_arity(Head, Name, Arity),
    '$get_predicate_attribute'(M:Head, (thread_local), 1).

not_wanted(M, Name, Arity) :-
    left_out(M, Name, Arity).
not_wanted(M, Name, Arity) :-
    user_predicate(M, Name, Arity),
    name_arity(Head, Name, Arity),
    '$get_predicate_attribute'(M:Head, noprofile, 1).
