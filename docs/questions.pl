% questions.pl - the ten questions of questions.md, asked in Prolog.
%   The answers are those of the commands there. From the directory that has the traces:
%
%   ?- [questions].
%   ?- pm_open('questions/shop.pmt', T), slow(T, 3, Rows).

:- use_module(library(aggregate)).
:- use_module(library(apply)).
:- use_module(library(lists)).
:- use_module(library(pairs)).
:- use_module(library(portmortem/trace)).

%   Rows of a table that have these columns.

row(Trace, Table, Columns) :-
    pm_row(Trace, Table, Row),
    Columns :< Row.

%!  slow(+Trace, +Top, -Rows) is det.
%
%   1. Why is this slow? The predicates with the most work of their own, as Ns-Predicate.

slow(Trace, Top, Rows) :-
    findall(Ns-Predicate,
            ( row(Trace, predicates, _{predicate:Predicate, self_ns:Ns}), is_work(Predicate) ),
            All),
    most(All, Top, Rows).

%   What the engine and the recorder do beside the work of the program.

is_work(Predicate) :-
    \+ memberchk(Predicate,
                 [ 'system:waiting/0', 'system:preempted/0', 'system:autoload/0',
                   'system:garbage_collect/0', 'system:stack_shift/0',
                   'portmortem:instrument/0' ]).

most(All, Top, Rows) :-
    sort(1, @>=, All, Sorted),
    length(Sorted, Length),
    Size is min(Top, Length),
    length(Rows, Size),
    append(Rows, _, Sorted).

%!  goals(+Trace, +Top, -Rows) is det.
%
%   2. Which goal is it? The goals with the most time, waiting included, as Ns-goal(Line, Callee).

goals(Trace, Top, Rows) :-
    findall(Ns-goal(Line, Callee),
            ( row(Trace, sites, _{line:Line, callee:Callee, served_ns:Ns}), Line \== null ),
            All),
    most(All, Top, Rows).

%!  calls_of(+Trace, +Predicate, -Callers, -Calls, -Distinct) is semidet.
%
%   3. Why is it called so often? Callers are Calls-Caller. Needs `record --arguments`.

calls_of(Trace, Predicate, Callers, Calls, Distinct) :-
    findall(Count-Caller,
            row(Trace, edges, _{callee:Predicate, caller:Caller, calls:Count}),
            Callers),
    once(row(Trace, arguments, _{predicate:Predicate, calls:Calls, distinct:Distinct})).

%!  backtracks_into(+Trace, +Predicate, -Rows) is det.
%
%   4. Who backtracks into it? Rows are Count-Failed, the most first.

backtracks_into(Trace, Predicate, Rows) :-
    findall(Count-Failed,
            row(Trace, backtracks, _{resumed:Predicate, failed:Failed, count:Count}),
            All),
    sort(1, @>=, All, Rows).

%!  thrown_away(+Trace, -Rows) is det.
%
%   5. What was thrown away? The goals whose work was undone, as Ns-goal(Line, Callee).

thrown_away(Trace, Rows) :-
    findall(Ns-goal(Line, Callee),
            ( row(Trace, sites, _{line:Line, callee:Callee, undone_ns:Ns}), Ns > 0 ),
            All),
    sort(1, @>=, All, Rows).

%!  waits(+Trace, -Rows) is det.
%
%   6. What is it waiting for? Rows are Ns-Predicate, the longest first.

waits(Trace, Rows) :-
    findall(Ns-Caller,
            row(Trace, edges, _{callee:'system:waiting/0', caller:Caller, served_ns:Ns}),
            All),
    sort(1, @>=, All, Rows).

%!  slowest(+Trace, +Predicate, +Ns, -Calls) is det.
%
%   7. Which call was slowest? The calls that took more than Ns, as Took-Event, the slowest first.

slowest(Trace, Predicate, Ns, Calls) :-
    format(atom(Condition), 'port = call and predicate = ~w and took > ~dns', [Predicate, Ns]),
    findall(Took-Number,
            ( pm_event(Trace, Condition, Number, Event), _{took_ns:Took} :< Event ),
            All),
    sort(1, @>=, All, Calls).

%!  changed(+Before, +After, -Rows) is det.
%
%   8. What changed since yesterday? Rows are change(Predicate, Calls0, Calls), by name.

changed(Before, After, Rows) :-
    called(Before, Calls0),
    called(After, Calls1),
    append(Calls0, Calls1, Both),
    pairs_keys(Both, Names),
    sort(Names, Predicates),
    foldl(change(Calls0, Calls1), Predicates, Rows, []).

called(Trace, Calls) :-
    findall(Predicate-Count,
            ( row(Trace, predicates, _{predicate:Predicate, calls:Count}), is_work(Predicate) ),
            Calls).

change(Calls0, Calls1, Predicate) -->
    {   calls_in(Calls0, Predicate, Before),
        calls_in(Calls1, Predicate, After)
    },
    (   { Before =:= After } -> [] ; [change(Predicate, Before, After)] ).

calls_in(Calls, Predicate, Count) :-
    ( memberchk(Predicate-Known, Calls) -> Count = Known ; Count = 0 ).

%!  scales(+Traces, +Of, +Argument, +Predicate, +Size, -Calls, -Checks) is semidet.
%
%   9. Will it scale? Calls of Predicate at a Size of that argument of the predicate Of, from
%   recordings of several sizes: the polynomial of the least degree through all of them, by
%   Newton's divided differences. Checks are the recordings that it did not need.

scales(Traces, Of, Argument, Predicate, Size, Calls, Checks) :-
    maplist(point(Of, Argument, Predicate), Traces, Points),
    differences(Points, Coefficients, Checks),
    Checks > 0,
    value(Coefficients, Points, Size, Calls).

point(Of, Argument, Predicate, Trace, Size-Calls) :-
    once(row(Trace, sizes, _{predicate:Of, argument:Argument, greatest:Size})),
    aggregate_all(sum(Count), row(Trace, predicates, _{predicate:Predicate, calls:Count}), Calls).

%   Rows of the scheme are x(First, Last, Difference), until all of a row are 0.

differences(Points, Coefficients, Checks) :-
    findall(x(N, N, C), member(N-C, Points), Row),
    newton(Row, Coefficients, Checks).

newton(Row, [], Checks) :-
    forall(member(x(_, _, D), Row), D =:= 0),
    !,
    length(Row, Checks).
newton(Row, [C|Coefficients], Checks) :-
    Row = [x(_, _, C)|_],
    next_row(Row, Next),
    newton(Next, Coefficients, Checks).

next_row([x(A, _, D0), x(B, Z, D1)|Row], [x(A, Z, D)|Next]) :-
    !,
    D is (D1-D0) rdiv (Z-A),
    next_row([x(B, Z, D1)|Row], Next).
next_row([_], []).

value([], _, _, 0).
value([C|Coefficients], [N-_|Points], Size, Value) :-
    value(Coefficients, Points, Size, Rest),
    Value is C+(Size-N)*Rest.

%!  advice(+Trace, -Rows) is det.
%
%   10. What should I change? One cause of many: calls that repeat earlier ones, as
%   Saved-repeated(Predicate, Repeated), where Saved is their share of all work in such calls, in
%   ns. `portmortem advise` knows all others.

advice(Trace, Rows) :-
    findall(Saved-repeated(Predicate, Repeated),
            repeated(Trace, Predicate, Repeated, Saved),
            All),
    sort(1, @>=, All, Rows).

repeated(Trace, Predicate, Repeated, Saved) :-
    row(Trace, arguments, _{predicate:Predicate, calls:Calls, repeated:Repeated}),
    Repeated > 0,
    work_in(Trace, Predicate, Work),
    Saved is Work*Repeated//Calls.

%   Work while a box of the predicate is on the active chain: the rows of the call tree in and
%   below its own.

work_in(Trace, Predicate, Work) :-
    findall(Row, pm_row(Trace, contexts, Row), Rows),
    foldl(work_below(Predicate), Rows, none-0, _-Work).

work_below(Predicate, Row, Above0-Work0, Above-Work) :-
    (   Above0 = below(Depth), Row.depth > Depth
    ->  Above = Above0
    ;   Row.predicate == Predicate
    ->  Above = below(Row.depth)
    ;   Above = none
    ),
    (   Above \== none, is_work(Row.predicate)
    ->  Work is Work0+Row.self_ns
    ;   Work = Work0
    ).
