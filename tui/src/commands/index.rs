//! `portmortem index`: keep the figures of a trace beside it.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use anyhow::{Context, Result};
use portmortem_analyzer::index::Index;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;

use super::analysis::with_progress;
use crate::size::format_size;

/// Makes an index of each trace that has no good one, and says where they are.
pub(crate) fn run(traces: &[impl AsRef<Path>]) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    for path in traces {
        let path = path.as_ref();
        let trace = Trace::open(path)?;
        let place = Index::path_of(path);
        let shown = printable(&place.display().to_string());
        if Index::load(&trace, path).is_ok() {
            writeln!(out, "{shown}: up to date")?;
            continue;
        }
        let done = AtomicU64::new(0);
        let index = with_progress(trace.size(), &done, || {
            Index::build(&trace, path, Some(&done))
        })
        .with_context(|| path.display().to_string())?;
        trace.check_whole(path)?;
        index
            .save(path)
            .with_context(|| format!("cannot write {}", place.display()))?;
        let size = place.metadata().map_or(0, |file| file.len());
        writeln!(out, "{shown}: {}", format_size(size))?;
    }
    Ok(ExitCode::SUCCESS)
}
