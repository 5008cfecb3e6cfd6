//! Screen 5: the execution over time, the boxes of the active chain stacked by depth, streams side by side.
//!
//! What is drawn is a [`Picture`](pictures::Picture) for each stream in sight, made by [`Pictures`]; here is which stretch of time
//! is shown, where the cursor is, and what keys do to both. Times are ticks.

mod bands;
mod bindings;
mod cursor;
mod export;
mod foot;
mod labels;
mod layout;
mod legend;
mod moves;
mod pictures;
mod ruler;
mod runs;
mod search;
mod seek;
#[cfg(test)]
mod tests;
mod time_view;
mod view;
mod waits;

use std::sync::Arc;

use portmortem_analyzer::Window;
use portmortem_analyzer::figures::StreamFigures;
use portmortem_analyzer::timeline::{Began, DepthCell, Program, TimeColumn, TimeRange};
use portmortem_analyzer::trace::{BoxKind, PredicateIndex};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::format;
use crate::keys::{Action, Binding};
use crate::names::stream_title;
use crate::screen::range::MarkedRange;
use crate::screen::{
    Clickable, Effect, EventTarget, Exportable, Navigable, Pointing, Screen, Searchable, Spot,
    Tabular,
};
use crate::theme::Theme;
use crate::worker::poll_until;
use bands::Bands;
use bindings::KEYS;
use layout::TimelineLayout;
use pictures::Pictures;
use runs::Shows;
use search::NameSearch;
use seek::Seek;
use time_view::{Position, ShownTicks, TimeView};

/// Depths of a picture: some more than are drawn, so that scrolling by a few needs no other one.
const ROWS: u32 = 192;

/// Depths of a picture that is a sum of slices of an index, as long as these are enough.
const FEW_ROWS: u32 = 64;

/// Depths beyond those that are seen, so that the cursor finds a way to them.
const ROWS_MARGIN: u32 = 8;

/// Pictures begin at depths that are multiples of this.
const ROWS_STEP: u32 = 64;

/// Depths that a page is.
const PAGE: i64 = 10;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct TimelineScreen {
    pictures: Option<Pictures>,
    bands: Bands,
    view: TimeView,
    /// What is looked for, to be shown.
    seek: Option<Seek>,
    search: NameSearch,
    /// Times on the ruler are since the beginning of the trace, not of what is shown.
    absolute: bool,
    /// By predicate: its boxes are waiting, loading, or memory management.
    idle: Vec<bool>,
    range: MarkedRange,
    layout: TimelineLayout,
}

/// The part of a whole in which the program runs; all of it if only a part of the time is looked at.
fn program(analysis: &AnalysisView, whole: ShownTicks) -> ShownTicks {
    if analysis.filters.window().is_some() {
        return whole;
    }
    let program = Program::of(&analysis.trace, &analysis.profile.streams);
    let inside = program.and_then(|program| program.within(&(whole.from..whole.to)));
    inside.map_or(whole, |inside| ShownTicks {
        from: inside.start,
        to: inside.end,
    })
}

impl TimelineScreen {
    /// Where the cursor is, and what is shown.
    fn position(&self) -> Position {
        self.view.position()
    }

    fn analysis(&self) -> Option<&Arc<AnalysisView>> {
        self.pictures.as_ref().map(|pictures| &pictures.analysis)
    }

    fn figures(&self, band: usize) -> Option<&StreamFigures> {
        let stream = self.bands.stream(band)?;
        self.analysis()?.profile.streams.get(stream)
    }

    /// What a stream is called, by its place in the trace.
    fn title(&self, stream: usize) -> String {
        let streams = self.analysis().map(|analysis| analysis.trace.streams());
        stream_title(streams.and_then(|streams| streams.get(stream)))
    }

    /// What is shown of a stream, by its band.
    fn stretch(&self, band: usize) -> TimeRange {
        let position = self.position();
        let selected = band == position.band;
        let first_row = if selected { self.bands.first_row() } else { 0 };
        let stream = self.bands.stream(band).unwrap_or(usize::MAX);
        let column = position.view.span() / u64::from(self.layout.width.max(1));
        let grain = self.grain(stream, column);
        let mut bands = self.layout.bands.iter().filter(|(of, _)| *of == band);
        let height = bands.next().map_or(0, |(_, rows)| rows.height);
        let few = first_row + u32::from(height) + ROWS_MARGIN <= FEW_ROWS;
        TimeRange {
            stream,
            from: position.view.from,
            to: position.view.to,
            columns: self.layout.width,
            grain,
            first_row: first_row / ROWS_STEP * ROWS_STEP,
            rows: if grain > 1 && few { FEW_ROWS } else { ROWS },
        }
    }

    /// What columns of so many ticks begin at multiples of.
    fn grain(&self, stream: usize, column: u64) -> u64 {
        let analysis = self
            .analysis()
            .filter(|analysis| !analysis.scope.has_transparent());
        let pyramids = analysis.and_then(|analysis| analysis.pyramids());
        pyramids.map_or(1, |pyramids| pyramids.grain(stream, column))
    }

    /// Makes the pictures that are in sight, or begins to.
    fn look(&mut self) {
        let mut bands: Vec<usize> = self.layout.bands.iter().map(|(band, _)| *band).collect();
        bands.sort_by_key(|band| *band != self.position().band);
        let stretches: Vec<TimeRange> = bands.into_iter().map(|band| self.stretch(band)).collect();
        if let Some(pictures) = &mut self.pictures {
            pictures.show(&stretches);
        }
        if self.view.is_fresh()
            && let Some(picture) = self.picture().filter(|picture| picture.whole)
        {
            let seen = picture
                .columns
                .iter()
                .position(|column| !column.cells.is_empty());
            self.view.touch();
            if let Some(column) = seen {
                self.go_to_column(column as u32);
            }
        }
    }
}

impl Screen for TimelineScreen {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        let figures = &analysis.profile.streams;
        let streams = 0..figures.len();
        let looked_at = |stream: &usize| analysis.scope.has_stream(figures[*stream].stream);
        let streams: Vec<usize> = streams.filter(looked_at).collect();
        let each = || streams.iter().map(|stream| &figures[*stream]);
        let from = each().map(|stream| stream.first_tick).min();
        // An event at the last tick is one, too.
        let to = each().map(|stream| stream.last_tick.saturating_add(1));
        let to = to.max();
        let from = from.unwrap_or(0);
        let whole = ShownTicks {
            from,
            to: to.unwrap_or(0).max(from.saturating_add(1)),
        };
        let has_others = self.bands.show_streams(streams, figures);
        if has_others || self.view.whole() != whole {
            self.view.begin(whole, program(analysis, whole));
            self.range = MarkedRange::default();
        }
        self.seek = None;
        let kinds = BoxKind::by_predicate(&analysis.trace);
        let is_idle = |kind: &BoxKind| !matches!(kind, BoxKind::Call { .. });
        self.idle = kinds.iter().map(is_idle).collect();
        self.pictures = Some(Pictures::new(analysis));
        self.search.follow(analysis);
    }

    fn act(&mut self, action: Action) -> Effect {
        if self.bands.is_empty() {
            return Effect::Unused;
        }
        let was_fresh = self.view.touch();
        match action {
            Action::ZoomIn => return self.zoom_in(),
            Action::ZoomOut => return self.zoom_out(),
            Action::Zoom => return self.zoom_to_box(),
            Action::NextMatch if self.search.is_on() => return self.next_found(true),
            Action::PreviousMatch if self.search.is_on() => return self.next_found(false),
            Action::NextMatch => return self.next_failure(true),
            Action::PreviousMatch => return self.next_failure(false),
            Action::NextMark => return self.next_mark(true),
            Action::PreviousMark => return self.next_mark(false),
            Action::Enter => return self.predicate().map_or(Effect::Done, Effect::Open),
            Action::Back if self.seek.is_some() => {
                self.seek = None;
                return Effect::Say("not looked for any further".to_owned());
            }
            Action::Measure => {
                self.absolute = !self.absolute;
                return Effect::Say(match self.absolute {
                    true => "the ruler has times since the beginning of the trace".to_owned(),
                    false => "the ruler has times since the left edge".to_owned(),
                });
            }
            Action::RangeBegin => return self.set_range(false),
            Action::RangeEnd => return self.set_range(true),
            Action::Toggle => self.bands.toggle(),
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
            _ => {
                self.view.untouch(was_fresh);
                return Effect::Unused;
            }
        }
        Effect::Done
    }

    fn poll(&mut self, wait: bool) -> Effect {
        let until = poll_until(wait);
        if let Some(effect) = self.take(until) {
            return effect;
        }
        let Some(pictures) = &mut self.pictures else {
            return Effect::Unused;
        };
        let has_slices = pictures.poll_slices(wait);
        if has_slices {
            self.look();
        }
        let has_more = |pictures: &mut Pictures| pictures.poll(wait);
        if self.pictures.as_mut().is_some_and(has_more) || has_slices {
            Effect::Done
        } else {
            Effect::Unused
        }
    }

    fn progress(&self) -> Option<f64> {
        self.searched().or(self.pictures.as_ref()?.progress())
    }

    fn status(&self) -> String {
        let Some(analysis) = self.analysis() else {
            return String::new();
        };
        let ShownTicks { from, to } = self.position().view;
        let length = |view: ShownTicks| format::time(analysis.ns(view.span()));
        let whole = length(self.view.whole());
        if self.view.shows_all() {
            return format!("all {whole}");
        }
        if let Some(program) = self.view.shown_program() {
            return format!("program {} of {whole}", length(program));
        }
        let clock = analysis.trace.clock();
        let at = |tick| format::time(clock.since_start_ns(tick)).replace(' ', "");
        format!("{}..{} of {whole}", at(from), at(to))
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        self.draw_all(area, buf, theme);
    }
}

impl Tabular for TimelineScreen {}

impl Searchable for TimelineScreen {
    fn filter(&self) -> Option<&str> {
        Some(self.search.text())
    }

    fn set_filter(&mut self, text: &str) {
        let pictures = self.pictures.as_ref();
        let analysis = pictures.map(|pictures| &*pictures.analysis);
        self.search.begin(text, analysis);
    }

    fn filter_error(&self) -> Option<&str> {
        self.search.error()
    }

    fn search(&mut self) -> Effect {
        if !self.search.is_on() || self.bands.is_empty() {
            return Effect::Done;
        }
        self.next_found(true)
    }

    fn filter_hint(&self) -> &'static str {
        "a word in the name of a predicate, or ~regex"
    }
}

impl Pointing for TimelineScreen {
    fn predicate(&self) -> Option<PredicateIndex> {
        self.run()?.shows.predicate()
    }

    fn event(&self) -> Option<EventTarget> {
        // In a line the innermost box is mostly waiting: the moment counts.
        let cell = self.cell().filter(|_| !self.bands.is_in_lines());
        let only = cell.and_then(|cell| cell.only());
        let began = only.filter(|only| only.began == Began::Call);
        let number = self.position().sent().or(began.map(|only| only.called));
        Some(EventTarget::At {
            stream: self.bands.stream(self.position().band)?,
            number: number.or_else(|| self.event_at_cursor())?,
        })
    }

    fn event_of_box(&self) -> Option<EventTarget> {
        match self.run().map(|run| run.shows) {
            Some(Shows::One(segment)) => Some(EventTarget::At {
                stream: self.bands.stream(self.position().band)?,
                number: segment.called,
            }),
            _ => self.event(),
        }
    }

    fn window(&self) -> Option<Window> {
        let ShownTicks { from, to: until } = self.position().view;
        let marked = self.range.window(self.analysis()?);
        marked.or(Some(Window { from, until }))
    }
}

impl Navigable for TimelineScreen {
    fn spot(&self) -> Spot {
        self.spot_of_list().with(self.position())
    }

    fn recall(&mut self, spot: &Spot) {
        self.recall_list(spot);
        let Some(&position) = spot.own::<Position>() else {
            return;
        };
        if self.view.recall(position, self.bands.len()) {
            self.seek = None;
        }
    }

    fn crumb(&self) -> Option<String> {
        let clock = self.analysis()?.trace.clock();
        Some(format::time(clock.since_start_ns(self.position().cursor)))
    }

    fn undo(&mut self) -> bool {
        let is_undone = self.view.undo();
        if is_undone {
            self.seek = None;
        }
        is_undone
    }

    fn show_event(&mut self, target: EventTarget) -> Effect {
        // Back from where this moment was taken to, the view is as it was.
        if !self.view.is_fresh() && self.event() == Some(target) {
            return Effect::Done;
        }
        self.go_to_event(target)
    }

    fn show_time(&mut self, tick: u64) -> Effect {
        self.go_to_time(tick)
    }
}

impl Exportable for TimelineScreen {
    fn file_name(&self) -> &'static str {
        "timeline"
    }

    fn export(&self) -> Option<String> {
        export::csv(self.analysis()?, self.picture()?)
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
}

impl Clickable for TimelineScreen {
    fn click(&mut self, x: u16, y: u16) -> bool {
        let bands = self.layout.bands.iter();
        let mut hit = bands.filter(|(_, rows)| rows.contains((x, y).into()));
        let Some(&(band, rows)) = hit.next() else {
            return false;
        };
        let (before, run) = (self.position(), self.run());
        if band != before.band {
            self.go_to_band(band);
        } else {
            let row = self.bands.first_row() + u32::from(y - rows.y);
            self.view.go_to_row(row.min(self.deepest()));
        }
        self.go_to_column(u32::from(x - rows.x));
        let now = self.position();
        self.run() == run && (now.row, now.band) == (before.row, before.band)
    }

    /// Closer to what is there, or further away from it.
    fn scroll(&mut self, x: u16, up: bool) -> Effect {
        let Some(column) = self.column_of_cell(x) else {
            return Effect::Done;
        };
        self.view.touch();
        self.go_to_column(column);
        match up {
            true => self.zoom_in(),
            false => self.zoom_out(),
        }
    }

    fn drag(&mut self, from: u16, to: u16) {
        let ends = self.column_of_cell(from).zip(self.column_of_cell(to));
        if let Some((from, to)) = ends {
            let window = self.stretch(self.position().band);
            self.range = MarkedRange {
                from: Some(window.start_of(from.min(to))),
                until: Some(window.start_of(from.max(to) + 1)),
            };
        }
    }

    fn enter(&self) -> Action {
        Action::Zoom
    }
}
