//! Screen 5: the execution over time, the boxes of the active chain stacked by depth, streams side by side.
//!
//! What is drawn is a [`Picture`] for each stream in sight, made by [`Pictures`]; here is which stretch of time
//! is shown, where the cursor is, and what keys do to both. Times are ticks.

mod pictures;
mod runs;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use portmortem_analyzer::figures::{PredicateIndex, StreamFigures};
use portmortem_analyzer::tables::Cell as TableCell;
use portmortem_analyzer::timeline::{Cell, Column, Window};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, Screen};
use crate::analysis::Analysis;
use crate::condition::{Condition, Field, FieldKind};
use crate::format;
use crate::keys::{Action, Binding, bind};
use crate::theme::Theme;
use pictures::{Picture, Pictures};
use runs::{Run, Shows, runs};

/// Depths of a picture: some more than are drawn, so that scrolling by a few needs no other one.
const ROWS: u32 = 192;

/// Pictures begin at depths that are multiples of this.
const ROWS_STEP: u32 = 64;

/// Depths that a page is.
const PAGE: i64 = 10;

/// Which ticks are shown, the end excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct View {
    from: u64,
    to: u64,
}

impl View {
    fn span(self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

/// What Esc goes back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Place {
    view: View,
    cursor: u64,
    row: u32,
    band: usize,
}

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pictures: Option<Pictures>,
    /// All that can be shown.
    whole: View,
    /// What is shown. The cursor is at a tick of it, at a depth of a stream.
    place: Place,
    /// What was shown before each zoom.
    zooms: Vec<Place>,
    /// All bands are folded.
    folded: bool,
    first_band: usize,
    first_row: u32,
    search: String,
    /// By predicate: its name is one that is searched for.
    found: Vec<bool>,
    /// Ends of the marked range.
    range: (Option<u64>, Option<u64>),
    layout: Layout,
}

/// Where things were drawn last.
#[derive(Debug, Default)]
struct Layout {
    /// Cells of a row of boxes.
    width: u32,
    /// Streams with their rows of boxes.
    bands: Vec<(usize, Rect)>,
}

const KEYS: &[Binding] = &[
    bind(
        &["+", "="],
        Action::ZoomIn,
        "in",
        "half as much time, around the cursor",
    ),
    bind(&["-"], Action::ZoomOut, "out", "twice as much time"),
    bind(
        &["z"],
        Action::Zoom,
        "box",
        "zoom to the box under the cursor",
    ),
    bind(&["0"], Action::Back, "back", "undo one zoom"),
    bind(
        &["n"],
        Action::NextMatch,
        "next ✗↶",
        "to the next failure (✗) or redo (↶) in sight",
    ),
    bind(&["N"], Action::PreviousMatch, "", "to the one before"),
    bind(
        &["'"],
        Action::NextMark,
        "",
        "to the next gap ?, exception !, pause ‖, new block ┆",
    ),
    bind(
        &["\""],
        Action::PreviousMark,
        "",
        "the one before (a block's cost is not in the trace)",
    ),
    bind(
        &["enter", "p"],
        Action::Enter,
        "predicate",
        "go into the predicate; ~name: longest of several",
    ),
    bind(
        &["/"],
        Action::Filter,
        "search",
        "mark boxes whose name has a word in it, or ~regex",
    ),
    bind(
        &["["],
        Action::RangeBegin,
        "",
        "a range of time begins at the cursor",
    ),
    bind(
        &["]"],
        Action::RangeEnd,
        "",
        "a range of time ends at the cursor",
    ),
    bind(
        &["space"],
        Action::Toggle,
        "fold",
        "fold all streams, or unfold the one here",
    ),
    bind(&["}"], Action::NextStream, "", "to the next stream"),
    bind(&["{"], Action::PreviousStream, "", "to the stream before"),
    bind(
        &["up", "k"],
        Action::Up,
        "",
        "to the box around it, then to the stream above",
    ),
    bind(
        &["down", "j"],
        Action::Down,
        "",
        "to the box inside it, then to the stream below",
    ),
    bind(
        &["left", "h"],
        Action::Left,
        "",
        "to where the box begins, or the one before",
    ),
    bind(
        &["right", "l"],
        Action::Right,
        "",
        "to the box after it at the same depth",
    ),
    bind(&[",", "<"], Action::CellLeft, "", "one cell to the left"),
    bind(&[".", ">"], Action::CellRight, "", "one cell to the right"),
    bind(
        &["shift-left", "H"],
        Action::ScrollLeft,
        "",
        "a quarter of the view earlier",
    ),
    bind(
        &["shift-right", "L"],
        Action::ScrollRight,
        "",
        "a quarter of the view later",
    ),
    bind(
        &["pgup", "ctrl-b"],
        Action::PageUp,
        "",
        "some boxes further out",
    ),
    bind(
        &["pgdn", "ctrl-f"],
        Action::PageDown,
        "",
        "some boxes further in",
    ),
    bind(&["home", "gg"], Action::Top, "", "to the beginning"),
    bind(&["end", "G"], Action::Bottom, "", "to the end"),
    bind(
        &["del"],
        Action::Hide,
        "",
        "hide the predicate (- is another key here)",
    ),
];

const NAME: &[Field] = &[Field {
    name: "predicate",
    kind: FieldKind::Text,
}];

impl Timeline {
    fn analysis(&self) -> Option<&Arc<Analysis>> {
        self.pictures.as_ref().map(|pictures| &pictures.analysis)
    }

    fn streams(&self) -> &[StreamFigures] {
        self.analysis()
            .map_or(&[], |analysis| &analysis.profile.streams)
    }

    /// The window on a stream.
    fn window(&self, stream: usize) -> Window {
        let selected = stream == self.place.band && !self.folded;
        let first_row = if selected { self.first_row } else { 0 };
        Window {
            stream,
            from: self.place.view.from,
            to: self.place.view.to,
            columns: self.layout.width,
            first_row: first_row / ROWS_STEP * ROWS_STEP,
            rows: ROWS,
        }
    }

    fn picture(&self) -> Option<&Picture> {
        self.pictures.as_ref()?.get(&self.window(self.place.band))
    }

    fn column_at(&self) -> u32 {
        let column = self.window(self.place.band).column_of(self.place.cursor);
        column.unwrap_or(0)
    }

    fn column(&self) -> Option<&Column> {
        self.picture()?.columns.get(self.column_at() as usize)
    }

    /// What is under the cursor; `None` if it is not known.
    fn cell(&self) -> Option<Cell> {
        let row = self
            .place
            .row
            .checked_sub(self.picture()?.window.first_row)?;
        self.column()?.cell(row as usize)
    }

    fn runs(&self) -> Vec<Run> {
        let Some(picture) = self.picture() else {
            return Vec::new();
        };
        let row = self.place.row.saturating_sub(picture.window.first_row);
        runs(picture, row as usize)
    }

    fn run(&self) -> Option<Run> {
        let at = self.column_at();
        let mut runs = self.runs().into_iter();
        runs.find(|run| run.columns.contains(&at))
    }

    /// The cursor goes to a column.
    fn go_to_column(&mut self, column: u32) {
        let last = self.layout.width.saturating_sub(1);
        self.place.cursor = self.window(self.place.band).start_of(column.min(last));
    }

    /// The least span: a tick for every column.
    fn least(&self) -> u64 {
        u64::from(self.layout.width.max(2))
    }

    /// Shows a stretch as near to this one as there is, around the cursor or where that goes.
    fn set_view(&mut self, from: u64, span: u64) {
        let span = span.clamp(
            self.least().min(self.whole.span()),
            self.whole.span().max(1),
        );
        let latest = self.whole.to.saturating_sub(span).max(self.whole.from);
        let from = from.clamp(self.whole.from, latest);
        let to = from.saturating_add(span);
        self.place.view = View { from, to };
        self.place.cursor = self
            .place
            .cursor
            .clamp(from, to.saturating_sub(1).max(from));
    }

    fn zoom_to(&mut self, from: u64, span: u64, nothing: &str) -> Effect {
        let before = self.place;
        self.set_view(from, span);
        if self.place.view == before.view {
            self.place = before;
            return Effect::Say(nothing.to_owned());
        }
        self.zooms.push(before);
        Effect::Step
    }

    fn zoom_in(&mut self) -> Effect {
        let View { from, .. } = self.place.view;
        let span = self.place.view.span();
        let left = (self.place.cursor - from) / 2;
        self.zoom_to(
            self.place.cursor - left,
            span / 2,
            "no closer: a cell is a tick",
        )
    }

    fn zoom_out(&mut self) -> Effect {
        let View { from, .. } = self.place.view;
        let span = self.place.view.span();
        let left = (self.place.cursor - from).saturating_mul(2);
        let from = self.place.cursor.saturating_sub(left);
        self.zoom_to(from, span.saturating_mul(2), "this is all there is")
    }

    /// To what is under the cursor, with a little around it.
    fn zoom_to_box(&mut self) -> Effect {
        let Some(run) = self.run() else {
            return Effect::Done;
        };
        let window = self.window(self.place.band);
        let (from, to) = match run.shows {
            Shows::One(segment) => (segment.from, segment.to),
            Shows::Many(_) if run.columns.len() as u32 * 2 < window.columns => (
                window.start_of(run.columns.start),
                window.start_of(run.columns.end),
            ),
            Shows::Many(_) => {
                let at = self.column_at();
                (window.start_of(at), window.start_of(at + 1))
            }
            Shows::Unknown => return Effect::Say("not read yet".to_owned()),
            Shows::Nobody => return Effect::Say("no box here".to_owned()),
        };
        let length = (to - from).max(1);
        if length >= self.place.view.span() {
            return Effect::Say("the box fills the view".to_owned());
        }
        let around = length / 16;
        self.zoom_to(
            from.saturating_sub(around),
            length.saturating_add(2 * around),
            "no closer: a cell is a tick",
        )
    }

    /// Shows what is earlier or later by a part of the view; the cursor stays in its column.
    fn pan(&mut self, later: bool, part: u64) {
        let View { from, .. } = self.place.view;
        let (span, column) = (self.place.view.span(), self.column_at());
        let by = (span / part).max(1);
        let to = if later {
            from.saturating_add(by)
        } else {
            from.saturating_sub(by)
        };
        let before = self.place.view;
        self.set_view(to, span);
        let last = self.layout.width.saturating_sub(1);
        // At an end of everything the cursor goes there.
        match (self.place.view == before, later) {
            (true, true) => self.go_to_column(last),
            (true, false) => self.go_to_column(0),
            (false, _) => self.go_to_column(column),
        }
    }

    fn cell_by(&mut self, later: bool) {
        let (at, width) = (self.column_at(), self.layout.width);
        let before = self.place.view;
        if later && at + 1 < width {
            self.go_to_column(at + 1);
        } else if !later && at > 0 {
            self.go_to_column(at - 1);
        } else {
            self.pan(later, 4);
            if self.place.view != before {
                let column = if later {
                    width - width / 4
                } else {
                    width / 4 - 1
                };
                self.go_to_column(column);
            }
        }
    }

    fn box_by(&mut self, later: bool) {
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
    fn deepest(&self) -> u32 {
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

    fn row_by(&mut self, rows: i64) {
        let to = i64::from(self.place.row) + rows;
        let last = self.streams().len().saturating_sub(1);
        if self.folded || to < 0 || (to > i64::from(self.deepest()) && rows == 1) {
            let band = self.place.band;
            let next = if rows > 0 {
                band + 1
            } else {
                band.saturating_sub(1)
            };
            if next.min(last) != band {
                return self.go_to_band(next.min(last));
            }
        }
        self.place.row = u32::try_from(to.clamp(0, i64::from(self.deepest()))).unwrap_or(0);
    }

    fn go_to_band(&mut self, band: usize) {
        self.place.band = band;
        self.place.row = 0;
        self.first_row = 0;
    }

    fn band_by(&mut self, later: bool) -> Effect {
        let streams = self.streams().len();
        if streams < 2 {
            return Effect::Say("there is no other stream".to_owned());
        }
        let by = if later { 1 } else { streams - 1 };
        self.go_to_band((self.place.band + by) % streams);
        Effect::Done
    }

    /// To the next column in sight that `is` what is looked for, or the one before.
    fn search_column(&mut self, later: bool, what: &str, is: impl Fn(&Column) -> bool) -> Effect {
        let at = self.column_at() as usize;
        let Some(picture) = self.picture() else {
            return Effect::Done;
        };
        let columns = &picture.columns;
        let found = if later {
            (at + 1..columns.len()).find(|&at| is(&columns[at]))
        } else {
            (0..at).rev().find(|&at| is(&columns[at]))
        };
        let Some(found) = found else {
            let yet = if picture.whole {
                ""
            } else {
                " as far as it is read"
            };
            let side = if later { "after" } else { "before" };
            return Effect::Say(format!("no {what} {side} this in sight{yet}; - shows more"));
        };
        let first = picture.window.first_row;
        let cells = (first..).zip(&columns[found].cells);
        let mut rows = cells.filter(|(_, cell)| cell.fails + cell.redos + cell.exceptions > 0);
        let row = rows.next().map(|(row, _)| row);
        self.go_to_column(found as u32);
        self.place.row = row.unwrap_or(self.place.row);
        Effect::Done
    }

    fn next_failure(&mut self, later: bool) -> Effect {
        self.search_column(later, "failure or redo", |column| {
            column.counts.fails + column.counts.redos > 0
        })
    }

    fn next_mark(&mut self, later: bool) -> Effect {
        let what = "gap, exception, pause or new block";
        self.search_column(later, what, |column| view::also(column).is_some())
    }

    fn is_found(&self, predicate: Option<PredicateIndex>) -> bool {
        predicate.is_some_and(|predicate| self.found.get(predicate as usize) == Some(&true))
    }

    fn set_range(&mut self, end: bool) -> Effect {
        let window = self.window(self.place.band);
        let at = window.start_of(self.column_at() + u32::from(end));
        let place = if end {
            &mut self.range.1
        } else {
            &mut self.range.0
        };
        // The same again takes it away.
        *place = if *place == Some(at) { None } else { Some(at) };
        match (self.marked_range(), self.range) {
            (Some((from, to)), _) => {
                let length = self.analysis().map_or(0, |analysis| analysis.ns(to - from));
                Effect::Say(format!("{} marked", format::time(length)))
            }
            (None, (Some(_), Some(_))) => Effect::Say("the range ends before it begins".to_owned()),
            (None, (None, None)) => Effect::Say("no range is marked".to_owned()),
            (None, _) => Effect::Say("[ marks where a range begins, ] where it ends".to_owned()),
        }
    }

    /// The first and the last thing that there is.
    fn go_to_end(&mut self, end: bool) -> Effect {
        let before = self.place;
        let from = if end { self.whole.to } else { self.whole.from };
        self.set_view(from, self.place.view.span());
        self.go_to_column(if end { u32::MAX } else { 0 });
        if self.place.view == before.view {
            return Effect::Done;
        }
        self.zooms.push(before);
        Effect::Step
    }

    /// Makes the pictures that are in sight, or begins to.
    fn look(&mut self) {
        let streams: Vec<usize> = self
            .layout
            .bands
            .iter()
            .map(|(stream, _)| *stream)
            .collect();
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for stream in streams {
            if stream == self.place.band {
                first.push(self.window(stream));
            } else {
                rest.push(self.window(stream));
            }
        }
        first.append(&mut rest);
        if let Some(pictures) = &mut self.pictures {
            pictures.show(&first);
        }
    }
}

impl Screen for Timeline {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<Analysis>) {
        let streams = &analysis.profile.streams;
        let from = streams.iter().map(|stream| stream.first_tick).min();
        // An event at the last tick is one, too.
        let to = streams
            .iter()
            .map(|stream| stream.last_tick.saturating_add(1))
            .max();
        let from = from.unwrap_or(0);
        let whole = View {
            from,
            to: to.unwrap_or(0).max(from.saturating_add(1)),
        };
        if self.whole != whole {
            self.whole = whole;
            self.zooms.clear();
            self.range = (None, None);
            self.place = Place {
                view: whole,
                cursor: whole.from + whole.span() / 2,
                ..Place::default()
            };
        }
        self.pictures = Some(Pictures::new(analysis));
        let search = std::mem::take(&mut self.search);
        self.set_filter(&search);
    }

    fn act(&mut self, action: Action) -> Effect {
        if self.streams().is_empty() {
            return Effect::Unused;
        }
        match action {
            Action::ZoomIn => return self.zoom_in(),
            Action::ZoomOut => return self.zoom_out(),
            Action::Zoom => return self.zoom_to_box(),
            Action::NextMatch => return self.next_failure(true),
            Action::PreviousMatch => return self.next_failure(false),
            Action::NextMark => return self.next_mark(true),
            Action::PreviousMark => return self.next_mark(false),
            Action::Enter => return self.predicate().map_or(Effect::Done, Effect::Open),
            Action::RangeBegin => return self.set_range(false),
            Action::RangeEnd => return self.set_range(true),
            Action::Toggle => self.folded = !self.folded && self.streams().len() > 1,
            Action::NextStream => return self.band_by(true),
            Action::PreviousStream => return self.band_by(false),
            Action::Up => self.row_by(-1),
            Action::Down => self.row_by(1),
            Action::PageUp => self.row_by(-PAGE),
            Action::PageDown => self.row_by(PAGE),
            Action::Left => self.box_by(false),
            Action::Right => self.box_by(true),
            Action::CellLeft => self.cell_by(false),
            Action::CellRight => self.cell_by(true),
            Action::ScrollLeft => self.pan(false, 4),
            Action::ScrollRight => self.pan(true, 4),
            Action::Top => return self.go_to_end(false),
            Action::Bottom => return self.go_to_end(true),
            _ => return Effect::Unused,
        }
        Effect::Done
    }

    fn undo(&mut self) -> bool {
        let Some(place) = self.zooms.pop() else {
            return false;
        };
        self.place = place;
        true
    }

    fn predicate(&self) -> Option<PredicateIndex> {
        self.run()?.shows.predicate()
    }

    fn select(&mut self, _predicate: PredicateIndex) -> Effect {
        Effect::Done
    }

    fn filter(&self) -> Option<&str> {
        Some(&self.search)
    }

    fn set_filter(&mut self, text: &str) {
        let text = text.trim();
        self.search = text.to_owned();
        self.found.clear();
        let Some(analysis) = self.analysis().filter(|_| !text.is_empty()) else {
            return;
        };
        let condition =
            Condition::parse(text, NAME).unwrap_or_else(|_| Condition::literal(text, NAME));
        let predicates = 0..=analysis.trace.unknown_predicate();
        let found = predicates
            .map(|at| condition.holds(|_| TableCell::Text(analysis.predicate(at))))
            .collect();
        self.found = found;
    }

    fn poll(&mut self) -> bool {
        self.pictures.as_mut().is_some_and(Pictures::poll)
    }

    fn progress(&self) -> Option<f64> {
        self.pictures.as_ref()?.progress()
    }

    fn wait(&mut self) {
        if let Some(pictures) = &mut self.pictures {
            pictures.wait();
        }
    }

    fn event(&self) -> Option<(usize, u64)> {
        let only = self.cell().and_then(|cell| cell.only());
        let began = only.filter(|only| only.began == portmortem_analyzer::timeline::Began::Call);
        let number = began.map(|only| only.called);
        Some((self.place.band, number.or(self.column()?.first_event)?))
    }

    fn marked_range(&self) -> Option<(u64, u64)> {
        let (from, to) = (self.range.0?, self.range.1?);
        (from < to).then_some((from, to))
    }

    fn status(&self) -> String {
        let Some(analysis) = self.analysis() else {
            return String::new();
        };
        let part = analysis.ns(self.place.view.span());
        let whole = format::time(analysis.ns(self.whole.span()));
        if self.place.view == self.whole {
            format!("all {whole}")
        } else {
            format!("{} of {whole}", format::time(part))
        }
    }

    fn file_name(&self) -> &'static str {
        "timeline"
    }

    fn export(&self) -> Option<String> {
        view::csv(self.analysis()?, self.picture()?)
    }

    /// The stack under the cursor, outermost first.
    fn copy(&self) -> Option<String> {
        let (analysis, column) = (self.analysis()?, self.column()?);
        let names = column.cells.iter().filter_map(|cell| {
            let (predicate, _) = cell.longest?;
            let several = if cell.segments > 1 { "~" } else { "" };
            Some(format!("{several}{}\n", analysis.predicate(predicate)))
        });
        Some(names.collect())
    }

    fn click(&mut self, x: u16, y: u16) -> bool {
        let bands = self.layout.bands.iter();
        let mut hit = bands.filter(|(_, rows)| rows.contains((x, y).into()));
        let Some(&(band, rows)) = hit.next() else {
            return false;
        };
        let before = (self.place, self.run());
        if band != self.place.band {
            self.go_to_band(band);
        } else {
            let first = if self.folded { 0 } else { self.first_row };
            self.place.row = (first + u32::from(y - rows.y)).min(self.deepest());
        }
        self.go_to_column(u32::from(x - rows.x));
        self.run() == before.1 && self.place.row == before.0.row && self.place.band == before.0.band
    }

    fn enter(&self) -> Action {
        Action::Zoom
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        self.draw_all(area, buf, theme);
    }
}
