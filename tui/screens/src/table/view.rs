//! Drawing a table: headings, then rows; numbers to the left, where they scroll, names to the
//! right.
//!
//! Names come last because letters written from right to left would change the order of numbers
//! after them on terminals that arrange such text.

use std::ops::Range;

use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{CellKind, TableView};
use crate::format::{self, TimeUnit};
use crate::names::fitting;
use crate::theme::Theme;

/// Names have this much room if they need it, or a quarter of a wide screen, however many columns
/// there are; in trees, which indent them, more.
const NAME: usize = 24;
const TREE_NAME: usize = 30;

/// In a tree so much of it is left for the name.
const LEFT_FOR_NAME: usize = 18;

/// A column of text that is no name is not wider than this.
const MAX_TEXT: usize = 28;

/// Columns of a higher rank are only shown where no name is cut.
const MOST_NEEDED: u8 = 2;

/// On a screen that is so much wider than a column asks for, it goes before others of so many
/// ranks.
const MUCH_WIDER: u16 = 60;
const RANKS: u8 = 3;

/// Width of the bar of shares on a narrow screen and on a wide one.
const BARS: [usize; 2] = [5, 12];

/// A column with its place on the screen.
struct PlacedColumn {
    column: usize,
    x: u16,
    width: usize,
}

impl TableView {
    /// Draws it; remembers where, for the mouse and for pages.
    pub fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if area.height < 2 || area.width < 8 {
            return;
        }
        let unit = TimeUnit::for_longest(self.largest(|kind| kind == CellKind::Time));
        let placed = self.place(area, unit);
        let heading = Rect { height: 1, ..area };
        let rows = Rect {
            y: area.y + 1,
            height: area.height - 1,
            ..area
        };
        self.layout.width = area.width;
        self.layout.heading = heading;
        self.layout.rows = rows;
        self.layout.columns = placed.iter().map(span).collect();
        self.draw_headings(&placed, unit, heading, buf, theme);
        self.first = first_row(
            self.first,
            self.cursor,
            rows.height.into(),
            self.order.len(),
        );
        if self.order.is_empty() {
            buf.set_stringn(
                area.x + 2,
                rows.y,
                self.nothing(),
                usize::from(area.width) - 2,
                theme.faint,
            );
        }
        for y in rows.y..rows.bottom() {
            let place = self.first + usize::from(y - rows.y);
            let Some(&row) = self.order.get(place) else {
                break;
            };
            self.draw_row(
                row as usize,
                place,
                unit,
                &placed,
                Rect {
                    y,
                    height: 1,
                    ..rows
                },
                buf,
                theme,
            );
        }
    }

    /// What is said where there are no rows.
    fn nothing(&self) -> &'static str {
        if self.filter.condition.is_some() && self.source.rows() > 0 {
            "no row is like that; Esc takes the filter away"
        } else {
            "nothing to show"
        }
    }

    fn largest(&self, of: impl Fn(CellKind) -> bool) -> u64 {
        let columns = self.source.columns();
        let is_one = |&at: &usize| of(columns[at].kind) && self.shown[at] && !columns[at].own_unit;
        let columns = (0..columns.len()).filter(is_one);
        columns.map(|at| self.maximum(at)).max().unwrap_or(0)
    }

    /// The unit of a column, if those that can be compared have this one.
    fn unit(&self, column: usize, unit: TimeUnit) -> TimeUnit {
        match self.source.columns()[column].own_unit {
            true => TimeUnit::for_longest(self.maximum(column)),
            false => unit,
        }
    }

    fn maximum(&self, column: usize) -> u64 {
        self.maxima[column]
    }

    fn bar_width(area: Rect) -> usize {
        BARS[usize::from(area.width >= 120)]
    }

    fn width(&self, column: usize, unit: TimeUnit, area: Rect) -> usize {
        let about = &self.source.columns()[column];
        let unit = self.unit(column, unit);
        let content = match about.kind {
            CellKind::Count => format::width(&format::count(self.maximum(column))),
            // Larger ones are rounded, and shorter.
            CellKind::Difference => {
                let largest = i128::from(self.maximum(column).min(99_999));
                format::width(&format::difference(-largest))
            }
            CellKind::Time => format::width(&unit.format(self.maximum(column))),
            CellKind::Delta => 1 + format::width(&unit.format(self.maximum(column))),
            CellKind::Share => Self::bar_width(area) + 6,
            CellKind::Bool => 3,
            CellKind::Text | CellKind::Name => (self.maximum(column) as usize).min(MAX_TEXT),
        };
        content.max(format::width(&title(about.heading, about.kind, unit)))
    }

    fn name_room(&self, column: usize, width: usize) -> usize {
        if self.source.is_tree() {
            return TREE_NAME;
        }
        let about = &self.source.columns()[column];
        let least = format::width(about.heading) + 2;
        (self.maximum(column) as usize + 3).clamp(least, NAME.max(width / 4).max(least))
    }

    /// Which columns fit, and where.
    fn place(&mut self, area: Rect, unit: TimeUnit) -> Vec<PlacedColumn> {
        let columns = self.source.columns();
        let shown = |at: &usize| self.shown[*at];
        let is_name = |at: &usize| columns[*at].kind == CellKind::Name;
        let names: Vec<usize> = (0..columns.len()).filter(is_name).collect();
        let is_empty = |at: &usize| columns[*at].unless_zero && self.maximum(*at) == 0;
        let numbers: Vec<usize> = (0..columns.len())
            .filter(|at| !is_name(at) && shown(at) && (!is_empty(at) || self.wanted[*at]))
            .filter(|&at| self.has_room_for(at, area.width))
            .collect();
        // A column for the mark at the left, one for `›`.
        let room = usize::from(area.width) - 2;
        self.scrolled = self.scrolled.min(numbers.len().saturating_sub(1));
        let all = numbers.len();
        let numbers = self.worth_their_room(numbers, &names, room, unit, area);
        let name_room = names
            .iter()
            .map(|&name| self.name_room(name, room))
            .sum::<usize>();
        let mut placed = Vec::new();
        let mut used = 1;
        let fitting = self.fitting(&numbers, room.saturating_sub(name_room), unit, area);
        self.layout.more = fitting.len() < all - self.scrolled;
        for column in fitting {
            let width = self.width(column, unit, area);
            placed.push(PlacedColumn {
                column,
                x: area.x + used as u16,
                width,
            });
            used += width + 1;
        }
        used += 1;
        let room = (room + 1).saturating_sub(used);
        let each = room / names.len().max(1);
        for (place, &column) in names.iter().enumerate() {
            let rest = room - each * names.len();
            placed.push(PlacedColumn {
                column,
                x: area.x + (used + place * each) as u16,
                width: each.saturating_sub(usize::from(place + 1 < names.len()))
                    + if place + 1 == names.len() { rest } else { 0 },
            });
        }
        placed
    }

    /// In which rank a column is on a screen of some width: what is meant for wide ones is there on
    /// very wide ones.
    fn rank(&self, column: usize, width: u16) -> u8 {
        let about = &self.source.columns()[column];
        let is_meant = about.least_width > 0 && width >= about.least_width + MUCH_WIDER;
        about.rank.saturating_sub(if is_meant { RANKS } else { 0 })
    }

    /// These columns, without those of zeros if a name would be cut, and then without those of a
    /// high rank: room goes to names. What the user asked for stays, and all can be scrolled to.
    fn worth_their_room(
        &self,
        mut numbers: Vec<usize>,
        names: &[usize],
        room: usize,
        unit: TimeUnit,
        area: Rect,
    ) -> Vec<usize> {
        if self.scrolled > 0 {
            return numbers;
        }
        let longest = names.iter().map(|&name| self.maximum(name) as usize + 1);
        let longest: usize = longest.sum();
        let columns = self.source.columns();
        let is_sorted_by = |at: usize| self.sort.is_some_and(|(sorted, _)| sorted == at);
        let stays = |at: usize| self.wanted[at] || is_sorted_by(at);
        let used = |numbers: &[usize]| -> usize {
            let widths = numbers.iter().map(|&at| self.width(at, unit, area) + 1);
            1 + widths.sum::<usize>()
        };
        let is_cut = |numbers: &[usize]| used(numbers) + longest > room;
        if is_cut(&numbers) {
            let is_zero = |at: usize| columns[at].rank > 0 && self.maximum(at) == 0;
            numbers.retain(|&at| stays(at) || !is_zero(at));
        }
        while is_cut(&numbers) {
            let may_go = numbers
                .iter()
                .copied()
                .filter(|&at| self.rank(at, area.width) > MOST_NEEDED && !stays(at));
            let Some(last) = may_go.max_by_key(|&at| (self.rank(at, area.width), at)) else {
                break;
            };
            numbers.retain(|&at| at != last);
        }
        numbers
    }

    /// The columns that there is room for: the first ones, those of a low rank before others; the
    /// one that rows are sorted by always. Once the columns are scrolled, ranks do not count: so
    /// all can be seen.
    fn fitting(&self, numbers: &[usize], room: usize, unit: TimeUnit, area: Rect) -> Vec<usize> {
        let rank = |&at: &usize| match self.sort {
            _ if self.scrolled > 0 => (0, at),
            Some((sorted, _)) if sorted == at => (0, 0),
            _ if self.wanted[at] => (1, at),
            _ => (2 + self.rank(at, area.width), at),
        };
        let mut order = numbers[self.scrolled..].to_vec();
        order.sort_by_key(rank);
        let mut used = 1;
        let mut fitting = Vec::new();
        for column in order {
            used += self.width(column, unit, area) + 1;
            if used > room && !fitting.is_empty() {
                break;
            }
            fitting.push(column);
        }
        fitting.sort_unstable();
        fitting
    }

    fn draw_headings(
        &self,
        placed: &[PlacedColumn],
        unit: TimeUnit,
        area: Rect,
        buf: &mut Buffer,
        theme: &Theme,
    ) {
        buf.set_style(area, theme.heading);
        for place in placed {
            let about = &self.source.columns()[place.column];
            let unit = self.unit(place.column, unit);
            let text = title(about.heading, about.kind, unit);
            let beside = (about.kind == CellKind::Name).then(|| self.source.about_names());
            let text = match beside.flatten() {
                Some(beside) => format!("{text} {beside}"),
                None => text,
            };
            let text = if about.kind.is_number() {
                format::right(&text, place.width)
            } else {
                format::shorten(&text, place.width)
            };
            let sorted = self.sort.filter(|&(column, _)| column == place.column);
            let style = match sorted {
                Some(_) => theme.heading_sorted,
                None => theme.heading,
            };
            let (end, _) = buf.set_stringn(place.x, area.y, &text, place.width, style);
            if let Some((_, descending)) = sorted {
                let sign = if descending { "▼" } else { "▲" };
                if end < area.right() {
                    buf.set_stringn(end, area.y, sign, 1, style);
                }
            }
        }
        if self.scrolled > 0 {
            buf.set_stringn(area.x, area.y, "‹", 1, theme.heading_sorted);
        }
        let names = self
            .source
            .columns()
            .iter()
            .position(|column| column.kind == CellKind::Name);
        let name = placed.iter().find(|place| Some(place.column) == names);
        if let (true, Some(name)) = (self.layout.more, name) {
            buf.set_stringn(
                name.x.saturating_sub(1),
                area.y,
                "›",
                1,
                theme.heading_sorted,
            );
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "all of it differs from row to row"
    )]
    fn draw_row(
        &self,
        row: usize,
        place: usize,
        unit: TimeUnit,
        placed: &[PlacedColumn],
        area: Rect,
        buf: &mut Buffer,
        theme: &Theme,
    ) {
        let base = if self.source.is_subject(row) {
            theme.subject
        } else if !self.is_found(row) {
            theme.faint
        } else {
            theme.text
        };
        buf.set_style(area, base);
        if self.marks.contains(&self.source.key(row)) {
            buf.set_stringn(area.x, area.y, "*", 1, theme.found);
        }
        let mut bars = Vec::new();
        for at in placed {
            let about = &self.source.columns()[at.column];
            let unit = self.unit(at.column, unit);
            let cell = self.source.cell(row, at.column);
            let (text, style) = match (about.kind, cell) {
                (CellKind::Share, Cell::Integer(part)) => {
                    let part = part.max(0) as u64;
                    let whole = self.source.whole();
                    let bar = at.width.saturating_sub(6);
                    let shown = format::bar(part, self.maximum(at.column), bar);
                    bars.push(Rect {
                        x: at.x,
                        width: bar as u16,
                        ..area
                    });
                    buf.set_stringn(at.x, area.y, &shown, bar, theme.bar);
                    let text = format::right(&format::percent(part, whole), 6);
                    buf.set_stringn(at.x + bar as u16, area.y, text, 6, base);
                    continue;
                }
                (CellKind::Name, _) => (self.name(row, cell, at.width), base),
                (CellKind::Text, _) => {
                    (format::left(&plain(about.kind, cell, unit), at.width), base)
                }
                (kind, cell) => {
                    let style = match cell {
                        // What is faint would be a patch of another ground where it is reversed.
                        _ if place == self.cursor => base,
                        Cell::Integer(0) | Cell::Missing | Cell::Bool(false) => faint(base, theme),
                        _ => base,
                    };
                    (format::right(&plain(kind, cell, unit), at.width), style)
                }
            };
            buf.set_stringn(at.x, area.y, text, at.width, style);
        }
        if place == self.cursor {
            buf.set_style(area, theme.cursor);
            // A bar that is reversed shows what is left of it.
            for bar in bars {
                buf.set_style(bar, Style::new().not_reversed());
            }
        }
    }

    /// A name; in a tree indented and with a sign for what can be unfolded.
    fn name(&self, row: usize, cell: Cell, width: usize) -> String {
        let name = match self.source.short_name(row) {
            Some(name) => printable(&name),
            None => plain(CellKind::Name, cell, TimeUnit::Microseconds),
        };
        let (sign, name) = (self.source.sign(row), name + self.source.note(row));
        if !self.source.is_tree() {
            let room = width.saturating_sub(format::width(sign));
            return format::left(&(sign.to_owned() + &fitting(&name, room)), width);
        }
        let above = self.root.map_or(0, |root| self.source.depth(root as usize));
        let depth = self.source.depth(row).saturating_sub(above);
        let fold = match (
            self.has_below(row),
            self.is_open(row) || self.filter.condition.is_some(),
        ) {
            (false, _) => "  ",
            (true, true) => "▾ ",
            (true, false) => "▸ ",
        };
        // Where the indentation would leave no room for names, the depth is a number instead.
        let most = width.saturating_sub(LEFT_FOR_NAME).max(6);
        let indent = if 2 * depth <= most {
            " ".repeat(2 * depth)
        } else {
            format::left(&format!("…{depth}"), most)
        };
        let before = indent + fold + sign;
        let room = width.saturating_sub(format::width(&before));
        format::left(&(before + &fitting(&name, room)), width)
    }
}

fn faint(base: Style, theme: &Theme) -> Style {
    if base == theme.text {
        theme.faint
    } else {
        base
    }
}

/// The heading with the unit of times.
fn title(heading: &str, kind: CellKind, unit: TimeUnit) -> String {
    match kind {
        CellKind::Time | CellKind::Delta => format!("{heading} {}", unit.name()),
        _ => heading.to_owned(),
    }
}

fn plain(kind: CellKind, cell: Cell, unit: TimeUnit) -> String {
    match (kind, cell) {
        (_, Cell::Missing) => "–".to_owned(),
        (_, Cell::Text(text)) => printable(text),
        (_, Cell::Bool(bool)) => if bool { "yes" } else { "no" }.to_owned(),
        (CellKind::Time, Cell::Integer(ns)) => unit.format(ns.max(0) as u64),
        (CellKind::Delta, Cell::Integer(0)) => unit.format(0),
        (CellKind::Delta, Cell::Integer(ns)) => {
            let sign = if ns < 0 { '−' } else { '+' };
            format!("{sign}{}", unit.format(ns.unsigned_abs()))
        }
        (CellKind::Difference, Cell::Integer(number)) => format::difference(number.into()),
        (_, Cell::Integer(number)) => format::count(number.max(0) as u64),
    }
}

/// The first row on a screen of `height` rows, so that the cursor is on it.
pub(crate) fn first_row(first: usize, cursor: usize, height: usize, rows: usize) -> usize {
    let lowest = (cursor + 1).saturating_sub(height);
    let first = first.clamp(lowest, cursor.max(lowest));
    first.min(rows.saturating_sub(height))
}

fn span(place: &PlacedColumn) -> (Range<u16>, usize) {
    (place.x..place.x + place.width as u16 + 1, place.column)
}
