//! `portmortem info`: what a trace is: how it was recorded, its size, streams and losses.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use portmortem_analyzer::Analysis;
use portmortem_analyzer::remarks::{ending, modes, recorder, recording_share, waiting};
use portmortem_analyzer::text::{TimeUnit, count, counted};
use portmortem_analyzer::trace::names::printable;
use portmortem_tracer::format::StreamKind;
use textwrap::{Options, WordSplitter};

use super::analysis::{analyse_all, exit_code};
use crate::report::{as_list, page_width, remarks};
use crate::size::format_size;
use crate::text_table::{Column, render};

/// Prints what is known about the trace; status 3 if parts of it are missing.
pub(crate) fn run(path: &Path) -> Result<ExitCode> {
    let analysis = analyse_all(path)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    properties(&analysis, path, &mut out)?;
    writeln!(out, "\n{}", streams(&analysis))?;
    let (lines, _) = remarks(&analysis);
    write!(out, "{}", as_list(&lines))?;
    out.flush()?;
    Ok(exit_code(&analysis))
}

fn properties(analysis: &Analysis, path: &Path, out: &mut impl Write) -> Result<()> {
    let trace = &analysis.trace;
    let header = trace.header();
    let events = analysis.events();
    let size = trace.size();
    let rate = trace.clock().ticks_per_second();
    let lines = [
        ("trace", printable(&path.display().to_string())),
        ("command", printable(&header.command.join(" "))),
        ("directory", printable(&header.directory)),
        ("engine", printable(&header.engine)),
        ("recorder", recorder(trace)),
        ("machine", printable(&header.machine)),
        ("began", format_time(header.started_unix)),
        ("ended", ending(trace)),
        ("mode", modes(trace)),
        (
            "clock",
            format!("{:?}, {:.3} MHz", header.clock, rate / 1e6),
        ),
        (
            "size",
            format!(
                "{}, {:.2} bytes per event",
                format_size(size),
                size as f64 / events.max(1) as f64
            ),
        ),
        ("recording", recording_share(analysis)),
        ("", clamps(analysis)),
        (
            "waiting",
            waiting(analysis).unwrap_or_else(|| "none recorded".to_owned()),
        ),
        ("events", count(events)),
        ("predicates", count(trace.predicates().len() as u64)),
    ];
    // Options such as --no-tail stay in one piece.
    let wrapped = || {
        Options::new(page_width())
            .subsequent_indent("           ")
            .word_splitter(WordSplitter::NoHyphenation)
    };
    for (key, value) in lines {
        let line = format!("{key:<11}{value}");
        // What may be copied stays in one piece.
        let line = match key {
            "trace" | "command" | "directory" => line,
            _ => textwrap::fill(&line, wrapped()),
        };
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// How often a context took less time than recording it costs.
fn clamps(analysis: &Analysis) -> String {
    match &analysis.profile.net {
        None => "the trace does not say what recording cost".to_owned(),
        Some(net) => format!(
            "{} of {} took less than recording them costs on average",
            count(net.clamps),
            counted(
                net.contexts.len() as u64,
                "calling context",
                "calling contexts"
            )
        ),
    }
}

fn streams(analysis: &Analysis) -> String {
    let clock = analysis.trace.clock();
    let figures = &analysis.profile.streams;
    let longest = figures
        .iter()
        .map(|s| clock.duration_ns(s.last_tick - s.first_tick))
        .max();
    let unit = TimeUnit::for_longest(longest.unwrap_or(0));
    let names: Vec<String> = figures
        .iter()
        .map(|stream| {
            let info = analysis
                .trace
                .streams()
                .iter()
                .find(|info| info.id == stream.stream);
            info.map_or_else(String::new, |info| {
                let kind = match info.kind() {
                    StreamKind::Thread => "thread",
                    StreamKind::Engine => "engine",
                };
                format!("{kind} {}", printable(info.name()))
            })
        })
        .collect();
    let column =
        |heading: &str, cell: &dyn Fn(&portmortem_analyzer::figures::StreamFigures) -> String| {
            Column::right(heading, figures.iter().map(cell).collect())
        };
    render(
        &[
            column("stream", &|s| s.stream.to_string()),
            column("events", &|s| count(s.events)),
            column("lost", &|s| count(s.lost_events)),
            column(&format!("lasted {}", unit.name()), &|s| {
                unit.format(clock.duration_ns(s.last_tick - s.first_tick))
            }),
            column(&format!("waiting {}", unit.name()), &|s| {
                unit.format(clock.duration_ns(s.waiting_ticks))
            }),
            column("depth", &|s| count(s.max_depth)),
            column("choices", &|s| count(s.max_choices)),
            Column::left("name", names),
        ],
        page_width(),
    )
}

/// `2026-11-21 02:14:00 UTC`, by the civil calendar.
fn format_time(unix: u64) -> String {
    jiff::Timestamp::from_second(i64::try_from(unix).unwrap_or(0)).map_or_else(
        |_| "unknown".to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}
