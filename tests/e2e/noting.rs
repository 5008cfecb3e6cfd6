//! What the recorder notes of a program while that is loaded: an error in it changes nothing for
//! the program.

use std::fs;

use portmortem_tests::{Sandbox, masks, repository};

/// A copy of a program of `programs/noting`, which writes files beside itself.
fn sandbox(program: &str) -> Sandbox {
    let text = fs::read_to_string(repository("tests/programs/noting").join(program)).unwrap();
    Sandbox::with("program.pl", &text)
}

/// Raises an error in each predicate that notes clauses. Returns the names of those that ran, and
/// the notes of the trace.
fn with_errors(options: &[&str]) -> (Vec<String>, Vec<String>) {
    let sandbox = sandbox("faults.pl");
    let plain = sandbox.swipl(["program.pl"]);
    plain.exits(0);
    let recording = sandbox.record_file(&sandbox.path("program.pl"), options);
    let recorded = sandbox.portmortem(
        ["record", "--force", "-o", "again.pmt"]
            .iter()
            .chain(options)
            .chain(&["program.pl"]),
    );
    assert_eq!(
        masks::variables(&plain.stdout),
        masks::variables(&recorded.stdout),
        "{recorded}"
    );
    let met = fs::read_to_string(sandbox.path("faults.txt")).unwrap();
    let met = met.lines().map(ToOwned::to_owned).collect();
    (met, recording.trace.notes().to_vec())
}

/// Every one of them is told.
#[test]
fn an_error_takes_no_clause() {
    let (met, notes) = with_errors(&[]);
    assert!(met.len() > 20, "{met:?}");
    let noted = |fault: &str| notes.iter().any(|note| note.ends_with(fault));
    for fault in met {
        // Without this one, no note can be made of what an error is.
        if fault == "portmortem_terms:name_arity/3" {
            assert!(noted("an error of the recorder: not all is recorded"));
        } else {
            assert!(noted(&format!("recorded: '{fault}'")), "{fault}: {notes:?}");
        }
    }
}

/// Predicates are wrapped, or called themselves and noted as not recorded.
#[test]
fn an_error_takes_no_clause_with_ports() {
    let (met, _) = with_errors(&["--ports"]);
    assert!(met.len() > 150, "{met:?}");
    let (met, _) = with_errors(&["--symbolic"]);
    assert!(met.len() > 120, "{met:?}");
}

/// Signals wait until the clause is noted, and limits of the program go on.
#[test]
fn what_is_thrown_at_the_program_is_no_error_of_the_recorder() {
    let sandbox = sandbox("signals.pl");
    let plain = sandbox.swipl(["program.pl"]);
    plain.exits(0);
    let recorded = sandbox.portmortem(["record", "-o", "run.pmt", "program.pl"]);
    recorded.exits(0);
    assert_eq!(
        masks::variables(&plain.stdout),
        masks::variables(&recorded.stdout),
        "{recorded}"
    );
}

/// `functor/3` and `=../2` raise an error for a compound without arguments.
#[test]
fn terms_are_taken_apart_in_one_module() {
    let mut seen = 0;
    for entry in fs::read_dir(repository("tracer/swi/prolog")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // Trials are programs of their own.
        if ["portmortem_terms.pl", "portmortem_trials.pl"].contains(&name.as_str()) {
            continue;
        }
        seen += 1;
        for line in fs::read_to_string(&path).unwrap().lines() {
            let code = line.split('%').next().unwrap_or_default();
            let word = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let calls = code.match_indices("functor(").any(|(at, _)| word(at));
            assert!(!calls && !code.contains(" =.. "), "{name}: {line}");
        }
    }
    assert!(seen > 20, "{seen} files");
}
