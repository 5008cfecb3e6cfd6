% Included by multifile.pl.

part(included).

included(yes).

piece(0).
