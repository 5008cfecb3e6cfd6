:- initialization(main, main).
:- dynamic d/2.
d(1, X) :- a(X), ( b(X) -> a(X) ; b(X) *-> a(X) ; \+ a(X) ), !, catch(a(X), _, b(X)).
d(2, _) :- call(a, 1), G = b(_), G, findall(Y, a(Y), _), user:b(1), lists:append([], [], _).
d(3, X) :- X = f(Y), Y is 1+2, Y > 3, a(Y) ; b(X).
d(_, _).
a(1). b(2). b(_).
main :- go, forall(clause(d(A, B), Body), ( print(d(A,B)-Body), nl )), listing(d/2), listing(st/1), forall(nth_clause(d(_,_), N, R), ( clause(H, Bd, R), print(N-H-Bd), nl )),
  forall(nth_clause(st(_), _, R), ( with_output_to(string(S), vm_list(R)), split_string(S, "\n", "", Lines), forall(( member(Line, Lines), \+ sub_string(Line, _, _, _, "<clause>") ), writeln(Line)) )).
go :- forall(d(_, 1), true), forall(d(2, _), true), st(1).
st(X) :- a(X), \+ b(X, 1), ( a(X), b(_) -> true ; fail ).
b(_, 2).
