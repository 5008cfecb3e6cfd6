//! Programs that nobody wrote: every kind of control structure in any order. Recorded, they must do what they do unrecorded, and
//! ports at goals must tell the same story as wrappers.

use std::fmt::Write as _;

use portmortem_analyzer::Trace;
use portmortem_analyzer::trace::{PredicateIndex, PredicateInfo};
use portmortem_tests::{Profiled, Random, Sandbox, repository};
use portmortem_tracer::format::Event;

use crate::counts;

/// So many programs are in a file, to start the engine less often.
pub(crate) const IN_A_FILE: u64 = 20;
/// Predicates of one program. Each calls later ones only, so that it ends.
const PREDICATES: u64 = 5;
/// Calls after which a program is ended: some would take very long.
const BUDGET: u64 = 1500;

#[test]
fn they_do_the_same() {
    for first in (0..200).step_by(IN_A_FILE as usize) {
        check(first, &[], true);
        check(first, &["--no-boundary"], true);
        check(first, &["--clauses"], true);
        check(first, &["--clauses", "--no-boundary"], true);
    }
}

/// Calls and exits of the program's predicates, as the engine's own debugger counts them. `PORTMORTEM_ROUNDS=50` makes 2,000 programs.
#[test]
fn calls_and_exits_are_those_of_the_debugger() {
    let rounds = portmortem_tests::rounds();
    for first in (5000..5000 + 40 * rounds).step_by(IN_A_FILE as usize) {
        let recorded = check(first, &[], true).calls_and_exits();
        let sandbox = Sandbox::with("random.pl", &file(first, true));
        let counter = repository("tests/prolog/debugger_ports.pl");
        let counter = counter.to_str().unwrap();
        sandbox
            .swipl([counter, "--", "random.pl", "main", "counts.json"])
            .succeeds();
        let counted = counts::read(&sandbox.path("counts.json"));
        let of_program = |(key, _): &(&(String, String, u32), _)| key.0 == "user";
        let (recorded, counted): (Vec<_>, Vec<_>) = (
            recorded.iter().filter(of_program).collect(),
            counted.iter().filter(of_program).collect(),
        );
        assert!(counted.len() > 50, "{} predicates", counted.len());
        let differs = counted.iter().find(|row| !recorded.contains(row));
        assert!(recorded == counted, "programs from {first}: {differs:?}");
    }
}

/// Entries of clauses change no other event.
#[test]
fn with_clauses_all_ports_are_the_same() {
    for first in (2000..2100).step_by(IN_A_FILE as usize) {
        for boundary in [
            &[][..],
            &["--no-boundary"],
            &["--ports"],
            &["--ports", "--no-boundary"],
        ] {
            let with = [boundary, &["--clauses"]].concat();
            let [with, without] = [&with[..], boundary].map(|options| check(first, options, true));
            let mut with = ports(&with.trace);
            let entries = with.len();
            with.retain(|(port, _)| *port != "clause");
            assert!(with.len() < entries);
            assert_eq!(with, ports(&without.trace), "from {first}");
        }
    }
}

#[test]
fn ports_at_goals_say_what_wrappers_say() {
    for first in (1000..1300).step_by(IN_A_FILE as usize) {
        both(first, &["--ports", "--no-boundary"]);
    }
    for first in (3000..3100).step_by(IN_A_FILE as usize) {
        both(first, &["--ports", "--clauses", "--no-boundary"]);
    }
}

/// Compares a recording at goals with one at wrappers.
fn both(first: u64, options: &[&str]) {
    let wrappers = [options, &["--wrappers-only"]].concat();
    let [goals, wrappers] = [options, &wrappers[..]].map(|options| check(first, options, false));
    let (goals, wrappers) = (ports(&goals.trace), ports(&wrappers.trace));
    assert!(goals.len() > 1000, "{} events", goals.len());
    let differs = goals
        .iter()
        .zip(&wrappers)
        .position(|(goal, wrapper)| goal != wrapper);
    let near = differs.map(|at| at.saturating_sub(5)..(at + 5).min(goals.len()));
    assert!(
        goals == wrappers,
        "programs from {first} {options:?}: {:?}",
        near.map(|near| (&goals[near.clone()], &wrappers[near]))
    );
}

/// Compares a file of programs with its recording. `cleanup`: with calls of `call_cleanup/2`, beside whose handlers a cut may be
/// told too early (`docs/limits.md`).
fn check(first: u64, options: &[&str], cleanup: bool) -> Profiled {
    does_the_same(&file(first, cleanup), options, first)
}

/// Runs a file of programs, of which `first` is the first, unrecorded and recorded.
pub(crate) fn does_the_same(programs: &str, options: &[&str], first: u64) -> Profiled {
    let sandbox = Sandbox::with("random.pl", programs);
    let plain = sandbox.swipl(["random.pl"]);
    let mut arguments = vec!["record", "-o", "run.pmt"];
    arguments.extend(options);
    arguments.push("random.pl");
    let recorded = sandbox.portmortem(arguments);
    let (plain, recorded) = (plain.succeeds().out(), recorded.succeeds().out());
    let differs = plain.lines().zip(recorded.lines()).find(|(a, b)| a != b);
    assert!(
        plain == recorded,
        "programs from {first} {options:?}: {differs:?}"
    );
    Profiled::of(&sandbox.path("run.pmt"))
}

/// The ports of the program, with names of predicates, and the clauses that were entered. Cuts in a row are one.
fn ports(trace: &Trace) -> Vec<(&'static str, String)> {
    let name = |predicate: PredicateIndex| trace.predicate_name(predicate).to_owned();
    let is_engine_work = |predicate: PredicateIndex| {
        let info = trace.predicates().get(predicate as usize);
        info.is_some_and(PredicateInfo::is_engine_work)
    };
    let mut ports: Vec<(&'static str, String)> = Vec::new();
    let mut cuts = 0;
    let mut inside = 0;
    for timed in trace.events(&trace.streams()[0]) {
        if let Event::Cut { count } = timed.event {
            cuts += count;
            continue;
        }
        let port = match timed.event {
            Event::Call { predicate } if inside > 0 || is_engine_work(predicate) => {
                inside += 1;
                continue;
            }
            Event::ExitDet | Event::Fail | Event::Exception if inside > 0 => {
                inside -= 1;
                continue;
            }
            Event::Call { predicate } => ("call", name(predicate)),
            Event::Tail { predicate } => ("tail", name(predicate)),
            Event::ExitDet => ("exit", String::new()),
            Event::ExitNondet => ("exit, can be redone", String::new()),
            Event::Redo => ("redo", String::new()),
            Event::Fail => ("fail", String::new()),
            Event::Exception => ("exception", String::new()),
            Event::Clause { clause } => {
                let info = &trace.clauses()[trace.clause_index(clause).unwrap() as usize];
                (
                    "clause",
                    format!("{} {}", name(info.predicate), info.number),
                )
            }
            _ => continue,
        };
        if cuts > 0 {
            ports.push(("cut", cuts.to_string()));
            cuts = 0;
        }
        ports.push(port);
    }
    ports
}

/// A file of programs.
pub(crate) fn file(first: u64, cleanup: bool) -> String {
    let mut text = format!(
        ":- initialization(main, main).\n:- style_check(-singleton).\n:- style_check(-discontiguous).\n\
         t :- nb_getval(n, N), N1 is N+1, nb_setval(n, N1), ( N1 > {BUDGET} -> throw(budget) ; true ).\n"
    );
    if cleanup {
        // In a garbage collection, a handler that waits loses bindings that only it can see (9.0.4): the program's
        // answers depend on when the engine collects.
        text += ":- set_prolog_flag(gc, false).\n";
    }
    let mut runs = Vec::new();
    for number in first..first + IN_A_FILE {
        let dice = Dice::of_program(number);
        text += &Program {
            number,
            cleanup,
            dice,
        }
        .text();
        runs.push(format!("run{number}"));
    }
    let _ = writeln!(text, "main :- {}.", runs.join(", "));
    text
}

/// Numbers that look random, the same every time.
pub(crate) struct Dice(Random);

impl Dice {
    /// For one program.
    pub(crate) fn of_program(number: u64) -> Self {
        let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635;
        Self(Random::of(seed))
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    pub(crate) fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

struct Program {
    number: u64,
    cleanup: bool,
    dice: Dice,
}

impl Program {
    fn text(mut self) -> String {
        let n = self.number;
        let mut text = String::new();
        if self.dice.below(10) == 0 {
            let _ = writeln!(text, ":- dynamic f{n}/1.");
        }
        let _ = writeln!(text, "f{n}(a) :- t.\nf{n}(b).\nf{n}(c) :- t.");
        for predicate in 0..PREDICATES {
            if self.dice.below(16) == 0 {
                let _ = writeln!(text, ":- dynamic p{n}_{predicate}/1.");
            }
            for _ in 0..=self.dice.below(3) {
                let head = self.dice.of(&["X", "X", "a", "b"]);
                let body = if self.dice.below(7) == 0 {
                    String::new()
                } else {
                    format!(" :- t, {}", self.body(predicate, 2))
                };
                let _ = writeln!(text, "p{n}_{predicate}({head}){body}.");
            }
        }
        let _ = writeln!(
            text,
            "all{n} :- p{n}_0(X), X == nope.\nall{n} :- p{n}_0(a), !, p{n}_1(b), fail.\n\
             all{n} :- catch(p{n}_0(_), E, ( E == budget -> throw(E) ; true )), p{n}_2(_), p{n}_1(_).\nall{n}.\n\
             run{n} :- nb_setval(n, 0), nl, write({n}), nl, ( catch(all{n}, _, true) -> write(yes) ; write(no) )."
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

    fn goal(&mut self, predicate: u64, depth: u32) -> String {
        let kind = self.dice.below(if depth > 0 { 100 } else { 46 });
        match kind {
            0..32 => self.call(predicate),
            32..38 => "!".to_owned(),
            38..40 => "fail".to_owned(),
            40..42 => format!("{} = {}", self.variable(), self.dice.of(&["a", "b", "c"])),
            42..44 => format!("between(1, {}, _)", 1 + self.dice.below(3)),
            44..46 => format!("write({})", self.dice.of(&["x", "y", "z"])),
            _ => self.compound(kind, predicate, depth - 1),
        }
    }

    fn compound(&mut self, kind: u64, predicate: u64, depth: u32) -> String {
        let a = self.body(predicate, depth);
        let b = self.body(predicate, depth);
        match kind {
            46..56 => {
                let c = self.body(predicate, depth);
                format!("( {a} -> {b} ; {c} )")
            }
            56..58 => format!("( {a} -> {b} )"),
            58..62 => {
                let c = self.body(predicate, depth);
                format!("( {a} *-> {b} ; {c} )")
            }
            62..70 => format!("( {a} ; {b} )"),
            70..74 => format!("\\+ ( {a} )"),
            74..80 => format!("catch(( {a} ), E, ( E == budget -> throw(E) ; {b} ))"),
            80..83 => "throw(oops)".to_owned(),
            83..87 => format!("findall(X, ( {a} ), _)"),
            87..89 => format!("once(( {a} ))"),
            89..92 => format!("forall({}, ( {a} ))", self.call(predicate)),
            92..94 if self.cleanup => format!("call_cleanup(( {a} ), {})", self.call(predicate)),
            92..96 => format!("call(( {a} ))"),
            96..98 => format!("ignore(( {a} ))"),
            98..99 => format!("aggregate_all(count, ( {a} ), _)"),
            _ => format!("maplist(p{}_{}, [X, Y])", self.number, PREDICATES - 1),
        }
    }
}
