%Behind each line stands what its goals call, after they were expanded.

%From 9.2 on library(apply_macros) expands goals only where that is asked for.
:- set_prolog_flag(optimise_apply, true).
:- use_module(library(clpfd)).
:- use_module(library(chr)).
:- use_module(library(yall)).
:- use_module(library(apply_macros)).
:- initialization(main, main).
:- chr_constraint gcd(+int).

gcd(0) <=> true.
gcd(N) \ gcd(M) <=>
    N =< M |
    L is M mod N,
    step(L),                                            % step/1
    gcd(L).                                             % gcd/1

main :-
    grammars,                                           % grammars/0
    finite,                                             % finite/0
    expanded,                                           % expanded/0
    semantics,                                          % semantics/0
    lambdas,                                            % lambdas/0
    from_other(1),                                      % from_other/1
    called(user),                                       % called/1
    pair_a,                                             % pair_a/0
    pair_b,                                             % pair_b/0
    gcd(9),                                             % gcd/1
    gcd(6).                                             % gcd/1

grammars :-
    phrase(total(_), `1+2`),                            % total/3
    phrase(pushed(_), `1`, _),                          % pushed/3
    phrase(many, `11`).                                 % many/2

total(A) -->
    digit(A),                                           % digit/3
    "+",
    digit(_),                                           % digit/3
    !,
    {   step(A),                                        % step/1
        step(2)                                         % step/1
    }.
total(_) --> "x", digit(_).

pushed(A), "2" -->
    digit(A),                                           % digit/3
    \+ (
        digit(A),                                       % digit/3
        digit(A)
    ),
    call(digits,                                        % call/4 digits/3
         step),
    [].

digits(_, S, S).
digits(S, S).

many -->
    digit(_),                                           % digit/3
    (   "+"
    ->  many
    ;   many                                            % many/2
    ;   [],
        empty                                           % empty/2
    ).

empty --> [].

digit(D) --> [D], { step(D) }.                          % step/1

finite :-
    step(1),                                            % step/1
    X #= 1 + 2,
    step(X),                                            % step/1
    Y in 1..3,                                          % clpfd_in/2
    Y                                                   % clpfd_geq/2
      #>
      2,
    findall(Y,                                          % findall/3
            (   Y #< 9,
                step(Y),                                % step/1
                label([Y])                              % label/1
            ),
            _).

goal_expansion(twice(G), (G, G)).
goal_expansion(both(A, B), (first(A), second(B))).
goal_expansion(logged(G), (step(log), G)).

expanded :-                                             % second/1 step/1
    step(a),                                            % step/1
    both(                                               % first/1 second/1
        1,
        2
    ),
    twice(
        step(b)                                         % 
    ),
    (   logged(second(1))
    ->  step(c)                                         % step/1
    ;   step(d)
    ),
    \+ absent,                                          % absent/0
    forall(step(e), step(f)),                           % step/1
    last.                                               % last/0

first(_).
second(_).
absent :- fail.
last.
step(_).

semantics :-
    guarded(3),                                         % guarded/1
    X = _{a: 1},
    step(                                               % '.'/3 step/1
        X.a),
    step(9).                                            % step/1

guarded(X),
    step(X),                                            % step/1
    X > 2
 =>
    step(x),                                            % step/1
    last.                                               % last/0
guarded(_) => true.

lambdas :-
    maplist([X]>>(                                      % step/1
                step(X),
                second(X)
            ), [1]),                                    % second/1
    maplist(step, [1,2]),                               % step/1
    once(( step(1), last )).                            % step/1 last/0

called(M) :-
    M:step(1),                                          % call/1 step/1
    findall(x, M:step(2), _),                           % findall/3 step/1
    forall(member(G, [last]), (G, step(3))),            % member/2 call/1 step/1
    step(4).                                            % step/1

term_expansion(other(X), (from_other(X) :- step(X), last)).
term_expansion(pair(X), [(A :- step(X), last), (B :- last)]) :-
    atom_concat(X, '_a', A), atom_concat(X, '_b', B).   % atom_concat/3
other(_).                                               % step/1 last/0
pair(pair).                                             % step/1 last/0
