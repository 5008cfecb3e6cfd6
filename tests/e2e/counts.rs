//! Calls and exits per predicate are what an independent meta-interpreter counts (`prolog/port_counter.pl`,
//! which shares nothing with the recorder: no wrapping, no tracer).
//!
//! What is not comparable is said by the lists, with the reason: whole programs (`comparable: false`) and
//! single predicates (`except`). Everything else must agree, predicates that only one of the two saw included.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use portmortem_tests::catalogue::{self, Program};
use portmortem_tests::{Profiled, Sandbox, built, repository};
use serde::Deserialize;

/// Calls and exits by `(module, name, arity)`.
pub(crate) type Counts = BTreeMap<(String, String, u32), (u64, u64)>;

/// The system calls them by itself, while it reads a file or prints a term: out of the meta-interpreter's sight.
const CALLED_BY_THE_SYSTEM: [&str; 3] = [
    "user:term_expansion/2",
    "user:goal_expansion/2",
    "user:portray/1",
];

/// Asked again and again until an alarm has rung: how often is a matter of time.
const POLLED: &str = "user:ticked/1";

#[test]
fn traps() {
    check_all(&catalogue::traps());
}

#[test]
fn classic_programs() {
    let sandbox = Sandbox::new();
    check_all(&catalogue::corpus(sandbox.directory()));
}

/// Compares every comparable program, then says all that went wrong.
fn check_all(programs: &[Program]) {
    let (comparable, others): (Vec<_>, Vec<_>) = programs
        .iter()
        .partition(|program| program.counter.comparable);
    for program in &others {
        let why = program.counter.why.as_deref();
        let why = why.unwrap_or_else(|| panic!("{} is left out without a reason", program.name));
        println!("not comparable: {}: {why}", program.name);
    }
    assert!(comparable.len() >= 20, "only {} programs", comparable.len());
    let complaints: Vec<String> = comparable
        .iter()
        .flat_map(|program| compare(program))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn compare(program: &Program) -> Vec<String> {
    let left_out = |indicator: &String| {
        let only = program.counter.only.as_ref();
        program.counter.except.contains(indicator)
            || only.is_some_and(|only| !only.contains(indicator))
    };
    let sandbox = Sandbox::new();
    let counted = counted(&sandbox, program);
    let recorded = recorded(&sandbox, program, &["--no-boundary"]);
    assert!(!counted.is_empty(), "{}: nothing counted", program.name);
    let keys: BTreeSet<_> = counted.keys().chain(recorded.keys()).collect();
    let mut complaints = Vec::new();
    let beside_built_ins = self::recorded(&sandbox, program, &[]);
    for (key, alone) in &recorded {
        let beside = beside_built_ins.get(key);
        let indicator = format!("{}:{}/{}", key.0, key.1, key.2);
        if beside != Some(alone) && !left_out(&indicator) && indicator != POLLED {
            complaints.push(format!(
                "{} {key:?}: {alone:?}, beside boxes of built-ins {beside:?} (calls, exits)",
                program.name
            ));
        }
    }
    for key @ (module, name, arity) in keys {
        let indicator = format!("{module}:{name}/{arity}");
        if CALLED_BY_THE_SYSTEM.contains(&indicator.as_str()) {
            println!(
                "not comparable: {} {indicator}: called by the system",
                program.name
            );
        } else if indicator == POLLED {
            println!(
                "not comparable: {} {indicator}: depends on time",
                program.name
            );
        } else if left_out(&indicator) {
            let why = program.counter.why.as_deref();
            println!(
                "not comparable: {} {indicator}: {}",
                program.name,
                why.unwrap_or("NO REASON")
            );
            if why.is_none() {
                complaints.push(format!(
                    "{} {indicator}: left out without a reason",
                    program.name
                ));
            }
        } else if counted.get(key) != recorded.get(key) {
            complaints.push(format!(
                "{} {indicator}: counted {:?}, recorded {:?} (calls, exits)",
                program.name,
                counted.get(key),
                recorded.get(key)
            ));
        }
    }
    complaints
}

#[derive(Deserialize)]
struct Counted {
    module: String,
    name: String,
    arity: u32,
    calls: u64,
    exits: u64,
}

fn counted(sandbox: &Sandbox, program: &Program) -> Counts {
    let out = sandbox.path("counts.json");
    let counter = repository("tests/prolog/port_counter.pl");
    let mut arguments: Vec<OsString> = vec![counter.into(), "--".into()];
    arguments.push(program.file.clone().into());
    arguments.push(program.counter.goal.clone().into());
    arguments.push(out.clone().into());
    if program.all {
        arguments.push("--all".into());
    }
    arguments.push("--".into());
    arguments.extend(program.counter.args.iter().map(OsString::from));
    let mut run = sandbox.command(Path::new("swipl")).args(arguments);
    run.command.current_dir(program.file.parent().unwrap());
    let outcome = run
        .stdin(program.stdin.as_deref().unwrap_or_default())
        .wait();
    outcome.exits(program.status);
    read(&out)
}

/// What a counter has written.
pub(crate) fn read(file: &Path) -> Counts {
    let text = fs::read_to_string(file).unwrap();
    let counts: BTreeMap<String, Counted> = serde_json::from_str(&text).unwrap();
    counts
        .into_values()
        .filter(|row| row.calls > 0)
        .map(|row| ((row.module, row.name, row.arity), (row.calls, row.exits)))
        .collect()
}

fn recorded(sandbox: &Sandbox, program: &Program, options: &[&str]) -> Counts {
    let trace = sandbox.path("run.pmt");
    let mut run = sandbox.command(built::portmortem());
    run.command
        .current_dir(program.file.parent().unwrap())
        .args(["record", "--force", "-o"])
        .arg(&trace)
        .args(options)
        .args(program.arguments_of_counted_record());
    run.stdin(program.stdin.as_deref().unwrap_or_default())
        .wait()
        .exits(program.status);
    Profiled::of(&trace).calls_and_exits()
}
