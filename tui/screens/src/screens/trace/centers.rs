//! What ran in which cost centre (Brassel et al. 2004, section 3), a row each.

use std::sync::Arc;

use portmortem_analyzer::net::centers::CenterSum;
use portmortem_analyzer::tables::{self, Cell, CenterRow, Row};
use portmortem_analyzer::trace::{Center, PredicateIndex};

use crate::analysis::AnalysisView;
use crate::table::{CellKind, ListColumn, Source, key_of};

/// Cost centres: name, how often entered, and what ran inside.
#[derive(Debug)]
pub(super) struct Centers {
    analysis: Arc<AnalysisView>,
    sums: Vec<(Center, CenterSum)>,
}

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Centers, name)
}

const COLUMNS: &[ListColumn] = &[
    of("self_ns").shown_as(
        "share",
        "self %",
        CellKind::Share,
        "Work in the centre and in none inside it, of all work; with w time, of all time.",
    ),
    of("self_ns"),
    of("entered"),
    of("calls"),
    of("exits"),
    of("redos"),
    of("fails"),
    of("exceptions"),
    of("cuts"),
    of("cost_center").name(),
];

impl Centers {
    pub(super) fn new(analysis: &Arc<AnalysisView>) -> Self {
        Self {
            analysis: Arc::clone(analysis),
            sums: analysis.centers(analysis.counted()).into_iter().collect(),
        }
    }
}

impl Source for Centers {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.sums.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (center, sum) = self.sums[row];
        let of = self.analysis.tables().in_center(center, sum);
        COLUMNS[column].cell(self.is_net(), |at| CenterRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.sums[row].0)
    }

    fn whole(&self) -> u64 {
        let sums = self.sums.iter().map(|(_, sum)| sum);
        let ticks = sums.filter_map(|sum| match self.is_net() {
            true => sum.net_ticks,
            false => Some(sum.figures.self_ticks),
        });
        ticks.map(|ticks| self.analysis.ns(ticks)).sum()
    }

    fn is_net(&self) -> bool {
        self.analysis.is_net()
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        self.sums[row].0
    }
}
