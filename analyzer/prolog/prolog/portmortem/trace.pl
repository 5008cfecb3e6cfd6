:- module(portmortem_trace,
          [ pm_open/2,                  % +File, -Trace
            pm_open/3,                  % +File, -Trace, +Options
            pm_close/1,                 % +Trace
            pm_info/3,                  % ?Trace, ?Key, ?Value
            pm_table/1,                 % ?Table
            pm_row/3,                   % +Trace, ?Table, -Row
            predicate_figures/3,        % +Trace, ?Predicate, +Figures
            pm_event/3,                 % +Trace, ?Number, -Event
            pm_event/4,                 % +Trace, +Condition, ?Number, -Event
            pm_next/2,                  % +Event, -Next
            pm_next/3,                  % +Event, +Condition, -Next
            pm_previous/2,              % +Event, -Previous
            pm_previous/3,              % +Event, +Condition, -Previous
            pm_box/3,                   % +Trace, +Box, -History
            pm_stack/3,                 % +Trace, +Event, -Boxes
            pm_cause/3,                 % +Trace, +Event, -Cause
            foldt/4,                    % :Goal, +Trace, +Before, -After
            foldt/5                     % :Goal, +Trace, +Condition, +Before, -After
          ]).

/** <module> A trace as relations

A trace that Portmortem recorded, for programs that ask questions of their own. Tables are
predicates with named columns, and events can be enumerated, searched in both directions and
folded. The trace stays in its file: no more of it is in memory than a page of events.

```
?- pm_open('queens.pmt', T), predicate_figures(T, attack/3, [calls(C), fails(F)]).
?- pm_event(T, 'port = call and took > 1ms', N, E).
?- foldt([E,N0,N]>>(N is max(N0, E.depth)), T, 'port = call', 0, Deepest).
```

Figures are those of `portmortem export`, columns of events those of `portmortem events`, and
conditions those of its option `--where`. Texts are atoms, times are integers in nanoseconds, and
what is not known is the atom `null`. `portmortem help events` and `docs/tables.md` say what the
columns mean.

Events have numbers in their stream, that is, their thread or engine. Several streams may have an
event of a number; where a number alone is given, there is a solution for each.

Errors, beside those of arguments of a wrong type:

  - existence_error(portmortem_trace, Trace)
    The trace was closed.
  - domain_error(portmortem_trace, File)
    The file is no trace, or its header is damaged.
  - domain_error(undamaged_trace, File)
    Blocks of the trace are damaged, or the file was cut short. See pm_open/3.
  - domain_error(event_condition, Condition)
    The condition cannot be understood, or names what the trace does not have.
  - domain_error(portmortem_table, Table)
    There is no such table.
*/

:- use_module(library(apply), [foldl/4]).
:- use_module(library(error), [must_be/2, domain_error/2, type_error/2]).
:- use_module(library(lists), [member/2]).
:- use_module(library(option), [option/3]).

:- use_foreign_library(foreign(libportmortem_prolog)).

:- meta_predicate
    foldt(3, +, +, -),
    foldt(3, +, +, +, -).

:- set_module(class(library)).

%!  pm_open(+File, -Trace) is det.
%!  pm_open(+File, -Trace, +Options) is det.
%
%   Open a trace. Figures come from its index if it has one; else the events are read when
%   figures or events are first asked for. A trace that is forgotten is closed by the garbage
%   collector of atoms.
%
%   Options:
%
%     - damaged(+Boolean)
%       Accept a trace with damaged blocks: events of the port `gap` say how many events are
%       missing, and figures are of what is left. Default: `false`, an error when it is read.

pm_open(File, Trace) :-
    pm_open(File, Trace, []).

pm_open(File, Trace, Options) :-
    option(damaged(Damaged), Options, false),
    must_be(boolean, Damaged),
    must_be(var, Trace),
    absolute_file_name(File, Path, [access(read)]),
    open_trace(Path, Damaged, Trace).

%!  pm_close(+Trace) is det.
%
%   Close a trace.

pm_close(Trace) :-
    close_trace(Trace).

%!  pm_info(?Trace, ?Key, ?Value) is nondet.
%
%   Value is what `portmortem info` says of an open trace: its `trace` (the file), `command` (a
%   list), `directory`, `engine`, `recorder`, `machine`, `began` (seconds since 1970), `ended`,
%   `mode`, `bytes`, `predicates`, `streams`, `events`, `lost_events`, `in_order` and `losses` (a
%   list). The last four need the index, or one reading of the trace.

pm_info(Trace, Key, Value) :-
    (   var(Trace)
    ->  current_blob(Trace, portmortem_trace),
        is_open(Trace)
    ;   true
    ),
    key(Key),
    info(Trace, Key, Told),
    Value = Told.

key(Key) :-
    keys(Keys),
    (   var(Key)
    ->  member(Key, Keys)
    ;   memberchk(Key, Keys)
    ->  true
    ;   domain_error(portmortem_key, Key)
    ).

keys([ trace, command, directory, engine, recorder, machine, began, ended, mode, bytes,
       predicates, streams, events, lost_events, in_order, losses
     ]).

%!  pm_table(?Table) is nondet.
%
%   Table is the name of a table.

pm_table(Table) :-
    table_names(Tables),
    (   var(Table)
    ->  member(Table, Tables)
    ;   memberchk(Table, Tables)
    ).

%!  pm_row(+Trace, ?Table, -Row) is nondet.
%
%   Row is a dict, the columns of a row of Table as keys.

pm_row(Trace, Table, Row) :-
    (   var(Table)
    ->  pm_table(Table)
    ;   must_be(atom, Table)
    ),
    row(Table, Trace, Row).

row(events, Trace, Row) :-
    !,
    stream(Trace, Stream),
    in_pages(Trace, '', Stream, rows, 0, 16384, Row).
row(Table, Trace, Row) :-
    table_rows(Trace, Table, Rows),
    member(Row, Rows).

%!  predicate_figures(+Trace, ?Predicate, +Figures) is nondet.
%
%   Predicate is a predicate that was called, as Name/Arity or Module:Name/Arity, and Figures are
%   terms Column(Value) for columns of the table `predicates`:
%
%   ```
%   ?- predicate_figures(T, attack/3, [calls(C), fails(F)]).
%   ```

predicate_figures(Trace, Predicate, Figures) :-
    must_be(list(compound), Figures),
    pm_row(Trace, predicates, Row),
    is_called(Row.predicate, Predicate),
    figures(Figures, Row).

figures([], _).
figures([Figure|Figures], Row) :-
    compound_name_arguments(Figure, Column, Arguments),
    (   Arguments = [Value]
    ->  true
    ;   type_error(portmortem_figure, Figure)
    ),
    (   get_dict(Column, Row, Known)
    ->  Value = Known
    ;   domain_error(portmortem_column, Column)
    ),
    figures(Figures, Row).

%   Names of predicates are written as Prolog reads them; some, as `<unknown>`, are none.

is_called(Name, Predicate) :-
    (   ground(Predicate)
    ->  format(atom(Name), '~q', [Predicate])
    ;   catch(term_to_atom(Predicate, Name), error(syntax_error(_), _), fail)
    ).

%!  pm_event(+Trace, ?Number, -Event) is nondet.
%!  pm_event(+Trace, +Condition, ?Number, -Event) is nondet.
%
%   Event is an event of the trace that Condition holds for, and Number its number in its stream.
%   The condition is a text, as =|portmortem events --where|= takes it; parts of the trace in which
%   it cannot hold are not read. Event is a dict with the columns of `portmortem events`; the key
%   `trace` has Trace.

pm_event(Trace, Number, Event) :-
    pm_event(Trace, '', Number, Event).

pm_event(Trace, Condition, Number, Event) :-
    stream(Trace, Stream),
    (   var(Number)
    ->  in_pages(Trace, Condition, Stream, forward, 0, 1024, Event),
        Number = Event.seq
    ;   page(Trace, Condition, Stream, forward, Number, 1, [Event], _, _)
    ).

stream(Trace, Stream) :-
    stream_ids(Trace, Streams),
    member(Stream, Streams).

%   Event is in the page that begins at From, or a later one.

in_pages(Trace, Condition, Stream, Direction, From, Size, Event) :-
    page(Trace, Condition, Stream, Direction, From, Size, Events, Next, NextSize),
    (   Next == end
    ->  member(Event, Events)
    ;   member(Event, Events)
    ;   in_pages(Trace, Condition, Stream, Direction, Next, NextSize, Event)
    ).

%!  pm_next(+Event, -Next) is semidet.
%!  pm_previous(+Event, -Previous) is semidet.
%
%   Next follows Event in its stream; Previous precedes it.

pm_next(Event, Next) :-
    once(after(Event, '', 1, Next)).

pm_previous(Event, Previous) :-
    once(before(Event, '', 1, Previous)).

%!  pm_next(+Event, +Condition, -Next) is nondet.
%!  pm_previous(+Event, +Condition, -Previous) is nondet.
%
%   Next is a later event of the stream that Condition holds for, the nearest one first; Previous
%   an earlier one. These are the moves `fget` and `bget` of Opium.

pm_next(Event, Condition, Next) :-
    after(Event, Condition, 256, Next).

pm_previous(Event, Condition, Previous) :-
    before(Event, Condition, 256, Previous).

after(Event, Condition, Size, Next) :-
    place(Event, Trace, Stream, Number),
    From is Number+1,
    in_pages(Trace, Condition, Stream, forward, From, Size, Next).

before(Event, Condition, Size, Previous) :-
    place(Event, Trace, Stream, Number),
    Number > 0,
    in_pages(Trace, Condition, Stream, backward, Number, Size, Previous).

place(Event, Trace, Stream, Number) :-
    must_be(dict, Event),
    (   _{trace:Trace, stream:Stream, seq:Number} :< Event
    ->  true
    ;   type_error(portmortem_event, Event)
    ).

%!  pm_box(+Trace, +Box, -History) is nondet.
%
%   History is a dict that says what became of a box: its `parent`, `depth` and `predicate`, when
%   it was called (`ns`), the number of the `last` event that concerns it, its `outcome`, whether it
%   `was_cut` or still `is_pending`, its `redos`, its `calls` of other boxes and the time of its
%   activations (`took_ns`). Box is the number of the event that called it, or an event of it.

pm_box(Trace, Box, History) :-
    (   is_dict(Box)
    ->  place(Box, Trace, Stream, _),
        Number = Box.box,
        integer(Number)
    ;   Number = Box,
        stream(Trace, Stream)
    ),
    box_history(Trace, Stream, Number, History).

%!  pm_stack(+Trace, +Event, -Boxes) is nondet.
%
%   Boxes are the active boxes at an event, the innermost first, as box(Box, Depth, Predicate).
%   Event is an event or its number.

pm_stack(Trace, Event, Boxes) :-
    of_stream(Event, Trace, Stream, Number),
    event_stack(Trace, Stream, Number, Boxes).

%!  pm_cause(+Trace, +Event, -Cause) is nondet.
%
%   Cause is why an event happened, which is given as an event or its number:
%
%     - failed(Predicate, Number)
%       Of a failure, the last failure inside of the activation; of a redo, the failure that caused
%       it.
%     - own_clauses
%       Of a failure: no recorded box failed inside, its own clauses did.
%     - asked(Predicate, Box)
%       Of a redo: nothing failed; the active box asked for another solution, or failed in its own
%       clause. `asked` alone: no box was active.
%     - cut(box(Predicate, Box), Boxes)
%       Of a cut: the box that cut, and up to 300 boxes that lost their choicepoints.
%     - exception(raised(Predicate, Number), Caught)
%       Of an exception: the event by which it left its first box, and the box that it does not
%       leave, as box(Predicate, Box), or `null`.
%     - lost
%       Events were lost before, so the cause is not known.
%
%   Other events have no cause.

pm_cause(Trace, Event, Cause) :-
    of_stream(Event, Trace, Stream, Number),
    event_cause(Trace, Stream, Number, Cause).

of_stream(Event, Trace, Stream, Number) :-
    (   is_dict(Event)
    ->  place(Event, Trace, Stream, Number)
    ;   Number = Event,
        stream(Trace, Stream)
    ).

%!  foldt(:Goal, +Trace, +Before, -After) is semidet.
%!  foldt(:Goal, +Trace, +Condition, +Before, -After) is semidet.
%
%   Call Goal with each event that Condition holds for, in one pass, as foldl/4 does with elements
%   of a list: call(Goal, Event, Before, After). Fails where Goal fails.

foldt(Goal, Trace, Before, After) :-
    foldt(Goal, Trace, '', Before, After).

foldt(Goal, Trace, Condition, Before, After) :-
    must_be(callable, Goal),
    stream_ids(Trace, Streams),
    foldl(fold_stream(Goal, Trace, Condition), Streams, Before, After).

fold_stream(Goal, Trace, Condition, Stream, Before, After) :-
    fold_pages(Goal, Trace, Condition, Stream, 0, 16384, Before, After).

fold_pages(Goal, Trace, Condition, Stream, From, Size, Before, After) :-
    page(Trace, Condition, Stream, forward, From, Size, Events, Next, NextSize),
    fold_events(Events, Goal, Before, Between),
    (   Next == end
    ->  After = Between
    ;   fold_pages(Goal, Trace, Condition, Stream, Next, NextSize, Between, After)
    ).

fold_events([], _, Last, Last).
fold_events([Event|Events], Goal, Before, After) :-
    call(Goal, Event, Before, Between),
    !,
    fold_events(Events, Goal, Between, After).
