//! What the program `portmortem` does.

mod cli;
mod commands;
mod engine_library;
mod library_file;
mod page;
mod report;
mod size;
mod text_table;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::cli::Cli;

/// The program `portmortem`: does what the command line says.
#[must_use]
pub fn main() -> ExitCode {
    exit_code(commands::run(&Cli::parse()))
}

/// The exit status of a command. An error is told on standard error; only that the reader of our
/// output has seen enough is none.
fn exit_code(done: Result<ExitCode>) -> ExitCode {
    match done {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", commands::one_line(&error));
            ExitCode::FAILURE
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let written = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let as_json = cause.downcast_ref::<serde_json::Error>();
        let kind = written.or_else(|| as_json?.io_error_kind());
        kind == Some(io::ErrorKind::BrokenPipe)
    })
}
