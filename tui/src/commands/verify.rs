//! `portmortem verify`: check every checksum, every event and every conservation law of a trace.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use anyhow::Result;
use portmortem_analyzer::Analysis;
use portmortem_analyzer::text::counted;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;

use super::analysis::{exit_code, with_progress};
use crate::report::{as_list, remarks};

/// Prints what was checked and what is wrong; status 3 if anything is.
pub(crate) fn run(path: &Path) -> Result<ExitCode> {
    let (done, trace) = (AtomicU64::new(0), Trace::open(path)?);
    let size = trace.size();
    let analysis = with_progress(size, &done, || Analysis::replayed(trace, path, &done))?;
    let mut out = io::stdout().lock();
    let events = analysis.events();
    writeln!(
        out,
        "{}: read {} of {} and {}",
        printable(&path.display().to_string()),
        counted(events, "event", "events"),
        counted(analysis.profile.streams.len() as u64, "stream", "streams"),
        counted(
            analysis.trace.predicates().len() as u64,
            "predicate",
            "predicates"
        )
    )?;
    let (lines, incomplete) = remarks(&analysis);
    if incomplete {
        write!(out, "{}", as_list(&lines))?;
    } else {
        writeln!(out, "no damage, nothing lost; every conservation law holds")?;
    }
    Ok(exit_code(&analysis))
}
