% A turtle walks in squares that grow: an interpreter of a little language with variables, without choicepoints.
% swipl turtle_fixed.pl [Rounds]
:- use_module(library(main)).
:- initialization(main, main).

main(Arguments) :-
    (   Arguments = [Text]
    ->  atom_number(Text, Rounds)
    ;   Rounds = 400
    ),
    walk(Rounds, Program),
    run(Program, [side = 0, x = 0, y = 0], End),
    value(x, End, X),
    value(y, End, Y),
    format("~w ~w~n", [X, Y]).

walk(Rounds, [ repeat(Rounds,
                      [ set(side, side + 1),
                        set(x, x + side),
                        set(side, side + 1),
                        set(y, y - side) ]) ]).

run([], State, State).
run([Step|Steps], State0, State) :-
    step(Step, State0, State1),
    run(Steps, State1, State).

step(set(Name, Expression), State0, State) :-
    eval(Expression, State0, Value),
    assign(Name, Value, State0, State).
step(repeat(Times, Steps), State0, State) :-
    (   Times > 0
    ->  run(Steps, State0, State1),
        Fewer is Times - 1,
        step(repeat(Fewer, Steps), State1, State)
    ;   State = State0
    ).

eval(A + B, State, Value) :-
    !,
    eval(A, State, VA),
    eval(B, State, VB),
    Value is VA + VB.
eval(A - B, State, Value) :-
    !,
    eval(A, State, VA),
    eval(B, State, VB),
    Value is VA - VB.
eval(Number, _, Number) :-
    number(Number),
    !.
eval(Name, State, Value) :-
    atom(Name),
    value(Name, State, Value).

value(Name, [Name = Value|_], Value) :- !.
value(Name, [Other = _|State], Value) :-
    Other \== Name,
    value(Name, State, Value).

assign(Name, Value, [Name = _|State], [Name = Value|State]) :- !.
assign(Name, Value, [Other = Old|State0], [Other = Old|State]) :-
    Other \== Name,
    assign(Name, Value, State0, State).
