/*  The first example of Brassel et al. 2004, section 3: len2s/2 is len/2
    unfolded once. Numbers are Peano numbers, as there.

    portmortem record --symbolic len.pl; portmortem export len.pmt --tables costs --to DIR
*/

:- use_module(library(portmortem)).

:- initialization(main, main).

main :-
    N = 100,
    cost_center(list, from_to(1, N, List)),
    cost_center(len, len(List, A)),
    cost_center(len2s, len2s(List, B)),
    (   A == B
    ->  writeln(same)
    ;   writeln(different)
    ).

from_to(From, To, []) :- From > To, !.
from_to(From, To, [From|List]) :- Next is From+1, from_to(Next, To, List).

len([], z).
len([_|Ys], s(N)) :- len(Ys, N).

len2s([], z).
len2s([_], s(z)).
len2s([_,_|Zs], s(s(N))) :- len2s(Zs, N).
