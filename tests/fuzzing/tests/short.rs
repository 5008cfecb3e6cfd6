//! The short run of the fuzz targets: seeds, regression inputs, and a fixed number of mutations.
//!
//! `FUZZ_MUTATIONS` and `FUZZ_SEED` ask for more or other mutations than `make test` tries.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::{env, fs, io};

use portmortem_fuzzing::Target;
use portmortem_fuzzing::mutation::{Random, mutate};

/// Which input it is, and the input.
type Named = (String, Vec<u8>);

/// A panic has to name the input: it is written to a file, to be run by `cargo fuzz run`.
fn try_input(target: Target, input: &[u8], which: &str) -> io::Result<()> {
    if panic::catch_unwind(AssertUnwindSafe(|| target.check(input))).is_err() {
        let name = format!("fuzz-{}-{}", target.name(), which.replace(' ', "-"));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, input)?;
        panic!("{which} of {}: see {}", target.name(), path.display());
    }
    Ok(())
}

/// Inputs that were wrong once; a target that never was has no folder.
fn regressions(target: Target) -> io::Result<Vec<Named>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/regressions")
        .join(target.name());
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut inputs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        inputs.push((name, fs::read(entry.path())?));
    }
    inputs.sort();
    Ok(inputs)
}

/// Mutations of most targets, unless `FUZZ_MUTATIONS` says otherwise.
const MUTATIONS: u64 = 3000;

/// What mutations begin with, unless `FUZZ_SEED` says otherwise.
const SEED: u64 = 2026;

fn number(variable: &str, default: u64) -> u64 {
    let value = env::var(variable).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

fn short_run(target: Target) -> io::Result<()> {
    let mut inputs = target.seeds();
    assert!(!inputs.is_empty());
    for (at, seed) in inputs.iter().enumerate() {
        try_input(target, seed, &format!("seed {at}"))?;
    }
    for (name, input) in regressions(target)? {
        try_input(target, &input, &name)?;
        inputs.push(input);
    }
    let mut random = Random::new(number("FUZZ_SEED", SEED));
    let mutations = match target {
        // Each shows everything there is to show.
        Target::Records => MUTATIONS / 5,
        _ => MUTATIONS,
    };
    for number in 0..number("FUZZ_MUTATIONS", mutations) {
        let input = mutate(&mut random, &inputs);
        try_input(target, &input, &format!("mutation {number}"))?;
    }
    Ok(())
}

#[test]
fn traces() -> io::Result<()> {
    short_run(Target::Trace)
}

#[test]
fn scopes() -> io::Result<()> {
    short_run(Target::Scope)
}

#[test]
fn indexes() -> io::Result<()> {
    short_run(Target::Index)
}

#[test]
fn records() -> io::Result<()> {
    short_run(Target::Records)
}

#[test]
fn conditions() -> io::Result<()> {
    short_run(Target::Condition)
}
