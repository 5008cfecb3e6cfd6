:- module(portmortem_boot,
          [ boot/2                      % +File, +Options
          ]).

/** <module> Begin to record before the program is loaded, for `portmortem record`
*/

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).
% Not by the names of their files: a saved state that has these libraries has them from elsewhere.
:- use_module(library(portmortem), [pm_start/2]).
:- use_module(library(portmortem_start)).

%!  boot(+File, +Options) is det.
%
%   Begin to record into File. If that is not possible the process ends: a program that was to be
%   recorded does not run unrecorded.

boot(File, Options) :-
    catch(( portmortem:need_engine_library,
            (   memberchk(watched(Descriptor), Options)
            ->  portmortem:'$watched'(Descriptor)
            ;   true
            ),
            restore_command(Options),
            pm_start(File, Options)
          ), Error, true),
    (   var(Error)
    ->  keep_atoms,
        portmortem:'$program_begins',
        load_site_file(Options)
    ;   boot_error_text(Error, Text),
        format(user_error, 'error: ~w~n', [Text]),
        halt(1)
    ).

%   The order of tabled answers depends on handles of atoms, and so on those that are free when the
%   program begins. So that these are the same in each recording, no other thread collects while the
%   recorder is loaded, and no atom is collected then: the recorder's garbage stays. The engine
%   counts garbage, to know when to collect. This collection frees nothing, and makes that count
%   begin anew.

keep_atoms :-
    setup_call_cleanup(
        portmortem:'$keep_atoms'(1),
        garbage_collect_atoms,
        portmortem:'$keep_atoms'(0)),
    flag('$portmortem_agc_margin', Margin, 0),
    set_prolog_flag(agc_margin, Margin),
    (   flag('$portmortem_gc_thread', 1, 0)
    ->  set_prolog_flag(gc_thread, true)
    ;   true
    ).

boot_error_text(error(portmortem_error(Text), _), Text) :- !.
boot_error_text(Error, Text) :-
    format(string(Text), 'cannot begin to record: ~p', [Error]).
