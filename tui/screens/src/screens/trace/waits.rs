//! Which thread waited for which, a row each. Times are as recorded.

use std::sync::Arc;

use portmortem_analyzer::figures::waits::WaitKind;
use portmortem_analyzer::tables::{self, Cell, Row, WaitData, WaitRow};

use crate::analysis::AnalysisView;
use crate::screen::EventTarget;
use crate::screen::calls::event_of;
use crate::table::{CellKind, ListColumn, Source, TableView, key_of};

/// Waits: rows of the analyser's table, the longest time first.
#[derive(Debug)]
pub(super) struct WaitRows {
    analysis: Arc<AnalysisView>,
    kinds: Vec<WaitKind>,
}

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Waits, name)
}

const COLUMNS: &[ListColumn] = &[
    of("waited_ns"),
    of("waited_ns").shown_as(
        "waited_share",
        "%",
        CellKind::Share,
        "Time of waiting in the row, of all waiting.",
    ),
    of("waits").rank(3),
    of("longest_ns").rank(1),
    of("stream").rank(4),
    of("name"),
    of("awaited").rank(4),
    of("awaited_name"),
    of("kind"),
    of("object"),
    of("line").rank(2),
    of("predicate").name(),
];

impl WaitRows {
    /// Those of a trace; `None` if none are known.
    pub(super) fn new(analysis: &Arc<AnalysisView>) -> Option<Self> {
        let waits = analysis.profile.waits.as_ref()?;
        (!waits.sums.is_empty()).then(|| Self {
            analysis: Arc::clone(analysis),
            kinds: waits.sums.keys().copied().collect(),
        })
    }

    fn wait(&self, row: usize) -> Option<WaitData<'_>> {
        self.analysis.tables().wait(&self.kinds[row])
    }
}

/// The longest wait of the row that the cursor is on.
pub(super) fn event(table: &TableView, analysis: &AnalysisView) -> Option<EventTarget> {
    let waits = analysis.profile.waits.as_ref()?;
    let (kind, figures) = waits.sums.iter().nth(table.row()?)?;
    event_of(analysis, kind.stream, figures.longest_event)
}

impl Source for WaitRows {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.kinds.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let Some(of) = self.wait(row) else {
            return Cell::Missing;
        };
        COLUMNS[column].cell(false, |at| WaitRow::cell(&of, at))
    }

    fn whole(&self) -> u64 {
        let waits = self.analysis.profile.waits.iter();
        let sums = waits.flat_map(|waits| waits.sums.values());
        let ticks = sums.map(|figures| figures.ticks);
        self.analysis.ns(ticks.fold(0, u64::saturating_add))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.kinds[row])
    }
}
