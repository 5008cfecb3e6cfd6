//! A recorded program must do what it does unrecorded: same output, same errors, same exit status; and its
//! trace must be whole.

use std::path::Path;

use portmortem_tests::catalogue::{self, Program};
use portmortem_tests::sandbox::Run;
use portmortem_tests::{Outcome, Profiled, Sandbox, Status, built, masks, repository};

/// Runs everything, then says all that went wrong.
fn check_all(programs: &[Program], options: &[&str]) {
    assert!(programs.len() > 20, "the list is short");
    let complaints: Vec<String> = programs
        .iter()
        .filter_map(|program| check(program, options).err())
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn traps() {
    check_all(&catalogue::traps(), &[]);
}

#[test]
fn traps_with_ports() {
    check_all(&catalogue::traps(), &["--ports"]);
    check_all(&smaller_traps(), &["--ports", "--libraries"]);
}

#[test]
fn classic_programs_with_ports() {
    let sandbox = Sandbox::new();
    check_all(&catalogue::corpus(sandbox.directory()), &["--ports"]);
}

#[test]
fn traps_without_boxes_of_built_ins() {
    check_all(&catalogue::traps(), &["--no-boundary"]);
}

#[test]
fn traps_with_clauses() {
    check_all(&catalogue::traps(), &["--clauses"]);
    check_all(&smaller_traps(), &["--clauses", "--no-boundary"]);
}

#[test]
fn traps_with_arguments() {
    check_all(&catalogue::traps(), &["--arguments", "*"]);
}

#[test]
fn classic_programs_with_arguments() {
    let sandbox = Sandbox::new();
    let corpus = catalogue::corpus(sandbox.directory());
    check_all(&corpus, &["--arguments", "*"]);
}

#[test]
fn traps_with_values() {
    check_all(&catalogue::traps(), &["--values", "*"]);
}

#[test]
fn classic_programs_with_values() {
    let sandbox = Sandbox::new();
    let corpus = catalogue::corpus(sandbox.directory());
    check_all(&corpus, &["--values", "*"]);
}

#[test]
fn classic_programs_with_clauses() {
    let sandbox = Sandbox::new();
    check_all(&catalogue::corpus(sandbox.directory()), &["--clauses"]);
}

#[test]
fn classic_programs() {
    let sandbox = Sandbox::new();
    check_all(&catalogue::corpus(sandbox.directory()), &[]);
}

/// Rounds that a program needs to show its trap; every box of them has a guard in these modes.
fn smaller(mut program: Program) -> Program {
    if let Some(fewer) = match program.name.as_str() {
        "constant_space" => Some("1000"),
        "loop" | "mutual" | "deep" => Some("20000"),
        "effects" | "head_unifications" => Some("1000"),
        "generator" => Some("200"),
        "generator_nat" => Some("100"),
        _ => None,
    } {
        program.args = vec![fewer.to_owned()];
        program.stdout = None;
    }
    program
}

fn smaller_traps() -> Vec<Program> {
    catalogue::traps().into_iter().map(smaller).collect()
}

#[test]
fn traps_with_every_exit_re_enterable() {
    check_all(&smaller_traps(), &["--byrd"]);
}

#[test]
fn traps_with_a_box_for_every_last_call() {
    check_all(&smaller_traps(), &["--no-tail"]);
}

#[test]
fn traps_with_symbolic_costs() {
    check_all(&smaller_traps(), &["--symbolic"]);
}

#[test]
fn traps_with_libraries() {
    check_all(&smaller_traps(), &["--libraries"]);
}

#[test]
fn traps_with_libraries_and_built_ins() {
    check_all(&smaller_traps(), &["--libraries", "--builtins"]);
}

/// The list says of every built-in of 9.0.4 whether it changes predicates, and `changing_builtins.pl` calls those that do. In another
/// version there may be more of them, or fewer.
#[test]
fn the_list_of_built_ins_is_complete() {
    let directory = repository("tests/programs/builtins");
    let mut run = Sandbox::new().command(Path::new("swipl"));
    run.command.current_dir(directory);
    run.args(["check.pl"]).wait().succeeds();
}

/// Known, and said in `docs/limits.md`: without a copy, a last call takes stack.
#[test]
#[ignore = "last calls of predicates without copies take stack"]
fn constant_space_without_copies() {
    let program = repository("tests/programs/constant_space.pl");
    let sandbox = Sandbox::new();
    let stack = "--stack-limit=8m";
    let arguments = [
        "record",
        "-o",
        "space.pmt",
        stack,
        program.to_str().unwrap(),
        "--",
        "300000",
    ];
    sandbox.portmortem(arguments).succeeds();
}

/// The loader itself relies on the determinism of built-ins: with both, clauses would be lost.
#[test]
fn built_ins_cannot_be_re_enterable() {
    let sandbox = Sandbox::with("e.pl", ":- initialization(main, main).\nmain.\n");
    sandbox
        .portmortem(["record", "--builtins", "--byrd", "e.pl"])
        .exits(2);
}

/// A continuation resumed from a choicepoint for the second time: its boxes were left long ago.
#[test]
fn a_continuation_resumed_twice() {
    let program = "
:- initialization(main, main).
main :- findall(X, many(X), Xs), print(Xs), nl.
many(X) :- reset(ask(X), choose(V), Continuation), value(V), call(Continuation).
ask(X) :- shift(choose(V)), X is V*10.
value(1).
value(2).
";
    let sandbox = Sandbox::with("twice.pl", program);
    sandbox
        .portmortem(["record", "twice.pl"])
        .succeeds()
        .prints("[10,20]\n");
    sandbox.portmortem(["verify", "twice.pmt"]).succeeds();
}

/// A condition that `shift/1` leaves keeps its choicepoint, and the goal its guard, until a continuation ends the condition.
/// (With `--byrd` every exit can be re-entered.)
#[test]
fn a_continuation_that_ends_a_condition_leaves_no_choicepoint() {
    let program = "
:- initialization(main, main).
main :- determinism(greeting(_)), determinism(two(_)), determinism(member(_, [a, b])).
determinism(Goal) :-
    call_cleanup(Goal, Last = true),
    ( Last == true -> true ; Last = false ),
    print(Goal-Last), nl.
greeting(Text) :- reset(in_condition(Text), hello(Name), Rest), Name = world, call(Rest).
in_condition(Text) :- ( shift(hello(Name)) -> atom_concat('Hello ', Name, Text) ; true ).
two(A-B) :- greeting(A), resumed(B).
resumed(Text) :- reset(outer(Text), hello(Name), Rest), Name = you, go_on(Rest), true.
outer(Text) :- in_condition(Text), true.
go_on(Rest) :- call(Rest), true.
";
    let sandbox = Sandbox::with("condition.pl", program);
    for mode in [&[][..], &["--no-tail"], &["--symbolic"], &["--libraries"]] {
        let arguments = ["record", "--force", "condition.pl"].iter().chain(mode);
        sandbox.portmortem(arguments).succeeds().prints(
            "greeting('Hello world')-true\ntwo('Hello world'-'Hello you')-true\nmember(a,[a,b])-false\n",
        );
        sandbox.portmortem(["verify", "condition.pmt"]).succeeds();
    }
}

/// In later versions an argument that is declared unbound gets no index, so that a call leaves a choicepoint.
/// (With `--byrd` every exit can be re-entered.)
#[test]
fn a_copy_has_the_modes_of_its_original() {
    let program = "
:- initialization(main, main).
:- meta_predicate looks_up(?, -).
looks_up(_, []).
looks_up(_, [_|_]).
:- meta_predicate many(-, ?).
many(a, 1).
many(b, 1).
many(c, 1).
main :- determinism(looks_up(_, [])), determinism(many(a, _)), determinism(many(c, _)).
determinism(Goal) :-
    call_cleanup(Goal, Last = true),
    ( Last == true -> true ; Last = false ),
    !,
    functor(Goal, Name, _),
    print(Name-Last), nl.
";
    let sandbox = Sandbox::with("modes.pl", program);
    let plain = sandbox
        .command(Path::new("swipl"))
        .args(["modes.pl"])
        .wait();
    for mode in [&[][..], &["--no-tail"], &["--symbolic"], &["--libraries"]] {
        let arguments = ["record", "--force", "modes.pl"].iter().chain(mode);
        sandbox
            .portmortem(arguments)
            .succeeds()
            .prints(&plain.out());
    }
}

/// Known, and said in `docs/limits.md`: limits of depth and of inferences count the frames of wrappers, which only ports have.
#[test]
fn limits_count_the_frames_of_wrappers() {
    let program = "
:- initialization(main, main).
main :-
    call_with_depth_limit(deep(50), 60, Depth), print(Depth), nl,
    call_with_inference_limit(deep(1000), 3000, Inferences), print(Inferences), nl.
deep(0).
deep(N) :- N1 is N-1, deep(N1), true.
";
    let sandbox = Sandbox::with("limits.pl", program);
    let plain = sandbox.command(Path::new("swipl")).args(["limits.pl"]);
    plain.wait().succeeds().prints("51\ntrue\n");
    for (options, printed) in [
        (&["--force"][..], "51\ntrue\n"),
        (&["--force", "--ports"], "52\ninference_limit_exceeded\n"),
    ] {
        let arguments = [&["record"], options, &["limits.pl"]].concat();
        sandbox.portmortem(arguments).succeeds().prints(printed);
    }
}

fn check(program: &Program, options: &[&str]) -> Result<(), String> {
    let sandbox = Sandbox::new();
    let directory = program.file.parent().unwrap();
    let plain = in_place(sandbox.command(Path::new("swipl")), directory, program)
        .args(program.arguments_of_swipl())
        .wait();
    let trace = sandbox.path("run.pmt");
    let recorded = in_place(sandbox.command(built::portmortem()), directory, program)
        .args(["record", "-o"])
        .args([&trace])
        .args(options)
        .args(program.arguments_of_record())
        .wait();
    let name = &program.name;
    as_promised(program, &plain).map_err(|why| format!("{name} unrecorded: {why}\n{plain}"))?;
    the_same(&plain, &recorded).map_err(|why| format!("{name}: {why}\n{plain}\n{recorded}"))?;
    let verified = sandbox.run(built::portmortem(), ["verify".as_ref(), trace.as_os_str()]);
    if verified.status != Status::Exit(0) {
        return Err(format!("{name}: the trace is not whole\n{verified}"));
    }
    // Panics if the replay depends on the number of threads, or a law does not hold.
    let profiled = Profiled::of(&trace);
    let nothing_to_run = name == "syntax_error_fatal";
    if !nothing_to_run && profiled.events() == 0 {
        return Err(format!("{name}: the trace is empty"));
    }
    Ok(())
}

fn in_place(mut run: Run, directory: &Path, program: &Program) -> Run {
    run.command.current_dir(directory);
    run.stdin(program.stdin.as_deref().unwrap_or_default())
}

/// What the list says of the program, so that a list that is wrong is noticed too.
fn as_promised(program: &Program, plain: &Outcome) -> Result<(), String> {
    if plain.status != Status::Exit(program.status) {
        return Err(format!("not status {}", program.status));
    }
    let promised =
        |promise: &Option<String>, what: String| promise.as_ref().is_none_or(|text| *text == what);
    if !promised(&program.stdout, plain.out()) {
        return Err(format!("other output than {:?}", program.stdout));
    }
    if !promised(&program.stderr, masks::stderr(&plain.stderr)) {
        return Err(format!("other standard error than {:?}", program.stderr));
    }
    Ok(())
}

/// To the byte, but for what is chance on standard error ([`masks::stderr`] says what and why).
fn the_same(plain: &Outcome, recorded: &Outcome) -> Result<(), String> {
    if plain.status != recorded.status {
        return Err("another exit status when recorded".to_owned());
    }
    if plain.stdout != recorded.stdout {
        return Err("other output when recorded".to_owned());
    }
    if masks::stderr(&plain.stderr) != masks::stderr(&recorded.stderr) {
        return Err("other standard error when recorded".to_owned());
    }
    Ok(())
}

/// Goals in the condition of a soft cut are predicates of their own in a copy. The program sees the frames and places of its own clauses, and a
/// condition that is entered again after the cut of its choicepoint ends as it should.
#[test]
fn goals_in_the_condition_of_a_soft_cut() {
    let program = "
:- initialization(main, main).
main :- above(1), above(2), p(0), forall(again(X), ( print(X), nl )).
above(X) :-
    (   p(X),
        r(X)
    *-> p(X)
    ;   r(X)
    ),
    p(X).
p(1). p(_).
r(X) :- s(X), p(X).
s(_) :- prolog_current_frame(F), up(F).
up(F) :-
    prolog_frame_attribute(F, predicate_indicator, PI),
    ( prolog_frame_attribute(F, pc, PC) -> true ; PC = none ),
    prolog_frame_attribute(F, level, Level),
    print(PI-PC-Level), nl,
    ( PI \\= _:main/0, PI \\= main/0, prolog_frame_attribute(F, parent, Parent) -> up(Parent) ; true ).
again(X-Y) :- ( d(X), d(Y), X \\== Y *-> e(X) ; X = none ).
again(X) :- ( ( d(X) *-> e(X) ; e(X) ) *-> true ; X = none ).
d(1). d(2). d(3).
e(1). e(3).
";
    let sandbox = Sandbox::with("soft.pl", program);
    let plain = sandbox.swipl(["soft.pl"]).succeeds().out();
    assert!(
        plain.contains("above/1-") && plain.contains("3-1"),
        "{plain}"
    );
    for mode in [&[][..], &["--no-boundary"], &["--wrappers-only"]] {
        let arguments = ["record", "--force", "soft.pl"].iter().chain(mode);
        sandbox.portmortem(arguments).succeeds().prints(&plain);
        sandbox.portmortem(["verify", "soft.pmt"]).succeeds();
    }
}
