% Built-in predicates that change predicates, each called after the predicate that it changes has been called.
% effects.pl lists them all; check.pl tells which of them is tried nowhere here.

:- initialization(main, main).
:- style_check(-discontiguous).
:- multifile user:message_hook/3.
:- dynamic user:message_hook/3.

user:message_hook(_, _, _).             % warnings name temporary files

%   tries(Builtins, Head, Goal): Goal changes the predicate of Head, by calling these built-ins. Each gets a predicate v/1 of
%   three clauses, predicates that call it in several ways, and a name.

user:term_expansion((:- tries(Builtins, H, Goal)), Clauses) :-
    flag(tries, N, N+1),
    names(N, [v, first, last, argument, during], [V, First, Last, Argument, During]),
    expanded(Goal, V, H),
    H =.. [V, _],
    H1 =.. [V, X], H2 =.. [V, Y], F1 =.. [First, X], L1 =.. [Last, X], A1 =.. [Argument, Xs],
    D1 =.. [During, Before, After],
    C1 =.. [V, 1], C2 =.. [V, 2], C3 =.. [V, 3],
    Clauses = [ C1, C2, C3,
                (F1 :- H1, true),
                L1 :- H1,
                (A1 :- findall(X, H1, Xs)),
                (D1 :- findall(X, H1, Before), changed(Goal), findall(Y, H2, After)),
                try(Builtins, V, F1-X, L1-X, A1-Xs, D1-(Before-After)) ].

names(N, Words, Names) :-
    findall(Name, ( member(Word, Words), atomic_list_concat([Word, '_', N], Name) ), Names).

expanded(_, V, H) :-
    H =.. [V, _].

changed(Goal) :-
    catch(( Goal -> true ; write(failed), nl ), Error, ( Error = error(Formal, _) -> print(Formal), nl ; print(Error), nl )).

main :-
    forall(try(Builtins, V, First, Last, Argument, During),
           ( print(Builtins), nl,
             all(V, First, Last, Argument),
             all(V, First, Last, Argument),
             answers(During),
             all(V, First, Last, Argument) )).

all(V, First, Last, Argument) :-
    Direct =.. [V, X],
    answers(Direct-X),
    answers(First),
    answers(Last),
    answers(Argument).

answers(Goal-X) :-
    catch(findall(X, limit(10, Goal), Xs), Error, true),
    (   nonvar(Error)
    ->  ( Error = error(Formal, _) -> true ; Formal = Error ),
        shown(Formal)
    ;   shown(Xs)
    ),
    nl.

shown(Term) :-
    \+ \+ ( numbervars(Term, 0, _), print(Term) ).

head(H, M:N/A) :-
    strip_module(H, M, P),
    functor(P, N, A).

load(H, Text) :-
    functor(H, Name, _),
    format(string(Program), Text, [Name, Name]),
    load_text(Name, Program).

load_text(Id, Program) :-
    setup_call_cleanup(open_string(Program, In), load_files(Id, [stream(In)]), close(In)).

temporary(Text, File) :-
    tmp_file(changes, Base),
    file_name_extension(Base, pl, File),
    setup_call_cleanup(open(File, write, Out), write(Out, Text), close(Out)).

                 /*******************************
                 *        ATTRIBUTES            *
                 *******************************/

:- tries([(dynamic)/1, retract/1], H, ( head(H, PI), dynamic(PI), arg(1, H, 2), retract(H) )).
:- tries([(dynamic)/2, assertz/1], H, ( head(H, PI), dynamic([PI], [incremental(true)]), arg(1, H, 4), assertz(H) )).
:- tries([erase/1], H, ( head(H, PI), dynamic(PI), arg(1, H, 2), clause(H, true, Ref), erase(Ref) )).
:- tries([retractall/1], H, ( head(H, PI), dynamic(PI), retractall(H) )).
:- tries([assert/1, asserta/1], H, ( head(H, PI), dynamic(PI), arg(1, H, 0), asserta(H), assert(H) )).
:- tries([assert/2, asserta/2, assertz/2, copy_predicate_clauses/2],
         H, ( head(H, PI), dynamic(PI), arg(1, H, 0), asserta(H, _), assert(H, _), assertz(H, _) )).
:- tries([retract/1, assertz/1], H, assertz(H)).                 % no permission
:- tries([compile_predicates/1], H, ( head(H, PI), dynamic(PI), arg(1, H, 4), assertz(H), compile_predicates([PI]) )).
:- tries([transaction/1, transaction/2, transaction/3],
         H, ( head(H, PI), dynamic(PI), transaction(retract(H)), arg(1, H, 4), transaction(assertz(H), []),
              transaction(assertz(H), true, changes) )).
:- tries([snapshot/1], H, ( head(H, PI), dynamic(PI), arg(1, H, 4), snapshot(( assertz(H), answers(H-H) )) )).
:- tries(['$set_predicate_attribute'/3, det/1], H, ( head(H, PI), det(PI) )).
:- tries([(discontiguous)/1, (multifile)/1, (public)/1, (volatile)/1, noprofile/1, non_terminal/1],
         H, ( head(H, PI), discontiguous(PI), multifile(PI), public(PI), volatile(PI), noprofile(PI), non_terminal(PI) )).
:- tries([(thread_local)/1], H, ( head(H, PI), thread_local(PI) )).
:- tries([(module_transparent)/1], H, ( head(H, PI), module_transparent(PI) )).
:- tries([(meta_predicate)/1], H, ( functor(H, N, _), Spec =.. [N, :], meta_predicate(Spec) )).
:- tries(['$hide'/1, '$iso'/1, '$clausable'/1], H, ( head(H, PI), '$hide'(PI), '$iso'(PI), '$clausable'(PI) )).
:- tries(['$set_pattr'/3, '$set_pattr'/4, '$set_pi_attr'/3, '$pattr_directive'/2],
         H, ( head(H, PI), '$set_pattr'(PI, pred, dynamic(true)), '$set_pattr'(PI, user, pred, dynamic(false)),
              '$set_pi_attr'(PI, dynamic, true), '$pattr_directive'(volatile(PI), user), retractall(H) )).

                 /*******************************
                 *         WRAPPERS             *
                 *******************************/

:- tries([(table)/1, '$wrap_tabled'/2], H, ( functor(H, N, A), table(N/A) )).
:- tries([untable/1], H, ( functor(H, N, A), table(N/A), answers(H-H), untable(N/A) )).
:- tries(['$moded_wrap_tabled'/5, '$set_table_wrappers'/1], H, ( functor(H, N, _), Spec =.. [N, max], table(Spec) )).
:- tries(['$start_monotonic'/2], H, ( functor(H, N, A), table(N/A as monotonic) )).
:- tries(['$wrap_predicate'/5, '$c_wrap_predicate'/5],
         H, ( functor(H, N, A), functor(G, N, A), arg(1, G, X),
              '$wrap_predicate'(user:G, mine, _, W, ( W, X \== 2 )) )).
:- tries([unwrap_predicate/2],
         H, ( functor(H, N, A), functor(G, N, A), '$wrap_predicate'(user:G, mine, _, _, fail), answers(G-G),
              unwrap_predicate(N/A, Name), print(Name), nl, unwrap_predicate(N/A, Other), print(Other) )).

                 /*******************************
                 *     CLAUSES AND FILES        *
                 *******************************/

:- tries([abolish/1], H, ( head(H, PI), abolish(PI) )).
:- tries([abolish/2], H, ( functor(H, N, A), abolish(N, A) )).
:- tries([redefine_system_predicate/1], H, redefine_system_predicate(H)).
:- tries(['$flush_predicate'/1], H, ( head(H, PI), '$flush_predicate'(PI) )).
:- tries(['$record_clause'/3], H, ( arg(1, H, 4), '$record_clause'(user:H, changes, changes:1) )).
:- tries(['$record_clause'/4], H, ( arg(1, H, 4), '$record_clause'(user:H, changes, changes:1, _) )).
:- tries(['$store_clause'/2], H, ( arg(1, H, 4), '$store_clause'(H, changes) )).
:- tries(['$store_clause'/4], H, ( arg(1, H, 4), '$store_clause'(H, _, changes, changes:1) )).
:- tries(['$store_admin_clause'/4, '$store_admin_clause2'/4], H, ( arg(1, H, 4), '$store_admin_clause'(H, _, changes, changes:1) )).
:- tries([compile_aux_clauses/1, '$compile_aux_clauses'/2, '$store_aux_clauses'/2],
         H, load(H, ":- compile_aux_clauses([~w(4)]). :- compile_aux_clauses([~w(5)]).")).
:- tries(['$compile_term'/4, '$compile_term'/5, '$compile_type'/1], H, ( arg(1, H, 4), '$compile_term'(H, _, changes, []) )).
:- tries([load_files/2, '$start_consult'/2, '$load_file'/4, '$do_load_file'/5], H, load(H, "~w(a). ~w(b).")).
:- tries([consult/1, load_files/1],
         H, ( functor(H, N, _), format(string(T), "~w(a).\n~w(b) :- true.\n", [N, N]), temporary(T, F), consult(F) )).
:- tries([ensure_loaded/1],
         H, ( functor(H, N, _), format(string(T), "~w(a).\n", [N]), temporary(T, F), ensure_loaded(F) )).
:- tries([unload_file/1, '$unload_file'/1],
         H, ( functor(H, N, _), format(string(T), "~w(a).\n", [N]), temporary(T, F), consult(F), answers(H-H), unload_file(F) )).
:- tries(['$qlf_load'/2, qcompile/1, qcompile/2, '$qload_file'/5, '$qdo_load_file'/4],
         H, ( functor(H, N, _), format(string(T), "~w(a).\n~w(c).\n", [N, N]), temporary(T, F), qcompile(F), qcompile(F, []),
              file_name_extension(B, pl, F), file_name_extension(B, qlf, Q), consult(Q) )).

                 /*******************************
                 *          MODULES             *
                 *******************************/

:- tries([use_module/1, use_module/2, reexport/1, reexport/2, require/1, export/1, autoload/1, autoload/2, '$import_list'/4],
         H, ( functor(H, N, A), format(string(T), ":- module(m_~w, [~w/1]).\n~w(m).\n", [N, N, N]), temporary(T, F),
              abolish(N/A), reexport(F, []), autoload(F), export(N/A), use_module(F), require([N/A]) )).
:- tries([import/1],
         H, ( functor(H, N, A), format(string(T), ":- module(m_~w, []).\n~w(m).\n", [N, N]), load_text(N, T),
              atom_concat(m_, N, M), abolish(N/A), import(M:N/A) )).
:- tries([add_import_module/3, delete_import_module/2, set_module/1],
         H, ( functor(H, N, A), atom_concat(b_, N, B), X =.. [N, base], assertz(B:X), abolish(N/A),
              delete_import_module(B, user), add_import_module(B, system, end), add_import_module(user, B, start), answers(H-H), delete_import_module(user, B) )).
:- tries(['$destroy_module'/1],
         H, ( functor(H, N, A), atom_concat(t_, N, M), G =.. [N, X], assertz((M:p(X) :- G)), findall(X, M:p(X), L),
              print(L), nl, '$destroy_module'(M), catch(findall(X, M:p(X), L2), error(E, _), L2 = E), print(L2), nl, A = 1 )).

                 /*******************************
                 *           OTHER              *
                 *******************************/

:- tries(['$spy'/1, '$nospy'/1], H, ( '$spy'(H), nodebug, answers(H-H), '$nospy'(H) )).
:- tries(['$cov_start'/0],
         H, ( '$cov_start', answers(H-H), '$cov_stop', arg(1, H, 2), clause(H, true, Ref),
              ( '$cov_data'(clause(Ref), Entered, Exited) -> print(Entered-Exited) ; print(never) ), nl, '$cov_reset', arg(1, H, 2) )).
