:- module(portmortem_start,
          [ restore_command/1,          % +Options
            load_site_file/1            % +Options
          ]).

/** <module> A start of the engine with a site file of ours

The engine loads our site file in place of its own, and got some words in
another way than the user typed them. These predicates undo that: the first one
before all else, the second one at the end of our site file.
*/

:- set_module(class(library)).

%!  restore_command(+Options) is det.
%
%   The flags of the command line are those of the command without us. A state
%   that is run by its name takes no options; it has been started by option -x,
%   for ours.

restore_command(Options) :-
    (   memberchk(by_name(true), Options),
        current_prolog_flag(saved_program_class, Class),
        Class \== runtime
    ->  format(atom(Text), 'a saved state of class ~w: record swipl -x STATE instead', [Class]),
        throw(error(portmortem_error(Text), _))
    ;   true
    ),
    (   memberchk(os_argv(Words), Options)
    ->  set_prolog_flag(os_argv, Words)
    ;   true
    ),
    (   memberchk(arguments_of_program([A|As]), Options)
    ->  current_prolog_flag(argv, Argv0),
        '$append'(Argv0, [A|As], Argv),
        set_prolog_flag(argv, Argv)
    ;   true
    ).

%!  load_site_file(+Options) is det.
%
%   The site file that the engine would load if ours were not in its place.

load_site_file(Options) :-
    memberchk(site(Base), Options),
    Base \== none,
    current_prolog_flag(home, Home),
    file_name_extension(Base, rc, Name),
    atomic_list_concat([Home, /, Name], File),
    absolute_file_name(File, Path, [file_type(prolog), access(read), file_errors(fail)]),
    !,
    load_files(user:Path, [silent(true), scope_settings(false)]).
load_site_file(_).
