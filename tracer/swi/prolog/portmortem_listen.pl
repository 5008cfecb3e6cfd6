:- module(portmortem_listen,
          [ listen/0,
            listen_if_asked/1,          % :Listen
            attached/3                  % +Settings, :Start, -Error
          ]).

/** <module> Recordings that `portmortem attach` asks for

The engine library has a thread that waits at the program's socket; see `src/listening`. It calls
library(portmortem).
*/

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).
:- use_module(portmortem_terms, [name_arguments/3]).

:- meta_predicate
    listen_if_asked(0),
    attached(+, 2, -),
    keeping_clauses(0).

%!  listen is det.
%
%   The program can be recorded from now on.
%
%   @error portmortem_error(Message) if it cannot have a socket.

listen :-
    portmortem:'$listen'(Error),
    (   Error == ""
    ->  true
    ;   format(string(Text), 'the program cannot be attached to: ~s', [Error]),
        throw(error(portmortem_error(Text), _))
    ).

%!  listen_if_asked(:Listen) is det.
%
%   Call Listen if an environment variable says so. If it throws, the program goes on.

listen_if_asked(Listen) :-
    (   getenv('PORTMORTEM_LISTEN', '1')
    ->  catch(Listen, Error, print_message(warning, Error))
    ;   true
    ).

%!  attached(+Settings, :Start, -Error) is det.
%
%   Begin to record by call(Start, File, Options). Settings are texts =|key=value|=, options of
%   pm_start/2. Error is an empty string, or says why there is no recording.

attached(Settings, Start, Error) :-
    catch(( options(Settings, File, Options),
            begin(Start, File, Options)
          ), Thrown, true),
    (   var(Thrown)
    ->  Error = ""
    ;   why(Thrown, Error)
    ).

begin(_, _, _) :-
    portmortem:'$recording',
    !,
    Text = "it is being recorded already; a recording ends with pm_stop/0, or with the program",
    throw(error(portmortem_error(Text), _)).
begin(Start, File, Options) :-
    catch(keeping_clauses(call(Start, File, Options)), Error, true),
    (   var(Error)
    ->  !
    ;   Error = error(portmortem_error(_), _)
    ->  throw(Error)
    ;   ignore(portmortem:'$close'),
        throw(Error)
    ).
begin(_, _, _) :-
    ignore(portmortem:'$close'),
    throw(error(portmortem_error("it cannot begin to record"), _)).

why(error(portmortem_error(Text), _), Text) :-
    !.
why(Thrown, Text) :-
    format(string(Text), '~p', [Thrown]).

options(Settings, File, Options) :-
    findall(Option, ( '$member'(Setting, Settings), option(Setting, Option) ), All),
    (   '$member'(output(File), All)
    ->  findall(Option, ( '$member'(Option, All), Option \= output(_) ), Options)
    ;   throw(error(portmortem_error("no trace is named"), _))
    ).

option(Setting, Option) :-
    sub_string(Setting, Before, 1, After, "="),
    !,
    sub_string(Setting, 0, Before, _, Key),
    sub_string(Setting, _, After, 0, Text),
    (   kind(Name, Kind),
        atom_string(Name, Key),
        value(Kind, Text, Value)
    ->  name_arguments(Option, Name, [Value])
    ;   format(string(Error), 'it does not know the option ~s', [Setting]),
        throw(error(portmortem_error(Error), _))
    ).

value(text, Text, Value) :- atom_string(Value, Text).
value(boolean, "true", true).
value(boolean, "false", false).
value(number, Text, Value) :- number_string(Value, Text), integer(Value).

%   kind(?Name, ?Kind) is nondet
%
%   What can be asked for. Patterns come one by one.

kind(output, text).
kind(force, boolean).
kind(include, text).
kind(exclude, text).
kind(boundary, boolean).
kind(clauses, boolean).
kind(arguments, text).
kind(values, text).
kind(libraries, boolean).
kind(builtins, boolean).
kind(tests, boolean).
kind(byrd, boolean).
kind(symbolic, boolean).
kind(ports, boolean).
kind(tail, boolean).
kind(max_size, number).
kind(keep, text).

%   keeping_clauses(:Goal)
%
%   While a recording begins, the lists of clauses are walked, and other threads run. Meanwhile
%   retracted clauses are not freed: the engine's own limits are out of reach.

keeping_clauses(Goal) :-
    predicate_property(system:'$cgc_params'(_, _, _, _, _, _), defined),
    !,
    garbage_collect_clauses,
    Never = 1_000_000,
    setup_call_cleanup(
        '$cgc_params'(Space, Stack, Clauses, Never, Never, Never),
        Goal,
        '$cgc_params'(_, _, _, Space, Stack, Clauses)).
keeping_clauses(Goal) :-
    Goal.
