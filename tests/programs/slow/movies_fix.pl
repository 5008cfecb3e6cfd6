% movies.pl - statistics of film ratings: median, mode, correlation,
% recommendations.  swipl movies.pl
:- use_module(library(random)).
:- initialization(main).
:- dynamic rating/3.
:- table norm/2.

main :-
    load_ratings(120, 60),
    users(Us), films(Fs),
    length(Us, NU), length(Fs, NF),
    format("~d users, ~d films~n", [NU, NF]),
    print_medians(Fs),
    best_pairs(Us, Pairs),
    show_pairs(Pairs),
    recommend(Us, Recs),
    length(Recs, NR),
    format("~d recommendations~n", [NR]),
    halt.

load_ratings(NU, NF) :-
    forall(( between(1, NU, U), between(1, NF, F),
             (U*7 + F*13) mod 5 < 3 ),
           ( S is 1 + (U*U*3 + F*F*7 + U*F) mod 5,
             atom_concat(u, U, UA), atom_concat(f, F, FA),
             assertz(rating(UA, FA, S)) )).

users(Us) :- setof(U, F^S^rating(U, F, S), Us).
films(Fs) :- setof(F, U^S^rating(U, F, S), Fs).

% ---------------------------------------------------------- medians

print_medians(Fs) :-
    length(Fs, N),
    forall(between(1, N, I),
           ( nth1(I, Fs, F),
             median(F, M),
             ( I mod 20 =:= 0 -> format("~w: ~w~n", [F, M]) ; true ) )).

median(F, M) :-
    findall(S, rating(_, F, S), Ss),
    msort(Ss, Sorted),
    length(Sorted, L),
    Mid is (L+1) // 2,
    nth1(Mid, Sorted, M).

% ---------------------------------------------------------- similar users

best_pairs(Us, Best) :-
    findall(Sim-(A-B),
            ( pair(Us, A, B), similarity(A, B, Sim) ),
            All),
    take_best(10, All, Best).

pair(Us, A, B) :-
    length(Us, N),
    between(1, N, I),
    between(1, N, J),
    I < J,
    nth1(I, Us, A),
    nth1(J, Us, B).

similarity(A, B, Sim) :-
    common(A, B, Films),
    length(Films, N),
    N > 0,
    sum_products(1, N, A, B, Films, 0, P),
    norm(A, NA), norm(B, NB),
    Sim is P / (NA * NB).

common(A, B, Films) :-
    findall(F, ( rating(A, F, _), rating(B, F, _) ), Films).

sum_products(I, N, _, _, _, P, P) :- I > N, !.
sum_products(I, N, A, B, Films, P0, P) :-
    nth1(I, Films, F),
    rating(A, F, SA),
    rating(B, F, SB), !,
    P1 is P0 + SA*SB,
    I1 is I+1,
    sum_products(I1, N, A, B, Films, P1, P).

norm(U, Norm) :-
    findall(Q, ( rating(U, _, S), Q is S*S ), Qs),
    sum_list(Qs, Sum),
    Norm is sqrt(Sum).

take_best(0, _, []) :- !.
take_best(_, [], []) :- !.
take_best(N, All, [Max|Best]) :-
    max_member(Max, All),
    delete(All, Max, Rest),
    N1 is N-1,
    take_best(N1, Rest, Best).

show_pairs(Pairs) :-
    forall(member(Sim-(A-B), Pairs), format("~w ~w ~4f~n", [A, B, Sim])).

% ---------------------------------------------------------- recommendations

recommend(Us, Recs) :-
    findall(U-F,
            ( member(U, Us),
              similar_to(U, V),
              rating(V, F, 5),
              \+ rating(U, F, _) ),
            Recs0),
    dedup(Recs0, Recs).

similar_to(U, V) :-
    rating(U, F, S),
    rating(V, F, S),
    U \== V,
    S >= 5.

dedup([], []).
dedup([X|Xs], Ys) :- member(X, Xs), !, dedup(Xs, Ys).
dedup([X|Xs], [X|Ys]) :- dedup(Xs, Ys).
