//! `portmortem verify`: check every checksum, every event and every conservation law of a trace.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use anyhow::Result;
use portmortem_analyzer::Analysis;
use portmortem_analyzer::remarks::folded;
use portmortem_analyzer::text::counted;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;
use serde_json::json;

use super::analysis::with_progress;
use super::each::{self, Said};
use crate::cli::TracesArgs;
use crate::report::{as_list, losses, remarks};

/// Prints what was checked and what is wrong; status 3 if anything is.
pub(crate) fn run(args: &TracesArgs) -> Result<ExitCode> {
    each::run(args, "", verify)
}

fn verify(path: &Path) -> Result<Said> {
    let (done, trace) = (AtomicU64::new(0), Trace::open(path)?);
    let size = trace.size();
    let analysis = with_progress(size, &done, || Analysis::replayed(trace, path, &done))?;
    let events = analysis.events();
    let mut text = format!(
        "{}: read {} of {} and {}\n",
        printable(&path.display().to_string()),
        counted(events, "event", "events"),
        counted(analysis.profile.streams.len() as u64, "stream", "streams"),
        counted(
            analysis.trace.predicates().len() as u64,
            "predicate",
            "predicates"
        )
    );
    let (lines, incomplete) = remarks(&analysis);
    if incomplete {
        text += &as_list(&lines);
    } else {
        text += "no damage, nothing lost; every conservation law holds\n";
        text += &as_list(folded(&analysis).as_slice());
    }
    Ok(Said {
        text,
        object: json!({
            "trace": path,
            "whole": !incomplete,
            "events": events,
            "streams": analysis.profile.streams.len(),
            "predicates": analysis.trace.predicates().len(),
            "losses": losses(&analysis),
        }),
        is_whole: !incomplete,
    })
}
