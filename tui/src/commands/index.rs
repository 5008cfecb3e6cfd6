//! `portmortem index`: keep the figures of a trace beside it.

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result};
use portmortem_analyzer::ReplayOptions;
use portmortem_analyzer::index::{Index, IndexError, WORTH_BYTES};
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;

use super::analysis::with_progress;
use super::watcher::Line;
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
        let index = build(&trace, path, &AtomicBool::new(false))
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

/// Makes an index of a trace, with a progress bar, unless it is cancelled.
fn build(trace: &Trace, path: &Path, cancel: &AtomicBool) -> Result<Index, IndexError> {
    let done = AtomicU64::new(0);
    let options = ReplayOptions {
        progress: Some(&done),
        cancel: Some(cancel),
        ..ReplayOptions::default()
    };
    with_progress(trace.size(), &done, || Index::build(trace, path, &options))
}

/// Writes the index of a trace that was just recorded, if it is large. Gives up when the process of the program ends, which waits
/// for us: a user had enough. The trace is what it was then.
pub(super) fn of_recording(path: &Path, line: &mut Line) -> Result<()> {
    let trace = Trace::open(path)?;
    if trace.size() <= WORTH_BYTES {
        return Ok(());
    }
    let cancel = AtomicBool::new(false);
    let built = thread::scope(|scope| {
        let work = scope.spawn(|| build(&trace, path, &cancel));
        while !work.is_finished() && line.is_open() {}
        cancel.store(true, Ordering::Relaxed);
        work.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    match built {
        Ok(index) => {
            trace.check_whole(path)?;
            let place = Index::path_of(path);
            index
                .save(path)
                .with_context(|| format!("cannot write {}", place.display()))?;
            Ok(())
        }
        // Reports say what is missing.
        Err(IndexError::NotWhole | IndexError::Interrupted) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
