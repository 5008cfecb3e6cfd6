:- module(portmortem_rules,
          [ keep_rule/4,                % +File, +Term, +Layout, +Module
            rule_of_clause/3,           % +File, +Goals, -Written
            forget_rules/1              % +File
          ]).

/** <module> The rules that clauses were made from at the end of a file

Constraint handling rules are collected while a file is read, and become clauses at its end. The
rule of such a clause is found again by the goals that only it has.
*/

:- set_module(class(library)).
:- use_module(portmortem_terms).
:- use_module(portmortem_arguments, [constraint_rule/1, written_goals/4]).

:- dynamic
    kept/3,                     % File, Names of goals of the program, Written
    ended/1.                    % File: its end was read

%!  keep_rule(+File, +Term, +Layout, +Module) is det.
%
%   A term of the file was read, which may be a rule, or the end.

keep_rule(File, Term, _, _) :-
    Term == end_of_file,
    !,
    (   kept(File, _, _)
    ->  assertz(ended(File))
    ;   true
    ).
keep_rule(File, Term, Layout, M) :-
    (   constraint_rule(Term),
        written_goals(Term, Layout, M, Written),
        own_names(Written, Names),
        Names \== []
    ->  assertz(kept(File, Names, Written))
    ;   true
    ).

%!  forget_rules(+File) is det.
%
%   The file is about to be read again.

forget_rules(File) :-
    retractall(kept(File, _, _)),
    retractall(ended(File)).

%!  rule_of_clause(+File, +Goals, -Written) is semidet.
%
%   The clause with these goals was made from the rule with the goals Written: it has all of the
%   rule's that are not the system's, in their order, and those of no other rule with as many.

rule_of_clause(File, Goals, Written) :-
    ended(File),
    own_names(Goals, Names),
    findall(Count-Rule,
            ( kept(File, RuleNames, Rule),
              subsequence(RuleNames, Names),
              length(RuleNames, Count)
            ),
            Rules),
    sort(1, @>=, Rules, [Most-Written|Others]),
    \+ ( Others = [Second-_|_], Second =:= Most ).

%   own_names(+Goals, -Names) is det
%
%   Those of goals of the clause itself that the system does not have.

own_names([], []).
own_names([Name,Arity,_,_,_,Parent,_|Goals], Names) :-
    (   Parent =:= 0,
        Arity >= 0,
        name_arity(Head, Name, Arity),
        \+ '$get_predicate_attribute'(system:Head, defined, 1)
    ->  Names = [Name/Arity|Names1]
    ;   Names = Names1
    ),
    own_names(Goals, Names1).

subsequence([], _).
subsequence([X|Xs], [Y|Ys]) :-
    (   X == Y
    ->  subsequence(Xs, Ys)
    ;   subsequence([X|Xs], Ys)
    ).
