//! Symbolic costs of programs that are known by hand, and the two examples of Brassel et al. 2004.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use portmortem_analyzer::costs::{Component, Costs};
use portmortem_analyzer::trace::Center;
use portmortem_analyzer::{ReplayOptions, Tables, Trace, replay};
use support::{program, record};

/// The counts of a predicate, as `name=count` in the order of their names, after running a goal of
/// `known.pl`.
fn known(goal: &str, predicate: &str) -> String {
    let more = ["-g", goal, "-t", "halt"];
    let (output, trace) = record("symbolic(true)", &program("costs/known.pl"), &more);
    assert!(output.status.success(), "{goal}: {output:?}");
    let costs = Costs::of(&trace);
    assert!(costs.is_complete());
    every_call_was_counted(&trace, &costs);
    let index = (0..)
        .zip(trace.predicates())
        .find(|(_, info)| info.indicator == predicate);
    let counts = costs.of_predicate(index.unwrap().0);
    let texts = counts
        .iter()
        .map(|(component, count)| format!("{}={count}", component.name()));
    texts.collect::<Vec<_>>().join(" ")
}

/// The recorder's count of calls is that of the events.
fn every_call_was_counted(trace: &Trace, costs: &Costs) {
    let profile = replay(trace, &ReplayOptions::default());
    for (index, figures) in (0..).zip(&profile.predicates) {
        let counted = costs.counted_calls(index);
        let name = trace.predicate_name(index);
        assert!(
            counted == figures.calls
                || name.starts_with("cost_center(")
                || trace.predicates()[index as usize].is_engine_work(),
            "{name}"
        );
    }
}

#[test]
fn lists() {
    assert_eq!(
        known("appended", "app/3"),
        "F=4 C=4 B=4 H=9 U=4 step=4 nargs=12 giunif=10 gounif=9 viunif=4 vounif=1"
    );
    // Given the result, nothing is built and no variable of the call is there to be bound.
    assert_eq!(
        known("forwards", "app/3"),
        "F=4 C=4 step=4 nargs=12 giunif=19 viunif=5"
    );
    // No argument tells the clauses apart: each call tries both, and the second head fails once.
    // B: the base clause binds two variables each time, the other one binds one.
    assert_eq!(
        known("backwards", "app/3"),
        "F=3 N=3 C=6 B=8 H=6 U=8 step=5 nargs=15 giunif=6 gounif=9 viunif=3 vounif=5"
    );
    // n = 10: (n+1)(n+2)/2 calls of both predicates together.
    assert_eq!(
        known("reversed", "nrev/2"),
        "F=11 C=11 B=1 H=30 U=1 step=11 nargs=22 giunif=31 gounif=1 vounif=10 built=30"
    );
    assert_eq!(
        known("reversed", "app/3"),
        "F=55 C=55 B=55 H=135 U=55 step=55 nargs=165 giunif=145 gounif=135 viunif=55 vounif=10"
    );
}

#[test]
fn clauses_tried() {
    assert_eq!(known("no_head", "s/2"), "F=1 C=2");
    assert_eq!(known("no_candidate", "s/2"), "F=1");
    assert_eq!(
        known("all_of_a", "s/2"),
        "F=1 N=1 C=2 B=2 U=2 step=2 nargs=4 giunif=2 gounif=2"
    );
    assert_eq!(
        known("first_of_a", "s/2"),
        "F=1 N=1 C=1 B=1 U=1 step=1 nargs=2 giunif=1 gounif=1"
    );
    // What is cut is not tried.
    assert_eq!(
        known("cuts", "over/2"),
        "F=2 N=2 C=3 B=3 U=3 step=3 nargs=6 gounif=3 viunif=3 builtin:>/2=2"
    );
    // Nor what an exception leaves.
    assert_eq!(
        known("thrown", "r/1"),
        "F=1 N=1 C=1 B=1 U=1 step=1 nargs=1 gounif=1 builtin:throw/1=1"
    );
    // Two variables become one.
    assert_eq!(
        known("aliased", "alias/2"),
        "F=1 C=1 B=1 U=1 step=1 nargs=2 vounif=2"
    );
    // 0 fits both heads. M is N-1 builds no term: the engine has an instruction for it.
    assert_eq!(
        known("loop", "last_call/1"),
        "F=4 N=1 C=4 U=3 step=4 nargs=4 giunif=1 viunif=3 expression=3 arith:-/2=3 builtin:>/2=3 builtin:inline:is/2=3 builtin:is/2=3"
    );
}

#[test]
fn control_and_built_ins() {
    assert_eq!(
        known("chosen", "larger/3"),
        "F=1 C=1 U=1 step=1 nargs=3 viunif=2 vounif=1 condition=1 builtin:=/2=1 builtin:>=/2=1"
    );
    assert_eq!(
        known("negated", "mem/2"),
        "F=4 C=8 step=3 nargs=6 giunif=9 viunif=3"
    );
    assert_eq!(
        known("negated", "absent/2"),
        "F=1 C=1 step=1 nargs=2 viunif=2 condition=1"
    );
    // cost_center/2 is no built-in of the program's; X is bound by mem/2, Y by is/2. H: the goal
    // and what is in it.
    assert_eq!(
        known("center", "timed/2"),
        "F=1 C=1 H=23 U=1 step=1 nargs=2 vounif=2 built=23 expression=1 arith:+/2=1 builtin:is/2=1 builtin:once/1=1"
    );
    // H: X-Y and the goal that findall/3 is given, 3 + 21 cells. U: the list, and Y three times.
    assert_eq!(
        known("collected", "squares/1"),
        "F=1 C=1 H=24 U=4 step=1 nargs=1 vounif=1 built=24 expression=3 arith:*/2=3 builtin:findall/3=1 builtin:is/2=3"
    );
    // X*X*X + 2*X - max(X, 1) has six operators of arity 2.
    assert_eq!(
        known("arithmetic", "poly/2"),
        "F=1 C=1 H=18 U=1 step=1 nargs=2 viunif=1 vounif=1 expression=1 arith:*/2=3 arith:+/2=1 arith:-/2=1 arith:max/2=1 builtin:is/2=1"
    );
    // The operator in the value of a variable is evaluated, too.
    assert_eq!(
        known("in_variables", "wrapped/1"),
        "F=1 C=1 H=6 U=2 step=1 nargs=1 viunif=1 built=3 expression=1 arith:*/2=1 arith:+/2=1 builtin:=/2=1 builtin:>/2=1 builtin:is/2=1"
    );
    // Directly after the neck it is a part of the head.
    assert_eq!(
        known("unified", "built/1"),
        "F=1 C=1 B=1 H=5 U=1 step=1 nargs=1 gounif=4"
    );
    // The same unification builds five cells of a variable, and none of a term.
    assert_eq!(
        known("unified", "built_later/1"),
        "F=1 C=1 H=5 U=1 step=1 nargs=1 vounif=1 built=5 builtin:=/2=1 builtin:atom/1=1"
    );
    assert_eq!(
        known("unified", "matched_later/1"),
        "F=1 C=1 step=1 nargs=1 viunif=1 builtin:=/2=1 builtin:atom/1=1"
    );
}

/// Goals of `classics.pl` that all have a few thousand steps.
const CLASSICS: [&str; 8] = [
    "nrev_times(10, 5)",
    "forall(queens(5, _), true)",
    "hanoi(6, _)",
    "tak(6, 4, 2, _)",
    "forall(perm([1,2,3,4], _), true)",
    "slow_sort([3,1,4,2], _)",
    "forall(color(_), true)",
    "derive_times(3)",
];

/// The clauses entered are those of which the engine's debugger says that their heads unified.
#[test]
fn clauses_entered_are_what_the_debugger_says() {
    let classics = program("classics.pl");
    for goal in CLASSICS {
        let counter = program("../prolog/unify_counter.pl");
        let said = Command::new("swipl")
            .args(["-g", "main", "-t", "halt"])
            .args([&counter, Path::new("--"), &classics])
            .arg(goal)
            .output()
            .unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let said: BTreeMap<&str, u64> = said
            .lines()
            .filter_map(|line| line.strip_prefix("entered ")?.split_once(' '))
            .map(|(name, count)| (name, count.parse().unwrap()))
            .collect();
        let (output, trace) = record("symbolic(true)", &classics, &["-g", goal, "-t", "halt"]);
        assert!(output.status.success(), "{goal}: {output:?}");
        let costs = Costs::of(&trace);
        let mut entered = BTreeMap::<&str, u64>::new();
        for row in costs.rows() {
            if row.component == Component::Step {
                *entered
                    .entry(trace.predicate_name(row.predicate))
                    .or_default() += row.count;
            }
        }
        assert!(!entered.is_empty(), "{goal}");
        assert_eq!(entered, said, "{goal}");
    }
}

/// The sum over the predicates in a cost centre, by symbol, from the table.
fn table(trace: &Trace, center: &str) -> BTreeMap<String, u64> {
    let profile = replay(trace, &ReplayOptions::default());
    let mut sums = BTreeMap::<String, u64>::new();
    for row in Tables::new("x", trace, &profile).costs() {
        if row.cost_center == center {
            *sums.entry(row.symbol.to_owned()).or_default() += row.count.unwrap_or(0);
        }
    }
    sums
}

fn counts<const N: usize>(sums: &BTreeMap<String, u64>, symbols: [&str; N]) -> [u64; N] {
    symbols.map(|symbol| sums.get(symbol).copied().unwrap_or(0))
}

/// Section 3: unfolding `len` halves the function unfoldings; heap objects and case evaluations
/// stay.
#[test]
fn len_and_len2s() {
    let (output, trace) = record("symbolic(true)", &program("costs/len.pl"), &[]);
    assert_eq!(output.stdout, b"same\n", "{output:?}");
    every_call_was_counted(&trace, &Costs::of(&trace));
    let symbols = ["E", "F", "C", "H", "N"];
    assert_eq!(
        counts(&table(&trace, "len"), symbols),
        [1, 101, 101, 200, 0]
    );
    assert_eq!(
        counts(&table(&trace, "len2s"), symbols),
        [1, 51, 101, 200, 0]
    );
}

/// Unfoldings in the two cost centres for a word of that many letters, backwards the second time.
fn rm_dups(how: &str, letters: usize) -> [u64; 2] {
    let word: String = ('a'..='z').take(letters).collect();
    let reversed: String = word.chars().rev().collect();
    let more = ["--", how, &word, &reversed];
    let (output, trace) = record("symbolic(true)", &program("costs/rmdups.pl"), &more);
    assert!(output.status.success(), "{output:?}");
    ["rm_dups", "perm"].map(|center| table(&trace, center)["F"])
}

/// Section 7: the costs of `rmDups` double with each letter; with the result shared they do not.
#[test]
fn rm_dups_doubles_with_each_letter() {
    // Three times; each call makes two, and looks at n-1 letters in vain:
    // T(n) = 1 + 2 T(n-1) + (n-1) + 1.
    let expected = |letters: u64| 3 * (1..=letters).fold(1, |t, n| 1 + 2 * t + n);
    let plain: Vec<[u64; 2]> = (1..=6).map(|letters| rm_dups("plain", letters)).collect();
    for (found, letters) in plain.iter().zip(1..) {
        assert_eq!(found[0], expected(letters));
    }
    let shared: Vec<[u64; 2]> = (1..=6).map(|letters| rm_dups("shared", letters)).collect();
    for (found, n) in shared.iter().zip(1u64..) {
        assert_eq!(found[0], 3 * (n + 1 + n * (n + 1) / 2));
    }
    // The costs of comparing are the same.
    assert!(
        plain
            .iter()
            .zip(&shared)
            .all(|(plain, shared)| plain[1] == shared[1])
    );
}

/// What is in a cost centre, whether costs are counted by the recorder or boxes by the analyser.
#[test]
fn recorder_and_analyser_agree_on_cost_centres() {
    let (output, trace) = record("symbolic(true)", &program("costs/centers.pl"), &[]);
    assert!(output.status.success(), "{output:?}");
    let mut boxes = BTreeMap::<(Center, u32), u64>::new();
    for (&key, figures) in &replay(&trace, &ReplayOptions::default()).centers {
        // Collections and shifts are in the events, and nothing that the recorder counts.
        let info = &trace.predicates()[key.1 as usize];
        if info.is_called_by_program() {
            boxes.insert(key, figures.calls);
        }
    }
    let mut counted = BTreeMap::<(Center, u32), u64>::new();
    for row in Costs::of(&trace).rows() {
        if row.component.name() == "F" {
            counted.insert((row.center, row.predicate), row.count);
        }
    }
    assert_eq!(boxes, counted);
    let plain = record("", &program("costs/centers.pl"), &[]);
    assert_eq!(plain.0.stdout, output.stdout);
    assert_eq!(
        output.stdout,
        std::fs::read(program("costs/centers.expected")).unwrap()
    );
}
