//! Goals have their lines whatever made their clauses: grammars, constraints, expansion.

use std::fs;

use portmortem_tests::{Sandbox, repository};

use super::goals::{assert_lines, called};

/// A program of `programs/sites`.
fn program(name: &str) -> String {
    fs::read_to_string(repository("tests/programs/sites").join(name)).unwrap()
}

/// Each kind of clause that expansion makes, or goal that it leaves without a place.
#[test]
fn goals_of_clauses_that_expansion_made_have_lines() {
    let program = program("kinds.pl");
    let sandbox = Sandbox::new();
    let profiled = sandbox.record("run", &program, &[]);
    assert_lines(&program, &called(&profiled, &sandbox));
}
