//! `portmortem html`: one page for a browser, with all that matters of a trace.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::{Analysis, Progress};

use super::analysis::{exit_code, warn_of_losses, with_progress_of, with_share_of};
use super::{named_file, refuse_existing, refuse_input, scope, write_output};
use crate::cli::HtmlArgs;
use crate::page::{Page, PageOptions};

/// Writes the page; status 3 if parts of the trace are missing.
pub(crate) fn run(args: &HtmlArgs) -> Result<ExitCode> {
    let output = args.output.clone().unwrap_or_else(|| beside(&args.trace));
    let file = named_file(&output);
    if let Some(file) = file {
        refuse_existing(file, args.force, "file")?;
        refuse_input(file, &args.trace, "trace")?;
    }
    let analysis = explore(args)?;
    let size = analysis.trace.size();
    let step = |work: &dyn Fn(&Progress)| with_share_of(size, work);
    step(&|progress| {
        progress.expect(analysis.events());
        analysis.find_calls(progress);
    });
    let options = PageOptions {
        top: args.top,
        outside: args.outside,
    };
    let page = Page::of(&analysis, options, &step);
    // Nothing is written before it is known that all events were there.
    analysis.trace.check_whole(&args.trace)?;
    write_output(file, |out| page.write(out))?;
    if args.output.is_none() {
        writeln!(io::stderr(), "note: the page is {}", output.display())?;
    }
    warn_of_losses(&analysis);
    Ok(exit_code(&analysis))
}

/// The name of a page that was not named.
fn beside(trace: &Path) -> PathBuf {
    let name = trace.file_name().unwrap_or(OsStr::new("page"));
    Path::new(name).with_extension("html")
}

/// The figures of what is looked at, and ways to its moments.
fn explore(args: &HtmlArgs) -> Result<Analysis> {
    let trace = Trace::open(&args.trace)?;
    let filters = scope::filters(&args.scope, &trace)?;
    let size = trace.size();
    let progress = Progress::of(size);
    let explored = with_progress_of(size, &|| progress.done(), || {
        Analysis::explored(Arc::new(trace), &args.trace, filters, &progress)
    });
    explored.context("the analysis was given up")
}
