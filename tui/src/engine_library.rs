//! Finding the library that SWI-Prolog loads, and the Prolog sources that go with it.
//!
//! `portmortem` and `libportmortem_swi.so` are two files: copy both into one directory, or the program to
//! `PREFIX/bin` and the library to `PREFIX/lib` or `PREFIX/lib/portmortem`, and they find each other.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The Prolog sources, by file name.
pub(crate) const SOURCES: &[(&str, &str)] = &[
    (
        "portmortem.pl",
        include_str!("../../tracer/swi/prolog/portmortem.pl"),
    ),
    (
        "portmortem_engine.pl",
        include_str!("../../tracer/swi/prolog/portmortem_engine.pl"),
    ),
    (
        "portmortem_wrap.pl",
        include_str!("../../tracer/swi/prolog/portmortem_wrap.pl"),
    ),
    (
        "portmortem_copies.pl",
        include_str!("../../tracer/swi/prolog/portmortem_copies.pl"),
    ),
    (
        "portmortem_goals.pl",
        include_str!("../../tracer/swi/prolog/portmortem_goals.pl"),
    ),
    (
        "portmortem_boundary.pl",
        include_str!("../../tracer/swi/prolog/portmortem_boundary.pl"),
    ),
    (
        "portmortem_lines.pl",
        include_str!("../../tracer/swi/prolog/portmortem_lines.pl"),
    ),
    (
        "portmortem_drivers.pl",
        include_str!("../../tracer/swi/prolog/portmortem_drivers.pl"),
    ),
    (
        "portmortem_symbolic.pl",
        include_str!("../../tracer/swi/prolog/portmortem_symbolic.pl"),
    ),
    (
        "portmortem_trials.pl",
        include_str!("../../tracer/swi/prolog/portmortem_trials.pl"),
    ),
    (
        "portmortem_calibrate.pl",
        include_str!("../../tracer/swi/prolog/portmortem_calibrate.pl"),
    ),
    (
        "portmortem_hooks.pl",
        include_str!("../../tracer/swi/prolog/portmortem_hooks.pl"),
    ),
    (
        "portmortem_changes.pl",
        include_str!("../../tracer/swi/prolog/portmortem_changes.pl"),
    ),
    (
        "portmortem_report.pl",
        include_str!("../../tracer/swi/prolog/portmortem_report.pl"),
    ),
    (
        "portmortem_stubs.pl",
        include_str!("../../tracer/swi/prolog/portmortem_stubs.pl"),
    ),
    (
        "portmortem_arguments.pl",
        include_str!("../../tracer/swi/prolog/portmortem_arguments.pl"),
    ),
    (
        "portmortem_queue.pl",
        include_str!("../../tracer/swi/prolog/portmortem_queue.pl"),
    ),
    (
        "portmortem_disguise.pl",
        include_str!("../../tracer/swi/prolog/portmortem_disguise.pl"),
    ),
];

const FILE_NAME: &str = "libportmortem_swi.so";
const OVERRIDE: &str = "PORTMORTEM_ENGINE_LIBRARY";

/// The engine library.
///
/// # Errors
/// If it is in none of the places where it may be; the message names them.
pub(crate) fn find() -> Result<PathBuf> {
    if let Some(path) = env::var_os(OVERRIDE) {
        let path = PathBuf::from(path);
        if !path.is_file() || path.file_name().is_none_or(|name| name != FILE_NAME) {
            bail!(
                "{OVERRIDE} must be the path of a file {FILE_NAME}: {} is not",
                path.display()
            );
        }
        return path
            .canonicalize()
            .context("cannot resolve the engine library");
    }
    let program = env::current_exe()
        .and_then(std::fs::canonicalize)
        .context("cannot tell where this program is")?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let places = ["", "../lib", "../lib/portmortem"].map(|place| directory.join(place));
    for place in &places {
        let candidate = place.join(FILE_NAME);
        if candidate.is_file() {
            return candidate
                .canonicalize()
                .context("cannot resolve the engine library");
        }
    }
    bail!(
        "the engine library {FILE_NAME} is not beside {}; copy it there, or name it in {OVERRIDE}",
        program.display()
    )
}
