%   A directive that shifts stacks and collects, before anything is recorded.

:- initialization(main, main).

:- length(L, 300_000), garbage_collect, length(L, N), N == 300_000.

main.
