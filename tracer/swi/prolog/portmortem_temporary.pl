:- module(portmortem_temporary,
          [ temporary_trace/1,          % -File
            is_temporary_trace/1,       % +File
            remove_temporary_trace/0
          ]).

/** <module> A trace that goes with its process

It lies in a directory of its own, with the index that the program `portmortem` writes beside it.
*/

:- set_module(class(library)).

:- dynamic
    directory/2.                % Pid, Path: of the process that made it

%!  temporary_trace(-File) is det.
%
%   The path of the trace, which may not exist yet. It is the same each time in a process; the child
%   of a fork has another.

temporary_trace(File) :-
    current_prolog_flag(pid, Pid),
    (   directory(Pid, Directory)
    ->  true
    ;   tmp_file(portmortem, Directory),
        make_directory(Directory),
        retractall(directory(_, _)),
        assertz(directory(Pid, Directory))
    ),
    trace_in(Directory, File).

trace_in(Directory, File) :-
    atom_concat(Directory, '/recording.pmt', File).

%!  is_temporary_trace(+File) is semidet.
%
%   Whether it is that of this process.

is_temporary_trace(File) :-
    current_prolog_flag(pid, Pid),
    directory(Pid, Directory),
    trace_in(Directory, File).

%!  remove_temporary_trace is det.
%
%   Remove that of this process, with what is beside it.

remove_temporary_trace :-
    current_prolog_flag(pid, Pid),
    (   retract(directory(Pid, Directory))
    ->  directory_files(Directory, Entries),
        forall(( '$member'(Entry, Entries), Entry \== '.', Entry \== '..' ),
               ( atomic_list_concat([Directory, /, Entry], File),
                 catch(delete_file(File), _, true)
               )),
        catch(delete_directory(Directory), _, true)
    ;   true
    ).
