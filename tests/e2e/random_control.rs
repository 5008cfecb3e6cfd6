//! Programs that nobody wrote, of control that is hard to follow: cleanup handlers that fail and
//! throw, errors of every origin, goals that are called by built-in and library predicates,
//! choicepoints of predicates that have no box. Each is recorded with stubs in many modes. The
//! counts of every port must be those of `--ports`, where wrappers see them, and calls and exits
//! those of the engine's debugger.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portmortem_tests::{Profiled, Sandbox, repository};

use crate::counts;
use crate::random_programs::{Dice, IN_A_FILE, does_the_same};

/// Predicates of one program. Each calls later ones only, so that it ends.
const PREDICATES: u64 = 6;
/// Calls after which a program is ended: some would take very long.
const BUDGET: u64 = 400;

/// Counts of a predicate: calls, exits, fails, exceptions.
type Ports = [u64; 4];

/// `PORTMORTEM_ROUNDS=10` makes 2,000 programs.
#[test]
fn counts_are_those_of_wrappers_and_of_the_debugger() {
    let rounds = portmortem_tests::rounds();
    let first = portmortem_tests::first_program(20_000);
    let mut compared = 0;
    let mut differences = Vec::new();
    for first in (first..first + 200 * rounds).step_by(IN_A_FILE as usize) {
        let programs = file(first);
        for options in modes(first) {
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let with_ports = [&options[..], &["--ports"]].concat();
            let stubs = ports(&does_the_same(&programs, &options, first));
            let wrappers = ports(&does_the_same(&programs, &with_ports, first));
            let what = format!("programs from {first}, {options:?}, against wrappers");
            compared += 4 * compare(&what, &stubs, &wrappers, &mut differences);
            if options.is_empty() {
                let counted = of_debugger(&programs);
                let stubs = stubs
                    .into_iter()
                    .map(|(name, ports)| (name, calls_and_exits(ports)));
                let what = format!("programs from {first}, against the debugger");
                compared += 2 * compare(&what, &stubs.collect(), &counted, &mut differences);
            }
        }
    }
    println!("{compared} counts, {} predicates differ", differences.len());
    assert!(compared > 5_000 * rounds as usize, "{compared} counts");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// What is recorded of a file: by default, without the boundary, with everything, and what is
/// selected at random.
fn modes(first: u64) -> Vec<Vec<String>> {
    let mut dice = Dice::of_program(first ^ 0xface);
    let mut some = |option: &str| {
        let always = dice.below(PREDICATES);
        let chosen = (0..PREDICATES).filter(|&at| at == always || dice.below(3) == 0);
        let glob = |predicate| [option.to_owned(), format!("p*_{predicate}/1")];
        chosen.flat_map(glob).collect::<Vec<_>>()
    };
    let fixed = |options: &[&str]| options.iter().map(|&option| option.to_owned()).collect();
    let and = |mut options: Vec<String>, more: &str| {
        options.push(more.to_owned());
        options
    };
    vec![
        fixed(&[]),
        fixed(&["--no-boundary"]),
        fixed(&["--clauses"]),
        fixed(&["--libraries"]),
        fixed(&["--builtins"]),
        some("--exclude"),
        and(some("--exclude"), "--no-boundary"),
        some("--include"),
        and(some("--include"), "--no-boundary"),
    ]
}

/// The counts of the program's predicates.
fn ports(recorded: &Profiled) -> BTreeMap<String, Ports> {
    let rows = recorded.predicates();
    let rows = rows.iter().filter(|row| is_of_program(row.predicate));
    let ports = |row: &portmortem_analyzer::tables::PredicateRow<'_>| {
        [
            row.calls,
            row.exits_det + row.exits_nondet,
            row.fails,
            row.exceptions,
        ]
    };
    rows.map(|row| (row.predicate.to_owned(), ports(row)))
        .collect()
}

/// The programs call their predicates `p20001_3/1` and the like.
fn is_of_program(name: &str) -> bool {
    let is_numbered = |kind: &str| {
        let number = name.strip_prefix(kind);
        number.is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
    };
    ["p", "f", "all", "run"].into_iter().any(is_numbered) || ["t/0", "again/1"].contains(&name)
}

fn calls_and_exits(ports: Ports) -> Ports {
    [ports[0], ports[1], 0, 0]
}

/// How many predicates there are; what differs is added to `differences`.
fn compare(
    what: &str,
    ours: &BTreeMap<String, Ports>,
    theirs: &BTreeMap<String, Ports>,
    differences: &mut Vec<String>,
) -> usize {
    for name in ours
        .keys()
        .chain(theirs.keys().filter(|name| !ours.contains_key(*name)))
    {
        let (our, their) = (ours.get(name), theirs.get(name));
        if our != their {
            differences.push(format!("{what}: {name}: {our:?}, right is {their:?}"));
        }
    }
    ours.len()
}

/// Calls and exits as the engine's own debugger counts them.
fn of_debugger(programs: &str) -> BTreeMap<String, Ports> {
    let sandbox = Sandbox::with("random.pl", programs);
    let counter = repository("tests/prolog/debugger_ports.pl");
    let counter = counter.to_str().unwrap();
    sandbox
        .swipl([counter, "--", "random.pl", "main", "counts.json"])
        .succeeds();
    let counted = counts::read(&sandbox.path("counts.json")).into_iter();
    counted
        .map(|((_, name, arity), (calls, exits))| (format!("{name}/{arity}"), [calls, exits, 0, 0]))
        .filter(|(name, _)| is_of_program(name))
        .collect()
}

/// A file of programs.
fn file(first: u64) -> String {
    let mut text = format!(
        ":- initialization(main, main).\n:- style_check(-singleton).\n:- style_check(-discontiguous).\n\
         :- style_check(-no_effect).\n:- set_prolog_flag(gc, false).\n\
         t :- nb_getval(n, N), N1 is N+1, nb_setval(n, N1), ( N1 > {BUDGET} -> throw(budget) ; true ).\n\
         again(E) :- ( E == budget -> throw(E) ; true ).\n"
    );
    let mut runs = Vec::new();
    for number in first..first + IN_A_FILE {
        text += &Program {
            number,
            dice: Dice::of_program(number),
        }
        .text();
        runs.push(format!("run{number}"));
    }
    let _ = writeln!(text, "main :- {}.", runs.join(", "));
    text
}

struct Program {
    number: u64,
    dice: Dice,
}

impl Program {
    fn text(mut self) -> String {
        let n = self.number;
        let mut text = format!("f{n}(a) :- t.\nf{n}(b).\n");
        for predicate in 0..PREDICATES {
            for _ in 0..=self.dice.below(3) {
                let head = self.dice.of(&["X", "X", "X", "a", "b"]);
                let body = match self.dice.below(9) {
                    0 => String::new(),
                    1 => " :- fail".to_owned(),
                    _ => format!(" :- t, {}", self.body(predicate, 2)),
                };
                let _ = writeln!(text, "p{n}_{predicate}({head}){body}.");
            }
        }
        let _ = writeln!(
            text,
            "all{n} :- p{n}_0(X), X == nope.\n\
             all{n} :- catch(p{n}_0(_), E, again(E)), p{n}_2(_), p{n}_1(_).\nall{n}.\n\
             run{n} :- nb_setval(n, 0), nl, write({n}), nl, catch(( all{n} -> write(yes) ; write(no) ), _, write(error))."
        );
        text
    }

    fn body(&mut self, predicate: u64, depth: u32) -> String {
        let goals = [1, 1, 2, 2, 3][self.dice.below(5) as usize];
        let goals: Vec<String> = (0..goals).map(|_| self.goal(predicate, depth)).collect();
        goals.join(", ")
    }

    fn variable(&mut self) -> &'static str {
        self.dice.of(&["X", "Y", "Z", "W"])
    }

    fn call(&mut self, predicate: u64) -> String {
        let (n, variable) = (self.number, self.variable());
        let callee = predicate + 1 + self.dice.below(PREDICATES - predicate);
        if callee < PREDICATES {
            format!("p{n}_{callee}({variable})")
        } else {
            format!("f{n}({variable})")
        }
    }

    /// What leaves choicepoints and may have no box: a control structure, or a predicate of the
    /// system or a library.
    fn choices(&mut self) -> String {
        let goals = [
            "between(1, 2, _)",
            "member(_, [a, b])",
            "select(_, [a, b], _)",
            "prolog_load_context(_, _)",
            "sub_atom(ab, _, 1, _, _)",
            "append(_, _, [a])",
            "nth0(_, [a, b], _)",
            "nb_current(n, _)",
            "current_op(_, xfx, is)",
            "( true ; true )",
        ];
        self.dice.of(&goals).to_owned()
    }

    fn error(&mut self) -> String {
        let goals = [
            "throw(oops)",
            "throw(oops)",
            "atom_length(_, _)",
            "_ is foo+1",
            "no_such_predicate",
            "call(1)",
            "functor(_, _, _)",
        ];
        self.dice.of(&goals).to_owned()
    }

    fn handler(&mut self, predicate: u64) -> String {
        let call = self.call(predicate);
        match self.dice.below(8) {
            0 => "true".to_owned(),
            1 => "fail".to_owned(),
            2 => format!("( {call}, fail )"),
            3 => format!("( {call}, throw(late) )"),
            4 => format!("( {call}, {} )", self.error()),
            5 => format!("ignore({call})"),
            _ => call,
        }
    }

    fn goal(&mut self, predicate: u64, depth: u32) -> String {
        let kind = self.dice.below(if depth > 0 { 110 } else { 46 });
        match kind {
            0..24 => self.call(predicate),
            24..28 => "!".to_owned(),
            28..30 => "fail".to_owned(),
            30..32 => format!("{} = {}", self.variable(), self.dice.of(&["a", "b", "c"])),
            32..40 => self.choices(),
            40..42 => self.error(),
            42..44 => format!("freeze(V, {}), V = a", self.call(predicate)),
            44..46 => format!("write({})", self.dice.of(&["x", "y", "z"])),
            _ => self.compound(kind, predicate, depth - 1),
        }
    }

    fn compound(&mut self, kind: u64, predicate: u64, depth: u32) -> String {
        let a = self.body(predicate, depth);
        let b = self.body(predicate, depth);
        match kind {
            46..52 => format!("( {a} -> {b} ; {} )", self.body(predicate, depth)),
            52..55 => format!("( {a} *-> {b} ; {} )", self.body(predicate, depth)),
            55..60 => format!("( {a} ; {b} )"),
            60..63 => format!("\\+ ( {a} )"),
            63..67 => format!("catch(( {a} ), E, ( again(E), {b} ))"),
            67..71 => format!(
                "catch(( {a} ), {}, {})",
                self.dice.of(&["oops", "error(_, _)", "late"]),
                self.handler(predicate)
            ),
            71..80 => format!(
                "setup_call_cleanup({}, ( {a} ), {})",
                self.dice.of(&["true", "t"]),
                self.handler(predicate)
            ),
            80..83 => format!("call_cleanup(( {a} ), {})", self.handler(predicate)),
            83..86 => format!("findall(X, ( {a} ), _)"),
            86..88 => format!("once(( {a} ))"),
            88..90 => format!("forall({}, ( {a} ))", self.call(predicate)),
            90..94 => format!("call(( {a} ))"),
            94..95 => format!("( G = ( {a} ), call(G) )"),
            95..97 => format!("ignore(( {a} ))"),
            97..98 => format!("aggregate_all(count, ( {a} ), _)"),
            98..99 => format!("with_output_to(string(_), ( {a} ))"),
            99..100 => format!("not(( {a} ))"),
            100..101 => format!("findall(X, ( {a} ), _, [])"),
            101..102 => format!("limit(2, ( {a} ))"),
            102..103 => format!("call_nth(( {a} ), 2)"),
            103..104 => format!(
                "catch_with_backtrace(( {a} ), oops, {})",
                self.handler(predicate)
            ),
            104..105 => format!("bagof(X, ( {a} ), _)"),
            105..106 => format!("include(p{}_{}, [a, b], _)", self.number, PREDICATES - 1),
            106..107 => {
                let variable = self.variable();
                format!("call(p{}_{}, {variable})", self.number, PREDICATES - 1)
            }
            107..108 => format!(
                "foldl([A, B, A]>>( {} ), [a, b], _, _)",
                self.call(predicate)
            ),
            _ => format!("maplist(p{}_{}, [X, Y])", self.number, PREDICATES - 1),
        }
    }
}
