//! The source around the first clause of a predicate, as far as it can be read, and the figures of its goals and clauses by line.

use std::collections::BTreeMap;

use portmortem_analyzer::figures::clauses::ClauseFigures;
use portmortem_analyzer::figures::{Caller, SiteFigures};
use portmortem_analyzer::sources;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;

use crate::analysis::AnalysisView;

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
            let first = line.saturating_sub(BEFORE).max(1);
            // What cannot be read is not there: the file may have moved since.
            sources::lines(&analysis.locate(file), first, LINES).unwrap_or_default()
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
