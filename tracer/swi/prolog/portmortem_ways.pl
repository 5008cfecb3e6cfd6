:- module(portmortem_ways,
          [ how/6,                      % +Module, +Head, +When, +Id, -How, -Copy
            needs_closure/1,            % :Head
            complete/2                  % :Head, +When
          ]).

/** <module> Whether a predicate is called through a copy of its clauses, or itself
*/

:- set_module(class(library)).
:- use_module(portmortem_terms, [name_arity/3]).
:- use_module(portmortem_engine).
:- use_module(portmortem_registry).
:- use_module(portmortem_copies).
:- use_module(portmortem_names, [copy_name/3, counted_name/3]).
:- use_module(portmortem_disguise).
:- use_module(portmortem_symbolic).
:- use_module(portmortem_walk, [control/1, body_goals/3]).

%!  how(+Module, +Head, +When, +Id, -How, -Copy) is det.
%
%   How a predicate is to be wrapped: `copy`, or closure(Why).

how(M, Head, When, Id, How, Copy) :-
    (   needs_closure(M:Head)
    ->  How = closure(always)
    ;   \+ complete(M:Head, When)
    ->  How = closure(loading)
    ;   catch(( may_be_copied(M:Head),
                make_copy(M, Head, Id, Copy) ), error(_, _), fail)
    ->  How = copy
    ;   How = closure(always)
    ).

%!  complete(:Head, +When) is semidet.
%
%   The file that the predicate belongs to (not one that it includes) is not being read.

complete(P, When) :-
    (   source_file(P, File)
    ->  loaded_file(File),
        When \== loading(File)
    ;   true
    ).

%!  needs_closure(:Head) is semidet.
%
%   A copy of the predicate would not be the same predicate.

needs_closure(P) :- '$get_predicate_attribute'(P, (dynamic), 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, foreign, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, transparent, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, system, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, (multifile), 1), !.   % any file may add clauses
needs_closure(P) :- '$get_predicate_attribute'(P, tabled, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, det, 1), !.
needs_closure(P) :- '$get_predicate_attribute'(P, spy, 1), !.
needs_closure(P) :- wrapper_of_program(P, _), !.

%   A copy of the predicate's clauses does the same as they do. A large table of facts has
%   no last calls to keep: a copy would only cost memory.

may_be_copied(M:Head) :-
    '$get_predicate_attribute'(M:Head, number_of_clauses, Count),
    Count < 10000,
    \+ ( clause(M:Head, Body),
         Body \== true,
         uncopyable(Body) ).

%   Arguments of the only goal may be goals, too.

uncopyable(_:_) :-
    !.
uncopyable(Body) :-
    (   Part = Body
    ;   compound(Body),
        \+ control(Body),
        arg(_, Body, Part)
    ),
    body_goals(ports, Part, Goals),
    '$member'(goal(Goal, _, _, _, _), Goals),
    callable(Goal),
    name_arity(Goal, Name, _),
    looks_at_frames(Name),
    !.

looks_at_frames($).
looks_at_frames(prolog_current_frame).
looks_at_frames(prolog_current_choice).
looks_at_frames(prolog_frame_attribute).
looks_at_frames(deterministic).
looks_at_frames(context_module).
looks_at_frames(get_prolog_backtrace).

make_copy(M, Head, Id, Copy) :-
    copy_predicate(M:Head, CopyName, Refs, Clauses, Flag),
    name_arity(Head, _, Arity),
    (   mode(symbolic),
        can_be_counted(Clauses)
    ->  remove_copy(M:Head, CopyName),
        new_copy_name(M, Head, counted_name, CountedName),
        counted_copy(M, CountedName, Id, Clauses, Set),
        (   source_location(_, _)       % the file that is being read would own the copy
        ->  true
        ;   same_modes(M:Head, CountedName, [?,?])
        ),
        Copy = counted(Set, CountedName)
    ;   Clauses \== [],
        note_continuations(Clauses),
        has_ports
    ->  remove_copy(M:Head, CopyName),
        new_copy_name(M, Head, copy_name, InstrumentedName),
        Copy = to_instrument(InstrumentedName, Refs, Clauses, Flag)
    ;   same_modes(M:Head, CopyName, []),
        name_arity(Copy, CopyName, Arity)
    ).

%   A program with delimited continuations gets no ports at goals, not even before the first
%   reset/3: a clause that runs
%   then may resume one. The engine takes a condition that ends in a continuation back to where its
%   choicepoint once was, and with it those of the ports.

note_continuations(Clauses) :-
    mode(goals),
    '$member'(Clause, Clauses),
    arg(2, Clause, Body),
    mentions_continuations(Body),
    !,
    retractall(mode(goals)),
    assertz(mode(continuations)).
note_continuations(_).

mentions_continuations(Term) :-
    compound(Term),
    (   delimits(Term)
    ->  true
    ;   arg(_, Term, Part),
        mentions_continuations(Part)
    ->  true
    ).

delimits(reset(_, _, _)).
delimits(shift(_)).
delimits(shift_for_copy(_)).

%   Copies have ports: at their goals, or only where a clause is entered.

has_ports :- mode(goals), !.
has_ports :- mode(clauses).
