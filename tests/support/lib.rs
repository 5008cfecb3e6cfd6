//! What the end-to-end tests share: the built program, sandboxes to run it in, its tables, the test programs.
//!
//! A test reads like a shell session: make a [`Sandbox`], write a program into it, run commands, say what
//! they must print. Everything runs in a temporary directory with an empty standard input, a home of its
//! own and a time limit.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that panics fails the test that uses it: that is what it is for"
)]

pub mod built;
pub mod catalogue;
#[path = "../generator/mod.rs"]
pub mod generator;
pub mod masks;
pub mod outcome;
pub mod patience;
pub mod profiled;
pub mod random;
pub mod rounds;
pub mod sandbox;
pub mod terminal;

pub use outcome::{Outcome, Status};
pub use profiled::Profiled;
pub use random::Random;
pub use rounds::{first_program, rounds};
pub use sandbox::Sandbox;

use std::path::{Path, PathBuf};

/// The top of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// A path inside the repository.
#[must_use]
pub fn repository(path: &str) -> PathBuf {
    root().join(path)
}

/// A program of `traces/`, by its file name.
#[must_use]
pub fn sample(name: &str) -> PathBuf {
    repository("traces").join(name)
}

/// A program of `tests/programs/`, by its file name.
#[must_use]
pub fn trap(name: &str) -> PathBuf {
    repository("tests/programs").join(name)
}
