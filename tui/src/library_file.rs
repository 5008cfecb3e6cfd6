//! Finding the engine library of an installation.
//!
//! Copy both into one directory, or the program `portmortem` to `PREFIX/bin` and the library to
//! `PREFIX/lib` or `PREFIX/lib/portmortem`, and the program finds it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Its name.
const FILE: &str = "libportmortem_swi.so";

/// The environment variable that says where else it is.
const VARIABLE: &str = "PORTMORTEM_ENGINE_LIBRARY";

/// Its path.
///
/// # Errors
/// If it is in none of the places where it may be; the message names them.
pub(crate) fn find() -> Result<PathBuf> {
    let found = match env::var_os(VARIABLE) {
        Some(path) => named(path.into())?,
        None => beside_the_program()?,
    };
    found
        .canonicalize()
        .context("cannot resolve the engine library")
}

fn named(path: PathBuf) -> Result<PathBuf> {
    if !path.is_file() || path.file_name().is_none_or(|name| name != FILE) {
        bail!(
            "{VARIABLE} must be the path of a file {FILE}: {} is not",
            path.display()
        );
    }
    Ok(path)
}

fn beside_the_program() -> Result<PathBuf> {
    let program = env::current_exe()
        .and_then(std::fs::canonicalize)
        .context("cannot tell where this program is")?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let mut places = ["", "../lib", "../lib/portmortem"]
        .map(|place| directory.join(place).join(FILE))
        .into_iter();
    places.find(|place| place.is_file()).with_context(|| {
        format!(
            "the engine library {FILE} is not beside {}: `make install` puts both in place; or copy it there, or name it in {VARIABLE}",
            program.display()
        )
    })
}
