/*  A module for multifile.pl. */

:- module(multifile_module, [from_module/1, reexported/2]).

:- multifile extended/1, user:part/1.

from_module(X) :- private(X).

private(module_private).

extended(by_itself).

user:part(module).

reexported(X, Y) :- helper(X, Y).

helper(X, Y) :- Y is X*100.
