//! Recording with stubs: what could break a program whose own code has stubs in it, or miss its ports.

use std::fs;
use std::path::Path;

use portmortem_analyzer::Trace;
use portmortem_analyzer::trace::PredicateInfo;
use portmortem_tests::{Outcome, Profiled, Sandbox, masks, repository};
use portmortem_tracer::format::Event;

use crate::counts;
use crate::random_programs::{IN_A_FILE, does_the_same, file};

/// Programs of `programs/stubs`: threads, engines, forks, reloading, clauses that change while they run, the tracer, breakpoints, backtraces …
#[test]
fn programs_do_the_same() {
    let mut complaints = Vec::new();
    let mut tried = 0;
    for entry in fs::read_dir(repository("tests/programs/stubs")).unwrap() {
        let program = entry.unwrap().path();
        complaints.extend(compared(&program).err());
        tried += 1;
    }
    assert!(tried > 20, "{tried} programs");
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// Runs a copy of a program, because some write files beside themselves.
fn compared(program: &Path) -> Result<(), String> {
    let sandbox = Sandbox::new();
    let run = |command: &dyn Fn(&Sandbox) -> Outcome| {
        let text = fs::read_to_string(program).unwrap();
        sandbox.write("program.pl", text);
        let outcome = command(&sandbox);
        for written in ["gen12.pl", "gen21.pl", "gen21.qlf"] {
            let _ = fs::remove_file(sandbox.path(written));
        }
        outcome
    };
    let plain = run(&|sandbox| sandbox.swipl(["program.pl"]));
    let recorded = run(&|sandbox| sandbox.portmortem(["record", "-o", "run.pmt", "program.pl"]));
    let same = plain.status == recorded.status
        && masks::variables(&plain.stdout) == masks::variables(&recorded.stdout)
        && errors(&plain) == errors(&recorded);
    if !same {
        let name = program.display();
        return Err(format!("{name}:\n{plain}\n{recorded}"));
    }
    sandbox.portmortem(["verify", "run.pmt"]).succeeds();
    assert!(Profiled::of(&sandbox.path("run.pmt")).events() > 0);
    Ok(())
}

/// Without times, as plunit shows them.
fn errors(outcome: &Outcome) -> Vec<String> {
    let text = masks::stderr(&outcome.stderr);
    let is_time = |word: &&str| !word.starts_with("0.");
    let words = |line: &str| {
        line.split(' ')
            .filter(is_time)
            .collect::<Vec<_>>()
            .join(" ")
    };
    text.lines().map(words).collect()
}

/// Recorded with stubs, programs of every kind of control do the same, and their predicates are called and exit as often as the engine's
/// debugger says.
#[test]
fn random_programs_have_the_calls_and_exits_of_the_debugger() {
    for first in (7000..7040).step_by(IN_A_FILE as usize) {
        let text = file(first, true);
        let recorded = does_the_same(&text, &[], first).calls_and_exits();
        let sandbox = Sandbox::with("random.pl", &text);
        let counter = repository("tests/prolog/debugger_ports.pl");
        let counter = counter.to_str().unwrap();
        sandbox
            .swipl([counter, "--", "random.pl", "main", "counts.json"])
            .succeeds();
        let counted = counts::read(&sandbox.path("counts.json"));
        assert!(counted.len() > 50, "{} predicates", counted.len());
        let of_program = |(key, _): &(&(String, String, u32), _)| key.0 == "user";
        let recorded: Vec<_> = recorded.iter().filter(of_program).collect();
        let counted: Vec<_> = counted.iter().filter(of_program).collect();
        let differs = counted.iter().find(|row| !recorded.contains(row));
        assert!(recorded == counted, "programs from {first}: {differs:?}");
    }
}

/// Ports of the program's own predicates are those of ports in copies of clauses, in the same order.
#[test]
fn random_programs_have_the_ports_of_copies() {
    for first in (8000..8200).step_by(IN_A_FILE as usize) {
        have_the_ports_of_copies(first, &[]);
    }
}

/// With clauses and arguments, and with a box for each last call.
#[test]
fn random_programs_have_the_events_of_copies_in_all_modes() {
    for first in (8200..8240).step_by(IN_A_FILE as usize) {
        for mode in [
            &["--clauses"][..],
            &["--arguments", "*"],
            &["--no-tail", "--no-boundary"],
            &[
                "--no-tail",
                "--no-boundary",
                "--clauses",
                "--arguments",
                "*",
            ],
        ] {
            have_the_ports_of_copies(first, mode);
        }
    }
}

fn have_the_ports_of_copies(first: u64, mode: &[&str]) {
    let text = file(first, false);
    let [stubs, copies] = [&[][..], &["--ports"]].map(|recorder| {
        let profiled = does_the_same(&text, &[mode, recorder].concat(), first);
        let mut events = ports_of_program(&profiled.trace);
        // Clauses of dynamic predicates are not copied.
        let is_dynamic = |name: &str| text.contains(&format!(":- dynamic {name}/"));
        events.retain(|(event, name)| {
            *event != "clause" || !is_dynamic(name.split(' ').next().unwrap_or_default())
        });
        events
    });
    assert!(stubs.len() > 1000, "{} events", stubs.len());
    let differs = stubs.iter().zip(&copies).position(|(a, b)| a != b);
    let near = differs.map(|at| at.saturating_sub(5)..(at + 5).min(stubs.len().min(copies.len())));
    assert!(
        stubs == copies,
        "programs from {first} {mode:?}: {:?}",
        near.map(|near| (&stubs[near.clone()], &copies[near]))
    );
}

/// A physical box, as the trace tells it.
struct Open {
    /// The predicate of the program that it began with, or whatever it departed into. Empty for others.
    name: String,
    parent: usize,
}

/// Goals that recover have boxes, whatever was collected before, and what an abort leaves is left
/// by an exception.
#[test]
fn recoveries_have_the_ports_of_copies() {
    let program = repository("tests/programs/stubs/recoveries.pl");
    let [stubs, copies] = [&[][..], &["--ports"]].map(|recorder| {
        let sandbox = Sandbox::new();
        let words = [&["record", "-o", "run.pmt"][..], recorder].concat();
        let program = program.to_str().unwrap();
        sandbox.portmortem([&words[..], &[program]].concat());
        sandbox.portmortem(["verify", "run.pmt"]).succeeds();
        ports_of_program(&Profiled::of(&sandbox.path("run.pmt")).trace)
    });
    assert!(stubs.len() > 60, "{} events", stubs.len());
    let differs = stubs.iter().zip(&copies).find(|(a, b)| a != b);
    assert!(stubs == copies, "{differs:?}");
}

/// Prints how many bytes of memory an engine leaves that was created, used and destroyed.
const ENGINES: &str = r#"
:- initialization(main, main).
main :-
    N = 3_000,
    many(N),
    memory(Before),
    many(N),
    memory(After),
    Each is (After-Before)*1024//N,
    print(Each), nl.
many(N) :- forall(between(1, N, I), one(I)).
one(I) :- engine_create(X, next(I, X), E), engine_next(E, Y), Y =:= I+1, engine_destroy(E).
next(I, X) :- X is I+1, true.
next(I, X) :- X is I+2.
memory(Kilobytes) :-
    trim_stacks, trim_heap,
    setup_call_cleanup(open('/proc/self/status', read, In), read_string(In, _, Text), close(In)),
    split_string(Text, "\n", "", Lines),
    member(Line, Lines),
    string_concat("RssAnon:", Rest, Line),
    split_string(Rest, "", " \tkB", [Digits]),
    number_string(Kilobytes, Digits),
    !.
"#;

/// Nothing is kept of engines that are gone.
#[test]
fn engines_that_are_gone_take_no_memory() {
    let sandbox = Sandbox::with("engines.pl", ENGINES);
    let outcome = sandbox.portmortem(["record", "-o", "run.pmt", "engines.pl"]);
    outcome.succeeds();
    let printed = String::from_utf8(outcome.stdout).unwrap();
    let bytes: i64 = printed.trim().parse().unwrap();
    assert!(bytes < 1_000, "{bytes} bytes of each engine");
}

/// The ports of predicates of the module `user`, with names. Boxes of built-ins are left out; what `call/N` opens differs.
fn ports_of_program(trace: &Trace) -> Vec<(&'static str, String)> {
    let name = |predicate: u32| {
        let info: Option<&PredicateInfo> = trace.predicates().get(predicate as usize);
        info.filter(|info| info.declared.module == "user" && !info.is_engine_work())
            .map_or(String::new(), |info| info.declared.name.clone())
    };
    let mut boxes = vec![Open {
        name: String::new(),
        parent: 0,
    }];
    let (mut active, mut exited) = (0, Vec::new());
    let mut ports = Vec::new();
    for timed in trace.events(&trace.streams()[0]) {
        let port = match timed.event {
            Event::Call { predicate } => {
                boxes.push(Open {
                    name: name(predicate),
                    parent: active,
                });
                active = boxes.len() - 1;
                "call"
            }
            Event::Tail { predicate } => {
                let name = name(predicate);
                // Copies have no ports at goals of dynamic predicates, and so no last calls of built-ins there.
                if name.is_empty() {
                    continue;
                }
                boxes[active].name = name;
                "tail"
            }
            Event::ExitDet => "exit",
            Event::ExitNondet => "exit, can be redone",
            Event::Redo => "redo",
            Event::Fail => "fail",
            Event::Exception => "exception",
            Event::Cut { count } => {
                exited.truncate(exited.len() - count as usize);
                continue;
            }
            Event::Clause { clause } => {
                let clause = &trace.clauses()[trace.clause_index(clause).unwrap() as usize];
                ports.push((
                    "clause",
                    format!("{} {}", name(clause.predicate), clause.number),
                ));
                continue;
            }
            Event::Arguments(what) => {
                ports.push(("arguments", format!("{what:?}")));
                continue;
            }
            _ => continue,
        };
        if port == "redo" {
            active = exited.pop().unwrap();
        }
        if !boxes[active].name.is_empty() {
            ports.push((port, boxes[active].name.clone()));
        }
        match timed.event {
            Event::ExitNondet => {
                exited.push(active);
                active = boxes[active].parent;
            }
            Event::ExitDet | Event::Fail | Event::Exception => active = boxes[active].parent,
            _ => {}
        }
    }
    ports
}
