//! Recordings by the real engine.

#[path = "../../../../tui/src/commands/boot_script.rs"]
mod boot_script;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use portmortem_analyzer::Trace;
use tempfile::TempDir;

use boot_script::boot_script;

/// The programs of this repository.
pub(crate) fn program(name: &str) -> PathBuf {
    root().join("../../tests/programs").join(name)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The directory of the library that this crate is.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let directory = test.parent().unwrap().parent().unwrap().to_owned();
    let library = directory.join("libportmortem_swi.so");
    assert!(
        library.is_file(),
        "cargo build --package portmortem-swi first"
    );
    directory
}

/// Runs a program under SWI-Prolog, recorded with these options of `pm_start/2`, and reads the
/// trace.
pub(crate) fn record(options: &str, program: &Path, more: &[&str]) -> (Output, Trace) {
    let directory = TempDir::new().unwrap();
    let trace = directory.path().join("trace.pmt");
    let boot = directory.path().join("boot.pl");
    let script = boot_script(&root().join("prolog"), &library(), &trace, options);
    std::fs::write(&boot, script).unwrap();
    let output = Command::new("swipl")
        .arg("-s")
        .arg(&boot)
        .args(more.iter().take_while(|&&word| word != "--"))
        .arg(program)
        .args(more.iter().skip_while(|&&word| word != "--"))
        .env("LC_ALL", "C.UTF-8")
        // Nothing of the user's, and nothing that an earlier test has measured.
        .env("HOME", directory.path())
        .env("XDG_CACHE_HOME", directory.path().join("cache"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let trace = Trace::open(&trace).unwrap_or_else(|error| panic!("{error}\n{said}"));
    (output, trace)
}
