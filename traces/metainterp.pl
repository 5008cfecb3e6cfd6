/*  A vanilla meta-interpreter, and two programs for it.

    prove/1 runs object programs that are kept as facts rule(Head, Body), with
    bodies as lists of goals.  The first object program, naive reverse, is
    deterministic; the second, paths in a small graph, lives by backtracking.
    Each is also there as plain Prolog, so that one profile shows both levels:
    nrev/2 and path/3 on their own, and prove/1, rule/2 and built_in/1 when
    they are interpreted.

    Run:  swipl metainterp.pl
*/

:- initialization(main, main).

main :-
    numlist(1, 20, List),
    prove([nrev(List, Reversed)]),
    nrev(List, Reversed),
    format("reversed: ~w~n", [Reversed]),
    forall(prove([path(a, Node, Length)]),
           format("a to ~w in ~d~n", [Node, Length])),
    findall(N-L, prove([path(a, N, L)]), Interpreted),
    findall(N-L, path(a, N, L), Plain),
    (   Interpreted == Plain
    ->  writeln('both levels agree')
    ;   writeln('the levels differ')
    ),
    (   prove([path(d, a, _)]) -> writeln('d reaches a') ; writeln('d does not reach a') ).

%!  prove(+Goals)
%
%   Prove a list of object goals, leftmost first.

prove([]).
prove([Goal|Goals]) :-
    (   built_in(Goal)
    ->  call(Goal)
    ;   rule(Goal, Body),
        prove(Body)
    ),
    prove(Goals).

built_in(_ is _).
built_in(_ < _).
built_in(_ > _).

%!  rule(?Head, ?Body)
%
%   The object programs.

rule(app([], L, L), []).
rule(app([X|Xs], Ys, [X|Zs]), [app(Xs, Ys, Zs)]).

rule(nrev([], []), []).
rule(nrev([X|Xs], Zs), [nrev(Xs, Ys), app(Ys, [X], Zs)]).

rule(edge(a, b), []).
rule(edge(a, c), []).
rule(edge(b, d), []).
rule(edge(c, d), []).
rule(edge(d, e), []).

rule(path(X, X, 0), []).
rule(path(X, Z, N), [edge(X, Y), path(Y, Z, M), N is M+1]).

%   The same in plain Prolog.

app([], L, L).
app([X|Xs], Ys, [X|Zs]) :- app(Xs, Ys, Zs).

nrev([], []).
nrev([X|Xs], Zs) :- nrev(Xs, Ys), app(Ys, [X], Zs).

edge(a, b).
edge(a, c).
edge(b, d).
edge(c, d).
edge(d, e).

path(X, X, 0).
path(X, Z, N) :- edge(X, Y), path(Y, Z, M), N is M+1.
