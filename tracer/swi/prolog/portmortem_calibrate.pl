:- module(portmortem_calibrate, [calibrate/2]).    % +Options, +Settings

/** <module> Measure what recording costs

Small programs run unrecorded, then recorded into a file of our own: see
`calibrate.rs`. All of it takes some 20 ms, once in a process.
*/

:- use_module(portmortem_wrap).

:- set_module(class(library)).

%!  calibrate(+Options, +Settings) is det.
%
%   Measure what a recording with these options costs, unless that is known.
%   If it cannot be measured, it stays unknown.

calibrate(_, Settings) :-
    portmortem:'$calibrated'(Settings),
    !.
calibrate(_, _) :-
    portmortem:'$recording',
    !.
calibrate(Options, Settings) :-
    sig_atomic(( measure(Options, Settings) -> true ; true )).

measure(Options, Settings) :-
    rounds(Rounds),
    findall(Goal-Ticks, unrecorded(Rounds, Goal, Ticks), Samples),
    median(true, Samples, Empty),
    findall(Median, ( trial(_, Goal), median(Goal, Samples, Median) ), Untraced),
    findall(Head, part(Head), Heads),
    portmortem:'$open_calibration'(Settings),
    ignore(catch(recorded(Heads, Options, Rounds), _, true)),
    stop_wrapping,
    portmortem:'$close_calibration'(Empty, Untraced).

%   The programs take turns, and none runs long enough for the processor to know it by heart: what recording costs
%   in a loop of a few predicates is less than what it costs in a program.

unrecorded(Rounds, Goal, Ticks) :-
    between(1, Rounds, _),
    (   trial(N, Goal)
    ;   trial(N, nothing),
        Goal = true
    ),
    portmortem:'$ticks'(Before),
    run(N, Goal),
    portmortem:'$ticks'(After),
    Ticks is After-Before.

recorded(Heads, Options, Rounds) :-
    module_property(portmortem_calibrate, file(File)),
    file_loaded(File),                  % or they would not be called through copies
    wrap_these(portmortem_calibrate:Heads, Options),
    (   between(1, Rounds, _),
        trial(N, Goal),
        portmortem:'$mark'(""),
        run(N, Goal),
        portmortem:'$mark'(""),
        fail
    ;   true
    ).

rounds(12).

%   The median of the ticks that a program took, as text.

median(Goal, Samples, Text) :-
    findall(Ticks, ( '$member'(Sample-Ticks, Samples), Sample =@= Goal ), All),
    msort(All, Sorted),
    length(Sorted, Length),
    Half is Length//2,
    length(Lower, Half),
    '$append'(Lower, [Median|_], Sorted),
    format(string(Text), '~d', [Median]).

run(N, Goal) :-
    (   between(1, N, _),
        call(Goal),
        fail
    ;   true
    ).

%   trial(-Times, -Goal): the first two are known to calibrate.rs.

trial(40, nothing).
trial(40, never).
trial(2, reverse([1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16], _)).
trial(1, queens([1,2,3,4,5], _)).
trial(3, hanoi(4, a, b, c, _, [])).
trial(2, tak(5, 3, 1, _)).
trial(1, permutation([1,2,3,4], _)).
trial(8, derivative((x+1)*(x^2+2)*(x^3+3), _)).
trial(3, phrase_of([the, man, saw, a, dog, with, the, telescope])).
trial(20, first(_)).
trial(10, thrown).

%   Their predicates. None of another module is called from them, so that nothing else is recorded.

part(Head) :-
    '$member'(Name/Arity,
              [ nothing/0, never/0, reverse/2, append/3, queens/2, place/3, select/3, attack/3,
                hanoi/6, tak/4, permutation/2, derivative/2, phrase_of/1, sentence/2,
                noun_phrase/2, verb_phrase/2, prepositional/2, determiner/2, noun/2, verb/2,
                first/1, thing/1, thrown/0, thrower/0 ]),
    functor(Head, Name, Arity).

nothing.

never :- fail.

reverse([], []).
reverse([X|Xs], R) :- reverse(Xs, R0), append(R0, [X], R).

append([], L, L).
append([X|Xs], Ys, [X|Zs]) :- append(Xs, Ys, Zs).

queens(All, Rows) :- place(All, [], Rows).

place([], Rows, Rows).
place([F|Fs], Placed, Rows) :-
    select(Row, [F|Fs], Rest),
    \+ attack(Row, 1, Placed),
    place(Rest, [Row|Placed], Rows).

select(X, [X|Xs], Xs).
select(X, [Y|Ys], [Y|Zs]) :- select(X, Ys, Zs).

attack(Row, Distance, [Other|_]) :- Row =:= Other+Distance.
attack(Row, Distance, [Other|_]) :- Row =:= Other-Distance.
attack(Row, Distance, [_|Others]) :- Distance1 is Distance+1, attack(Row, Distance1, Others).

hanoi(0, _, _, _, Moves, Moves) :- !.
hanoi(N, From, To, Via, Moves0, Moves) :-
    N1 is N-1,
    hanoi(N1, From, Via, To, Moves0, [From-To|Moves1]),
    hanoi(N1, Via, To, From, Moves1, Moves).

tak(X, Y, Z, A) :- X =< Y, !, Z = A.
tak(X, Y, Z, A) :-
    X1 is X-1, Y1 is Y-1, Z1 is Z-1,
    tak(X1, Y, Z, A1),
    tak(Y1, Z, X, A2),
    tak(Z1, X, Y, A3),
    tak(A1, A2, A3, A).

permutation([], []).
permutation(L, [X|Xs]) :- select(X, L, Rest), permutation(Rest, Xs).

derivative(x, 1) :- !.
derivative(N, 0) :- number(N), !.
derivative(U+V, DU+DV) :- derivative(U, DU), derivative(V, DV).
derivative(U*V, U*DV+V*DU) :- derivative(U, DU), derivative(V, DV).
derivative(U^N, N*U^M*DU) :- number(N), M is N-1, derivative(U, DU).

phrase_of(Words) :- sentence(Words, []).

sentence(S0, S) :- noun_phrase(S0, S1), verb_phrase(S1, S).

noun_phrase(S0, S) :- determiner(S0, S1), noun(S1, S).
noun_phrase(S0, S) :- determiner(S0, S1), noun(S1, S2), prepositional(S2, S).

verb_phrase(S0, S) :- verb(S0, S1), noun_phrase(S1, S).
verb_phrase(S0, S) :- verb(S0, S1), noun_phrase(S1, S2), prepositional(S2, S).

prepositional([with|S0], S) :- noun_phrase(S0, S).

determiner([the|S], S).
determiner([a|S], S).

noun([man|S], S).
noun([dog|S], S).
noun([telescope|S], S).

verb([saw|S], S).

first(X) :- thing(X), !.

thing(a).
thing(b).
thing(c).

thrown :- catch(thrower, _, true).

thrower :- throw(thrown).
