//! What is under the cursor: a column of a stream, a cell of it, a box, an event.

use super::pictures::Picture;
use super::runs::{CellRun, runs};
use super::{DepthCell, TimeColumn, TimelineScreen};

impl TimelineScreen {
    pub(super) fn picture(&self) -> Option<&Picture> {
        self.pictures
            .as_ref()?
            .get(&self.stretch(self.position().band))
    }

    pub(super) fn column_at(&self) -> u32 {
        let column = self
            .stretch(self.position().band)
            .column_of(self.position().cursor);
        column.unwrap_or(0)
    }

    pub(super) fn column(&self) -> Option<&TimeColumn> {
        self.picture()?.columns.get(self.column_at() as usize)
    }

    /// The depth that the cursor is at: of a stream in one line that of the innermost box there.
    fn row(&self) -> u32 {
        if !self.bands.is_in_lines() {
            return self.position().row;
        }
        let inner = self.column().and_then(innermost).map_or(0, |(row, _)| row);
        let first = self.picture().map_or(0, |picture| picture.window.first_row);
        first.saturating_add(u32::try_from(inner).unwrap_or(u32::MAX))
    }

    /// What is under the cursor; `None` if it is not known.
    pub(super) fn cell(&self) -> Option<DepthCell> {
        let row = self.row().checked_sub(self.picture()?.window.first_row)?;
        self.column()?.cell(row as usize)
    }

    pub(super) fn runs(&self) -> Vec<CellRun> {
        let Some(picture) = self.picture() else {
            return Vec::new();
        };
        let row = self.row().saturating_sub(picture.window.first_row);
        runs(picture, row as usize)
    }

    pub(super) fn run(&self) -> Option<CellRun> {
        let at = self.column_at();
        let mut runs = self.runs().into_iter();
        runs.find(|run| run.columns.contains(&at))
    }

    /// The number of the first event since the column of the cursor begins; if there is none, of the last one.
    pub(super) fn event_at_cursor(&self) -> Option<u64> {
        let band = self.position().band;
        let (stretch, numbers) = (self.stretch(band), self.figures(band)?.numbers());
        let pictures = self.pictures.as_ref()?;
        let tick = stretch.start_of(self.column_at());
        let trace = &pictures.analysis.trace;
        let first = pictures
            .blocks
            .first_event_since(trace, stretch.stream, tick);
        let last = numbers.end.checked_sub(1)?;
        let found = first.unwrap_or(last).max(numbers.start).min(last);
        Some(found).filter(|number| numbers.contains(number))
    }
}

/// The deepest cell of a column in which any box was, with its row in the picture.
pub(super) fn innermost(column: &TimeColumn) -> Option<(usize, &DepthCell)> {
    let cells = column.cells.iter().enumerate();
    cells.rev().find(|(_, cell)| cell.segments > 0)
}
