% What a module imports changes after its predicates were called, also while a clause runs that calls what it imports.

:- initialization(main, main).

main :-
    load(ma, ":- module(ma, [v/1]). v(a)."),
    load(mb, ":- module(mb, [v/1]). v(b)."),
    load(mc, ":- module(mc, [go/1, goes/1, meanwhile/2]).
              :- import(ma:v/1).
              go(X) :- v(X).
              goes(X) :- findall(Y, v(Y), [X]).
              meanwhile(X, Y) :- v(X), abolish(mc:v/1), mc:import(mb:v/1), v(Y)."),
    shown,
    mc:meanwhile(X, Y), print(X-Y), nl,
    shown,
    abolish(mc:v/1), mc:import(ma:v/1),
    shown,
    abolish(mc:v/1),
    load(md, ":- module(md, []). v(d)."),
    delete_import_module(md, user), add_import_module(md, system, end), add_import_module(mc, md, start),
    shown.

shown :-
    mc:go(X), mc:goes(Y), print(X-Y), nl.

load(Id, Text) :-
    setup_call_cleanup(open_string(Text, In), load_files(Id, [stream(In), imports([])]), close(In)).
