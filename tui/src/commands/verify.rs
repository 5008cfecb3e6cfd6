//! `portmortem verify`: check every checksum, every event and every conservation law of a trace.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use portmortem_analyzer::text::counted;
use portmortem_analyzer::trace::names::printable;

use super::analysis::Analysis;
use crate::report::{as_list, remarks};

/// Prints what was checked and what is wrong; status 3 if anything is.
pub(crate) fn run(path: &Path) -> Result<ExitCode> {
    let analysis = Analysis::replayed(path)?;
    let mut out = io::stdout().lock();
    let events = analysis.report().events();
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
    let (lines, incomplete) = remarks(&analysis.report());
    if incomplete {
        write!(out, "{}", as_list(&lines))?;
    } else {
        writeln!(out, "no damage, nothing lost; every conservation law holds")?;
    }
    Ok(analysis.exit_code())
}
