/*  Trap: built-ins that are compiled inline or leave choicepoints in C: is/2 and
    comparison, between/3, succ_or_zero/1, plus/3, nth0/nth1, length/2 as a
    generator, repeat/0; rational and big integers; arithmetic functions of our
    own; a user predicate with the name of a library one.
*/

:- initialization(main, main).

:- arithmetic_function(double/1).

main :-
    findall(X, between(1, 5, X), L1), writeln(L1),
    (   between(1, inf, X2), X2*X2 > 50 -> writeln(X2) ; true ),
    succ(X3, 4), writeln(X3),
    (   succ_or_zero(3) -> writeln(succ_or_zero) ; true ),
    plus(1, P, 5), writeln(P),
    factorial(25, F), writeln(F),
    gcd_lcm(48, 180, G, M), writeln(G-M),
    collatz(27, Steps), writeln(Steps),
    findall(N-E, nth1(N, [a,b,c], E), L4), writeln(L4),
    findall(Len, ( length(_, Len), ( Len >= 3 -> ! ; true ) ), L5), writeln(L5),
    pythagorean(20, Triples), writeln(Triples),
    R is 1r3 + 1r6, writeln(R),
    D is double(21), writeln(D),
    power(2, 200, Q), writeln(Q),
    last([1,2,3], Last), writeln(Last),
    Foo = foo,
    catch(( Y is Foo+1, writeln(Y) ), error(Err, _), ( print(Err), nl )),
    Zero = 0,
    catch(( Z is 1/Zero, writeln(Z) ), error(Err2, _), ( print(Err2), nl )),
    random_walk(1, 200, W), writeln(W).

succ_or_zero(N) :- ( N =:= 0 -> true ; succ(_, N) ).

double(X, Y) :- Y is X*2.

factorial(0, 1) :- !.
factorial(N, F) :- N1 is N-1, factorial(N1, F1), F is N*F1.

gcd_lcm(A, B, G, M) :- euclid(A, B, G), M is A*B//G.

euclid(A, 0, A) :- !.
euclid(A, B, G) :- C is A mod B, euclid(B, C, G).

collatz(1, 0) :- !.
collatz(N, Steps) :-
    (   N mod 2 =:= 0 -> N1 is N//2 ; N1 is 3*N+1 ),
    collatz(N1, Steps0),
    Steps is Steps0+1.

pythagorean(N, Triples) :-
    findall(A-B-C,
            ( between(1, N, A), between(A, N, B), between(B, N, C), A*A+B*B =:= C*C ),
            Triples).

power(_, 0, 1) :- !.
power(B, N, P) :-
    H is N//2, power(B, H, P1),
    (   N mod 2 =:= 0 -> P is P1*P1 ; P is P1*P1*B ).

%   Not lists:last/2.

last(L, last(X)) :- append(_, [X], L), !.

%   A pseudo-random walk, the same on every machine.

random_walk(X, 0, X) :- !.
random_walk(X, N, Y) :- X1 is (X*1103515245+12345) mod 2147483648, N1 is N-1, random_walk(X1, N1, Y).
