//! `portmortem report`: the profile of a trace, as text, CSV or JSON.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use portmortem_analyzer::export::{Csv, Exporter};
use portmortem_analyzer::tables::Table;
use portmortem_analyzer::trace::PredicateIndex;

use super::analysis::Analysis;
use super::scope;
use crate::cli::{ReportArgs, ReportFormat};
use crate::report::{as_list, headline, remarks};

/// Prints the report; status 3 if parts of the trace are missing.
pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let analysis = Analysis::of(&args.trace, |trace| scope::scope(&args.scope, trace))?;
    let chosen = match &args.predicate {
        Some(pattern) => Some(scope::matching(&analysis.trace, pattern)?),
        None => None,
    };
    // Cost centres are read from the events: nothing is printed before it is known that they were all there.
    let mut out = Vec::new();
    match args.format {
        ReportFormat::Text => text(&analysis, args, chosen.as_deref(), &mut out)?,
        ReportFormat::Csv => {
            Csv.write(&analysis.tables(), Table::Predicates, &mut out)?;
        }
        ReportFormat::Json => json(&analysis, &mut out)?,
    }
    analysis.trace.check_whole(&args.trace)?;
    io::stdout().write_all(&out)?;
    Ok(analysis.exit_code())
}

fn text(
    analysis: &Analysis,
    args: &ReportArgs,
    chosen: Option<&[PredicateIndex]>,
    out: &mut impl Write,
) -> Result<()> {
    let report = analysis.report();
    writeln!(out, "{}", headline(&report))?;
    let body = match chosen {
        Some(indices) => report.predicates(indices),
        None => report.overview(args.sort, args.top),
    };
    writeln!(out, "{body}")?;
    let (lines, _) = remarks(&report);
    write!(out, "{}", as_list(&lines))?;
    Ok(())
}

/// Both tables, and what was lost or distorted.
fn json(analysis: &Analysis, out: &mut impl Write) -> Result<()> {
    let tables = analysis.tables();
    let (remarks, incomplete) = remarks(&analysis.report());
    let report = serde_json::json!({
        "predicates": tables.predicates().collect::<Vec<_>>(),
        "edges": tables.edges().collect::<Vec<_>>(),
        "incomplete": incomplete,
        "remarks": remarks,
    });
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)?;
    Ok(())
}
