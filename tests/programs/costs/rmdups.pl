/*  The second example of Brassel et al. 2004, section 7: whether two words use
    the same letters. rm_dups/2 computes its recursive result twice, which the
    costs in its cost centre show; rm_dups_shared/2 computes it once.

    portmortem record --symbolic rmdups.pl -- plain ab ba
    portmortem record --symbolic rmdups.pl -- shared ab ba
*/

:- use_module(library(portmortem)).

:- initialization(main, main).

main([How, Word1, Word2]) :-
    atom_chars(Word1, Letters1),
    atom_chars(Word2, Letters2),
    (   same_used_alphabet(How, Letters1, Letters2, Alphabet)
    ->  writeln(Alphabet)
    ;   writeln(no)
    ).

same_used_alphabet(How, Word1, Word2, Alphabet) :-
    letters(How, Word1, Letters1),
    letters(How, Word2, Letters2),
    cost_center(perm, is_perm(Letters1, Letters2)),
    letters(How, Word1, Alphabet).

letters(plain, Word, Letters)  :- cost_center(rm_dups, rm_dups(Word, Letters)).
letters(shared, Word, Letters) :- cost_center(rm_dups, rm_dups_shared(Word, Letters)).

rm_dups([], []).
rm_dups([X|Xs], Ys) :-
    rm_dups(Xs, Zs),
    (   elem(X, Zs)
    ->  rm_dups(Xs, Ys)
    ;   Ys = [X|Us],
        rm_dups(Xs, Us)
    ).

rm_dups_shared([], []).
rm_dups_shared([X|Xs], Ys) :-
    rm_dups_shared(Xs, Zs),
    (   elem(X, Zs)
    ->  Ys = Zs
    ;   Ys = [X|Zs]
    ).

elem(X, [X|_]) :- !.
elem(X, [_|Ys]) :- elem(X, Ys).

is_perm([], []).
is_perm([X|Xs], Ys) :-
    append3(Zs, [X|Us], Ys),
    append3(Zs, Us, Rest),
    is_perm(Xs, Rest).

append3([], L, L).
append3([X|Xs], L, [X|Ys]) :- append3(Xs, L, Ys).
