//! What needs polars is done by a program of its own, `portmortem-polars` (`tui/polars`), which is
//! started with the same command line. Polars takes longer to build, and more space, than all the rest.

use std::env;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level::emulate_default_handler;

use crate::parts::ProgramFile;

const PROGRAM: ProgramFile = ProgramFile {
    what: "the program for SQL, Parquet and Arrow,",
    file: "portmortem-polars",
    variable: "PORTMORTEM_POLARS",
};

/// Said where the process that asks the SQL engine was ended by the system.
const BROKEN: &str = "the SQL engine broke off on this query: it is too long, nested too deep, or needs more memory than there is; \
    ask for fewer rows, or write it in another way";

/// Becomes that program.
///
/// # Errors
/// If it is not there, or cannot be started.
pub(super) fn take_over() -> Result<ExitCode> {
    Err(command()?.exec()).context(CANNOT_START)
}

/// `portmortem query`. It may end its process: the SQL engine calls itself as deep as a question is
/// nested, and takes whatever memory an answer needs. That is an error like any other here.
///
/// # Errors
/// If the program is not there, cannot be started, or is ended by the system.
pub(super) fn query() -> Result<ExitCode> {
    let status = command()?.status().context(CANNOT_START)?;
    if let Some(code) = status.code() {
        return Ok(ExitCode::from(code as u8));
    }
    match status.signal() {
        Some(signal @ (SIGHUP | SIGINT | SIGQUIT | SIGTERM)) => emulate_default_handler(signal)?,
        _ => bail!("{BROKEN}"),
    }
    Ok(ExitCode::FAILURE)
}

const CANNOT_START: &str = "cannot start portmortem-polars";

fn command() -> Result<Command> {
    let mut command = Command::new(PROGRAM.find()?);
    command.args(env::args_os().skip(1));
    Ok(command)
}
