//! The source around the first clause of a predicate, as far as it can be read, and the figures of its goals and clauses by line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use portmortem_analyzer::figures::clauses::ClauseFigures;
use portmortem_analyzer::figures::{Caller, SiteFigures};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;

use crate::analysis::AnalysisView;

/// Longest file that is looked into: a key must not take long.
const MAX_BYTES: u64 = 4 << 20;

/// Lines before the clause, and in all.
const BEFORE: u32 = 2;
const LINES: usize = 60;

/// Lines of a source file.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// `file:line`, or why it is not known.
    pub(super) place: String,
    /// Line number and text, escaped.
    pub(super) lines: Vec<(u32, String)>,
    /// The line of the clause.
    pub(super) line: u32,
}

impl Listing {
    pub(super) fn of(analysis: &AnalysisView, predicate: PredicateIndex) -> Self {
        let Some((file, line)) = analysis.source(predicate) else {
            return Self {
                place: "source: not known".to_owned(),
                ..Self::default()
            };
        };
        let place = format!("{}:{line}", printable(file));
        let lines = if analysis.sources && line > 0 {
            read(&analysis.locate(file), line)
        } else {
            Vec::new()
        };
        Self { place, lines, line }
    }
}

/// By line: what the goals of the predicate's clauses called, if the trace says which did. Only those in the file of its first
/// clause.
pub(super) fn goals(
    analysis: &AnalysisView,
    predicate: PredicateIndex,
) -> BTreeMap<u32, SiteFigures> {
    let file = analysis.source(predicate).map(|(file, _)| file);
    let mut lines = BTreeMap::<u32, SiteFigures>::new();
    for site in analysis.tables().site_list() {
        if site.caller == Caller::Predicate(predicate)
            && site.file() == file
            && let Some(line) = site.line()
        {
            lines.entry(line).or_default().add(&site.figures);
        }
    }
    lines
}

/// By line where it begins: each clause of the predicate that was entered, if the trace says so. Only those in the file of its first one.
pub(super) fn clauses(
    analysis: &AnalysisView,
    predicate: PredicateIndex,
) -> BTreeMap<u32, Vec<(u32, ClauseFigures)>> {
    let file = analysis.source(predicate).map(|(file, _)| file);
    let mut lines = BTreeMap::<u32, Vec<(u32, ClauseFigures)>>::new();
    for clause in analysis.tables().clause_list() {
        if clause.predicate == predicate
            && clause.file() == file
            && let Some(info) = clause.info()
        {
            let at = lines.entry(info.line).or_default();
            at.push((info.number, clause.figures));
        }
    }
    lines
}

/// What cannot be read is not there: the file may have moved since.
fn read(path: &std::path::Path, line: u32) -> Vec<(u32, String)> {
    let is_file =
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_BYTES);
    let Some(file) = File::open(path).ok().filter(|_| is_file) else {
        return Vec::new();
    };
    let first = line.saturating_sub(BEFORE).max(1);
    (1..)
        .zip(BufReader::new(file.take(MAX_BYTES)).split(b'\n'))
        .skip(first as usize - 1)
        .take(LINES)
        .map_while(|(number, text)| Some((number, text.ok()?)))
        .map(|(number, text)| {
            let text = String::from_utf8_lossy(&text).replace('\t', "        ");
            (number, printable(text.trim_end_matches('\r')))
        })
        .collect()
}
