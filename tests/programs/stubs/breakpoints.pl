:- initialization(main, main).
main :- p(1), nth_clause(p(_), 1, Ref), findall(PC-N, '$break_pc'(Ref, PC, N), L), print(L), nl,
  leash(-all), visible(+all),
  ( L = [PC1-_|_] -> '$break_at'(Ref, PC1, true) ; true ), p(1), print(broken), nl, forall(clause(p(X), B), (print(X-B), nl)), 
  ( L = [PC2-_|_] -> '$break_at'(Ref, PC2, false) ; true ), nodebug, p(2), print(end), nl, listing(p/1).
p(X) :- q(X), \+ r(X), ( q(3) -> true ; q(X) ), q(X).
q(_).
r(9).
