:- initialization(main, main).
:- use_module(library(yall)). :- use_module(library(apply_macros)).
main :- maplist([X,Y]>>(Y is X*2), [1,2,3], L), print(L), nl, foldl([A,B,C]>>(C is A+B), [1,2,3], 0, S), print(S), nl,
  bagof(K-V, kv(K,V), KV), print(KV), nl, ( setof(V2, K2^kv(K2,V2), Vs), print(Vs), nl, fail ; true ), ( bagof(V3, kv(K3,V3), V3s), print(K3-V3s), nl, fail ; true ),
  aggregate_all(max(V4-K4), kv(K4,V4), Max), print(Max), nl, aggregate_all(count, kv(_,_), Cnt), print(Cnt), nl,
  ( catch(nosuch, error(E,_), (print(E), nl)) ; true ), forall(kv(K5,_), (print(K5), nl)),
  with_output_to(string(Str), (kv(K6,_), print(K6))), print(Str), nl, string_code(1, "abc", Code), print(Code), nl,
  nb_setval(cnt, 0), ( repeat, nb_getval(cnt, N0), N is N0+1, nb_setval(cnt, N), N >= 5, ! ), print(N), nl,
  phrase(digits(Ds), `123`, Rest), print(Ds-Rest), nl, once(kv(_,_)), ignore(kv(z,_)), \+ kv(z,_), call((kv(Q,_), Q == b)), call((kv(_,_) -> true ; fail)), G = (kv(R,_), !), call(G), print(R), nl,
  tnb, sformat, call_cleanup(kv(_,_), print(cl)), nl, sort(0, @>=, [1,3,2], Sd), print(Sd), nl, predsort(cmp, [c,a,b], Ps), print(Ps), nl, between(1, 3, Z), Z > 2, !, print(Z), nl, string_concat(PreS, PostS, "ab"), print(PreS+PostS), nl, snapshot((assertz(zz(1)), zz(_))), transaction((assertz(zz(2)), zz(_))), findall(Zz, zz(Zz), Zzs), print(Zzs), nl, prolog_load_context(dialect, Dl), print(Dl), nl.
:- dynamic zz/1.
kv(a,1). kv(b,2). kv(a,3).
digits([D|T]) --> digit(D), digits(T).
digits([]) --> [].
digit(D) --> [D], { code_type(D, digit) }.
tnb :- b_setval(v, 1), b_getval(v, V), print(V), nl.
sformat :- format("~p ~w ~q~n", [a, x, y]), format("~@~n", [pk]).
cmp(O, A, B) :- compare(O, A, B).
pk :- kv(a,X), print(X).
