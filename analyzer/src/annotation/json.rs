//! The figures of source files as JSON, for editors: without the text of the files, which they
//! have. `docs/editors.md` describes it.

use std::io::{self, Write};
use std::path;

use serde::Serialize;

use super::SourceFile;
use crate::Analysis;
use crate::export::json::Escaped;
use crate::figures::SiteFigures;
use crate::figures::counted::Counted;
use crate::trace::PredicateIndex;

#[derive(Serialize)]
struct Annotation<'a> {
    trace: &'a str,
    /// All work, of which shares are.
    work_ns: u64,
    incomplete: bool,
    remarks: &'a [String],
    files: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct FileJson<'a> {
    /// As the trace names it.
    file: &'a str,
    /// Where it is on this machine, if it is there.
    path: Option<String>,
    /// It is newer than the trace.
    newer: bool,
    self_ns: u64,
    inclusive_ns: u64,
    lines: Vec<LineJson>,
    predicates: Vec<PredicateJson<'a>>,
}

/// What the goals of a line called.
#[derive(Serialize)]
struct LineJson {
    line: u32,
    served_ns: u64,
    calls: u64,
    exits: u64,
    redos: u64,
    fails: u64,
}

/// A predicate whose first clause begins at a line.
#[derive(Serialize)]
struct PredicateJson<'a> {
    line: u32,
    predicate: &'a str,
    self_ns: u64,
    inclusive_ns: u64,
    calls: u64,
    exits: u64,
    redos: u64,
    fails: u64,
}

/// Writes the figures of these files, and what was lost or distorted. Times are of work, as
/// recorded.
///
/// # Errors
/// If the output fails.
pub fn write(
    analysis: &Analysis,
    files: &[&SourceFile],
    (remarks, incomplete): (&[String], bool),
    out: &mut dyn Write,
) -> io::Result<()> {
    let annotation = Annotation {
        trace: &analysis.name,
        work_ns: analysis.ns(analysis.work(None).ticks),
        incomplete,
        remarks,
        files: files.iter().map(|source| file(analysis, source)).collect(),
    };
    serde_json::to_writer_pretty(Escaped(&mut *out), &annotation)?;
    writeln!(out)
}

fn file<'a>(analysis: &'a Analysis, source: &SourceFile<'a>) -> FileJson<'a> {
    let located = analysis.locate(source.file);
    let path = path::absolute(&located).ok();
    let path = path.filter(|_| located.is_file());
    let lines = source.goals.iter();
    let predicates = source.predicates.iter();
    let predicates = predicates.flat_map(|(&line, of)| of.iter().map(move |&index| (line, index)));
    FileJson {
        file: source.file,
        newer: source.is_newer(analysis),
        path: path.and_then(|path| path.to_str().map(str::to_owned)),
        self_ns: analysis.ns(source.self_ticks),
        inclusive_ns: analysis.ns(source.inclusive_ticks),
        lines: lines
            .map(|(&at, goals)| line(analysis, at, goals))
            .collect(),
        predicates: predicates
            .map(|(line, index)| predicate(analysis, line, index))
            .collect(),
    }
}

fn line(analysis: &Analysis, line: u32, goals: &SiteFigures) -> LineJson {
    LineJson {
        line,
        served_ns: analysis.ns(goals.served_ticks),
        calls: goals.calls,
        exits: goals.exits(),
        redos: goals.redos,
        fails: goals.fails,
    }
}

fn predicate(analysis: &Analysis, line: u32, index: PredicateIndex) -> PredicateJson<'_> {
    let figures = Counted::Work.predicate(&analysis.profile.predicates[index as usize]);
    PredicateJson {
        line,
        predicate: analysis.predicate(index),
        self_ns: analysis.ns(figures.self_ticks),
        inclusive_ns: analysis.ns(figures.inclusive_ticks),
        calls: figures.calls,
        exits: figures.exits(),
        redos: figures.redos,
        fails: figures.fails,
    }
}
