//! Which streams are in sight, and where.

use ratatui::layout::Rect;

use super::{Timeline, format};
use crate::table::first_row;

/// The least number of cells before a row, for its depth, or what a lane is of.
const GUTTER: u16 = 7;

/// Lines of a stream that is folded: its name and two rows of boxes.
pub(super) const FOLDED: u16 = 3;

/// Lanes of a stream that is unfolded.
pub(super) const LANES: u16 = 4;

/// The least number of lines of a stream that is unfolded.
pub(super) const UNFOLDED: u16 = LANES + 8;

/// Lines about what is under the cursor, and the legend.
pub(super) const FOOT: u16 = 3;

/// Where things were drawn last.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Cells before a row: its depth, or what a lane is of.
    pub(super) gutter: u16,
    /// Cells of a row of boxes.
    pub(super) width: u32,
    /// Streams, by their place among those looked at, with their rows of boxes.
    pub(super) bands: Vec<(usize, Rect)>,
}

impl Timeline {
    /// Divides the area among them.
    pub(super) fn lay_out(&mut self, area: Rect) {
        let bands = 0..self.streams.len();
        let deepest = bands
            .filter_map(|band| Some(self.figures(band)?.max_depth))
            .max();
        let digits = format::count(deepest.unwrap_or(0)).len() as u16;
        let gutter = (digits + 1).clamp(GUTTER, GUTTER.max(area.width / 4));
        self.layout.gutter = gutter;
        let width = u32::from(area.width.saturating_sub(gutter + 1));
        if width != self.layout.width {
            self.layout.width = width;
            let span = self.position.view.span();
            self.set_view(self.position.view.from, span);
        }
        let (many, single) = (self.streams.len(), self.streams.len() == 1);
        // Rows that a stream has any use for.
        let rows: Vec<u16> = (0..many)
            .map(|band| self.figures(band).map_or(0, |stream| stream.max_depth))
            .map(|depth| depth.clamp(1, u64::from(u16::MAX / 2)) as u16)
            .collect();
        let body = area.height.saturating_sub(1 + FOOT);
        let own = match rows.get(self.position.band) {
            _ if self.folded => FOLDED,
            Some(_) if single => body,
            rows => LANES + 1 + rows.map_or(0, |rows| *rows),
        };
        let others = body.saturating_sub(own.min(UNFOLDED)) / FOLDED;
        let others = others.min((many - 1).min(usize::from(body)) as u16);
        let own = own.min(body - others * FOLDED);
        let extra = (body - own - others * FOLDED) / others.max(1);
        let shown = usize::from(others) + 1;
        self.first_band = first_row(self.first_band, self.position.band, shown, many);
        self.layout.bands.clear();
        let mut y = area.y + 1;
        for band in (self.first_band..many).take(shown) {
            let is_open = band == self.position.band && !self.folded;
            let above = u16::from(!single) + if is_open { LANES } else { 0 };
            let lines = if band == self.position.band {
                own
            } else {
                FOLDED + extra.min(rows[band].saturating_sub(FOLDED - 1))
            };
            let rows = Rect {
                x: area.x + gutter,
                y: y + above,
                width: width as u16,
                height: lines.saturating_sub(above),
            };
            if is_open {
                let height = usize::from(rows.height);
                let (first, row) = (self.first_row as usize, self.position.row as usize);
                self.first_row = first_row(first, row, height, usize::MAX) as u32;
            }
            self.layout.bands.push((band, rows));
            y += lines;
        }
    }
}
