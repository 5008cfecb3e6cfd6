//! What looks at all modules sees those of the program, and none of the recorder's.

use std::collections::BTreeSet;

use portmortem_tests::{Sandbox, masks};

const CHECKED: &str = r#"
:- use_module(library(check)).
:- use_module(library(prolog_codewalk)).
:- initialization(main, main).
p :- q, not_there.
q :- lists:append([], [], _).
r(X) :- format("~w", [X, 1]).
s :- atom_length(a).
main :-
    forall(member(Goal, [ check, list_undefined, list_redefined, list_autoload, list_strings,
                          list_undefined([module_class([user,library,system])]),
                          prolog_walk_code([undefined(trace), on_trace(found)]),
                          prolog_walk_code([module_class([user,library,system]),
                                            undefined(trace), on_trace(found)]) ]),
           ( format(user_error, "~q~n", [Goal]), catch(Goal, E, print_message(error, E)) )),
    forall(current_module(M), ( writeq(M), nl )),
    ( current_module(lists) -> true ; writeln(missing) ).
found(Callee, Caller, _) :- format(user_error, "~q ~q~n", [Callee, Caller]).
"#;

/// The order is that of handles of atoms.
fn lines(text: &str) -> BTreeSet<String> {
    let text = masks::variables(text.as_bytes());
    text.lines()
        .map(|line| line.trim_start_matches("Warning:").trim().to_owned())
        .collect()
}

#[test]
fn checks_say_the_same() {
    let sandbox = Sandbox::with("program.pl", CHECKED);
    let plain = sandbox.swipl(["program.pl"]);
    plain.exits(0).says("not_there");
    for options in [&[][..], &["--libraries"]] {
        let record = ["record", "--force", "-o", "run.pmt"];
        let recorded = sandbox.portmortem([&record, options, &["program.pl"]].concat());
        recorded.exits(0);
        assert_eq!(lines(&plain.out()), lines(&recorded.out()), "{options:?}");
        assert_eq!(
            lines(&masks::stderr(&plain.stderr)),
            lines(&masks::stderr(&recorded.stderr)),
            "{options:?}"
        );
    }
}

const SAVES: &str = "
:- use_module(library(qsave)).
:- initialization(main, main).
main :- qsave_program('state.x', [goal(go), toplevel(halt), stand_alone(false)]).
go :-
    load_files('part.pl'),
    p(X), writeln(X),
    catch(atom_length(_, _), Error, print_message(error, Error)),
    forall(member(M, [portmortem_stubs, portmortem_engine, portmortem_wrap]),
           \\+ '$get_predicate_attribute'(M:own_module(_), defined, 1)).
";

/// The state has no predicate of the recorder, and needs none.
#[test]
fn a_saved_state_is_the_programs() {
    let sandbox = Sandbox::with("program.pl", SAVES);
    sandbox.write("part.pl", "p(1) :- q.\nq.\n");
    sandbox.swipl(["program.pl"]).exits(0);
    let plain = sandbox.swipl(["-x", "state.x"]);
    plain.exits(0).prints("1\n");
    for options in [&[][..], &["--ports"]] {
        let record = ["record", "--force", "-o", "run.pmt"];
        sandbox
            .portmortem([&record, options, &["program.pl"]].concat())
            .exits(0);
        let recorded = sandbox.swipl(["-x", "state.x"]);
        assert_eq!(plain.out(), recorded.out(), "{options:?}");
        assert_eq!(plain.err(), recorded.err(), "{options:?}");
    }
}
