//! One module per command.

mod advise;
mod analysis;
mod annotate;
mod attach;
mod baseline;
mod boot_script;
mod calibrate;
mod cut;
mod diagnose;
mod diff;
mod each;
mod engine;
mod events;
mod export;
mod folding;
mod graph;
mod html;
mod index;
mod info;
mod inputs;
mod manual;
mod pack;
mod predict;
mod prolog;
mod query;
mod record;
mod report;
mod scope;
mod start;
mod table_progress;
mod trial;
mod tui;
mod verify;
mod watcher;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::CommandFactory;
use portmortem_analyzer::text::shell_word;
use portmortem_analyzer::trace::names::printable;

use crate::cli::{Cli, Command};

/// Does what the command line says.
pub(crate) fn run(cli: &Cli) -> Result<ExitCode> {
    // To record is to fork: threads are started after that.
    if !matches!(cli.command, Command::Record(_)) {
        use_threads(cli.threads)?;
    }
    match &cli.command {
        Command::Record(args) => record::run(args, cli.threads),
        Command::Attach(args) => attach::run(args),
        Command::Report(args) => report::run(args),
        Command::Advise(args) => advise::run(args),
        Command::Try(args) => trial::run(args),
        Command::Diagnose(args) => diagnose::run(args),
        Command::Tui(args) => tui::run(args),
        Command::Info(args) => info::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Export(args) => export::run(args),
        Command::Graph(args) => graph::run(args),
        Command::Html(args) => html::run(args),
        Command::Annotate(args) => annotate::run(args),
        Command::Query(args) => query::run(args),
        Command::Events(args) => events::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Index { traces } => index::run(traces),
        Command::Pack(args) => pack::run(args),
        Command::Cut(args) => cut::run(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Manual { directory } => manual::run(directory),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "portmortem", &mut script);
            io::stdout().write_all(&script)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Starts so many threads for what is done in parallel; without a number, one for each core when they
/// are needed.
///
/// # Errors
/// If they cannot be started.
fn use_threads(threads: Option<u16>) -> Result<()> {
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .context("cannot start that many threads")?;
    }
    Ok(())
}

/// Refuses to write over a file unless that is asked for; `kind` says what is written there.
fn refuse_existing(path: &Path, force: bool, kind: &str) -> Result<()> {
    ensure!(
        force || !path.exists(),
        "{} exists; replace it with --force or name another {kind} with -o",
        path.display()
    );
    Ok(())
}

/// Refuses to write over a file that is read, whatever it is called there and whatever is asked
/// for; `kind` says what that is.
fn refuse_input(output: &Path, input: &Path, kind: &str) -> Result<()> {
    let file = |path: &Path| {
        let data = fs::metadata(path).ok()?;
        Some((data.dev(), data.ino()))
    };
    ensure!(
        file(output).is_none() || file(output) != file(input),
        "{} is the {kind} itself; name another file with -o",
        output.display()
    );
    Ok(())
}

/// The file that `-o` names; `None` if that is standard output (`-`).
fn named_file(output: &Path) -> Option<&Path> {
    Some(output).filter(|path| *path != Path::new("-"))
}

/// Writes to a file, or to standard output. A file that could not be written whole is removed.
fn write_output<T>(
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> Result<T> {
    let Some(path) = file else {
        return Ok(write_buffered(io::stdout().lock(), write)?);
    };
    let cannot = || format!("cannot write {}", path.display());
    let file = File::create(path).with_context(cannot)?;
    // A device stays where it is.
    let is_plain = file.metadata().is_ok_and(|data| data.is_file());
    let written = write_buffered(file, write);
    if written.is_err() && is_plain {
        let _ = fs::remove_file(path);
    }
    written.with_context(cannot)
}

fn write_buffered<T>(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> io::Result<T> {
    let mut out = BufWriter::new(out);
    let done = write(&mut out)?;
    out.flush()?;
    Ok(done)
}

/// Refuses a trace where a Prolog file is meant.
fn refuse_trace(program: &Path) -> Result<()> {
    let shown = program.display().to_string();
    ensure!(
        !record::is_trace(program),
        "{shown} is a trace, and no Prolog file; to look at it: portmortem report {}",
        shell_word(&shown)
    );
    Ok(())
}

/// An error and its causes; a cause that the message before it ends with already is not said again.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    printable(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_said_once() {
        let error = anyhow::anyhow!("no space").context("cannot write x: no space");
        assert_eq!(one_line(&error), "cannot write x: no space");
        assert_eq!(
            one_line(&error.context("export")),
            "export: cannot write x: no space"
        );
    }
}
