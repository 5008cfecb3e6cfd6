/*  Trap: a program most of whose work is done in libraries, which call back into
    it: assoc, pairs, ordsets, apply, yall, aggregate, option, readutil,
    gensym, solution_sequences, dicts.  Also swi-prolog.md, trap 5: library
    predicates that the tracer uses itself must not show up in the trace.
*/

:- initialization(main, main).

:- use_module(library(assoc)).
:- use_module(library(pairs)).
:- use_module(library(yall)).
:- use_module(library(solution_sequences)).

main :-
    Text = "the cat and the dog and the bird",
    split_string(Text, " ", "", Words),
    count_words(Words, Counts), writeln(Counts),
    predsort(by_length, Words, Sorted), writeln(Sorted),
    partition([W]>>short(W), Words, Short, Long), writeln(Short-Long),
    foldl([X,A0,A]>>( A is A0+X ), [1,2,3], 0, Sum), writeln(Sum),
    K = 10, maplist({K}/[X,Y]>>( Y is X*K ), [1,2], Ks), writeln(Ks),
    aggregate_all(max(L, W), ( member(W, Words), word_length(W, L) ), Best), writeln(Best),
    aggregate_all(count, member(_, [a,b]), Two), writeln(Two),
    findall(X, limit(3, offset(2, natural(X))), Xs), writeln(Xs),
    findall(P, call_nth(natural(P), 5), Ps), writeln(Ps),
    convlist(half, [1,2,3,4], Hs), writeln(Hs),
    subsumes_chk_all([f(_), f(a), g(_)], Bs), writeln(Bs),
    include([X]>>( X > 1 ), [1,2,3], Is), writeln(Is),
    exclude(even, [1,2,3,4], Os), writeln(Os),
    pairs_by_length(Words, Pairs), writeln(Pairs),
    nb_total([1,2,3,4], T), writeln(T).

count_words(Words, Pairs) :-
    empty_assoc(A0),
    foldl(count_word, Words, A0, A),
    assoc_to_list(A, Pairs).

count_word(W, A0, A) :-
    (   get_assoc(W, A0, N0) -> true ; N0 = 0 ),
    N is N0+1,
    put_assoc(W, A0, N, A).

by_length(Order, A, B) :-
    word_length(A, LA), word_length(B, LB),
    compare(Order0, LA, LB),
    (   Order0 == (=) -> compare(Order, A, B) ; Order = Order0 ).

word_length(W, L) :- string_length(W, L).

short(W) :- word_length(W, L), L =< 3.

double(X, Y) :- Y is 2*X.

natural(0).
natural(N) :- natural(M), N is M+1.

half(X, Y) :- even(X), Y is X//2.

even(X) :- X mod 2 =:= 0.

subsumes_chk_all([], []).
subsumes_chk_all([T|Ts], [B|Bs]) :-
    (   subsumes_term(f(_), T) -> B = true ; B = false ),
    subsumes_chk_all(Ts, Bs).

pairs_by_length(Words, Pairs) :-
    map_list_to_pairs(word_length, Words, Pairs0),
    keysort(Pairs0, Pairs1),
    pairs_values(Pairs1, Pairs2),
    sort(Pairs2, Pairs).

nb_total(L, T) :-
    State = total(0),
    forall(member(X, L), add(X, State)),
    arg(1, State, T).

add(X, State) :- arg(1, State, T0), T is T0+X, nb_setarg(1, State, T).
