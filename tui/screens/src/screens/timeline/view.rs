//! Drawing of the timeline: a ruler, then for each stream lanes of what happened and rows of boxes, and two lines
//! about what is under the cursor.

use portmortem_analyzer::machine::WayOut;
use portmortem_analyzer::timeline::{Began, DepthCell, Ended, Segment, TimeColumn};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::cursor::innermost;
use super::labels::{Label, labels};
use super::layout::{FOOT, LANES, SHARE};
use super::pictures::Picture;
use super::runs::{CellRun, Shows, runs};
use super::{TimelineScreen, format};
use crate::names::without_module;
use crate::theme::Theme;

/// In less room nothing is drawn.
const LEAST_WIDTH: u16 = 30;
const LEAST_HEIGHT: u16 = FOOT + LANES + 4;

/// What boxes are filled with in which the program does not run.
const IDLE: char = '·';

/// The same of a cell of a stream that is one line, and what was not read yet.
const WAITS: &str = "·";
const NOT_READ: &str = "…";

pub(super) const FAIL: &str = "✗";
pub(super) const REDO: &str = "↶";
/// Some boxes of a cell fail, some are redone.
pub(super) const BOTH: &str = "×";
pub(super) const EXCEPTION: &str = "!";

/// What a lane is of, its style, and how much of that is in a column.
type Lane = (&'static str, Style, fn(&TimeColumn) -> u64);

/// The most important of the things in a column that are no ports of their own.
pub(super) fn also(column: &TimeColumn) -> Option<&'static str> {
    [
        (column.counts.gaps > 0 || column.gap_ticks > 0, "?"),
        (column.counts.exceptions > 0, EXCEPTION),
        (column.paused_ticks > 0, "‖"),
        (column.blocks > 0, "┆"),
    ]
    .into_iter()
    .find_map(|(is, sign)| is.then_some(sign))
}

/// Writes a text that has so many cells.
fn put(buf: &mut Buffer, x: u16, y: u16, text: &str, width: usize, style: Style) {
    buf.set_stringn(x, y, format::left(text, width), width, style);
}

impl TimelineScreen {
    pub(super) fn draw_all(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if self.bands.is_empty() {
            let text = "nothing was recorded";
            buf.set_stringn(area.x + 2, area.y, text, 60, theme.faint);
            return;
        }
        if area.width < LEAST_WIDTH || area.height < LEAST_HEIGHT {
            let text = "too little room for a timeline";
            let room = usize::from(area.width);
            buf.set_stringn(
                area.x,
                area.y,
                format::shorten(text, room),
                room,
                theme.faint,
            );
            return;
        }
        self.lay_out(area);
        self.look();
        self.ruler(area, buf, theme);
        for (band, rows) in self.layout.bands.clone() {
            match self.bands.is_in_lines() {
                true => self.draw_line(band, rows, buf, theme),
                false => self.draw_band(band, rows, buf, theme),
            }
        }
        self.arrow(buf, theme);
        let (shown, all) = (self.layout.bands.len(), self.bands.len());
        if self.bands.is_in_lines() && shown < all {
            let text = format!(" … {} more streams, most work first", all - shown);
            let (y, room) = (area.bottom() - FOOT - 1, area.width.into());
            buf.set_stringn(area.x, y, format::shorten(&text, room), room, theme.faint);
        }
        let foot = Rect {
            y: area.bottom() - FOOT,
            height: FOOT,
            ..area
        };
        self.foot(foot, buf, theme);
        let legend = Rect {
            y: area.bottom() - 1,
            height: 1,
            ..area
        };
        self.legend(legend, buf, theme);
    }

    fn draw_band(&self, band: usize, rows: Rect, buf: &mut Buffer, theme: &Theme) {
        let window = self.stretch(band);
        let pictures = self.pictures.as_ref();
        let Some(picture) = pictures.and_then(|pictures| pictures.get(&window)) else {
            return;
        };
        let gutter = self.layout.gutter;
        let selected = band == self.position().band;
        let is_open = selected && !self.bands.is_folded();
        let lanes = if is_open { LANES } else { 0 };
        if self.bands.len() > 1 {
            self.name(band, rows, lanes + 1, buf, theme);
        }
        if is_open {
            self.lanes(picture, rows, buf, theme);
        }
        let first = if is_open { self.bands.first_row() } else { 0 };
        for (y, row) in (rows.y..rows.bottom()).zip(first..) {
            let runs = runs(picture, (row - window.first_row) as usize);
            let is_used = runs
                .iter()
                .any(|run| !matches!(run.shows, Shows::NoBox | Shows::Unknown));
            let at_cursor = selected && row == self.position().row;
            if is_used || at_cursor {
                let depth = format::right(&format::count(row.into()), usize::from(gutter) - 1);
                let style = if at_cursor { theme.key } else { theme.faint };
                buf.set_stringn(rows.x - gutter, y, depth, gutter.into(), style);
            }
            let cells = |at: u32| {
                picture
                    .columns
                    .get(at as usize)?
                    .cell((row - window.first_row) as usize)
            };
            let cursor = Some(self.column_at()).filter(|_| at_cursor);
            for run in &runs {
                self.draw_run(run, (rows.x, y), cursor, &cells, buf, theme);
            }
            for label in labels(picture, (row - window.first_row) as usize, &runs) {
                self.draw_label(&label, (rows.x, y), cursor, buf, theme);
            }
        }
    }

    /// The line with what a stream is.
    fn name(&self, band: usize, rows: Rect, above: u16, buf: &mut Buffer, theme: &Theme) {
        let Some(analysis) = self.analysis() else {
            return;
        };
        let gutter = self.layout.gutter;
        let stream = self.bands.stream(band);
        let info = stream.and_then(|stream| analysis.trace.streams().get(stream));
        let Some((info, figures)) = info.zip(self.figures(band)) else {
            return;
        };
        let selected = band == self.position().band;
        let sign = match (selected, self.bands.is_folded()) {
            (true, false) => "▼",
            (true, true) => "▶",
            (false, _) => " ",
        };
        let events = format::counted(figures.events, "event", "events");
        let lost = match figures.lost_events {
            0 => String::new(),
            lost => format!(", {} LOST", format::count(lost)),
        };
        let text = format!("{sign}{}: {events}{lost}", info.title());
        let style = if selected { theme.subject } else { theme.text };
        let width = usize::from(rows.width + gutter);
        let y = rows.y - above;
        buf.set_stringn(
            rows.x - gutter,
            y,
            format::shorten(&text, width),
            width,
            style,
        );
    }

    /// A stream as one line.
    fn draw_line(&self, band: usize, rows: Rect, buf: &mut Buffer, theme: &Theme) {
        let (Some(stream), Some(figures)) = (self.bands.stream(band), self.figures(band)) else {
            return;
        };
        let (y, gutter) = (rows.y, usize::from(self.layout.gutter));
        let selected = band == self.position().band;
        let (sign, style) = match selected {
            true => ("▶", theme.subject),
            false => (" ", theme.text),
        };
        let name = format::shorten(&self.line_name(stream), gutter.saturating_sub(2));
        let text = format!("{sign}{name}");
        buf.set_stringn(rows.x - self.layout.gutter, y, text, gutter, style);
        if self.layout.shares > 0 {
            let width = usize::from(SHARE);
            let share = |ticks| format::right(&format::percent(ticks, figures.self_ticks), width);
            let shares = share(figures.work_ticks) + &share(figures.waiting_ticks);
            buf.set_stringn(rows.right() + 1, y, shares, 2 * width, theme.text);
        }
        let window = self.stretch(band);
        let pictures = self.pictures.as_ref();
        let Some(picture) = pictures.and_then(|pictures| pictures.get(&window)) else {
            return;
        };
        let cursor = self.column_at();
        for ((x, at), column) in (rows.x..rows.right()).zip(0..).zip(&picture.columns) {
            let ticks = window.start_of(at + 1) - window.start_of(at);
            let (sign, style) = self.in_line(column, ticks, theme);
            let style = if selected && at == cursor {
                theme.cursor
            } else {
                style
            };
            buf.set_stringn(x, y, sign, 1, style);
        }
    }

    /// What a column of so many ticks shows of a stream in one line.
    fn in_line(&self, column: &TimeColumn, ticks: u64, theme: &Theme) -> (&'static str, Style) {
        let busy = column.cells.first().map_or(0, |cell| cell.ticks);
        let longest = column.cells.iter().filter_map(|cell| cell.longest);
        let idle = longest.filter(|(predicate, _)| self.is_idle(*predicate));
        let idle: u64 = idle.map(|(_, ticks)| ticks).sum();
        match innermost(column) {
            _ if column.gap_ticks > 0 || column.counts.gaps > 0 => ("?", theme.warning),
            _ if column.paused_ticks > ticks / 2 => ("‖", theme.warning),
            None if !column.read => (NOT_READ, theme.faint),
            None => (" ", theme.text),
            _ if idle >= busy && idle > 0 => (WAITS, theme.faint),
            _ => (level(busy.saturating_sub(idle).max(1), ticks), theme.bar),
        }
    }

    fn lanes(&self, picture: &Picture, rows: Rect, buf: &mut Buffer, theme: &Theme) {
        let gutter = self.layout.gutter;
        let [_, _, redo, fail, _] = theme.ports;
        let lanes: [Lane; 3] = [
            ("events", theme.text, |column| column.counts.events),
            ("redos↶", redo, |column| column.counts.redos),
            ("fails✗", fail, |column| column.counts.fails),
        ];
        let top = rows.y - LANES;
        for (y, (label, style, of)) in (top..).zip(lanes) {
            buf.set_stringn(rows.x - gutter, y, label, gutter.into(), theme.faint);
            let most = picture.columns.iter().map(of).max().unwrap_or(0);
            for (x, column) in (rows.x..rows.right()).zip(&picture.columns) {
                let (sign, style) = match (column.read, of(column)) {
                    (false, _) => ("·", theme.faint),
                    (true, number) => (level(number, most), style),
                };
                buf.set_stringn(x, y, sign, 1, style);
            }
        }
        let y = top + 3;
        buf.set_stringn(rows.x - gutter, y, "also", gutter.into(), theme.faint);
        for (x, column) in (rows.x..rows.right()).zip(&picture.columns) {
            if let Some(sign) = also(column) {
                let style = if sign == "┆" {
                    theme.faint
                } else {
                    theme.warning
                };
                buf.set_stringn(x, y, sign, 1, style);
            }
        }
    }

    /// The cells of a run; `cursor` is the column of the cursor, if it is in this row.
    fn draw_run(
        &self,
        run: &CellRun,
        (x, y): (u16, u16),
        cursor: Option<u32>,
        cells: &impl Fn(u32) -> Option<DepthCell>,
        buf: &mut Buffer,
        theme: &Theme,
    ) {
        let width = run.columns.len();
        let begin = x + run.columns.start as u16;
        let cursor = cursor.filter(|column| run.columns.contains(column));
        match run.shows {
            Shows::One(segment) => {
                self.draw_box(segment, width, (begin, y), cursor.is_some(), buf, theme);
                return;
            }
            Shows::Many(_) => {
                for (x, column) in (begin..).zip(run.columns.clone()) {
                    let (sign, style) = dust(cells(column), theme);
                    buf.set_stringn(x, y, sign, 1, style);
                }
            }
            Shows::Unknown => put(buf, begin, y, &"·".repeat(width), width, theme.faint),
            Shows::NoBox => {}
        }
        if let Some(cell) = cursor.and_then(|column| buf.cell_mut((x + column as u16, y))) {
            cell.set_style(theme.cursor);
        }
    }

    /// A name over cells that have none. Their colours stay, and the cell of the cursor.
    fn draw_label(
        &self,
        label: &Label,
        (x, y): (u16, u16),
        cursor: Option<u32>,
        buf: &mut Buffer,
        theme: &Theme,
    ) {
        let found = self.search.finds(label.predicate);
        let sign = if found { "*~" } else { "~" };
        let text = format!("{sign}{}", self.box_name(label.predicate));
        let text = format::shorten(&text, label.columns.len());
        let x = |column: u32| x + column as u16;
        let columns = label.columns.start..label.columns.start + format::width(&text) as u32;
        let styles: Vec<Option<Style>> = columns
            .clone()
            .map(|column| Some(buf.cell((x(column), y))?.style()))
            .collect();
        buf.set_stringn(x(columns.start), y, &text, columns.len(), theme.text);
        for (column, before) in columns.zip(styles) {
            let (Some(cell), Some(before)) = (buf.cell_mut((x(column), y)), before) else {
                continue;
            };
            // What is drawn faint would be hard to read.
            if cursor == Some(column) || before.fg != theme.faint.fg {
                cell.set_style(before);
            }
            if found {
                let bold = Modifier::BOLD | Modifier::UNDERLINED;
                cell.set_style(Style::new().add_modifier(bold));
            }
        }
    }

    fn draw_box(
        &self,
        segment: Segment,
        width: usize,
        (x, y): (u16, u16),
        selected: bool,
        buf: &mut Buffer,
        theme: &Theme,
    ) {
        let found = self.search.finds(segment.predicate);
        let idle = self.is_idle(segment.predicate);
        let colour = if idle {
            theme.faint
        } else {
            colour(&segment, theme)
        };
        let style = match (selected, found) {
            (true, _) => theme.cursor.add_modifier(Modifier::BOLD),
            (false, true) => colour.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            (false, false) => colour,
        };
        let begin = match segment.began {
            _ if selected && width > 2 => "▶",
            _ if found => "*",
            Began::Redo => REDO,
            Began::LastCall => "»",
            Began::Gap => "?",
            Began::Before => "‹",
            Began::Call => "▏",
        };
        let end = match segment.ended {
            Ended::By(WayOut::Fail) => FAIL,
            Ended::By(WayOut::Exception) => EXCEPTION,
            Ended::By(WayOut::ExitNondet) => "◇",
            Ended::By(WayOut::Lost) => "?",
            Ended::After => "›",
            Ended::By(WayOut::ExitDet | WayOut::Open) | Ended::LastCall => " ",
        };
        let marked = matches!(segment.ended, Ended::By(WayOut::Fail | WayOut::Exception));
        match width {
            1 => put(buf, x, y, if marked { end } else { begin }, 1, style),
            _ => {
                // A letter or two say nothing.
                let name = match width {
                    ..5 => "",
                    _ => self.box_name(segment.predicate),
                };
                let mut text = format!("{begin}{name}");
                if idle && format::width(&text) < width {
                    let rest = width - 1 - format::width(&text);
                    text.extend(std::iter::repeat_n(IDLE, rest));
                }
                put(buf, x, y, &text, width - 1, style);
                buf.set_stringn(x + width as u16 - 1, y, end, 1, style);
            }
        }
    }

    /// Whether the program does not run in boxes of a predicate.
    pub(super) fn is_idle(&self, predicate: u32) -> bool {
        let kinds = self.idle.get(predicate as usize);
        kinds == Some(&true)
    }

    /// A name without its module, where there is little room.
    fn box_name(&self, predicate: u32) -> &str {
        without_module(self.predicate_name(predicate))
    }

    pub(super) fn predicate_name(&self, predicate: u32) -> &str {
        self.analysis()
            .map_or("", |analysis| analysis.predicate(predicate))
    }
}

/// The colour of a box is that of the port by which it ends; of the call as long as it does not.
fn colour(segment: &Segment, theme: &Theme) -> Style {
    let [call, exit, _, fail, exception] = theme.ports;
    let style = match segment.ended {
        Ended::By(WayOut::ExitDet | WayOut::ExitNondet) => exit,
        Ended::By(WayOut::Fail) => fail,
        Ended::By(WayOut::Exception) => exception,
        Ended::After | Ended::LastCall | Ended::By(WayOut::Lost | WayOut::Open) => call,
    };
    style.add_modifier(Modifier::REVERSED)
}

/// The cell of several boxes.
fn dust(cell: Option<DepthCell>, theme: &Theme) -> (&'static str, Style) {
    let [_, _, redo, fail, exception] = theme.ports;
    let Some(cell) = cell else {
        return ("·", theme.faint);
    };
    match (cell.fails, cell.redos) {
        (fails, redos) if cell.exceptions > fails.max(redos) => (EXCEPTION, exception),
        (0, 0) => ("░", theme.faint),
        (_, 0) => (FAIL, fail),
        (0, _) => (REDO, redo),
        _ => (BOTH, fail),
    }
}

/// A bar of up to a cell's height.
fn level(number: u64, most: u64) -> &'static str {
    const LEVELS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    if number == 0 {
        return " ";
    }
    let level = u128::from(number) * 8 / u128::from(most.max(1));
    LEVELS[level.clamp(1, 8) as usize - 1]
}
