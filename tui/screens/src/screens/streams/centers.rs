//! What ran in which cost centre (Brassel et al. 2004, section 3), a row each.

use std::sync::Arc;

use portmortem_analyzer::net::centers::CenterSum;
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::PredicateIndex;

use super::super::integer;
use crate::analysis::Analysis;
use crate::table::{Column, Kind, Source, key_of};

/// Cost centres: name, how often entered, and what ran inside.
#[derive(Debug)]
pub(super) struct Centers {
    analysis: Arc<Analysis>,
}

const COLUMNS: &[Column] = &[
    Column::new(
        "share",
        "self %",
        Kind::Share,
        "time in the centre and in none inside it, of all time",
    ),
    Column::new(
        "self_ns",
        "self",
        Kind::Time,
        "time in the centre and in none inside it",
    ),
    Column::new("entered", "entered", Kind::Count, "how often"),
    Column::new("calls", "calls", Kind::Count, "boxes opened in it"),
    Column::new("exits", "exits", Kind::Count, "exits of both kinds"),
    Column::new("redos", "redos", Kind::Count, "re-entries"),
    Column::new("fails", "fails", Kind::Count, "final failures"),
    Column::new(
        "exceptions",
        "exc.",
        Kind::Count,
        "boxes left by an exception",
    ),
    Column::new("cuts", "cuts", Kind::Count, "choicepoints cut"),
    Column::new(
        "cost_center",
        "cost centre",
        Kind::Name,
        "its name; what ran in none is <outside>",
    ),
];

impl Centers {
    pub(super) fn new(analysis: &Arc<Analysis>) -> Self {
        Self {
            analysis: Arc::clone(analysis),
        }
    }

    fn time(&self, sum: &CenterSum) -> Option<u64> {
        self.analysis.shown(sum.figures.self_ticks, sum.net_ticks)
    }
}

impl Source for Centers {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.analysis.centers.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let sum = &self.analysis.centers[row].1;
        let figures = &sum.figures;
        match COLUMNS[column].name {
            "share" | "self_ns" => self.time(sum).map_or(Cell::Missing, integer),
            "entered" => integer(sum.entered),
            "calls" => integer(figures.calls),
            "exits" => integer(figures.exits_det.saturating_add(figures.exits_nondet)),
            "redos" => integer(figures.redos),
            "fails" => integer(figures.fails),
            "exceptions" => integer(figures.exceptions),
            "cuts" => integer(figures.cuts),
            _ => Cell::Text(self.analysis.center(self.analysis.centers[row].0)),
        }
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.analysis.centers[row].0)
    }

    fn whole(&self) -> u64 {
        let times = self.analysis.centers.iter();
        times.filter_map(|(_, sum)| self.time(sum)).sum()
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        self.analysis.centers[row].0
    }
}
