//! `portmortem`: the command line of the profiler.

mod cli;
mod commands;
mod engine_library;
mod report;
mod size;
mod text_table;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;

fn main() -> ExitCode {
    match commands::run(&Cli::parse()) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", commands::one_line(&error));
            ExitCode::FAILURE
        }
    }
}

/// Whoever reads our output has seen enough: not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
