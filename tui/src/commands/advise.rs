//! `portmortem advise`: what to change, with the evidence.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use portmortem_analyzer::advice::{Finding, Ignored, findings};
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::remarks;
use serde_json::json;

use super::analysis::{analyse, exit_code, warn_of_losses};
use super::scope;
use crate::cli::{AdviseArgs, AdviseFormat};
use crate::report;

/// Prints the findings, or the page on one; status 3 if parts of the trace are missing.
pub(crate) fn run(args: &AdviseArgs) -> Result<ExitCode> {
    if let Some(cause) = args.explain {
        io::stdout().lock().write_all(cause.page().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let trace = args.trace.as_deref().context("no trace is named")?;
    let analysis = analyse(trace, |trace| scope::filters(&args.scope, trace))?;
    for pattern in args.ignore.iter().filter_map(Ignored::predicates) {
        scope::matching(&analysis.trace, pattern)?;
    }
    let mut found = findings(&analysis, args.least);
    let ignored = |finding: &Finding| {
        let mut all = args.ignore.iter();
        all.any(|one| one.matches(&analysis, finding))
    };
    found.retain(|finding| !ignored(finding));
    let mut out = io::stdout().lock();
    match args.format {
        AdviseFormat::Text => {
            let headline = report::headline(&analysis);
            let text = report::findings(&analysis, &found, args.top);
            let whole = report::whole(&analysis);
            write!(out, "{headline}{whole}\n{text}")?;
        }
        AdviseFormat::Json => {
            let shown = found.iter().take(args.top);
            let shown: Vec<_> = shown
                .map(|finding| report::finding_object(&analysis, finding))
                .collect();
            let all = json!({
                "trace": analysis.path,
                "total_ns": analysis.ns(analysis.profile.total_ticks()),
                "work_ns": analysis.ns(analysis.whole().work_ticks),
                "recording": remarks::recording_share(&analysis),
                "findings": shown,
                "more": found.len() - shown.len(),
            });
            serde_json::to_writer_pretty(Escaped(&mut out), &all)?;
            writeln!(out)?;
        }
    }
    warn_of_losses(&analysis);
    Ok(exit_code(&analysis))
}
