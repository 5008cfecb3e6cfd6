/*  The engine's own debugger as a port counter.

    Usage:

        swipl debugger_ports.pl -- FILE GOAL OUT.json [--all] [-- ARG ...]

    Same arguments and same output as port_counter.pl, but the counts come
    from user:prolog_trace_interception/4.  Used to check port_counter.pl; the
    two share no code but the JSON lines at the end.

    Redos differ by design: the debugger reports the innermost box that is
    re-entered, not its ancestors, and reports the redo of a box that has no
    port of its own left.  Only the thread that runs GOAL is counted.  Slow:
    some 100,000 ports a second.
*/

:- module(debugger_ports, []).
:- use_module(library(lists), [append/3, member/2]).
:- set_module(base(system)).        % not to see what the program defines in user
:- initialization(main, main).

:- dynamic
    loading/0,
    seen/2.                 % ?PI, ?KeyPrefix

main :-
    current_prolog_flag(argv, [File, GoalText, Out|Rest]),
    (   append(Flags, ['--'|ProgramArgs], Rest)
    ->  true
    ;   Flags = Rest, ProgramArgs = []
    ),
    set_prolog_flag(argv, ProgramArgs),
    setup_call_cleanup(
        assertz(loading),
        load_files(user:File, []),
        retractall(loading)),
    term_string(Goal, GoalText, [module(user)]),
    at_halt(write_report(Out)),
    (   memberchk('--all', Flags) -> Run = forall(user:Goal, true) ; Run = once(user:Goal) ),
    (   catch(traced(Run), E, true)
    ->  (   nonvar(E)
        ->  print_message(error, unhandled_exception(E)), halt(2)
        ;   halt(0)
        )
    ;   halt(1)
    ).

:- multifile system:term_expansion/2.
:- dynamic system:term_expansion/2.

system:term_expansion((:- initialization(_)), []) :- debugger_ports:loading.
system:term_expansion((:- initialization(_, _)), []) :- debugger_ports:loading.

:- meta_predicate traced(0).
traced(Goal) :-
    visible(-all), visible(+call), visible(+exit), visible(+fail), visible(+redo), visible(+exception),
    leash(-all),
    style_check(-singleton),
    setup_call_cleanup(trace, Goal, notrace).

:- multifile user:prolog_trace_interception/4.
:- dynamic user:prolog_trace_interception/4.

user:prolog_trace_interception(Port, Frame, _, continue) :-
    debugger_ports:port(Port, Frame).

:- '$hide'(user:prolog_trace_interception/4).

port(Port0, Frame) :-
    port_name(Port0, Port),
    prolog_frame_attribute(Frame, predicate_indicator, PI0),
    qualified(PI0, PI),
    key(PI, Prefix),
    Prefix \== library, !,
    atom_concat(Prefix, Port, Key),
    flag(Key, N, N+1).
port(_, _).

port_name(call, call).
port_name(exit, exit).
port_name(fail, fail).
port_name(redo(_), redo).
port_name(exception(_), exception).

qualified(M:PI, M:PI) :- !.
qualified(PI, user:PI).

key(PI, Prefix) :- seen(PI, Prefix0), !, Prefix = Prefix0.
key(M:Name/Arity, Prefix) :-
    (   user_predicate(M, Name, Arity)
    ->  format(atom(Prefix), '$debugger_ports ~q:~q/~d ', [M, Name, Arity])
    ;   Prefix = library
    ),
    assertz(seen(M:Name/Arity, Prefix)).

user_predicate(M, Name, Arity) :-
    M \== debugger_ports,
    functor(H, Name, Arity),
    predicate_property(M:H, defined),
    \+ predicate_property(M:H, imported_from(_)),
    \+ predicate_property(M:H, foreign),
    \+ ( module_property(M, class(Class)), memberchk(Class, [system, library]) ).

write_report(File) :-
    nodebug,
    findall(Text-row(M:Name/Arity, [C,E,R,F,X]),
            ( seen(PI, Prefix), Prefix \== library,
              count(Prefix, call, C), C > 0,
              count(Prefix, exit, E), count(Prefix, redo, R),
              count(Prefix, fail, F), count(Prefix, exception, X),
              PI = M:Name/Arity,
              format(string(Text), '~q:~q/~d', [M, Name, Arity])
            ),
            Rows0),
    sort(Rows0, Rows),
    setup_call_cleanup(
        open(File, write, Out, [encoding(utf8)]),
        write_rows(Out, Rows),
        close(Out)).

count(Prefix, Port, N) :-
    atom_concat(Prefix, Port, Key),
    flag(Key, N, N).

write_rows(Out, Rows) :-
    format(Out, '{', []),
    write_rows(Rows, '', Out),
    format(Out, '~n}~n', []).

write_rows([], _, _).
write_rows([Text-row(M:Name/Arity, [C,E,R,F,X])|T], Separator, Out) :-
    format(Out, '~w~n  ', [Separator]),
    json_string(Out, Text),
    format(Out, ': {"calls": ~d, "exits": ~d, "redos": ~d, "fails": ~d, "exceptions": ~d, ',
           [C, E, R, F, X]),
    format(Out, '"module": ', []), json_string(Out, M),
    format(Out, ', "name": ', []), json_string(Out, Name),
    format(Out, ', "arity": ~d}', [Arity]),
    write_rows(T, ',', Out).

json_string(Out, Text) :-
    put_char(Out, '"'),
    forall(( string_codes(Text, Codes), member(C, Codes) ), json_code(Out, C)),
    put_char(Out, '"').

json_code(Out, C) :- C < 0x20, !, format(Out, '\\u~|~`0t~16r~4+', [C]).
json_code(Out, C) :- memberchk(C, `"\\`), !, format(Out, '\\~c', [C]).
json_code(Out, C) :- put_code(Out, C).
