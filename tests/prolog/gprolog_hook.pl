/*  The system-dependent part of the GNU Prolog benchmarks, for SWI-Prolog.

    The programs of Debian's gprolog-doc include common.pl, and that includes
    hook.pl, GNU Prolog's own, which runs q/0 on loading.  Their README asks for
    a hook.pl for each system: this one is put in its place, in a temporary copy
    of the directory (see ../corpus.json).  Nothing runs on loading.
*/

get_count(Count) :-
    current_prolog_flag(argv, [Arg|_]),
    atom_number(Arg, Count).

get_cpu_time(Milliseconds) :-
    statistics(runtime, [Milliseconds|_]).
