//! Programs whose goals are known at run time only: cuts, conditions and others, passed through every predicate that calls goals.
//! Recorded, they must do what they do unrecorded.

use std::fmt::Write as _;

use crate::random_programs::{Dice, does_the_same};

/// So many programs are in a file, to start the engine less often.
const IN_A_FILE: u64 = 50;

/// What is passed for a variable.
const GOALS: [&str; 24] = [
    "true",
    "fail",
    "!",
    "(!, fail)",
    "(! ; true)",
    "(true -> fail)",
    "(fail -> true)",
    "(fail -> true ; true)",
    "(m(_) -> true)",
    "(fail *-> true)",
    "(m(_) *-> true)",
    "(m(_) *-> true ; fail)",
    "(true ; true)",
    "(m(_), !)",
    "(m(_), ! ; true)",
    "\\+ fail",
    "\\+ m(_)",
    "m(_)",
    "call(!)",
    "call((m(_), !))",
    "user:!",
    "user:(! ; m(_))",
    "findall(X, m(X), _)",
    "throw(oops)",
];

/// `PORTMORTEM_ROUNDS=10` makes 2,000 programs.
#[test]
fn they_mean_what_they_mean_when_they_are_called() {
    let rounds = portmortem_tests::rounds();
    let modes: [&[&str]; 9] = [
        &[],
        &["--ports"],
        &["--no-boundary"],
        &["--clauses"],
        &["--libraries"],
        &["--wrappers-only"],
        &["--no-tail"],
        &["--byrd"],
        &["--symbolic"],
    ];
    for first in (0..200 * rounds).step_by(IN_A_FILE as usize) {
        for options in modes {
            // Every exit leaves a choicepoint with `--byrd`, so that a cleanup runs later.
            let cleanup = !options.contains(&"--byrd");
            does_the_same(&file(first, cleanup), options, first);
        }
    }
}

fn file(first: u64, cleanup: bool) -> String {
    // In a garbage collection, a handler that waits loses bindings that only it can see (9.0.4).
    let mut text = ":- initialization(main, main).\n:- style_check(-singleton).\n:- set_prolog_flag(gc, false).\n\
        m(1) :- t.\nm(2).\nm(3) :- t.\n\
        add(X, Y, Z) :- Z is X+Y.\nis_m(X, G) :- m(X), G.\nadd(X, Y, Z, G) :- G, Z is X+Y.\n\
        t :- nb_getval(n, N), N1 is N+1, nb_setval(n, N1), ( N1 > 300 -> throw(budget) ; true ).\n\
        run(Name, Goal) :- nb_setval(n, 0), catch(findall(Goal, Goal, L), E, L = E), print(Name), nl,\n\
        \\+ \\+ ( numbervars(L, 0, _), print(L) ), nl.\n"
        .to_owned();
    let mut runs = Vec::new();
    for number in first..first + IN_A_FILE {
        let mut dice = Dice::of_program(number);
        let mut body = body(&mut dice, 3);
        if !cleanup {
            body = body.replace("setup_call_cleanup", "catch");
        }
        let _ = writeln!(text, "p{number}(X, L, G, H, M) :- {body}.");
        let (g, h) = (dice.of(&GOALS), dice.of(&GOALS));
        let _ = writeln!(
            text,
            "run{number} :- run({number}, p{number}(_, _, {g}, {h}, user))."
        );
        runs.push(format!("run{number}"));
    }
    let _ = writeln!(text, "main :- {}.", runs.join(", "));
    text
}

fn body(dice: &mut Dice, depth: u32) -> String {
    let goals = [1, 2, 2, 3][dice.below(4) as usize];
    let goals: Vec<String> = (0..goals).map(|_| goal(dice, depth)).collect();
    goals.join(", ")
}

fn goal(dice: &mut Dice, depth: u32) -> String {
    let compound = depth > 0 && dice.below(100) < 60;
    if compound {
        return compound_goal(dice, depth - 1);
    }
    let leaves = [
        "m(X)",
        "m(Y)",
        "m(_)",
        "G",
        "G",
        "G",
        "H",
        "H",
        "user:G",
        "M:G",
        "M:H",
        "call(G)",
        "call(is_m, X, G)",
        "!",
        "X == 1",
        "X \\== 2",
    ];
    dice.of(&leaves).to_owned()
}

fn compound_goal(dice: &mut Dice, depth: u32) -> String {
    let (a, b) = (body(dice, depth), body(dice, depth));
    match dice.below(24) {
        0..3 => format!("findall(X, ( {a} ), L)"),
        3 => format!("findall(X, ( {a} ), L, [])"),
        4..6 => format!("forall(( {a} ), ( {b} ))"),
        6..8 => format!("once(( {a} ))"),
        8..10 => format!("ignore(( {a} ))"),
        10 => format!("aggregate_all(count, ( {a} ), L)"),
        11 => format!("aggregate_all(bag(X), ( {a} ), L)"),
        12 => format!("bagof(X, Y^( {a} ), L)"),
        13 => format!("setof(X-Y, ( {a} ), L)"),
        14 => format!("\\+ ( {a} )"),
        15 => format!("call(( {a} ))"),
        16 => format!("catch(( {a} ), E, ( E == budget -> throw(E) ; {b} ))"),
        17 => format!("setup_call_cleanup(true, ( {a} ), ( {b} ))"),
        18 => "maplist([V]>>is_m(V, G), [1, 2])".to_owned(),
        19 => "foldl([V, S0, S]>>add(V, S0, S, H), [1, 2], 0, L)".to_owned(),
        20 => format!("( {a} -> {b} ; G )"),
        21 => format!("( {a} *-> {b} ; H )"),
        22 => format!("( {a} ; {b} )"),
        _ => format!("( {a} ; G )"),
    }
}
