/*  Tests of port_counter.pl.

    Run:  swipl -g run_tests -t halt test_port_counter.pl

    Each program/5 below is a small program with the counts that follow from
    reading it; the comment gives the reasoning.  They are checked twice:
    against port_counter.pl, and, to keep the reasoning honest, against the
    engine's own debugger (debugger_ports.pl).
*/

:- module(test_port_counter, []).
:- use_module(library(plunit)).
:- use_module(run_swipl).

%!  program(?Name, -Text, -Goal, -Options, -Counts)
%
%   Counts is a list of Name/Arity - [Calls, Exits, Fails, Exceptions].
%   Options may have `all`, and status(S) when that is not 0.

% One call for each element and one for []; nothing can be redone.
program(append,
        "app([], L, L).
         app([H|T], L, [H|R]) :- app(T, L, R).",
        "app([a,b,c], [d], _)", [all],
        [app/3-[4,4,0,0]]).

% The k-th solution comes out through k boxes: 1+2+3 exits.
program(member,
        "mem(X, [X|_]).
         mem(X, [_|T]) :- mem(X, T).",
        "mem(_, [a,b,c])", [all],
        [mem/2-[4,6,4,0]]).

% After the cut q(1) fails, and neither p(2) nor the second t/1 is left.
program(cut_then_fail,
        "t(X) :- p(X), !, q(X).
         t(_).
         p(1). p(2).
         q(2).",
        "t(_)", [all, goal_fails],
        [t/1-[1,0,1,0], p/1-[1,1,0,0], q/1-[1,0,1,0]]).

program(cut_last,
        "a(X) :- b(X), !.
         b(1). b(2). b(3).",
        "a(_)", [all],
        [a/1-[1,1,0,0], b/1-[1,1,0,0]]).

% A cut in a disjunction cuts the clause.
program(cut_in_disjunction,
        "t :- ( p, !, fail ; q ).
         t :- r.
         p. q. r.",
        "t", [all, goal_fails],
        [t/0-[1,0,1,0], p/0-[1,1,0,0]]).

% The first disjunct fails before its cut: the second one runs, and cuts.
program(cut_in_second_disjunct,
        "t :- ( p(9), ! ; p(X), !, X > 1 ; q ).
         t :- r.
         p(1). p(2).
         q. r.",
        "t", [all, goal_fails],
        [t/0-[1,0,1,0], p/1-[2,1,1,0]]).

program(cut_in_then,
        "t :- ( p(X) -> !, X > 1 ; q ).
         t :- r.
         p(1). p(2).
         q. r.",
        "t", [all, goal_fails],
        [t/0-[1,0,1,0], p/1-[1,1,0,0]]).

program(cut_in_else,
        "t :- ( fail -> true ; p, ! ), fail.
         t :- q.
         p. q.",
        "t", [all, goal_fails],
        [t/0-[1,0,1,0], p/0-[1,1,0,0]]).

% The cut is local to the condition: g is not redone, but the else branch and
% the second clause are still there.
program(cut_in_condition,
        "t :- ( g(X), !, X > 1 -> p ; q ).
         t :- r.
         g(1). g(2).
         p. q. r.",
        "t", [all],
        [t/0-[1,2,0,0], g/1-[1,1,0,0], q/0-[1,1,0,0], r/0-[1,1,0,0]]).

program(cut_in_softcut_condition,
        "t(X) :- ( g(X), ! *-> p ; q ).
         t(3) :- r.
         g(1). g(2).
         p. q. r.",
        "t(_)", [all],
        [t/1-[1,2,0,0], g/1-[1,1,0,0], p/0-[1,1,0,0], r/0-[1,1,0,0]]).

program(cut_after_softcut,
        "t(X) :- ( g(X) *-> ! ; p ).
         t(9).
         g(1). g(2).
         p.",
        "t(_)", [all],
        [t/1-[1,1,0,0], g/1-[1,1,0,0]]).

program(softcut,
        "t(X) :- ( g(X) *-> p ; q ).
         u :- ( no *-> p ; q ).
         g(1). g(2). g(3).
         no :- fail.
         p. q.",
        "t(_) ; u", [all],
        [t/1-[1,3,0,0], g/1-[1,3,0,0], p/0-[3,3,0,0],
         u/0-[1,1,0,0], no/0-[1,0,1,0], q/0-[1,1,0,0]]).

% \+ ends at the first solution, and its cut is its own.
program(negation,
        "t :- \\+ ( g(X), !, X > 1 ), q.
         t :- \\+ g(1), r.
         g(1). g(2).
         q. r.",
        "t", [all],
        [t/0-[1,1,1,0], g/1-[2,2,0,0], q/0-[1,1,0,0]]).

% call/1 is opaque to the cut: it drops g's second solution and p, not t's
% second clause.
program(cut_in_call,
        "t :- call(( g(_), ! ; p )), r.
         t :- q.
         g(1). g(2).
         p. q. r.",
        "t", [all],
        [t/0-[1,2,0,0], g/1-[1,1,0,0], r/0-[1,1,0,0], q/0-[1,1,0,0]]).

% A variable as a goal is call/1: the cut in it does nothing, g is redone.
program(cut_in_variable,
        "t :- G = !, g(X), G, X > 1, r.
         g(1). g(2).
         r.",
        "t", [],
        [t/0-[1,1,0,0], g/1-[1,2,0,0], r/0-[1,1,0,0]]).

program(cut_in_findall,
        "t(L) :- findall(X, ( g(X), ! ), L).
         t([]) :- q.
         g(1). g(2).
         q.",
        "t(_)", [all],
        [t/1-[1,2,0,0], g/1-[1,1,0,0], q/0-[1,1,0,0]]).

% The inner cut commits c/1 only; b/1 is still redone.  b(1): c fails after
% its cut; b(2): c(2) exits by its cut; b(3): by the last clause of c/1, and
% as b(3) is the last of b/1, a/1 exits for good and never fails.
program(cut_is_local_to_the_clause,
        "a(X) :- b(X), c(X).
         b(1). b(2). b(3).
         c(1) :- !, fail.
         c(2) :- !.
         c(_).",
        "a(_)", [all],
        [a/1-[1,2,0,0], b/1-[1,3,0,0], c/1-[3,2,1,0]]).

% Two cuts in one clause, choicepoints before, between and after.  The last
% g/1 leaves its second and third solution to be found by redo.
program(two_cuts,
        "t(X, Y, Z) :- g(X), !, g(Y), !, g(Z).
         t(0, 0, 0).
         g(1). g(2). g(3).",
        "t(_, _, _)", [all],
        [t/3-[1,3,0,0], g/1-[3,5,0,0]]).

program(if_then_without_else,
        "t :- ( no -> p ).
         t :- q.
         no :- fail.
         p. q.",
        "t", [all],
        [t/0-[1,1,0,0], no/0-[1,0,1,0], q/0-[1,1,0,0]]).

% The condition is cut to one solution, the branch is not.
program(if_then_branch_is_nondet,
        "t(Y) :- ( g(X) -> h(X, Y) ; true ).
         g(1). g(2).
         h(1, a). h(1, b). h(2, c).",
        "t(_)", [all],
        [t/1-[1,2,0,0], g/1-[1,1,0,0], h/2-[1,2,0,0]]).

program(once_and_ignore,
        "t :- once(g(_)), ignore(no), ignore(g(_)).
         g(1). g(2).
         no :- fail.",
        "t", [all],
        [t/0-[1,1,0,0], g/1-[2,2,0,0], no/0-[1,0,1,0]]).

% The last exit of g/1 leaves no choicepoint: no call of it fails.
program(all_solutions,
        "t :- findall(X, g(X), L), L = [1,2,3],
              forall(g(Y), pos(Y)),
              aggregate_all(count, g(_), 3).
         g(1). g(2). g(3).
         pos(X) :- X > 0.",
        "t", [all],
        [t/0-[1,1,0,0], g/1-[3,9,0,0], pos/1-[3,3,0,0]]).

% bagof backtracks over B, setof with ^ does not; each runs its goal once.
% t/0 exits for each of the two bags.
program(bagof_setof,
        "t :- bagof(A, e(A, B), L), check(B, L), setof(X, Y^e(X, Y), [1,2,3]).
         e(1, x). e(2, y). e(3, x).
         check(x, [1,3]).
         check(y, [2]).",
        "t", [all],
        [t/0-[1,2,_,0], e/2-[3,9,_,0], check/2-[2,2,0,0]]).

% The ball passes through c, b and a; z is never reached.
program(throw_through_frames,
        "t :- catch(a, oops, r).
         a :- b, z.
         b :- c, z.
         c :- throw(oops).
         r. z.",
        "t", [all],
        [t/0-[1,1,0,0], a/0-[1,0,0,1], b/0-[1,0,0,1], c/0-[1,0,0,1], r/0-[1,1,0,0]]).

% s([]) and s([2]) exit, then 2+x raises: it leaves s([x,2]) and s([1,x,2]).
program(exception_from_built_in,
        "s([], 0).
         s([H|T], S) :- s(T, S0), S is S0+H.
         t :- catch(s([1,x,2], _), error(type_error(_, _), _), true).",
        "t", [all],
        [t/0-[1,1,0,0], s/2-[4,2,0,2]]).

% The inner catch/3 does not match; g has exited when the ball passes.
program(catch_of_other_ball,
        "t :- catch(u, outer, r).
         u :- catch(v, inner, q), q.
         v :- g(_), throw(outer).
         g(1). g(2).
         q. r.",
        "t", [all],
        [t/0-[1,1,0,0], u/0-[1,0,0,1], v/0-[1,0,0,1], g/1-[1,1,0,0], r/0-[1,1,0,0]]).

% catch/3 is transparent to solutions: g gives two, then throws.
program(catch_is_nondet,
        "t(X) :- catch(g(X), stop, X = none).
         g(1). g(2).
         g(_) :- throw(stop).",
        "t(_)", [all],
        [t/1-[1,3,0,0], g/1-[1,2,0,1]]).

program(exception_in_recovery,
        "t :- catch(a, _, b).
         a :- throw(one).
         b :- throw(two).",
        "catch(t, two, true)", [all],
        [t/0-[1,0,0,1], a/0-[1,0,0,1], b/0-[1,0,0,1]]).

% Logical update view: the call of f/1 sees the two clauses of its beginning.
program(assert_while_running,
        ":- dynamic f/1.
         f(1). f(2).
         t :- f(X), Y is X+10, assertz(f(Y)), fail.
         t :- findall(X, f(X), [1,2,11,12]).",
        "t", [all],
        [t/0-[1,1,0,0], f/1-[2,6,_,0]]).

program(retract_while_running,
        ":- dynamic f/1.
         f(1). f(2).
         t :- f(_), retract(f(2)), fail.
         t :- f(_), fail.
         t.",
        "t", [all],
        [t/0-[1,1,0,0], f/1-[2,3,_,0]]).

program(assert_undeclared,
        "t :- assertz(made(1)), assertz((made(X) :- X = 2, !)), assertz(made(3)),
              findall(X, made(X), [1,2]).",
        "t", [all],
        [t/0-[1,1,0,0], made/1-[1,2,_,0]]).

program(closures,
        "t :- maplist(add(1), [1,2,3], [2,3,4]),
              foldl(acc, [1,2], 0, 3),
              call(add(1), 1, _),
              G = add(1, 1), call(G, _).
         add(X, Y, Z) :- Z is X+Y.
         acc(X, S0, S) :- S is S0+X.",
        "t", [all],
        [t/0-[1,1,0,0], add/3-[5,5,0,0], acc/3-[2,2,0,0]]).

% Text 12.  digits at 1: digit, digits at 2: digit, digits at the end: digit
% fails in both clauses; back in digits at 2, second clause: digit.
program(dcg,
        "digits([D|T]) --> digit(D), digits(T).
         digits([D]) --> digit(D).
         digit(D) --> [D], { code_type(D, digit) }.",
        "phrase(digits(_), `12`)", [],
        [digits/3-[3,2,1,0], digit/3-[5,3,2,0]]).

program(dcg_body_in_phrase,
        "a --> \"a\".
         b --> \"b\".",
        "phrase(( a, ( b ; a ), !, \\+ a ), `aa`)", [],
        [a/2-[3,2,1,0], b/2-[1,0,1,0]]).

% The value k comes out through k+1 boxes: 1+2+3+4 exits, four calls.
program(recursive_generator,
        "nat(0).
         nat(N) :- nat(M), N is M+1.",
        "nat(N), N >= 3", [],
        [nat/1-[4,10,0,0]]).

program(global_variables,
        "t :- nb_setval(k, 0), ( between(1, 5, _), inc, fail ; true ), nb_getval(k, 5),
              ( b_setval(v, 1), no ; seen ).
         inc :- nb_getval(k, N), N1 is N+1, nb_setval(k, N1).
         no :- fail.
         seen.",
        "t", [all],
        [t/0-[1,1,0,0], inc/0-[5,5,0,0], no/0-[1,0,1,0], seen/0-[1,1,0,0]]).

program(user_meta_predicate,
        ":- meta_predicate twice(0).
         twice(G) :- call(G), call(G).
         t :- twice(p), twice(( q(_), ! )).
         p.
         q(1). q(2).",
        "t", [all],
        [t/0-[1,1,0,0], twice/1-[2,2,0,0], p/0-[2,2,0,0], q/1-[2,2,0,0]]).

% The cleanup runs when the cut drops g's other solutions, and when the
% exception passes.
program(cleanup,
        "t :- setup_call_cleanup(s, g(_), c), !.
         u :- catch(setup_call_cleanup(s, e, c), ball, true).
         s. c.
         g(1). g(2).
         e :- throw(ball).",
        "t, u", [all],
        [t/0-[1,1,0,0], u/0-[1,1,0,0], s/0-[2,2,0,0], c/0-[2,2,0,0],
         g/1-[1,1,0,0], e/0-[1,0,0,1]]).

program(freeze,
        "t :- freeze(X, w(X)), ( X = 1 ; X = 2 ), seen.
         w(2).
         seen.",
        "t", [all],
        [t/0-[1,1,_,0], w/1-[2,1,1,0], seen/0-[1,1,0,0]]).

% Heads of => do not bind the goal: p(_) takes the third rule.  The guard of
% the first fails for p(f(0)), and no other rule has a subsuming head but the
% last.
program(single_sided_unification,
        "p(f(X)), X > 0 => q.
         p(a) => r.
         p(_) => s.
         q. r. s.",
        "p(f(1)), p(f(0)), p(a), p(_)", [all],
        [p/1-[4,4,0,0], q/0-[1,1,0,0], r/0-[1,1,0,0], s/0-[2,2,0,0]]).

program(no_matching_rule,
        "p(a) => true.
         t :- catch(p(b), error(existence_error(matching_rule, _), _), q).
         q.",
        "t", [all],
        [t/0-[1,1,0,0], p/1-[1,0,0,1], q/0-[1,1,0,0]]).

program(undefined_predicate,
        "t :- p, nope, p.
         p.",
        "t", [status(2)],
        [t/0-[1,0,0,1], p/0-[1,1,0,0]]).

program(halt_in_the_middle,
        "t :- p, q, p.
         p.
         q :- halt(3).",
        "t", [status(3)],
        [t/0-[1,0,0,0], q/0-[1,0,0,0], p/0-[1,1,0,0]]).

% Only the first solution of the goal is asked for: g is not redone.
program(goal_runs_once,
        "g(1). g(2).
         h(X) :- g(X), X > 1.
         h(X) :- g(X).",
        "h(_)", [],
        [h/1-[1,1,0,0], g/1-[1,2,0,0]]).

program(initialization_is_not_run,
        ":- initialization(p).
         :- initialization(p, main).
         p.
         t :- p.",
        "t", [all],
        [t/0-[1,1,0,0], p/0-[1,1,0,0]]).

%!  program_byrd(?Name, -Text, -Goal, -Counts)
%
%   With --byrd every exit is re-entered.  Counts are
%   [Calls, Exits, Redos, Fails], for all solutions.

program_byrd(append,
        "app([], L, L).
         app([H|T], L, [H|R]) :- app(T, L, R).",
        "app([a], [b], _)",
        [app/3-[2,2,2,2]]).
program_byrd(join,
        "j(X, Y) :- p(X), q(X, Y), \\+ X = Y.
         p(1). p(2). p(3).
         q(1, 1). q(3, 1).",
        "j(_, _)",
        [j/2-[1,1,1,1], p/1-[1,3,3,1], q/2-[3,2,2,3]]).
program_byrd(cut,
        "t(X) :- p(X), !, q.
         p(1). p(2).
         q.",
        "t(_)",
        [t/1-[1,1,1,1], p/1-[1,1,0,0], q/0-[1,1,1,1]]).

debray(1, [teacher/2-[78,58,78], student/2-[16,54,16], course/3-[41,48,41]]).
debray(2, [teacher/2-[6,14,6],   student/2-[36,46,36], course/3-[41,48,41]]).
debray(3, [teacher/2-[6,14,6],   student/2-[16,16,16], course/3-[8,6,8]]).
debray(4, [teacher/2-[6,14,6],   student/2-[8,8,8],    course/3-[8,6,8]]).

                /*******************************
                *          RUNNING             *
                *******************************/

run_text(Tool, Text, Goal, Flags, Status, Counts) :-
    setup_call_cleanup(
        ( tmp_file_stream(File, Stream, [encoding(utf8), extension(pl)]),
          format(Stream, "~s~n", [Text]), close(Stream) ),
        run_tool(Tool, File, Goal, Flags, "", Status, Counts, _),
        delete_file(File)).

flags(Options, Flags) :-
    (   memberchk(all, Options) -> Flags = ['--all'] ; Flags = [] ).

%   With --all the goal is forall(Goal, true), which always succeeds.

status(Options, exit(Status)) :-
    (   memberchk(status(Status0), Options) -> Status = Status0 ; Status = 0 ).

check(Tool, Name) :-
    once(program(Name, Text, Goal, Options, Expected)),
    flags(Options, Flags),
    string_codes(Text, Codes),
    run_text(Tool, Codes, Goal, Flags, Status, Dict),
    status(Options, ExpectedStatus),
    assertion(Status == ExpectedStatus),
    dict_pairs(Dict, _, Pairs),
    findall(PI-Counts, ( member(_-D, Pairs), row(D, PI, Counts) ), Rows),
    forall(member(Row, Expected), assertion(memberchk(Row, Rows))),
    forall(member(PI-_, Rows), assertion(memberchk(PI-_, Expected))).

row(D, Name/Arity, [D.calls, D.exits, D.fails, D.exceptions]) :-
    assertion(D.module == "user"),
    atom_string(Name, D.name),
    Arity = D.arity.

dict_keys(Dict, Keys) :-
    dict_pairs(Dict, _, Pairs),
    findall(Key, member(Key-_, Pairs), Keys).

:- begin_tests(port_counter).

test(by_hand, [forall(program(Name, _, _, _, _))]) :-
    check('port_counter.pl', Name).

test(byrd, [forall(program_byrd(_, Text, Goal, Expected))]) :-
    string_codes(Text, Codes),
    run_text('port_counter.pl', Codes, Goal, ['--all', '--byrd'], Status, Dict),
    assertion(Status == exit(0)),
    dict_pairs(Dict, _, Pairs),
    findall(PI-Counts,
            ( member(_-D, Pairs), row(D, PI, _),
              Counts = [D.calls, D.exits, D.redos, D.fails] ),
            Rows),
    sort(Expected, Sorted), sort(Rows, SortedRows),
    assertion(SortedRows == Sorted).

%   Debray (1988), section 4: calls, backtracks and failures of the four clause
%   orders.

test(debray, [forall(debray(N, Expected)), Rows == Expected]) :-
    tests_directory(Tests),
    format(atom(File), '~w/../traces/debray~d.pl', [Tests, N]),
    run_tool('port_counter.pl', File, main, ['--byrd'], "", exit(0), Dict, _),
    findall(PI-[C,R,F],
            ( member(PI, [teacher/2, student/2, course/3]),
              get_dict(_, Dict, D), row(D, PI, _),
              C = D.calls, R = D.redos, F = D.fails ),
            Rows).

test(output_is_the_programs_own, Output-Status == "hello\n"-exit(0)) :-
    setup_call_cleanup(
        ( tmp_file_stream(File, Stream, [extension(pl)]),
          format(Stream, "t :- writeln(hello).~n", []), close(Stream) ),
        run_tool('port_counter.pl', File, t, [], "", Status, _, Output),
        delete_file(File)).

test(program_arguments, Status == exit(0)) :-
    run_text('port_counter.pl', `t :- current_prolog_flag(argv, [x, '--y']).`, t,
             ['--', x, '--y'], Status, _).

test(odd_names, Keys == ['user:\'a\\nb"\'/0', 'user:\'ünïcode λ\'/0', 'user::-/0', 'user:t/0']) :-
    run_text('port_counter.pl',
             `t :- 'a\\nb"', 'ünïcode λ', call(:-).
              'a\\nb"'. 'ünïcode λ'. (:-).`, t, [], exit(0), Dict),
    dict_keys(Dict, Keys0),
    msort(Keys0, Keys).

test(status, [forall(member(Text-Goal-S, [`t.`-t-0, `t :- fail.`-t-1, `t :- throw(x).`-t-2,
                                          `t :- halt(7).`-t-7])),
              Status == exit(S)]) :-
    run_text('port_counter.pl', Text, Goal, [], Status, _).

test(missing_file, Status-Counts == exit(3)-none) :-
    run_tool('port_counter.pl', 'no_such_file.pl', true, [], "", Status, Counts, _).

:- end_tests(port_counter).

:- begin_tests(debugger).

%   The debugger agrees with the counts made by hand.

test(by_hand, [forall(( program(Name, _, _, _, _), \+ differs(Name) ))]) :-
    check('debugger_ports.pl', Name).

differs(no_matching_rule).      % shows a fail port where the exception leaves p/1

:- end_tests(debugger).
