//! Where the cursor goes, and what is shown then.

use portmortem_analyzer::timeline::{TimeColumn, TimeRange};

use super::runs::Shows;
use super::seek::SoughtPlace;
use super::{Effect, ShownTicks, TimelineScreen, view};

/// So many views beyond the one that is shown are searched at once.
const MOST_VIEWS: usize = 4;

/// A box of fewer cells is too small to be seen.
const LEAST_CELLS: u64 = 3;

/// A box that is gone to takes such a part of the view, if it would be too small otherwise.
const PART: u64 = 8;

impl TimelineScreen {
    /// The cursor goes to a column.
    pub(super) fn go_to_column(&mut self, column: u32) {
        let last = self.layout.width.saturating_sub(1);
        let stretch = self.stretch(self.position().band);
        self.view.go_to_tick(stretch.start_of(column.min(last)));
    }

    /// The column that a cell of the screen is in, as it was drawn; `None` beside the boxes.
    pub(super) fn column_of_cell(&self, x: u16) -> Option<u32> {
        let (_, rows) = self.layout.bands.first()?;
        (rows.x..rows.right())
            .contains(&x)
            .then(|| u32::from(x - rows.x))
    }

    /// The least span: a tick for every column.
    pub(super) fn least(&self) -> u64 {
        u64::from(self.layout.width.max(2))
    }

    /// Shows a stretch as near to this one as there is, around the cursor or where that goes.
    pub(super) fn set_view(&mut self, from: u64, span: u64) {
        self.view.show(from, span, self.least());
    }

    pub(super) fn zoom_to(&mut self, from: u64, span: u64, nothing: &str) -> Effect {
        let before = self.position();
        self.set_view(from, span);
        if self.position().view == before.view {
            self.view.put_back(before);
            return Effect::Say(nothing.to_owned());
        }
        self.view.step_from(before)
    }

    pub(super) fn zoom_in(&mut self) -> Effect {
        let ShownTicks { from, .. } = self.position().view;
        let span = self.position().view.span();
        let left = (self.position().cursor - from) / 2;
        self.zoom_to(
            self.position().cursor - left,
            span / 2,
            "no closer: a cell is a tick",
        )
    }

    pub(super) fn zoom_out(&mut self) -> Effect {
        let ShownTicks { from, .. } = self.position().view;
        let span = self.position().view.span();
        let left = (self.position().cursor - from).saturating_mul(2);
        let from = self.position().cursor.saturating_sub(left);
        self.zoom_to(from, span.saturating_mul(2), "this is all there is")
    }

    /// To the whole of what is under the cursor, with a little around it.
    pub(super) fn zoom_to_box(&mut self) -> Effect {
        let Some(run) = self.run() else {
            return Effect::Done;
        };
        let window = self.stretch(self.position().band);
        let (from, to) = match run.shows {
            Shows::One(segment) => return self.zoom_to_whole(segment),
            Shows::Many(_) if run.columns.len() as u32 * 2 < window.columns => (
                window.start_of(run.columns.start),
                window.start_of(run.columns.end),
            ),
            Shows::Many(_) => {
                let at = self.column_at();
                (window.start_of(at), window.start_of(at + 1))
            }
            Shows::Unknown => return Effect::Say(self.about_unknown().to_owned()),
            Shows::NoBox => return Effect::Say("no box here".to_owned()),
        };
        self.zoom_around(from, to)
    }

    /// To some ticks, with a little around them.
    fn zoom_around(&mut self, from: u64, to: u64) -> Effect {
        let length = (to - from).max(1);
        let around = length / 16;
        self.zoom_to(
            from.saturating_sub(around),
            length.saturating_add(2 * around),
            "the box is shown whole",
        )
    }

    /// To what was looked for, so that it is seen.
    pub(super) fn arrive(&mut self, place: SoughtPlace) -> Effect {
        match place {
            SoughtPlace::Box { from, to } => self.zoom_around(from, to.max(from)),
            SoughtPlace::Event {
                stream,
                number,
                tick,
                row,
                from,
                to,
            } => {
                let Some(band) = self.bands.band_of(stream) else {
                    return Effect::Say(format!("{} is not looked at", self.title(stream)));
                };
                let before = self.position();
                self.bands.unfold();
                self.view.touch();
                if band != before.band {
                    self.go_to_band(band);
                }
                self.show_ticks(tick, to.saturating_sub(from));
                self.view.go_to_row(u32::try_from(row).unwrap_or(u32::MAX));
                self.view.go_to_tick(self.cell_of(tick, from, to));
                self.view.remember_event(number);
                self.view.step_from(before)
            }
        }
    }

    /// To a tick: in this view if it is seen there, else in one of the same length.
    pub(super) fn go_to_time(&mut self, tick: u64) -> Effect {
        if !self.view.whole().contains(tick) {
            return Effect::Say("nothing is shown of that time".to_owned());
        }
        let before = self.position();
        self.seek = None;
        self.view.touch();
        if !before.view.contains(tick) {
            let span = before.view.span();
            self.set_view(tick.saturating_sub(span / 3), span);
        }
        self.view.go_to_tick(tick);
        self.view.step_from(before)
    }

    /// Shows a tick, so close that a box of some length around it is seen.
    fn show_ticks(&mut self, tick: u64, length: u64) {
        let columns = self.columns();
        let ShownTicks { from, to } = self.position().view;
        let span = self.position().view.span();
        let is_wide = length.saturating_mul(columns) >= span.saturating_mul(LEAST_CELLS)
            || span <= self.least();
        if is_wide && (from..to).contains(&tick) {
            return;
        }
        let cell = if is_wide {
            (span / columns).max(1)
        } else {
            length.saturating_mul(PART).div_ceil(columns).max(1)
        };
        // The tick is where a cell begins, so that no box before it is in that cell.
        let before = cell.saturating_mul(columns / 3);
        self.set_view(tick.saturating_sub(before), cell.saturating_mul(columns));
    }

    /// Where the cursor is to be for a tick in a box from one tick to another: in a cell that is all of the box, if
    /// there is one beside it.
    fn cell_of(&self, tick: u64, from: u64, to: u64) -> u64 {
        let window = TimeRange {
            columns: self.columns() as u32,
            ..self.stretch(self.position().band)
        };
        let Some(at) = window.column_of(tick) else {
            return tick;
        };
        let is_clear = |at: &u32| window.start_of(*at) >= from && window.start_of(*at + 1) <= to;
        let near = [Some(at), at.checked_add(1), at.checked_sub(1)];
        let mut clear = near.into_iter().flatten().filter(is_clear);
        match clear.find(|at| *at < window.columns) {
            Some(clear) if clear != at => window.start_of(clear),
            _ => tick,
        }
    }

    /// Cells of a row, also before anything was drawn.
    fn columns(&self) -> u64 {
        match self.layout.width {
            0 => 72,
            width => width.into(),
        }
    }

    /// Shows what is earlier or later by a part of the view; the cursor stays in its column.
    pub(super) fn pan(&mut self, later: bool, part: u64) {
        let ShownTicks { from, .. } = self.position().view;
        let (span, column) = (self.position().view.span(), self.column_at());
        let by = (span / part).max(1);
        let to = if later {
            from.saturating_add(by)
        } else {
            from.saturating_sub(by)
        };
        let before = self.position().view;
        self.set_view(to, span);
        let last = self.layout.width.saturating_sub(1);
        // At an end of everything the cursor goes there.
        match (self.position().view == before, later) {
            (true, true) => self.go_to_column(last),
            (true, false) => self.go_to_column(0),
            (false, _) => self.go_to_column(column),
        }
    }

    pub(super) fn cell_by(&mut self, later: bool) {
        let (at, width) = (self.column_at(), self.layout.width);
        let before = self.position().view;
        if later && at + 1 < width {
            self.go_to_column(at + 1);
        } else if !later && at > 0 {
            self.go_to_column(at - 1);
        } else {
            self.pan(later, 4);
            if self.position().view != before {
                // A terminal may be a few columns wide.
                let column = if later {
                    width - width / 4
                } else {
                    (width / 4).saturating_sub(1)
                };
                self.go_to_column(column);
            }
        }
    }

    pub(super) fn box_by(&mut self, later: bool) {
        let (runs, at) = (self.runs(), self.column_at());
        let Some(here) = runs.iter().position(|run| run.columns.contains(&at)) else {
            return;
        };
        let to = match later {
            true => runs.get(here + 1),
            false if at > runs[here].columns.start => runs.get(here),
            false => here.checked_sub(1).map(|before| &runs[before]),
        };
        match to.map(|run| run.columns.start) {
            Some(column) => self.go_to_column(column),
            None => self.pan(later, 2),
        }
    }

    /// The greatest depth that anything is known at.
    pub(super) fn deepest(&self) -> u32 {
        let Some(picture) = self.picture() else {
            return 0;
        };
        let rows = picture
            .columns
            .iter()
            .map(|column| column.cells.len())
            .max();
        (picture.window.first_row + rows.unwrap_or(0) as u32).saturating_sub(1)
    }

    pub(super) fn row_by(&mut self, rows: i64) {
        let to = i64::from(self.position().row) + rows;
        let last = self.bands.len().saturating_sub(1);
        if self.bands.is_folded() || to < 0 || (to > i64::from(self.deepest()) && rows == 1) {
            let band = self.position().band;
            let next = if rows > 0 {
                band + 1
            } else {
                band.saturating_sub(1)
            };
            if next.min(last) != band {
                return self.go_to_band(next.min(last));
            }
        }
        let row = to.clamp(0, i64::from(self.deepest()));
        self.view.go_to_row(u32::try_from(row).unwrap_or(0));
    }

    pub(super) fn go_to_band(&mut self, band: usize) {
        self.view.go_to_band(band);
        self.bands.scroll_to_top();
    }

    pub(super) fn band_by(&mut self, later: bool) -> Effect {
        let streams = self.bands.len();
        if streams < 2 {
            return Effect::Say("there is no other stream".to_owned());
        }
        let by = if later { 1 } else { streams - 1 };
        let before = self.position();
        self.go_to_band((before.band + by) % streams);
        self.view.step_from(before)
    }

    /// To the next column that `is` what is looked for, or the one before: in sight, or near.
    /// `None` if there is none.
    fn search_column(&mut self, later: bool, is: impl Fn(&TimeColumn) -> bool) -> Option<Effect> {
        let before = self.position();
        let at = self.stretch(before.band).start_of(self.column_at());
        if let Some(found) = self.column_beyond(at, later, &is) {
            self.go_to_found(found);
            return Some(Effect::Done);
        }
        for _ in 0..MOST_VIEWS {
            let ShownTicks { from, to } = self.position().view;
            let next = if later {
                to
            } else {
                from.saturating_sub(to - from)
            };
            self.set_view(next, to - from);
            if self.position().view == (ShownTicks { from, to }) {
                break;
            }
            self.look();
            let beyond = if later {
                before.view.to - 1
            } else {
                before.view.from
            };
            if let Some(found) = self.column_beyond(beyond, later, &is) {
                self.go_to_found(found);
                return Some(self.view.step_from(before));
            }
            if self.picture().is_none_or(|picture| !picture.whole) {
                break;
            }
        }
        self.view.put_back(before);
        None
    }

    /// The first column that begins after a tick, or the last one before.
    fn column_beyond(
        &self,
        tick: u64,
        later: bool,
        is: &impl Fn(&TimeColumn) -> bool,
    ) -> Option<u32> {
        let picture = self.picture()?;
        let mut columns = (0..).zip(&picture.columns);
        let begin = |at: u32| picture.window.start_of(at);
        if later {
            let found = columns.find(|(at, column)| begin(*at) > tick && is(column));
            return found.map(|(at, _)| at);
        }
        let before = columns.take_while(|(at, _)| begin(*at) < tick);
        before
            .filter(|(_, column)| is(column))
            .last()
            .map(|(at, _)| at)
    }

    /// The cursor goes to a column, and to the outermost box there of which anything is to be told.
    fn go_to_found(&mut self, column: u32) {
        self.go_to_column(column);
        let Some(picture) = self.picture() else {
            return;
        };
        let cells = &picture.columns[column as usize].cells;
        let mut rows = (picture.window.first_row..).zip(cells);
        let row = rows.find(|(_, cell)| cell.fails + cell.redos + cell.exceptions > 0);
        if let Some((row, _)) = row {
            self.view.go_to_row(row);
        }
    }

    pub(super) fn next_failure(&mut self, later: bool) -> Effect {
        let found = self.search_column(later, |column| {
            column.counts.fails + column.counts.redos > 0
        });
        found.unwrap_or_else(|| self.far_failure(later))
    }

    pub(super) fn next_mark(&mut self, later: bool) -> Effect {
        let found = self.search_column(later, |column| view::also(column).is_some());
        found.unwrap_or_else(|| {
            let side = if later { "after" } else { "before" };
            let what = "gap, exception, pause or new block";
            Effect::Say(format!("no {what} near, {side} this; - shows more"))
        })
    }

    pub(super) fn set_range(&mut self, end: bool) -> Effect {
        let window = self.stretch(self.position().band);
        let at = window.start_of(self.column_at() + u32::from(end));
        match self.analysis().cloned() {
            Some(analysis) => self.range.mark(end, at, &analysis),
            None => Effect::Done,
        }
    }

    /// The first and the last thing that there is.
    pub(super) fn go_to_end(&mut self, end: bool) -> Effect {
        let before = self.position();
        let whole = self.view.whole();
        self.set_view(if end { whole.to } else { whole.from }, before.view.span());
        self.go_to_column(if end { u32::MAX } else { 0 });
        if self.position().view == before.view {
            return Effect::Done;
        }
        self.view.step_from(before)
    }
}
