//! `portmortem graph`: the call tree or the call graph for other viewers.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Result, bail};
use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::graphs::{
    Graph, LeftOut, Metric, WriteGraph, callgrind, dot, firefox, flamegraph, folded, perfetto,
    pprof, speedscope,
};
use portmortem_analyzer::text::{count, counted};

use super::analysis::{analyse, exit_code, warn_of_losses};
use super::{named_file, refuse_existing, refuse_input, scope, write_output};
use crate::cli::{GraphArgs, GraphFormat, GraphMetric};

/// Rows of a tree with a smaller share, in percent, are folded: viewers become slow with many.
const USUAL_OF_TREES: f64 = 0.1;

/// A drawing with more boxes cannot be read.
const USUAL_OF_DRAWINGS: f64 = 1.0;

/// Writes the graph; status 3 if parts of the trace are missing.
pub(crate) fn run(args: &GraphArgs) -> Result<ExitCode> {
    let file = named_file(&args.output);
    if let Some(file) = file {
        refuse_existing(file, args.force, "file")?;
        refuse_input(file, &args.trace, "trace")?;
    }
    let analysis = analyse(&args.trace, |trace| scope::filters(&args.scope, trace))?;
    let (write, usual): (WriteGraph, f64) = match args.format {
        GraphFormat::Folded => (folded::write, USUAL_OF_TREES),
        GraphFormat::Flamegraph => (flamegraph::write, USUAL_OF_TREES),
        GraphFormat::Firefox => (firefox::write, USUAL_OF_TREES),
        GraphFormat::Speedscope => (speedscope::write, USUAL_OF_TREES),
        GraphFormat::Callgrind => (callgrind::write, 0.0),
        GraphFormat::Dot => (dot::write, USUAL_OF_DRAWINGS),
        GraphFormat::Pprof => (pprof::write, 0.0),
        GraphFormat::Perfetto => (perfetto::write, 0.0),
    };
    refuse_very_many(args, &analysis)?;
    let metric = metric(args, &analysis)?;
    let graph = Graph {
        analysis: &analysis,
        metric,
        counted: match args.format {
            GraphFormat::Flamegraph if !args.all && metric.is_time() => Counted::Work,
            GraphFormat::Pprof if !args.all => Counted::Work,
            _ => Counted::All,
        },
        min_percent: args.min_percent.unwrap_or(usual),
    };
    let left_out = write_output(file, |out| write(&graph, out))?;
    analysis.trace.check_whole(&args.trace)?;
    say(args, graph.min_percent, left_out, &analysis)?;
    Ok(exit_code(&analysis))
}

/// The figure asked for, if the format and the trace have it.
fn metric(args: &GraphArgs, analysis: &Analysis) -> Result<Metric> {
    let is_tree = !matches!(args.format, GraphFormat::Callgrind | GraphFormat::Dot);
    let has_all = match args.format {
        GraphFormat::Callgrind => Some("callgrind"),
        GraphFormat::Pprof => Some("pprof"),
        _ => None,
    };
    if let (Some(format), Some(_)) = (has_all, args.min_percent) {
        bail!("{format} has all rows, and its viewers fold them: leave --min-percent out");
    }
    if args.format == GraphFormat::Perfetto && (args.min_percent, args.metric) != (None, None) {
        bail!("perfetto has all boxes as they happened: leave --min-percent and --metric out");
    }
    Ok(match args.metric {
        None if analysis.net_is_measured() => Metric::NetTime,
        None | Some(GraphMetric::SelfTime) => Metric::SelfTime,
        Some(GraphMetric::Net) if analysis.profile.net.is_some() => Metric::NetTime,
        Some(GraphMetric::Net) => {
            bail!("net times of this are not known; --metric self has them as recorded")
        }
        Some(GraphMetric::Undone) if is_tree => Metric::Undone,
        Some(GraphMetric::Events) if is_tree => Metric::Events,
        Some(GraphMetric::Undone | GraphMetric::Events) => {
            bail!("callgrind and dot have times only: --metric self or net, or another --format")
        }
    })
}

/// The viewers of timelines read what they are given into memory.
fn refuse_very_many(args: &GraphArgs, analysis: &Analysis) -> Result<()> {
    let (events, most) = (analysis.events(), perfetto::MOST_EVENTS);
    if args.format == GraphFormat::Perfetto && args.scope.time.is_none() && events > most {
        bail!(
            "a timeline of {} is more than its viewers can take: choose a range of time with about {} of them, \
             such as --time 1s..1.1s; --time .. writes all",
            counted(events, "event", "events"),
            count(most),
        );
    }
    Ok(())
}

/// What is not in the graph.
fn say(args: &GraphArgs, percent: f64, left_out: LeftOut, analysis: &Analysis) -> io::Result<()> {
    let LeftOut { rows, deep, of } = left_out;
    let mut err = io::stderr();
    if rows > 0 {
        let (of, done) = match args.format {
            GraphFormat::Dot => (
                counted(of, "predicate and edge", "predicates and edges"),
                "left out",
            ),
            _ => (counted(of, "row", "rows"), "folded"),
        };
        writeln!(
            err,
            "note: {rows} of {of} below {percent} % are {done}; --min-percent 0 shows all"
        )?;
    }
    if deep > 0 {
        writeln!(
            err,
            "note: {deep} of {} with {} or more above them are folded; --format speedscope and firefox show all",
            counted(of, "row", "rows"),
            count(folded::MOST_DEPTH as u64),
        )?;
    }
    match args.format {
        GraphFormat::Perfetto if of == 0 => {
            writeln!(err, "note: there are no boxes in what is looked at")?;
        }
        GraphFormat::Callgrind => {}
        _ if of == 0 => writeln!(err, "note: nothing of that figure in what is looked at")?,
        _ => {}
    }
    warn_of_losses(analysis);
    Ok(())
}
