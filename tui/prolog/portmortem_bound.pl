/*  Whether variables are bound at some places of a program, each time that it
    comes there. The places are goals of this module in the text of the program.
*/

:- module(portmortem_bound, []).

:- dynamic
    notes/1,                    % Path: where it is noted
    seen/4.                     % File, Place, Goal, bound or unbound

:- public
    note_in/1,
    bound/4.

note_in(Path) :-
    assertz(notes(Path)).

%!  bound(+File, +Place, +Goal, ?Variables) is det.
%
%   Notes once that all Variables are bound at a place, and once that some are not.

bound(File, Place, Goal, Variables) :-
    (   ground(Variables)
    ->  How = bound
    ;   How = unbound
    ),
    (   seen(File, Place, Goal, How)
    ->  true
    ;   with_mutex(portmortem_bound, note(seen(File, Place, Goal, How)))
    ).

note(Seen) :-
    assertz(Seen),
    notes(Path),
    setup_call_cleanup(
        open(Path, append, Out, [encoding(utf8)]),
        format(Out, '~q.~n', [Seen]),
        close(Out)).
