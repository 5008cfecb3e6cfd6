% htmlrep.pl - makes an HTML report of sales, as one atom
% swipl htmlrep.pl 3000 > /dev/null

:- initialization(main, main).

main(Argv) :-
    (   Argv = [A|_] -> atom_number(A, N) ; N = 2000 ),
    sales(N, Sales),
    totals(Sales, Totals),
    page(Sales, Totals, Html),
    write(Html), nl.

sales(N, Sales) :-
    numlist(1, N, Is),
    maplist(sale, Is, Sales).

sale(I, sale(I, Region, Product, Amount)) :-
    R is I mod 5, nth0(R, [north, south, east, west, centre], Region),
    P is I mod 7, nth0(P, ['Tea & Co', 'Coffee', 'Milk <1%>', 'Sugar', 'Salt', 'Bread', 'Rice'], Product),
    Amount is (I * 37) mod 1000.

totals(Sales, Totals) :-
    setof(R, I^P^A^member(sale(I,R,P,A), Sales), Regions),
    maplist(total(Sales), Regions, Totals).

total(Sales, Region, Region-Sum) :-
    findall(A, member(sale(_,Region,_,A), Sales), As),
    sum_list(As, Sum).

page(Sales, Totals, Html) :-
    rows(Sales, RowList),
    atomic_list_concat(RowList, Rows),
    total_rows(Totals, '', TRows),
    atomic_list_concat(['<html><body><table>', Rows, '</table><table>',
                        TRows, '</table></body></html>'], Html).

rows([], []).
rows([S|Ss], [Row|Rows]) :-
    row(S, Row),
    rows(Ss, Rows).

row(sale(I, Region, Product, Amount), Row) :-
    escape(Product, P),
    format(atom(Row), '<tr><td>~d</td><td>~w</td><td>~w</td><td>~2f</td></tr>~n',
           [I, Region, P, Amount]).

total_rows([], Html, Html).
total_rows([R-S|Ts], Html0, Html) :-
    format(atom(Row), '<tr><td>~w</td><td>~2f</td></tr>', [R, S]),
    atom_concat(Html0, Row, Html1),
    total_rows(Ts, Html1, Html).

escape(Text, Escaped) :-
    atom_chars(Text, Cs),
    escape_chars(Cs, Es),
    atomic_list_concat(Es, Escaped).

escape_chars([], []).
escape_chars([C|Cs], [E|Es]) :-
    escape_char(C, E),
    escape_chars(Cs, Es).

escape_char('<', '&lt;') :- !.
escape_char('>', '&gt;') :- !.
escape_char('&', '&amp;') :- !.
escape_char(C, C).
