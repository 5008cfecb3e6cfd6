:- module(portmortem_registry,
          [ wrapped/6,                  % ?Name, ?Arity, ?Module, ?Id, ?How, ?Generation
            instrumented/4,             % ?Name, ?Arity, ?Module, ?CopyName
            boundary_id/4,              % ?Name, ?Arity, ?Module, ?Id
            withdrawn/5,                % ?Name, ?Arity, ?Module, ?Id, ?CopyName
            keeps_arguments/1,          % ?Id
            prepared/5,                 % ?Name, ?Arity, ?Module, ?Id, ?Copy
            loaded_file/1,              % ?File
            mode/1,                     % ?Mode
            set_mode/1                  % +Options
          ]).

/** <module> What is wrapped, and how: the state of the recorder with ports
*/

:- set_module(class(library)).
% Also where the program runs with --traditional.
:- set_prolog_flag(double_quotes, string).
:- use_module(portmortem_layout).

:- dynamic
    wrapped/6,          % How: copy, or closure(Why)
    instrumented/4,     % a copy with ports at its goals, which others call
    boundary_id/4,      % of a predicate that is not recorded, but whose calls are
    withdrawn/5,        % a copy that others call no longer
    keeps_arguments/1,  % what calls of it are made with is recorded
    prepared/5,         % to be wrapped; Copy is to_instrument(...) or made(CopyName)
    loaded_file/1,
    mode/1.             % byrd, symbolic, goals, boundary, clauses: how wrappers and copies are made

%!  set_mode(+Options) is det.
%
%   What wrappers and copies of this recording have.

set_mode(Options) :-
    retractall(mode(_)),
    retractall(boundary_id(_, _, _, _)),
    retractall(keeps_arguments(_)),
    (   memberchk(byrd(true), Options)
    ->  assertz(mode(byrd))
    ;   '$member'(Other, [tail(false), symbolic(true), goal_ports(false)]),
        memberchk(Other, Options)
    ->  true
    ;   goal_ports_work
    ->  assertz(mode(goals)),
        (   memberchk(boundary(false), Options)
        ->  true
        ;   assertz(mode(boundary))
        )
    ;   true
    ),
    (   \+ memberchk(clauses(true), Options)
    ->  true
    ;   \+ memberchk(byrd(true), Options),
        \+ memberchk(symbolic(true), Options),
        goal_ports_work                 % so the port of a clause does
    ->  assertz(mode(clauses))
    ;   portmortem:'$note'("clauses that were entered are not recorded: they have no ports in this mode, or in this version of SWI-Prolog")
    ).
