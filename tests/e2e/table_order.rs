//! The order of the answers of tables: another one than unrecorded, and the same in each recording.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portmortem_analyzer::Trace;
use portmortem_tests::Sandbox;

use crate::random_programs::{Dice, IN_A_FILE};

/// `PORTMORTEM_ROUNDS=16` makes the 320 programs that `docs/limits.md` speaks of.
#[test]
fn each_recording_has_the_same_order() {
    let rounds = portmortem_tests::rounds();
    let (mut tables, mut others, mut changing) = (0, 0, 0);
    for options in [&[][..], &["--libraries"], &["--ports"]] {
        for first in (0..rounds).map(|round| round * IN_A_FILE) {
            let sandbox = Sandbox::with("tables.pl", &file(first));
            let record = || {
                let arguments = [&["record", "--force"], options, &["tables.pl"]].concat();
                answers(&sandbox.portmortem(arguments).succeeds().out())
            };
            // The first recording on a machine measures what recording costs.
            record();
            let unrecorded = answers(&sandbox.swipl(["tables.pl"]).succeeds().out());
            let next = || unmeasured(&sandbox, record);
            let (one, other) = (next(), next());
            for (table, answers) in &unrecorded {
                tables += 1;
                others += usize::from(one[table] != *answers);
                changing += usize::from(one[table] != other[table]);
                assert_eq!(sorted(&one[table]), sorted(answers), "{table} from {first}");
            }
        }
    }
    println!("{tables} tables, {others} in another order than unrecorded, {changing} that change");
    assert_eq!(changing, 0);
}

/// What the next recording prints that measures nothing. On a machine that others made faster or
/// slower meanwhile, a recording measures again, and has more atoms then.
fn unmeasured<T>(sandbox: &Sandbox, record: impl Fn() -> T) -> T {
    let trials = || {
        let trace = Trace::open(&sandbox.path("tables.pmt")).unwrap();
        trace.trials().cloned()
    };
    for _ in 0..50 {
        let before = trials();
        let printed = record();
        if trials() == before {
            return printed;
        }
    }
    panic!("each of 50 recordings measures what recording costs");
}

/// By table, in the order in which they come.
fn answers(printed: &str) -> BTreeMap<String, Vec<String>> {
    let lines = printed.lines().map(|line| {
        let (table, answers) = line.split_once(' ').unwrap();
        let answers = answers.split(' ').map(str::to_owned).collect();
        (table.to_owned(), answers)
    });
    lines.collect()
}

fn sorted(answers: &[String]) -> Vec<&String> {
    let mut sorted: Vec<&String> = answers.iter().collect();
    sorted.sort();
    sorted
}

fn file(first: u64) -> String {
    let mut text = String::from(":- initialization(main, main).\n");
    let mut mains = String::from("main :- true");
    for number in first..first + IN_A_FILE {
        text += &program(number, &mut Dice::of_program(number));
        let _ = write!(
            mains,
            ",\n    write(t{number}), forall(t{number}(X), format(' ~w', [X])), nl"
        );
    }
    text + &mains + ".\n"
}

/// A table `tN/1` of atoms, of terms, or of nodes that can be reached.
fn program(n: u64, dice: &mut Dice) -> String {
    let names: Vec<String> = (0..3 + dice.below(18))
        .map(|place| match dice.below(2) {
            0 => format!("n{n}_{place}"),
            _ => format!("farmer_{n}_{place}"),
        })
        .collect();
    let mut text = format!(":- table t{n}/1.\n");
    match dice.below(3) {
        0 => {
            let _ = writeln!(text, "t{n}(X) :- member(X, [{}]).", names.join(", "));
        }
        1 => {
            for name in &names {
                let _ = writeln!(text, "t{n}(f({name},{})).", dice.below(100));
            }
        }
        _ => {
            let _ = writeln!(text, "t{n}({}).\nt{n}(Y) :- t{n}(X), e{n}(X, Y).", names[0]);
            for pair in names.windows(2) {
                let back = dice.below(names.len() as u64) as usize;
                let _ = writeln!(text, "e{n}({}, {}).", pair[0], pair[1]);
                let _ = writeln!(text, "e{n}({}, {}).", pair[0], names[back]);
            }
        }
    }
    text
}
