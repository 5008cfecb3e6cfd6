//! Files that are read again: what the engine keeps of them unrecorded, it keeps when recorded.

use std::collections::BTreeMap;
use std::fs;

use portmortem_tests::{Outcome, Sandbox, masks, repository};

/// So many programs run in one process.
const AT_ONCE: u32 = 20;

/// What each program has printed, which ends with a line `N ends`.
fn by_program(outcome: &Outcome) -> BTreeMap<u32, String> {
    let mut programs = BTreeMap::new();
    let mut text = String::new();
    for line in masks::variables(&outcome.stdout).lines() {
        text.push_str(line);
        text.push('\n');
        if let Some(number) = line.strip_suffix(" ends") {
            programs.insert(number.parse().unwrap(), std::mem::take(&mut text));
        }
    }
    programs
}

/// Clauses, references, generations, listeners and answers of 100 random programs, whose files are
/// read again between runs and while they run.
#[test]
fn random_programs_keep_what_they_keep_unrecorded() {
    let program = fs::read(repository("tests/programs/reloading/random.pl")).unwrap();
    let sandbox = Sandbox::new();
    sandbox.write("random.pl", program);
    for first in (1..=100).step_by(AT_ONCE as usize) {
        let [from, to] = [first, first + AT_ONCE - 1].map(|number| number.to_string());
        let plain = sandbox.swipl(["random.pl", &from, &to]);
        let plain = by_program(plain.exits(0));
        assert_eq!(plain.len(), AT_ONCE as usize);
        for options in [&[][..], &["--libraries"]] {
            let record = ["record", "--force", "-o", "run.pmt"];
            let program = ["random.pl", "--", &from, &to];
            let recorded = sandbox.portmortem([&record, options, &program].concat());
            for (number, said) in by_program(recorded.exits(0)) {
                assert_eq!(plain[&number], said, "program {number} {options:?}");
            }
        }
    }
}
