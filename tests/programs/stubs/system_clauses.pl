:- initialization(main, main).
:- use_module(library(listing)).
p(1).
main :- setup_call_cleanup(p(X), p(X), p(X)), setup_call_catcher_cleanup(p(X), p(X), _, p(X)), catch(p(X), _, true), findall(Y, p(Y), _), 
  set_prolog_flag(protect_static_code, false), '$set_source_module'(_, system), 
  forall(member(H, [setup_call_catcher_cleanup(_,_,_,_), setup_call_cleanup(_,_,_), catch(_,_,_), findall_loop(_,_,_,_), call_cleanup(_,_), reset(_,_,_), '$meta_call'(_), ignore(_), forall(_,_), once(_)]), 
    ( catch(forall('$clause'(system:H, B, _, _), (print(H-B), nl)), E, (print(E), nl)))).
