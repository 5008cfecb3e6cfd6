/*  The department database of Debray's "Profiling Prolog Programs" (1988),
    section 4, clause order 1 of 4.

    Which students take two different courses from one teacher, both courses
    meeting in the same room?

    Order 1: the first and most direct order.  The profile shows
    teacher/2 called out of proportion.

    The figures printed in the paper, for all solutions of p/3, when every
    exit can be re-entered (record --byrd):

        predicate  calls   backtracks   failures
        teacher/2     78           58         78
        student/2     16           54         16
        course/3      41           48         41

    Run:  swipl debray1.pl
*/

:- initialization(main, main).

main :-
    prog(L),
    forall(member((S, T, R), L), format("~w ~w ~w~n", [S, T, R])).

%!  prog(-Triples)
%
%   Triples (Student, Teacher, Room), one for each way to find it.

prog(L) :- findall((S, T, R), p(S, T, R), L).

p(S, T, R) :-
    student(S, C1), student(S, C2),
    teacher(T, C1), teacher(T, C2),
    course(C1, R, _D1), course(C2, R, _D2),
    not(C1 = C2).

%!  teacher(?Teacher, ?Course)

teacher(binkley, cs453).
teacher(binkley, cs342).
teacher(opus, cs455).
teacher(dallas, cs520).
teacher(dallas, ma561).

%!  student(?Student, ?Course)

student(john, cs453).
student(john, cs520).
student(john, cs455).
student(john, ma561).
student(tom, cs342).
student(tom, cs453).
student(mary, cs455).
student(mary, cs520).
student(paul, cs520).
student(jane, cs453).
student(jane, ma561).
student(robert, cs342).
student(larry, ma561).
student(larry, cs342).
student(larry, cs455).

%!  course(?Course, ?Room, ?Day)

course(cs453, eco103, tue).
course(cs455, gs701, mon).
course(cs455, gs701, wed).
course(cs342, eco103, fri).
course(cs520, gs703, tue).
course(ma561, ma123, mon).
