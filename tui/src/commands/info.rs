//! `portmortem info`: what a trace is: how it was recorded, its size, streams and losses.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use portmortem_analyzer::Analysis;
use portmortem_analyzer::remarks::{ending, modes, recorder, recording_share, waiting};
use portmortem_analyzer::text::{self, TimeUnit, count, counted};
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::trace::{StreamInfo, Trace};
use portmortem_tracer::format::StreamKind;
use serde_json::json;
use textwrap::{Options, WordSplitter};

use super::analysis::analyse_all;
use super::each::{self, Said};
use crate::cli::TracesArgs;
use crate::report::{as_list, losses, page_width, remarks};
use crate::text_table::{TextColumn, render};

/// Prints what is known about the traces; status 3 if parts of one are missing.
pub(crate) fn run(args: &TracesArgs) -> Result<ExitCode> {
    each::run(args, "\n", |path| {
        let analysis = analyse_all(path)?;
        let mut text = String::new();
        properties(&analysis, path, &mut text)?;
        writeln!(text, "\n{}", streams(&analysis))?;
        let (lines, incomplete) = remarks(&analysis);
        text += &as_list(&lines);
        Ok(Said {
            text,
            object: object(&analysis, path, &lines),
            is_whole: !incomplete,
        })
    })
}

/// The same for programs, with these remarks.
fn object(analysis: &Analysis, path: &Path, remarks: &[String]) -> serde_json::Value {
    let trace = &analysis.trace;
    let header = trace.header();
    let streams = analysis.profile.streams.iter().map(|stream| {
        let mut infos = trace.streams().iter();
        let info = infos.find(|info| info.id == stream.stream);
        json!({
            "stream": stream.stream,
            "kind": info.map(|info| kind(info.kind())),
            "name": info.map(StreamInfo::name),
            "events": stream.events,
            "lost_events": stream.lost_events,
            "lasted_ns": analysis.ns(stream.last_tick - stream.first_tick),
            "waiting_ns": analysis.ns(stream.waiting_ticks),
            "max_depth": stream.max_depth,
            "max_choices": stream.max_choices,
        })
    });
    json!({
        "trace": path,
        "command": header.command,
        "directory": header.directory,
        "engine": header.engine,
        "recorder": recorder(trace),
        "machine": header.machine,
        "began": header.started_unix,
        "ended": ending(trace),
        "mode": modes(trace),
        "part": Some(part(analysis)).filter(|part| !part.is_empty()),
        "ticks_per_second": trace.clock().ticks_per_second(),
        "bytes": trace.file_size(),
        "events": analysis.events(),
        "predicates": trace.predicates().len(),
        "streams": streams.collect::<Vec<_>>(),
        "losses": losses(analysis),
        "remarks": remarks,
    })
}

fn kind(kind: StreamKind) -> &'static str {
    match kind {
        StreamKind::Thread => "thread",
        StreamKind::Engine => "engine",
    }
}

fn properties(analysis: &Analysis, path: &Path, out: &mut String) -> Result<()> {
    let trace = &analysis.trace;
    let header = trace.header();
    let events = analysis.events();
    let size = trace.file_size();
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
        ("part", part(analysis)),
        (
            "clock",
            format!("{:?}, {:.3} MHz", header.clock, rate / 1e6),
        ),
        (
            "size",
            format!(
                "{}, {:.2} bytes per event{}",
                text::size(size),
                size as f64 / events.max(1) as f64,
                packed(trace)
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
    let is_said = |(key, value): &(&str, String)| *key != "part" || !value.is_empty();
    for (key, value) in lines.into_iter().filter(is_said) {
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

/// Which part of another trace it is; nothing if it is none.
fn part(analysis: &Analysis) -> String {
    let filters = analysis.filters.filters().iter();
    let label = filters.map(|filter| filter.label(&analysis.trace)).next();
    let label = label.filter(|_| analysis.trace.part().is_some());
    label.map_or_else(String::new, |label| {
        label.strip_prefix("part: ").unwrap_or(&label).to_owned()
    })
}

/// How large a packed trace was.
fn packed(trace: &Trace) -> String {
    if trace.is_packed() {
        format!("; packed, before that {}", text::size(trace.size()))
    } else {
        String::new()
    }
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
                format!("{} {}", kind(info.kind()), printable(info.name()))
            })
        })
        .collect();
    let column =
        |heading: &str, cell: &dyn Fn(&portmortem_analyzer::figures::StreamFigures) -> String| {
            TextColumn::right(heading, figures.iter().map(cell).collect())
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
            TextColumn::left("name", names),
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
