:- module(portmortem_report,
          [ print_report/3,             % +Library, +Trace, +Options
            print_advice/3              % +Library, +Trace, +Options
          ]).

/** <module> Print a report of a trace or advice on it, also of one that is being written

The program `portmortem` reads the trace and writes that. It is looked for where the
environment variable `PORTMORTEM` says,
beside the engine library, in the directory `bin` beside that of the library, and in those of
`PATH`.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms, [name_arity/3]).

%!  print_report(+Library, +Trace, +Options) is det.
%
%   Write the report of the file Trace to the current output. Options is a list of options of
%   `portmortem report`, as Name(Value), or one predicate indicator. Library is the path of the
%   engine library.
%
%   @error portmortem_error(Message) if there is no program, or an option is none.

print_report(Library, Trace, Options) :-
    print_page(Library, report, Trace, Options).

%!  print_advice(+Library, +Trace, +Options) is det.
%
%   The same of what `portmortem advise` says.

print_advice(Library, Trace, Options) :-
    print_page(Library, advise, Trace, Options).

print_page(Library, Command, Trace, Options) :-
    program(Library, Program),
    arguments(Options, Arguments),
    findall(Quoted,
            ( '$member'(Word, [Program, Command, Trace|Arguments]), quoted(Word, Quoted) ),
            Words),
    atomic_list_concat(Words, ' ', Line),
    atom_concat(Line, ' 2>&1; true', Shell),
    setup_call_cleanup(
        open(pipe(Shell), read, Report, [encoding(utf8)]),
        ( current_output(Out), copy_stream_data(Report, Out) ),
        close(Report)).

program(_, Program) :-
    getenv('PORTMORTEM', Program),
    !.
program(Library, Program) :-
    file_directory_name(Library, Directory),
    '$member'(Place, ['', '../bin/', '../../bin/']),
    atomic_list_concat([Directory, /, Place, portmortem], Program),
    is_program(Program),
    !.
program(_, Program) :-
    getenv('PATH', Path),
    atomic_list_concat(Directories, :, Path),
    '$member'(Directory, Directories),
    atomic_list_concat([Directory, /, portmortem], Program),
    is_program(Program),
    !.
program(_, _) :-
    failed('the program `portmortem` was not found: put it into a directory of PATH, or name it in the environment variable PORTMORTEM').

is_program(Program) :-
    exists_file(Program),
    access_file(Program, execute).

arguments(Options, Arguments) :-
    is_list(Options),
    !,
    findall(Argument,
            ( '$member'(Option, Options), argument(Option, Argument) ),
            Arguments).
arguments(PI, [Argument]) :-
    argument(predicate(PI), Argument).

argument(Option, Argument) :-
    (   compound(Option),
        name_arity(Option, Name, 1),
        option_of_report(Name)
    ->  arg(1, Option, Value),
        (   Value == true
        ->  format(string(Argument), '--~w', [Name])
        ;   value_text(Value, Text),
            format(string(Argument), '--~w=~w', [Name, Text])
        )
    ;   findall(Known, option_of_report(Known), All),
        format(string(Why), 'no option of a report: ~p; options are ~p, each with a value, or one predicate Name/Arity', [Option, All]),
        failed(Why)
    ).

option_of_report(predicate).
option_of_report(top).
option_of_report(sort).
option_of_report(columns).
option_of_report(sites).
option_of_report(clauses).
option_of_report(time).
option_of_report(hide).
option_of_report(focus).
option_of_report(stream).

%   As the program writes it: without the module `user`; texts as they are.

value_text(Value, Text) :-
    (   atomic(Value)
    ->  format(string(Text), '~w', [Value])
    ;   Value = user:PI
    ->  format(string(Text), '~q', [PI])
    ;   format(string(Text), '~q', [Value])
    ).

quoted(Word, Quoted) :-
    atomic_list_concat(Parts, '\'', Word),
    atomic_list_concat(Parts, '\'\\\'\'', Inner),
    atomic_list_concat(['\'', Inner, '\''], Quoted).

failed(Text) :-
    throw(error(portmortem_error(Text), _)).
