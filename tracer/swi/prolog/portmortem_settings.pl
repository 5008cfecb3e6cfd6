:- module(portmortem_settings,
          [ command_settings/3,         % +Options, +Default, -Settings
            settings/2,                 % +Options, -Settings
            setting/3                   % +Key, +Value, -Setting
          ]).

/** <module> Options as the library in C takes them

Each setting is a string, `key=value`.
*/

:- use_module(portmortem_terms, [name_arguments/3]).

:- set_module(class(library)).

%!  command_settings(+Options, +Default, -Settings) is det.
%
%   The command that the trace names: that of Options, or Default.

command_settings(Options, Default, Settings) :-
    (   memberchk(command(Command), Options)
    ->  true
    ;   Command = Default
    ),
    findall(Setting,
            ( '$member'(Word, Command), setting(command, Word, Setting) ),
            Settings).

%!  settings(+Options, -Settings) is det.
%
%   Those of Options that the library in C is to know.

settings(Options, Settings) :-
    findall(Setting,
            ( '$member'(Option, Options), option_setting(Option, Setting) ),
            Settings).

option_setting(Option, Setting) :-
    name_arguments(Option, Key, [Value]),
    foreign_option(Key),
    (   is_list(Value)
    ->  '$member'(One, Value)
    ;   One = Value
    ),
    setting(Key, One, Setting).

foreign_option(directory).
foreign_option(force).
foreign_option(include).
foreign_option(exclude).
foreign_option(arguments).
foreign_option(values).
foreign_option(byrd).
foreign_option(symbolic).
foreign_option(clauses).
foreign_option(goal_ports).
foreign_option(tail).
foreign_option(max_size).
foreign_option(keep).
foreign_option(figures_beyond).

%!  setting(+Key, +Value, -Setting) is det.

setting(Key, Value, Setting) :-
    format(string(Setting), '~w=~w', [Key, Value]).
