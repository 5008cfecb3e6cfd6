:- initialization(main, main).
main :- call_with_depth_limit(deep(50), 60, D), print(D), nl, call_with_depth_limit(deep(100), 60, D2), print(D2), nl,
  call_with_inference_limit(deep(1000), 3000, I), print(I), nl, call_with_inference_limit(deep(1000), 2000, I2), print(I2), nl, call_with_inference_limit(deep(1000), 1000, I3), print(I3), nl,
  statistics(inferences, A), deep(500), statistics(inferences, B), C is B-A, print(C), nl.
deep(0) :- !. deep(N) :- N1 is N-1, deep(N1), true.
