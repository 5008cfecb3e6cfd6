:- module(portmortem_lines,
          [ note_clause/2,              % +Clause, +Layout
            forget_lines/1,             % +File
            goal_lines/4                % +Ref, +Body, -File, -Lines
          ]).

/** <module> The lines of goals

The loader knows where each goal of a clause stands, and forgets it. It is noted
while a file is read, as the number of characters before the goal. Lines are made of
that when a clause gets ports at its goals.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_walk).

:- dynamic noted/4.             % Line, File, Head, Goals: of the clause that begins there

%!  note_clause(+Clause, +Layout) is det.
%
%   A clause of the file that is being read is about to be stored.

note_clause(Clause, Layout) :-
    nonvar(Layout),
    plain_clause(Clause, Layout, Head, Body, BodyLayout),
    source_location(File, Line),
    goals(Body, BodyLayout, Goals),
    !,
    name_arity(Head, Name, Arity),
    assertz(noted(Line, File, Name/Arity, Goals)).
note_clause(_, _).

%   plain_clause(+Clause, +Layout, -Head, -Body, -BodyLayout) is semidet
%
%   Clause is a rule, with this head and body.

plain_clause(Clause, _, _, _, _) :-
    var(Clause),
    !,
    fail.
plain_clause((Head0 :- Body), term_position(_, _, _, _, [_, Layout]), Head, Body, Layout) :-
    unqualified(Head0, Head).
plain_clause((Head0 => Body), term_position(_, _, _, _, [_, Layout]), Head, Body, Layout) :-
    nonvar(Head0),
    (   Head0 = (Head1, _)
    ->  unqualified(Head1, Head)
    ;   unqualified(Head0, Head)
    ).

unqualified(Head0, Head) :-
    nonvar(Head0),
    (   Head0 = _:Head1
    ->  unqualified(Head1, Head)
    ;   callable(Head0),
        Head = Head0
    ).

%   goals(+Body, ?Layout, -Goals) is det
%
%   The goals in the order in which they are written, each as Functor-Characters, -1 if expansion
%   has lost the place.

goals(Body, Layout, Goals) :-
    body_goals(ports, Body, Layout, in(user, 0, 0, nowhere), Found),
    starts(Found, Goals).

starts([], []).
starts([goal(Goal, _, Layout, _, _)|Found], [Functor-Start|Goals]) :-
    functor_of(Goal, Functor),
    start_end(Layout, Start, _),
    starts(Found, Goals).

functor_of(Goal, Functor) :-
    (   callable(Goal)
    ->  name_arity(Goal, Name, Arity),
        Functor = Name/Arity
    ;   Functor = variable
    ).

%!  forget_lines(+File) is det.
%
%   The file is about to be read again.

forget_lines(File) :-
    retractall(noted(_, File, _, _)),
    portmortem:'$forget_lines'(File).

%!  goal_lines(+Ref, +Body, -File, -Lines) is semidet.
%
%   Where the goals of Body are: Lines has a number for each, 0 where it is not known. Body is that
%   of the clause Ref, decompiled.
%   Fails for a clause that is in no file.

goal_lines(Ref, Body, File, Lines) :-
    clause_property(Ref, file(File)),
    clause_property(Ref, line_count(Line)),
    goals(Body, _, Compiled),
    (   clause_functor(Ref, Functor),
        noted(Line, File, Functor, Goals),
        same_goals(Goals, Compiled, Starts)
    ->  portmortem:'$lines'(File, Starts, Lines)
    ;   unknown(Compiled, Lines)
    ).

clause_functor(Ref, Name/Arity) :-
    nth_clause(Head, _, Ref),
    unqualified(Head, Plain),
    name_arity(Plain, Name, Arity).

%   The compiler moves unifications at the beginning of a body into the head, and a body may be
%   `true` that
%   had only those. The other goals are the last ones.

same_goals(Goals, Compiled, Starts) :-
    same_functors(Goals, Compiled, Starts),
    !.
same_goals([(=)/2-_|Goals], Compiled, Starts) :-
    same_goals(Goals, Compiled, Starts).

same_functors([], [], []).
same_functors([Functor-Start|Goals], [Functor-_|Compiled], [Start|Starts]) :-
    same_functors(Goals, Compiled, Starts).

unknown([], []).
unknown([_|Goals], [0|Lines]) :-
    unknown(Goals, Lines).
