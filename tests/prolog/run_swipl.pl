/*  Running swipl in a process of its own, for the tests. */

:- module(run_swipl,
          [ run_swipl/5,            % +Directory, +Args, +Input, -Status, -Output
            run_tool/8,             % +Tool, +File, +Goal, +Flags, +Input, -Status, -Counts, -Output
            tests_directory/1,      % -Directory
            read_json/2             % +File, -Dict
          ]).
:- use_module(library(process)).
:- use_module(library(filesex)).
:- use_module(library(http/json)).

:- dynamic here/1.

:- prolog_load_context(directory, Dir), assertz(here(Dir)).

%!  tests_directory(-Directory)
%
%   The directory above this one: tests/ of the repository.

tests_directory(Tests) :- here(Dir), file_directory_name(Dir, Tests).

%!  run_swipl(+Directory, +Args, +Input, -Status, -Output)
%
%   Run swipl in Directory with the string Input as its standard input.  Output
%   is Out-Err, strings; Status as in process_wait/2.

run_swipl(Directory, Args, Input, Status, Output-Errors) :-
    setup_call_cleanup(
        ( tmp_file_stream(In, S1, [encoding(utf8)]), write(S1, Input), close(S1),
          tmp_file(stdout, Out), tmp_file(stderr, Err) ),
        ( run_shell(Directory, Args, In, Out, Err, Status),
          read_text(Out, Output),
          read_text(Err, Errors) ),
        maplist(remove, [In, Out, Err])).

%   Through a shell, for the redirections: with pipes, a program that writes
%   much to both would have to be read from both at once.

run_shell(Directory, Args, In, Out, Err, Status) :-
    Script = 'in=$1 out=$2 err=$3; shift 3; LC_ALL=C.UTF-8 exec swipl "$@" <"$in" >"$out" 2>"$err"',
    process_create(path(sh), ['-c', Script, sh, file(In), file(Out), file(Err)|Args],
                   [cwd(Directory), process(Pid)]),
    process_wait(Pid, Status).

read_text(File, Text) :-
    setup_call_cleanup(open(File, read, S, [encoding(utf8), newline(posix)]),
                       read_string(S, _, Text),
                       close(S)).

remove(File) :- catch(delete_file(File), _, true).

%!  run_tool(+Tool, +File, +Goal, +Flags, +Input, -Status, -Counts, -Output)
%
%   Run port_counter.pl or debugger_ports.pl.  Counts is the dict that it
%   writes, or `none`.

run_tool(Tool, File, Goal, Flags, Input, Status, Counts, Output) :-
    here(Dir),
    directory_file_path(Dir, Tool, Script),
    file_directory_name(File, FileDir),
    tmp_file_stream(text, Json, Tmp), close(Tmp),
    append([file(Script), '--', file(File), Goal, file(Json)], Flags, Args),
    run_swipl(FileDir, Args, Input, Status, Output-_),
    (   size_file(Json, 0)
    ->  Counts = none
    ;   read_json(Json, Counts)
    ),
    delete_file(Json).

read_json(File, Dict) :-
    setup_call_cleanup(open(File, read, In, [encoding(utf8)]),
                       json_read_dict(In, Dict),
                       close(In)).
