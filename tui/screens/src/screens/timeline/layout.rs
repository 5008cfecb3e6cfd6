//! Which streams are in sight, and where.

use portmortem_analyzer::trace::names::printable;
use ratatui::layout::Rect;

use super::{ShownTicks, TimelineScreen, format};

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
pub(super) struct TimelineLayout {
    /// Cells before a row: its depth, or what a lane is of.
    pub(super) gutter: u16,
    /// Cells of a row of boxes.
    pub(super) width: u32,
    /// Streams, by their place among those looked at, with their rows of boxes.
    pub(super) bands: Vec<(usize, Rect)>,
    /// Where each stream is one line: the cells behind it, for its shares of work and of waiting.
    pub(super) shares: u16,
}

/// Cells of the name of a stream that is one line, at most, and of its shares.
const LINE_NAME: usize = 20;
pub(super) const SHARE: u16 = 6;

/// On narrower screens there are no shares.
const SHARES_FROM: u16 = 80;

impl TimelineScreen {
    /// Divides the area among them.
    pub(super) fn lay_out(&mut self, area: Rect) {
        if self.bands.is_in_lines() {
            return self.lay_out_lines(area);
        }
        self.layout.shares = 0;
        let bands = 0..self.bands.len();
        let deepest = bands
            .filter_map(|band| Some(self.figures(band)?.max_depth))
            .max();
        let digits = format::count(deepest.unwrap_or(0)).len() as u16;
        let gutter = (digits + 1).clamp(GUTTER, GUTTER.max(area.width / 4));
        self.layout.gutter = gutter;
        self.set_width(area.width.saturating_sub(gutter + 1));
        let width = self.layout.width;
        let (many, single) = (self.bands.len(), self.bands.len() == 1);
        // Rows that a stream has any use for.
        let rows: Vec<u16> = (0..many)
            .map(|band| self.figures(band).map_or(0, |stream| stream.max_depth))
            .map(|depth| depth.clamp(1, u64::from(u16::MAX / 2)) as u16)
            .collect();
        let body = area.height.saturating_sub(1 + FOOT);
        let position = self.position();
        let own = match rows.get(position.band) {
            _ if self.bands.is_folded() => FOLDED,
            Some(_) if single => body,
            rows => LANES + 1 + rows.map_or(0, |rows| *rows),
        };
        let others = body.saturating_sub(own.min(UNFOLDED)) / FOLDED;
        let others = others.min((many - 1).min(usize::from(body)) as u16);
        let own = own.min(body - others * FOLDED);
        let extra = (body - own - others * FOLDED) / others.max(1);
        let shown = usize::from(others) + 1;
        self.layout.bands.clear();
        let mut y = area.y + 1;
        for band in self.bands.scroll_to_band(position.band, shown) {
            let is_open = band == position.band && !self.bands.is_folded();
            let above = u16::from(!single) + if is_open { LANES } else { 0 };
            let lines = if band == position.band {
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
                self.bands.scroll_to_row(position.row, rows.height);
            }
            self.layout.bands.push((band, rows));
            y += lines;
        }
    }

    /// So many cells of a row; as much time is shown as before.
    fn set_width(&mut self, width: u16) {
        if u32::from(width) != self.layout.width {
            self.layout.width = width.into();
            let ShownTicks { from, .. } = self.position().view;
            self.set_view(from, self.position().view.span());
        }
    }

    /// One line for each stream: its name, its cells, its shares.
    fn lay_out_lines(&mut self, area: Rect) {
        let streams = self.bands.streams().iter();
        let names = streams.map(|&stream| self.line_name(stream));
        let widths = names.map(|name| format::width(&name));
        let longest = widths.max().unwrap_or(0).min(LINE_NAME) as u16;
        // A sign for the cursor, and a space.
        let gutter = (longest + 2).clamp(GUTTER, GUTTER.max(area.width / 4));
        self.layout.gutter = gutter;
        self.layout.shares = match area.width {
            SHARES_FROM.. => 2 * SHARE,
            _ => 0,
        };
        self.set_width(area.width.saturating_sub(gutter + 1 + self.layout.shares));
        let body = area.height.saturating_sub(1 + FOOT);
        let many = self.bands.len();
        // The last line says how many more there are.
        let shown = match usize::from(body) {
            body if many > body => body.saturating_sub(1),
            _ => many,
        };
        let bands = self.bands.scroll_to_band(self.position().band, shown);
        let rows = |y| Rect {
            x: area.x + gutter,
            y,
            width: self.layout.width as u16,
            height: 1,
        };
        self.layout.bands = bands
            .zip(area.y + 1..)
            .map(|(band, y)| (band, rows(y)))
            .collect();
    }

    /// What a stream is called where it is one line: its name, or its number.
    pub(super) fn line_name(&self, stream: usize) -> String {
        let info = self
            .analysis()
            .and_then(|of| of.trace.streams().get(stream));
        let name = info.map(|info| printable(info.name()));
        match (name.filter(|name| !name.is_empty()), info) {
            (Some(name), Some(info)) if name.chars().all(|c| c.is_ascii_digit()) => {
                format!("{} {name}", info.kind_name())
            }
            (Some(name), _) => name,
            (None, info) => info.map_or_else(String::new, |info| format!("stream {}", info.id)),
        }
    }
}
