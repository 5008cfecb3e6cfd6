//! `portmortem manual`: manual pages, made of the help of all commands.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::cli::Cli;

/// Writes the pages into a directory: `portmortem.1`, and one for each command.
pub(super) fn run(directory: &Path) -> Result<ExitCode> {
    let write = || {
        fs::create_dir_all(directory)?;
        clap_mangen::generate_to(Cli::command(), directory)
    };
    write().with_context(|| format!("cannot write into {}", directory.display()))?;
    Ok(ExitCode::SUCCESS)
}
