//! `portmortem index`: keep the figures of a trace beside it.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use anyhow::{Context, Result};
use portmortem_analyzer::ReplayOptions;
use portmortem_analyzer::index::{self, Index, IndexError, WORTH_BYTES};
use portmortem_analyzer::text;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;
use portmortem_tracer::IndexLock;
use rayon::ThreadPoolBuilder;

use super::analysis::{with_progress, with_share_of};

/// What gives way to all that people wait for.
const LAST: i32 = 19;

/// Makes an index of each trace that has no good one, adds slices to those without them, and says
/// where they are.
pub(crate) fn run(traces: &[impl AsRef<Path>]) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    for path in traces {
        let path = path.as_ref();
        let trace = Trace::open(path)?;
        let place = Index::path_of(path);
        let shown = printable(&place.display().to_string());
        let options = ReplayOptions::default();
        let (found, _lock) = Index::load_when_made(&trace, path, &options);
        let index = match found {
            Ok(index) if index.pyramids().is_some() => {
                writeln!(out, "{shown}: up to date")?;
                continue;
            }
            // That of a report has no slices.
            Ok(index) => index,
            Err(_) => {
                let done = AtomicU64::new(0);
                let options = ReplayOptions {
                    progress: Some(&done),
                    ..options
                };
                let build = || Index::build(&trace, path, &options);
                let built = with_progress(trace.size(), &done, build);
                built.with_context(|| path.display().to_string())?
            }
        };
        with_share_of(trace.size(), |progress| index.find_slices(&trace, progress));
        trace.check_whole(path)?;
        // It took long to find them, and a report may have added something else.
        index
            .with_added(&trace, path)
            .save(path)
            .with_context(|| format!("cannot write {}", place.display()))?;
        let size = place.metadata().map_or(0, |file| file.len());
        writeln!(out, "{shown}: {}", text::size(size))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the index of a trace that was just recorded, and once more with slices and with the times
/// of single calls. The program does not wait for it. Reports say what is missing from a trace that
/// can have none, and make it if this did not. A command that reads the trace waits until the lock
/// is released, which is before those are made.
pub(super) fn of_recording(path: &Path, lock: IndexLock) -> Result<(), IndexError> {
    let Ok(trace) = Trace::open(path) else {
        return Ok(());
    };
    let index = Index::build(&trace, path, &ReplayOptions::default())?;
    if trace.check_whole(path).is_ok() {
        index.save(path)?;
        drop((index, lock));
        // A command or a screen that reads the trace meanwhile comes first. On Linux the priority
        // is that of this thread, and of those that it starts.
        rustix::process::nice(LAST).map_err(io::Error::from)?;
        let pool = ThreadPoolBuilder::new().build();
        let pool = pool.map_err(io::Error::other)?;
        pool.install(|| {
            index::find_slices(&trace, path);
            index::find_calls(&trace, path);
        });
    }
    Ok(())
}

/// Whether a trace is so large that it gets an index when it has been recorded.
pub(super) fn is_worth_it(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.len() > WORTH_BYTES)
}
