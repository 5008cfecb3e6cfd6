//! What commands have in common that say something of each of several traces.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use portmortem_analyzer::export::json::Escaped;

use super::analysis::INCOMPLETE;
use super::{inputs, one_line};
use crate::cli::{TracesArgs, TracesFormat};

/// What is said of a trace, and whether all of it is there.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) object: serde_json::Value,
    pub(super) is_whole: bool,
}

/// Says it of each: as text with `between` in between, or as an array of objects. A trace that
/// cannot be read is an error, after what is said of the others.
pub(super) fn run(
    args: &TracesArgs,
    between: &str,
    say: impl Fn(&Path) -> Result<Said>,
) -> Result<ExitCode> {
    let inputs = inputs::inputs(&args.traces, None)?;
    let mut out = io::stdout().lock();
    let mut status = ExitCode::SUCCESS;
    let mut objects = Vec::new();
    let mut failed = None;
    let mut texts = 0;
    for input in &inputs {
        let said = match say(&input.path) {
            Ok(said) => said,
            Err(error) => {
                if let Some(before) = failed.replace(error) {
                    writeln!(io::stderr(), "error: {}", one_line(&before))?;
                }
                continue;
            }
        };
        if !said.is_whole {
            status = ExitCode::from(INCOMPLETE);
        }
        match args.format {
            TracesFormat::Text => {
                write!(out, "{}{}", if texts > 0 { between } else { "" }, said.text)?;
                texts += 1;
            }
            TracesFormat::Json => objects.push(said.object),
        }
    }
    if args.format == TracesFormat::Json {
        serde_json::to_writer_pretty(Escaped(&mut out), &objects)?;
        writeln!(out)?;
    }
    out.flush()?;
    failed.map_or(Ok(status), Err)
}
