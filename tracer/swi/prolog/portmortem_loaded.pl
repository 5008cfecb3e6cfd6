:- module(portmortem_loaded,
          [ note_loaded/0,
            known_file/1                % +File
          ]).

/** <module> Where the goals of clauses stand that were loaded before the recording began

The files are read again, and nothing of them is run: no directive, and no expansion. The clauses
that the engine has are compared with what is written in their lines.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_engine, [noting/1, system_file/1, beside_us/1]).
:- use_module(portmortem_arguments).

:- dynamic known/1.             % File: the goals of its clauses were noted

%!  known_file(+File) is det.
%
%   The goals of the file's clauses are noted by others.

known_file(File) :-
    (   known(File)
    ->  true
    ;   assertz(known(File))
    ).

%!  note_loaded is det.
%
%   Note the goals of all clauses of the program's files. A file that has changed meanwhile tells
%   nothing.

note_loaded :-
    forall(( source_file(File), \+ known(File), of_program(File) ),
           noting(note_file(File))).

of_program(File) :-
    \+ system_file(File),
    \+ beside_us(File),
    \+ ( source_file_property(File, module(M)),
         module_property(M, class(Class)),
         Class \== user,
         Class \== test
       ),
    source_file_property(File, modified(Loaded)),
    exists_file(File),
    time_file(File, Now),
    Now =:= Loaded.

note_file(File) :-
    known_file(File),
    findall(Line-clause(Head, Ref), clause_in_line(File, Line, Head, Ref), Clauses0),
    keysort(Clauses0, Clauses),
    Clauses \== [],
    module_of(File, M),
    setup_call_cleanup(open(File, read, In, [bom(true)]),
                       note_terms(Clauses, In, File, M),
                       close(In)).

clause_in_line(File, Line, Head, Ref) :-
    '$source_file_predicates'(File, Predicates),
    '$member'(Head, Predicates),
    \+ predicate_property(Head, foreign),
    \+ predicate_property(Head, thread_local),
    nth_clause(Head, _, Ref),
    clause_property(Ref, file(File)),
    clause_property(Ref, line_count(Line)).

module_of(File, M) :-
    (   source_file_property(File, module(M))
    ->  true
    ;   source_file_property(File, load_context(M, _, _))
    ->  true
    ;   M = user
    ).

%   note_terms(+Clauses, +In, +File, +Module) is det
%
%   Clauses are those that begin in what is not read yet, by their lines.

note_terms([], _, _, _) :-
    !.
note_terms(_, In, _, _) :-
    at_end_of_stream(In),
    !.
note_terms(Clauses0, In, File, M) :-
    (   peek_char(In, #),
        line_position(In, 0),
        line_count(In, 1)
    ->  skip(In, 10),
        Clauses = Clauses0
    ;   read_term(In, Term, [ module(M), subterm_positions(Layout), term_position(Position),
                              syntax_errors(quiet), cycles(true) ])
    ->  stream_position_data(line_count, Position, Line),
        set_encoding(Term, In),
        note_line(Clauses0, Line, Term, Layout, File, M, Clauses)
    ;   Clauses = Clauses0
    ),
    note_terms(Clauses, In, File, M).

set_encoding(Term, In) :-
    (   nonvar(Term),
        Term = (:- Directive),
        nonvar(Directive),
        Directive = encoding(Encoding),
        atom(Encoding)
    ->  set_stream(In, encoding(Encoding))
    ;   true
    ).

note_line([Line0-_|Clauses0], Line, Term, Layout, File, M, Clauses) :-
    Line0 < Line,
    !,
    note_line(Clauses0, Line, Term, Layout, File, M, Clauses).
note_line([Line-clause(Head, Ref)|Clauses0], Line, Term, Layout, File, M, Clauses) :-
    !,
    (   written_goals(Term, Layout, M, Written),
        note_clause(Head, Ref, File, Line, Written)
    ->  true
    ;   true
    ),
    note_line(Clauses0, Line, Term, Layout, File, M, Clauses).
note_line(Clauses, _, _, _, _, _, Clauses).

note_clause(M:General, Ref, File, Line, Written) :-
    name_arity(General, Name, Arity),
    name_arity(Head, Name, Arity),
    clause(M:Head, Body, Ref),
    clause_goals((Head :- Body), _, M, _, Goals),
    portmortem:'$stub_note'(M, Name, Arity, File, Line, Goals, Written).
