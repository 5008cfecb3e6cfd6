/*  Trap: a program that lives on strings and atoms: much garbage (atom and
    stack garbage collection while recording), non-ASCII text, sub_atom/5 and
    atom_concat/3 as generators, and text files of its own.
*/

:- encoding(utf8).

:- initialization(main, main).

main :-
    set_stream(user_output, encoding(utf8)),
    numlist(1, 3000, Ns),
    maplist(word, Ns, Words),
    foldl(count_letters, Words, 0, Letters), writeln(Letters),
    joined(Ns, Text), string_length(Text, Length), writeln(Length),
    split_string(Text, " ", "", Parts), length(Parts, Count), writeln(Count),
    aggregate_all(count, ( sub_atom(abracadabra, B, 1, _, a), B > 0 ), As), writeln(As),
    findall(X+Y, atom_concat(X, Y, abc), Halves), writeln(Halves),
    caesar("Héllo, wörld", 3, Secret), writeln(Secret),
    palindromes(["racecar", "été", "prolog", "Ésope reste"], Ps), print(Ps), nl,
    unique_atoms(5000, U), writeln(U),
    wrap("the quick brown fox jumps over the lazy dog", 15).

word(N, Word) :- format(string(Word), "word~|~`0t~d~5+", [N]).

count_letters(Word, N0, N) :-
    string_chars(Word, Cs),
    include(letter, Cs, Ls),
    length(Ls, K),
    N is N0+K.

letter(C) :- char_type(C, alpha), \+ char_type(C, digit(_)).

joined([N], Text) :- !, number_string(N, Text).
joined([N|Ns], Text) :-
    joined(Ns, Text0),
    string_concat(" ", Text0, Text1),
    number_string(N, S),
    string_concat(S, Text1, Text).

caesar(Text, K, Secret) :-
    string_codes(Text, Cs),
    maplist(shift(K), Cs, Ds),
    string_codes(Secret, Ds).

shift(K, C, D) :- between(0'a, 0'z, C), !, D is (C - 0'a + K) mod 26 + 0'a.
shift(_, C, C).

palindromes([], []).
palindromes([W|Ws], Ps) :-
    (   palindrome(W) -> Ps = [W|Ps1] ; Ps = Ps1 ),
    palindromes(Ws, Ps1).

palindrome(W) :- string_chars(W, Cs), reverse(Cs, Cs).

unique_atoms(N, Count) :-
    findall(A, ( between(1, N, I), K is I mod 100, atom_concat(atom_, K, A) ), As),
    sort(As, Us),
    length(Us, Count).

wrap(Text, Width) :-
    split_string(Text, " ", " ", Words),
    wrap(Words, Width, "").

wrap([], _, Line) :- writeln(Line).
wrap([W|Ws], Width, Line) :-
    extended(Line, W, Line1),
    string_length(Line1, L),
    (   L =< Width
    ->  wrap(Ws, Width, Line1)
    ;   writeln(Line),
        wrap(Ws, Width, W)
    ).

extended("", W, W) :- !.
extended(Line, W, Line1) :- string_concat(Line, " ", L), string_concat(L, W, Line1).
