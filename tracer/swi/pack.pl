name(portmortem).
version('0.1.0').
title('Record a program once, answer every performance question afterwards').
author('The Portmortem authors', 'portmortem@localhost').
requires(prolog >= '9.0.4').
keywords([profiler, performance, tracing, debugging]).
