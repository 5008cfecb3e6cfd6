//! Tabled predicates: each call is one box, wherever it comes from, and filling a table is noted in
//! it.
//!
//! Random programs count the calls of their predicates, the tables that these fill and the answers
//! of these tables themselves: the first clause runs once for each table, and before tables are
//! abolished, the program asks each for its answers. The order of answers may differ
//! from run to run, so each run is compared with what it has counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portmortem_tests::{Profiled, Sandbox};

use crate::random_programs::{Dice, IN_A_FILE};

/// Tabled predicates of one program, which may call each other in circles.
const TABLED: u64 = 3;

/// `PORTMORTEM_ROUNDS=10` makes 1,000 programs.
#[test]
fn calls_are_those_that_programs_count() {
    let rounds = portmortem_tests::rounds();
    let first = portmortem_tests::first_program(70_000);
    let mut compared = 0;
    let mut differences = Vec::new();
    for first in (first..first + 100 * rounds).step_by(IN_A_FILE as usize) {
        let programs = file(first);
        for options in [&[][..], &["--no-boundary"], &["--libraries"], &["--ports"]] {
            let (counted, recorded) = counts(&programs, options);
            for (name, count) in counted {
                compared += 1;
                let found = match name.split_once(' ') {
                    Some((FILLED, name)) => filled(&recorded, name),
                    Some((_, name)) => answers(&recorded, name),
                    None => recorded.find(&name).map_or(0, |row| row.calls),
                };
                if found != count {
                    let what = format!("programs from {first}, {options:?}");
                    differences.push(format!("{what}: {name}: {found}, not {count}"));
                }
            }
        }
    }
    println!("{compared} counts, {} differ", differences.len());
    assert!(compared > 1_000, "{compared} counts");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Columns of reports say how many calls found their table.
#[test]
fn reports_say_how_many_tables_were_filled() {
    let text = ":- initialization(main, main).
:- table double/2.
double(X, Y) :- Y is 2*X.
main :- forall(member(X, [1, 2, 1, 3, 1]), double(X, _)).
";
    for options in [&[][..], &["--ports"]] {
        let sandbox = Sandbox::with("p.pl", text);
        sandbox
            .portmortem([&["record"], options, &["p.pl"]].concat())
            .succeeds();
        let columns = ["report", "p.pmt", "--columns", "predicate,filled,reused"];
        let report = sandbox.portmortem([&columns[..], &["--format", "csv"]].concat());
        let report = report.succeeds().out();
        assert!(report.contains("\ndouble/2,3,2\n"), "{report}");
        assert!(report.contains("\nmain/0,,\n"), "{report}");
    }
}

/// Columns say what tables had when they were complete, as the engine says it; of tables that were
/// left by an exception nothing, and in a part of the run what was completed in it.
#[test]
fn answers_and_nodes_are_those_that_the_engine_has() {
    let text = ":- initialization(main, main).
:- use_module(library(portmortem)).
:- table edge/2, path/2, least(_, min), raises/1, unfounded/0.
edge(X, Y) :- member(X-Y, [a-b, b-c, c-a, c-d, a-b]).
path(X, Y) :- edge(X, Y).
path(X, Y) :- path(X, Z), edge(Z, Y).
least(X, N) :- member(X-N, [a-3, a-1, b-2, a-2]).
raises(X) :- member(X, [1, 2]), X > 1, throw(stop).
unfounded :- tnot(unfounded).
main :-
    catch(raises(_), stop, true),
    forall(member(X, [a, d, a]), findall(Y, path(X, Y), _)),
    pm_mark(half),
    findall(X-N, least(X, N), _),
    ignore(unfounded),
    forall(member(P, [edge/2, path/2, least/2, unfounded/0]), says(P)).
says(P) :-
    P = Name/Arity,
    functor(G, Name, Arity),
    findall(A-N,
            ( current_table(V, T), strip_module(V, _, G),
              trie_property(T, value_count(A)), trie_property(T, node_count(N)) ),
            Pairs),
    findall(A, member(A-_, Pairs), As), sum_list(As, Answers),
    findall(N, member(_-N, Pairs), Ns), sum_list(Ns, Nodes),
    format('~w,~w,~w~n', [P, Answers, Nodes]).
";
    for options in [&[][..], &["--no-boundary"], &["--libraries"], &["--ports"]] {
        let sandbox = Sandbox::with("p.pl", text);
        let said = sandbox
            .portmortem([&["record", "--force"], options, &["p.pl"]].concat())
            .succeeds()
            .out();
        assert_eq!(said.lines().count(), 4, "{said}");
        let report = |more: &[&str]| {
            let columns = [
                "report",
                "p.pmt",
                "--columns",
                "predicate,answers,table_nodes",
            ];
            let report = [&columns[..], &["--format", "csv"], more].concat();
            sandbox.portmortem(report).succeeds().out()
        };
        let all = report(&[]);
        for line in said.lines() {
            assert!(
                all.contains(&format!("\n{line}\n")),
                "{options:?}: {line} of {all}"
            );
        }
        assert!(all.contains("\nraises/1,,\n"), "{options:?}: {all}");
        let second = report(&["--time", "half.."]);
        assert!(second.contains("\nleast/2,2,"), "{options:?}: {second}");
        assert!(!second.contains("\npath/2,"), "{options:?}: {second}");
    }
}

/// What is tabled keeps its results: no finding says that a table would.
#[test]
fn no_table_is_advised_for_what_has_one() {
    let text = ":- initialization(main, main).
:- table fib/2.
fib(N, N) :- N < 2.
fib(N, F) :- N > 1, A is N-1, B is N-2, fib(A, FA), fib(B, FB), F is FA+FB.
main :- forall(between(1, 10, _), ( fib(200, _), abolish_all_tables )).
";
    for table in [true, false] {
        let text = match table {
            true => text.to_owned(),
            false => text.replace(":- table fib/2.\n", "").replace("200", "15"),
        };
        let sandbox = Sandbox::with("p.pl", &text);
        for options in [&[][..], &["--arguments", "fib/2"]] {
            let record = [&["record", "--force"], options, &["p.pl"]].concat();
            sandbox.portmortem(record).succeeds();
            let advice = sandbox.portmortem(["advise", "p.pmt", "--least", "0", "--top", "100"]);
            let advice = advice.exits(0).out();
            let says = advice.contains("a table would keep") || advice.contains(":- table");
            assert_eq!(says, !table, "{options:?}: {advice}");
        }
    }
}

/// What programs call the number of tables that a predicate has filled, before its name.
const FILLED: &str = "filled";

/// Tables that began to be filled in boxes of a predicate.
fn filled(recorded: &Profiled, predicate: &str) -> u64 {
    let mut edges = recorded.edges().into_iter();
    edges
        .find(|edge| edge.caller == predicate && edge.callee == "system:fill_table/0")
        .map_or(0, |edge| edge.calls)
}

/// Answers of the tables of a predicate.
fn answers(recorded: &Profiled, predicate: &str) -> u64 {
    let trace = &recorded.trace;
    let index = (0..).zip(trace.predicates());
    let mut index = index.filter(|(_, info)| info.indicator == predicate);
    let tables = index
        .next()
        .and_then(|(index, _)| recorded.calls.get(trace).tables(index));
    tables.map_or(0, |tables| tables.answers)
}

/// What a file of programs has counted, and its recording.
fn counts(programs: &str, options: &[&str]) -> (BTreeMap<String, u64>, Profiled) {
    let sandbox = Sandbox::with("tabled.pl", programs);
    let arguments = [&["record", "-o", "run.pmt"], options, &["tabled.pl"]].concat();
    let outcome = sandbox.portmortem(arguments);
    let printed = outcome.succeeds().out();
    let counted = printed.lines().map(|line| {
        let (name, count) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), count.parse().unwrap())
    });
    (counted.collect(), Profiled::of(&sandbox.path("run.pmt")))
}

fn file(first: u64) -> String {
    let mut text = String::from(
        ":- initialization(main, main).
:- style_check(-singleton).
:- style_check(-discontiguous).
:- dynamic count/2.
c(P) :- c(P, 1).
:- dynamic table_of/2.
begins(P, G) :- atom_concat('filled ', P, F), c(F), assertz(table_of(P, G)).
ask_tables :-
    forall(retract(table_of(P, G)),
           ( c(P), findall(x, G, Xs), length(Xs, K), atom_concat('answers ', P, A), c(A, K) )).
c(P, K) :- ( retract(count(P, N)) -> true ; N = 0 ), N1 is N+K, assertz(count(P, N1)).
d(0). d(1). d(2). d(3).
",
    );
    let mut mains = Vec::new();
    for number in first..first + IN_A_FILE {
        let program = Program {
            number,
            dice: Dice::of_program(number),
        };
        text += &program.text();
        mains.push(format!("main{number}"));
    }
    let _ = writeln!(
        text,
        "main :- {}, ask_tables, forall(count(P, N), format('~w ~w~n', [P, N])).",
        mains.join(", ")
    );
    text
}

struct Program {
    number: u64,
    dice: Dice,
}

impl Program {
    fn text(mut self) -> String {
        let n = self.number;
        let mut text = String::new();
        for _ in 0..2 + self.dice.below(5) {
            let (from, to) = (self.dice.below(4), self.dice.below(4));
            let _ = writeln!(text, "e{n}({from}, {to}).");
        }
        let _ = writeln!(text, ":- table s{n}(_, min).");
        let _ = writeln!(text, "s{n}(X, _) :- begins('s{n}/2', s{n}(X, _)), fail.");
        let _ = writeln!(text, "s{n}(0, 0).");
        let again = self.counted(&format!("s{n}/2"), &format!("s{n}(Y, M)"));
        let _ = writeln!(text, "s{n}(X, N) :- {again}, e{n}(Y, X), N is M+1, N < 6.");
        for tabled in 0..TABLED {
            let _ = writeln!(text, ":- table p{n}_{tabled}/1.");
            let name = format!("p{n}_{tabled}");
            let _ = writeln!(text, "{name}(X) :- begins('{name}/1', {name}(X)), fail.");
            for _ in 0..1 + self.dice.below(3) {
                let body = self.body();
                let _ = writeln!(text, "{name}(X) :- {body}.");
            }
        }
        let called = self.call("X");
        let _ = writeln!(text, "q{n}(X) :- {called}, X > 0.");
        let goals: Vec<String> = (0..3 + self.dice.below(5)).map(|_| self.driver()).collect();
        let _ = writeln!(text, "main{n} :- {}.", goals.join(",\n    "));
        text
    }

    /// A goal that is counted before it is called.
    fn counted(&self, predicate: &str, goal: &str) -> String {
        format!("c('{predicate}'), {goal}")
    }

    fn tabled(&mut self) -> String {
        format!("p{}_{}", self.number, self.dice.below(TABLED))
    }

    fn call(&mut self, argument: &str) -> String {
        let name = self.tabled();
        self.counted(&format!("{name}/1"), &format!("{name}({argument})"))
    }

    fn body(&mut self) -> String {
        let n = self.number;
        match self.dice.below(6) {
            0 => "d(X)".to_owned(),
            1 => format!("e{n}(0, X)"),
            2 => self.call("X"),
            3 => self.counted(&format!("q{n}/1"), &format!("q{n}(X)")),
            4 => format!("{}, X < 3", self.call("X")),
            _ => format!("{}, e{n}(Y, X)", self.call("Y")),
        }
    }

    /// What main does with a tabled predicate, and that it has no other solution.
    fn driver(&mut self) -> String {
        let n = self.number;
        let name = self.tabled();
        let value = self.dice.below(5);
        let goal = match self.dice.below(15) {
            0 => format!("findall(x, {name}(_), _)"),
            1 => format!("forall({name}(_), true)"),
            2 => format!("( {name}({value}) -> true ; true )"),
            3 => format!("( {name}(_), fail ; true )"),
            4 => format!("\\+ \\+ ignore({name}({value}))"),
            5 => format!("ignore(call({name}, {value}))"),
            6 => format!("ignore(once({name}(_)))"),
            7 => format!("catch(ignore({name}({value})), _, true)"),
            8 => format!("aggregate_all(count, {name}(_), _)"),
            9 => format!("ignore(maplist({name}, [{value}]))"),
            10 => format!("setup_call_cleanup(true, ignore({name}({value})), true)"),
            11 => return format!("c('{name}/1', 4), findall(X, ( d(X), {name}(X) ), _)"),
            12 => return format!("c('{name}/1', 4), forall(d(X), ignore({name}(X)))"),
            13 => return format!("c('s{n}/2'), findall(X-N, s{n}(X, N), _)"),
            _ => return "ask_tables, abolish_all_tables".to_owned(),
        };
        self.counted(&format!("{name}/1"), &goal)
    }
}
