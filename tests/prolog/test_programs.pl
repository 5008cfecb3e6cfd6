/*  Checks of the material itself: programs.json and corpus.json say what the
    programs do under plain SWI-Prolog, and port_counter.pl agrees with the
    engine's debugger on all that are marked comparable.

    Run:  swipl -g run_tests -t halt test_programs.pl      (about a minute)
*/

:- module(test_programs, []).
:- use_module(library(plunit)).
:- use_module(library(filesex)).
:- use_module(run_swipl).

:- dynamic json/2, prepared/1.

%!  entry(+What, -Entry) is nondet.
%
%   The programs of programs.json (`trap`) and corpus.json (`corpus`).

entry(What, Entry) :-
    document(What, Doc),
    member(Entry, Doc.programs),
    available(Entry).

%!  named(+What, ?Name, -Entry) is nondet.

named(What, Name, Entry) :- entry(What, Entry), Name = Entry.name.

document(What, Doc) :- json(What, Doc), !.
document(What, Doc) :-
    tests_directory(Tests),
    (   What == trap -> Name = 'programs/programs.json' ; Name = 'corpus.json' ),
    directory_file_path(Tests, Name, File),
    read_json(File, Doc),
    assertz(json(What, Doc)).

available(Entry) :-
    (   get_dict(source, Entry, "gprolog-doc") -> gprolog(_) ; true ).

%!  file(+Entry, -File)

file(Entry, File) :-
    (   get_dict(source, Entry, Source)
    ->  (   Source == "gprolog-doc"
        ->  prepare(Dir)
        ;   tests_directory(Tests), file_directory_name(Tests, Dir)
        )
    ;   tests_directory(Tests), directory_file_path(Tests, programs, Dir)
    ),
    directory_file_path(Dir, Entry.file, File).

gprolog(Dir) :-
    document(corpus, Doc),
    Dir = Doc.sources.'gprolog-doc'.directory,
    exists_directory(Dir).

%!  prepare(-Directory)
%
%   A copy of gprolog-doc's programs, with our hook.pl.

prepare(Dir) :- prepared(Dir), !.
prepare(Dir) :-
    gprolog(From),
    tmp_file(gprolog, Dir),
    make_directory(Dir),
    format(atom(Command),
           'for f in "~w"/*.pl; do cp "$f" "~w"; done; \c
            for f in "~w"/*.pl.gz; do [ -e "$f" ] && gunzip -c "$f" > "~w/$(basename "$f" .gz)"; done; :',
           [From, Dir, From, Dir]),
    shell(Command, 0),
    tests_directory(Tests),
    directory_file_path(Tests, 'prolog/gprolog_hook.pl', Hook),
    directory_file_path(Dir, 'hook.pl', To),
    copy_file(Hook, To),
    at_halt(delete_directory_and_contents(Dir)),
    assertz(prepared(Dir)).

%!  plain_args(+Entry, +File, -Args)

plain_args(Entry, File, Args) :-
    (   get_dict(goal, Entry, Goal0), Goal0 \== null
    ->  (   Entry.all == true
        ->  format(atom(Goal), 'forall((~w), true)', [Goal0])
        ;   Goal = Goal0
        ),
        Before = ['-g', Goal, '-t', halt]
    ;   Before = []
    ),
    append(Before, [file(File), '--'|Entry.args], Args).

input(Entry, Input) :-
    (   get_dict(stdin, Entry, Input), Input \== null -> true ; Input = "" ).

run_plain(Entry, Status, Output) :-
    file(Entry, File),
    file_directory_name(File, Dir),
    plain_args(Entry, File, Args),
    input(Entry, Input),
    run_swipl(Dir, Args, Input, exit(Status), Out-Err0),
    without_slow_collector(Err0, Err),
    Output = Out-Err.

%   On a busy machine 9.0.4 ends now and then with this remark, recorded or not.

without_slow_collector(Err0, Err) :-
    atomic_list_concat(Parts, "% The following threads wouldn't die: [gc]\n", Err0),
    atomics_to_string(Parts, Err).

atomics_to_string(Parts, String) :-
    atomic_list_concat(Parts, Atom),
    atom_string(Atom, String).

count(Tool, Entry, Status, Counts, Output) :-
    file(Entry, File),
    (   get_dict(counter, Entry, C)
    ->  Goal = C.goal, Flags0 = [], Args = C.args
    ;   Goal = Entry.count_goal, Args = Entry.args,
        (   Entry.all == true -> Flags0 = ['--all'] ; Flags0 = [] )
    ),
    append(Flags0, ['--'|Args], Flags),
    input(Entry, Input),
    run_tool(Tool, File, Goal, Flags, Input, exit(Status), Counts, Output).

%!  comparable(+Entry, -Except)

comparable(Entry, Except) :-
    (   get_dict(counter, Entry, C)
    ->  C.comparable == true,
        (   get_dict(except, C, Except) -> true ; Except = [] )
    ;   Entry.comparable == "all",
        Except = []
    ).

total(Counts, Port, Total) :-
    aggregate_all(sum(N), ( get_dict(_, Counts, D), get_dict(Port, D, N) ), Total).

%   The programs that the debugger can follow: not too long; not fork, where the
%   child waits for the terminal; not signals, whose time limit may end inside
%   the debugger's hook and be lost there; not names that begin with $, which it
%   hides.

followed(What, Name) :-
    named(What, Name, Entry),
    comparable(Entry, _),
    \+ memberchk(Name, ["fork", "signals", "dollar_names"]),
    (   get_dict(calls, Entry, Calls) -> Calls < 100 000 ; true ).

:- begin_tests(programs).

test(plain, [forall(named(trap, Name, _)), Status == Expected]) :-
    once(named(trap, Name, Entry)),
    Expected = Entry.status,
    run_plain(Entry, Status, Out-Err),
    (   Entry.stdout == null -> true ; assertion(Out == Entry.stdout) ),
    (   Entry.stderr == null -> true ; assertion(Err == Entry.stderr) ).

test(counted, [forall(( named(trap, Name, E), comparable(E, _) )), Status == Expected]) :-
    once(named(trap, Name, Entry)),
    Expected = Entry.status,
    count('port_counter.pl', Entry, Status, _, Out),
    (   Entry.counter.args == Entry.args -> assertion(Out == Entry.stdout) ; true ).

:- end_tests(programs).

:- begin_tests(corpus).

test(counted, [forall(named(corpus, Name, _)), Status-Calls-Exits == Expected]) :-
    once(named(corpus, Name, Entry)),
    Expected = Entry.status-Entry.calls-Entry.exits,
    run_plain(Entry, PlainStatus, Out-_),
    assertion(PlainStatus == Entry.status),
    (   Entry.stdout == null -> true ; assertion(Out == Entry.stdout) ),
    count('port_counter.pl', Entry, Status, Counts, Out1),
    assertion(Out1 == Out),
    total(Counts, calls, Calls),
    total(Counts, exits, Exits).

:- end_tests(corpus).

:- begin_tests(debugger).

test(agrees, [forall(( member(What, [trap, corpus]), followed(What, Name) )),
              Differences == []]) :-
    once(named(What, Name, Entry)),
    comparable(Entry, Except0),
    findall(PI, ( member(Text, Except0), atom_string(PI, Text) ), Except),
    count('port_counter.pl', Entry, S1, Counts, Out1),
    count('debugger_ports.pl', Entry, S2, Shown, Out2),
    assertion(S1-Out1 == S2-Out2),
    findall(PI-[C,X]-Other,
            ( get_dict(PI, Counts, D), \+ memberchk(PI, Except),
              C = D.calls, X = D.exits,
              (   get_dict(PI, Shown, D2) -> Other = [D2.calls, D2.exits] ; Other = none ),
              Other \== [C,X] ),
            Differences).

:- end_tests(debugger).
