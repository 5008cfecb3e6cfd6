//! Finding the other files of an installation.
//!
//! Copy all files into one directory, or the program `portmortem` to `PREFIX/bin` and the others to
//! `PREFIX/lib` or `PREFIX/lib/portmortem`, and they find each other.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A file that goes with the program.
pub(crate) struct ProgramFile {
    /// What it is, in errors.
    pub(crate) what: &'static str,
    /// Its name.
    pub(crate) file: &'static str,
    /// The environment variable that says where else it is.
    pub(crate) variable: &'static str,
}

impl ProgramFile {
    /// Its path.
    ///
    /// # Errors
    /// If it is in none of the places where it may be.
    pub(crate) fn find(&self) -> Result<PathBuf> {
        let found = match env::var_os(self.variable) {
            Some(path) => self.named(path.into())?,
            None => self.beside_the_program()?,
        };
        found
            .canonicalize()
            .with_context(|| format!("cannot resolve {}", self.what))
    }

    fn named(&self, path: PathBuf) -> Result<PathBuf> {
        if !path.is_file() || path.file_name().is_none_or(|name| name != self.file) {
            bail!(
                "{} must be the path of a file {}: {} is not",
                self.variable,
                self.file,
                path.display()
            );
        }
        Ok(path)
    }

    fn beside_the_program(&self) -> Result<PathBuf> {
        let program = env::current_exe()
            .and_then(std::fs::canonicalize)
            .context("cannot tell where this program is")?;
        let directory = program.parent().unwrap_or(Path::new("/"));
        let mut places = ["", "../lib", "../lib/portmortem"]
            .map(|place| directory.join(place).join(self.file))
            .into_iter();
        places.find(|place| place.is_file()).with_context(|| {
            format!(
                "{} {} is not beside {}: `make install` puts both in place; or copy it there, or name it in {}",
                self.what,
                self.file,
                program.display(),
                self.variable
            )
        })
    }
}
